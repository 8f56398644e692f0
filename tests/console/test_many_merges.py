"""Several merges open at once: each with its own text, plan and outcome, and all of them back after a crash."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.widgets import Input

from console.drafts import Draft, DraftStore, OwnDrafts
from console.places.merge.merge import MergePlace
from console.widgets.grid import Grid
from engine.model.errors import EngineError
from engine.model.operation import Operation
from tests.console import samples
from tests.console.drive import Operator, console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL

FIRST = " 1 sales.orders"
SECOND = "2 sales.customers"


async def test_n_opens_another_merge_and_each_keeps_its_text_and_its_plan(backend: FakeBackend) -> None:
    backend.plans = [samples.a_plan(), samples.a_warned_plan()]
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.sees("Preview 7f3a9c")
        await operator.press("n")
        await operator.sees("2 new", "Type a MERGE statement")
        # no number that looks like the key of a place
        assert re.findall(r"(\S+) (\d) (?:new|sales)", operator.screen) == [("merge", "1"), ("merge", "2")]
        operator.merge.editor.replace_all("MERGE INTO sales.customers AS c USING x")
        await operator.sees(FIRST, SECOND)
        await operator.press("ctrl+r")
        await operator.sees("Preview b81d02", "REWRITES_MOST_OF_TABLE")
        await operator.press("full_stop")
        await operator.sees("Preview 7f3a9c", FIRST, SECOND)
        assert operator.merge.number == 1
        assert operator.merge.editor.text == MERGE_SQL
        # the place is left and come back to as it was
        await operator.press("comma", "3")
        await operator.sees("DEVIATED")
        await operator.press("2")
        await operator.sees("Preview b81d02")


async def test_one_merge_shows_no_line_of_merges(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.write(MERGE_SQL)
        assert FIRST not in operator.screen
        assert "next merge" not in operator.keys


async def test_while_one_merge_is_planned_another_is_written(backend: FakeBackend) -> None:
    backend.hold("plan")
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        await operator.press("ctrl+r", "alt+n")
        await operator.sees("2 new")
        await operator.press(*"merge into t")
        backend.release("plan")
        await operator.sees("Plan 7f3a9c is ready", "merge 1 of", "(sales.orders)")
        assert operator.merge.number == 2
        assert operator.merge.editor.text == "merge into t"
        await operator.press("alt+left")
        await operator.sees("updates 1,204")


async def test_the_drafts_of_all_merges_are_back_after_a_crash(backend: FakeBackend) -> None:
    drafts = DraftStore(backend.home)
    drafts.save("merge-1", Draft("MERGE INTO a USING b"), 0)
    drafts.save("merge-3", Draft("MERGE INTO c USING d"), 0)
    drafts.keep("merge-3", Draft("not an open merge"))
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("2")
        await operator.sees("MERGE INTO a USING b", "3 c")
        await operator.press("alt+right")
        await operator.sees("MERGE INTO c USING d", "1 a", "3 c")


async def test_a_closed_merge_is_gone_and_its_text_is_kept(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        await operator.press("alt+n")
        await operator.sees("2 new")
        await operator.press(*"my own", "escape", "X")
        await operator.sees("The text is kept in drafts/merge-2.before-1.sql")
        assert operator.merge.number == 1
        await operator.misses("2 new")
        assert (backend.home / "drafts" / "merge-2.before-1.sql").read_text() == "my own"
    assert list(OwnDrafts(backend.home).left_open("merge")) == [1]


async def test_two_consoles_do_not_write_into_each_others_drafts(backend: FakeBackend) -> None:
    drafts = DraftStore(backend.home)
    drafts.save("merge-1", Draft("MERGE INTO a USING b"), 0)
    drafts.save("merge-2", Draft("MERGE INTO c USING d"), 0)
    elsewhere = OwnDrafts(backend.home)
    assert list(elsewhere.left_open("merge")) == [1, 2]
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("2")
        await operator.sees("Another console has drafts/merge-1.sql, drafts/merge-2.sql")
        assert (operator.merge.number, operator.merge.editor.text) == (3, "")
        await operator.write("MERGE INTO mine USING x")
        await operator.press("escape", "n")
        await operator.sees("4 new")
        await operator.until(lambda: drafts.load("merge-3").sql == "MERGE INTO mine USING x")
        assert drafts.load("merge-1").sql == "MERGE INTO a USING b"
    elsewhere.release()
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("2")
        await operator.sees("MERGE INTO a USING b", "2 c", "3 mine")


async def test_two_consoles_have_a_table_of_their_own_to_create(backend: FakeBackend) -> None:
    DraftStore(backend.home).save("create-1", Draft("CREATE TABLE theirs (id INT)"), 0)
    elsewhere = OwnDrafts(backend.home)
    assert list(elsewhere.left_open("create")) == [1]
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("4")
        await operator.sees("Name a table")
        assert operator.create.pane.text == ""
    elsewhere.release()
    DraftStore(backend.home).save("create-2", Draft("CREATE TABLE other (id INT)"), 0)
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("4")
        await operator.sees("Other texts are kept: drafts/create-2.sql")
        assert operator.create.pane.text == "CREATE TABLE theirs (id INT)"


async def test_a_merge_that_runs_is_not_closed(backend: FakeBackend) -> None:
    backend.hold("plan")
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("2", "escape", "n")
        await operator.sees("2 new")
        operator.merge.editor.replace_all(MERGE_SQL)
        await operator.press("ctrl+r", "escape", "X")
        await operator.sees("It is planning now")
        assert operator.merge.number == 2
        backend.release("plan")


async def test_merges_that_were_left_open_are_named_by_their_table_before_one_goes_to_them(
    backend: FakeBackend,
) -> None:
    DraftStore(backend.home).save("merge-1", Draft(MERGE_SQL), 0)
    DraftStore(backend.home).save("merge-2", Draft("MERGE INTO sales.customers AS c USING x"), 0)
    async with console(backend) as operator:
        await operator.press("2")
        await operator.sees(FIRST, SECOND)
        assert not [place for place in operator.app.open_places() if getattr(place, "number", 1) == 2]


async def with_a_second_merge(operator: Operator, sql: str) -> MergePlace:
    await operator.warm()
    await operator.write(MERGE_SQL)
    await operator.press("alt+n")
    await operator.sees("2 new")
    place = operator.merge
    place.editor.replace_all(sql)
    await operator.pilot.pause()
    return place


async def test_a_closed_merge_keeps_the_values_of_its_parameters(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        place = await with_a_second_merge(operator, "MERGE INTO a USING b ON a.x = :day")
        place.pane.query_one("#parameters").query_one(Input).value = "2024-01-31"
        await operator.until(lambda: place.pane.params == {"day": "2024-01-31"})
        await operator.press("escape", "X")
        await operator.sees("The text is kept in drafts/merge-2.before-1.sql")
    assert DraftStore(backend.home).load("merge-2.before-1").params == {"day": "2024-01-31"}


async def test_a_merge_whose_text_cannot_be_put_aside_stays_open_and_goes_on_being_saved(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "merge-2.before-1.sql")

    async with console(backend, size=(120, 36)) as operator:
        place = await with_a_second_merge(operator, "MERGE INTO a")
        with monkeypatch.context() as full:
            full.setattr("console.drafts.write_private", is_full)
            await operator.press("escape", "X")
            await operator.sees("The text could not be put aside", "The merge stays open.")
        assert operator.app.screen is place
        place.editor.replace_all("MERGE INTO other")
        await operator.until(lambda: DraftStore(backend.home).load("merge-2").sql == "MERGE INTO other")
        await operator.press("X")
        await operator.sees("The text is kept in drafts/merge-2.before-1.sql")


def test_a_save_that_waited_while_its_draft_was_forgotten_does_not_bring_it_back(tmp_path: Path) -> None:
    store = DraftStore(tmp_path)
    store.save("merge-2", Draft("a"), 0)
    store.discard("merge-2", 2)
    store.save("merge-2", Draft("late"), 1)
    assert store.names() == []


async def test_the_key_to_the_next_merge_is_never_typed_into_one_that_is_first_looked_at(backend: FakeBackend) -> None:
    drafts = DraftStore(backend.home)
    for number in (1, 2, 3):
        drafts.save(f"merge-{number}", Draft(f"MERGE INTO t{number} USING s"), 0)
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("2")
        await operator.sees("MERGE INTO t1 USING s")
        await operator.press("escape", "full_stop", "full_stop", "full_stop", "comma")
        await operator.sees("MERGE INTO t3 USING s")
        assert operator.app.focused is None
        await operator.press("full_stop")
        await operator.sees("MERGE INTO t1 USING s")


async def test_the_next_merge_is_typed_into_where_the_one_before_was(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.write(MERGE_SQL)
        await operator.press("alt+n", *"a", "alt+left", *"-", "alt+right", *"c")
        assert operator.merge.editor.text == "ac"
        await operator.press("alt+left")
        assert operator.merge.editor.text == f"-{MERGE_SQL}"


async def test_the_next_merge_has_its_cursor_where_it_was(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        cursor = operator.app.focused
        assert isinstance(cursor, Grid)
        await operator.press("n", "escape", "comma")
        assert operator.merge.number == 1
        assert operator.app.focused is cursor


def a_commit(**changes: object) -> Operation:
    """A commit into sales.orders by another plan, just now."""
    update = {"op_id": "0a0a", "plan_id": "cfa152", "version": 43, "finished_at": "2999-01-01T00:00:00Z", **changes}
    return samples.a_ledger()[0].model_copy(update=update)


async def test_a_plan_is_marked_as_soon_as_another_merge_commits_into_its_table(backend: FakeBackend) -> None:
    other = samples.a_plan(plan_id="c19fe2")
    backend.plans = [samples.a_plan(), other]
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("n")
        await operator.sees("2 new")
        await operator.plan(MERGE_SQL)
        backend.ledger = [a_commit(), *backend.ledger]
        await operator.commit()
        await operator.sees("kept its promise")
        await operator.press("full_stop")
        await operator.sees("⚠ sales.orders moved from v41 to v43 since this plan: stale, unless other rows changed. r")
        await operator.press("c")
        await operator.sees("Commit plan", "planned at v41", "Plan again to be sure.")
        assert "RESTORE" not in operator.screen
        await operator.press("escape", "r")
        await operator.misses("since this plan")


@pytest.mark.parametrize("fails", [False, True])
async def test_no_version_is_promised_while_another_merge_commits_into_the_table(
    backend: FakeBackend, fails: bool
) -> None:
    backend.plans = [samples.a_plan(), samples.a_plan(plan_id="c19fe2")]
    backend.hold("apply")
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("n")
        await operator.sees("2 new")
        await operator.begin_to_commit(MERGE_SQL)
        await operator.press("full_stop")
        await operator.sees("Decision")
        await operator.press("c")
        await operator.sees("planned at v41", "The commit to sales.orders runs now: which version this commit")
        assert "RESTORE" not in operator.screen
        if fails:
            backend.errors["apply"] = EngineError("DISK_FULL", "It failed.")
        else:
            backend.ledger = [a_commit(version=42), *backend.ledger]
        backend.release("apply")
        await operator.misses("runs now")
        # as the ledger has it: nothing, or another commit
        await operator.sees("v41 → v42" if fails else "sales.orders moved from v41 to v42 since this plan")
        assert ("RESTORE" in operator.screen) is fails


async def test_no_version_is_promised_while_an_undo_runs_in_the_table(backend: FakeBackend) -> None:
    backend.hold("undo")
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("3")
        await operator.sees("u takes it back")
        await operator.press("u")
        await operator.sees("Undo operation", "ctrl+y  undo")
        await operator.press("ctrl+y", "2", "c")
        await operator.sees("planned at v41", "The undo in sales.orders runs now")
        backend.release("undo")
        await operator.sees("v41 → v42")


async def test_a_plan_that_was_committed_elsewhere_says_so_even_in_the_dialog_that_asks(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        plan = operator.merge.plan
        assert plan is not None
        await operator.press("c")
        await operator.sees("Commit plan", "v41 → v42")
        # `deltamerge-console apply` of the saved plan
        backend.ledger = [a_commit(plan_id=plan.plan_id, version=42), *backend.ledger]
        operator.app.ledger_changed()
        await operator.sees("planned at v41", "This plan was committed already, as v42, by another console or the")
        assert "to be sure" not in operator.screen
        await operator.press("escape")
        await operator.sees("c why not commit")
        await operator.press("c")
        await operator.sees("⚠ This plan was committed already, as v42", "Cannot be committed")
        backend.ledger = [a_commit(plan_id=plan.plan_id, version=42, status="undone"), *backend.ledger[1:]]
        operator.app.ledger_changed()
        await operator.sees("This commit is taken back.")
        await operator.press("r")
        await operator.misses("committed already")


async def test_a_plan_that_was_committed_elsewhere_is_not_shown_the_commit_of_the_plan_before_it(
    backend: FakeBackend,
) -> None:
    backend.plans = [samples.a_plan(), samples.a_plan(plan_id="5ec0nd000000")]
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.commit()
        await operator.sees("kept its promise")
        await operator.press("r")
        await operator.sees("plan 5ec0nd")
        await operator.press("escape")
        await operator.sees("Plan 5ec0nd was made of this text; nothing is written yet.")
        backend.ledger = [a_commit(plan_id="5ec0nd000000", version=43), *backend.ledger]
        operator.app.ledger_changed()
        await operator.sees("This plan was committed already, as v43, by another console")
        assert "nothing is written yet" not in operator.screen
        await operator.press("v")
        await operator.until(lambda: operator.merge.view == "preview")
        await operator.sees("plan 5ec0nd", "This plan was committed already, as v43")
        assert "kept its promise" not in operator.screen


MOVES = {
    "sales.orders was dropped since this plan: stale": {"kind": "drop", "version": None},
    "sales.orders moved from v41 to v43 since": {"kind": "restore"},
    "sales.orders_feed, which it reads, is at v43 by now: this plan is of its v5": {"table": "sales.orders_feed"},
}


@pytest.mark.parametrize("told", MOVES)
async def test_a_plan_is_marked_by_what_the_ledger_has_of_its_tables(backend: FakeBackend, told: str) -> None:
    plan = samples.a_plan()
    source = plan.source.model_copy(update={"pinned_versions": {"sales.orders_feed": 5}})
    backend.plans = [plan.model_copy(update={"source": source})]
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        for unmarked in (a_commit(version=41), a_commit(finished_at="2001-01-01T00:00:00Z"), a_commit(table="sales.x")):
            backend.ledger = [unmarked]
            operator.app.ledger_changed()
            await operator.until(lambda: not operator.merge.is_asking("moved"))
            assert operator.merge.moved is None
        backend.ledger = [a_commit(**MOVES[told])]
        operator.app.ledger_changed()
        await operator.sees(told)
