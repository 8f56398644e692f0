"""Committing: exactly the plan that was looked at, never by accident, and told in the end."""

from __future__ import annotations

import pytest

from console.places.history.history import HistoryPlace
from console.places.statement.preview import Preview
from console.widgets.accept import Accept
from engine.commit.policy import Policy, with_verdicts
from engine.model.errors import EngineError, RefusedError, StalePlanError
from engine.model.expectation import ExpectationResult
from engine.model.plan import Remark
from tests.console import samples
from tests.console.drive import console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL
from tests.engine.plans import evolving


async def test_enter_on_the_open_dialog_commits_nothing(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("c")
        await operator.sees("Commit plan 7f3a9c", "sales.orders  v41 → v42", "undo: RESTORE TABLE sales.orders")
        assert operator.app.focused is not None
        assert operator.app.focused.id == "refuse"
        # nor does the key that opened it
        await operator.press("c", "y", "enter")
        await operator.sees("Nothing was committed.")
        assert not backend.called("apply")


async def test_the_arrow_keys_go_from_button_to_button(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("c")
        await operator.sees("Commit plan 7f3a9c")
        await operator.until(lambda: operator.app.screen.query_one("#confirm").focusable)
        for key, button in (("right", "confirm"), ("right", "confirm"), ("left", "refuse"), ("left", "refuse")):
            await operator.press(key)
            assert operator.app.focused is not None
            assert operator.app.focused.id == button
        assert not backend.called("apply")


async def test_a_rule_that_asks_for_a_review_is_told_before_the_commit_is_refused(backend: FakeBackend) -> None:
    backend.plans = [with_verdicts(Policy(reviewed_plans=True), samples.a_plan())]
    backend.errors["apply"] = RefusedError(
        "POLICY_REVIEWED_PLANS", "The policy forbids it (reviewed_plans): not shown."
    )
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("c")
        await operator.sees("Commit plan 7f3a9c", "saved, with s in the preview", "`show PLAN.json`")
        await operator.press("ctrl+y")
        await operator.sees("[POLICY_REVIEWED_PLANS]", "Nothing was committed:")
        assert "plans again" not in operator.screen


async def test_a_plan_that_apply_found_stale_is_not_offered_again(backend: FakeBackend) -> None:
    moved = "sales.orders moved from v41 to v42 since the plan (v42 UPDATE): 1 of its files is gone."
    backend.errors["apply"] = StalePlanError("STALE_PLAN", moved, "Plan again and look at what changed.")
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("c")
        await operator.sees("Commit plan 7f3a9c")
        await operator.press("ctrl+y")
        await operator.sees("[STALE_PLAN]")
        await operator.press("v")
        await operator.sees("moved from v41 to v42 since the plan", "why not commit")
        assert "commit…" not in operator.keys
        await operator.press("c")
        await operator.sees("Cannot be committed")
        assert not operator.app.query("CommitDialog")
        await operator.press("r")
        await operator.sees("commit…")


async def test_a_commit_of_others_is_told_in_the_dialog_although_no_ledger_knows_it(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        backend.newest[samples.a_plan().target.path] = 43
        await operator.press("c")
        await operator.sees("Commit plan 7f3a9c", "planned at v41", "moved from v41 to v43 since this plan")
        assert "RESTORE TABLE" not in operator.screen
        await operator.sees("undo: to the version before this commit")
        await operator.press("escape")
        await operator.sees("moved from v41 to v43 since this plan")
        # what the ledger tells later does not hide it
        place = operator.merge
        place.ledger_changed()
        await operator.sees("moved from v41 to v43 since this plan")


async def test_a_committed_plan_is_not_stale_whatever_was_committed_before_it(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        backend.newest[samples.a_plan().target.path] = 43
        await operator.press("c")
        await operator.sees("moved from v41 to v43 since this plan")
        await operator.commit()
        await operator.sees("kept its promise")
        await operator.press("v")
        await operator.sees("⚠ This plan is committed already, as v42.")
        await operator.misses("since this plan")


async def test_who_comes_back_to_a_plan_sees_that_others_have_committed_since(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("3")
        await operator.sees("Promise against actual")
        backend.newest[samples.a_plan().target.path] = 43
        await operator.press("2")
        await operator.sees("Preview 7f3a9c", "moved from v41 to v43 since this plan")


async def test_a_version_that_comes_late_does_not_call_the_own_commit_one_of_others(backend: FakeBackend) -> None:
    plan = samples.a_plan()
    backend.newest[plan.target.path] = 42
    backend.hold("table_version")
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.commit()
        await operator.sees("kept its promise")
        backend.release("table_version")
        await operator.until(lambda: operator.merge._seen_version == 42)
        assert operator.merge.moved is None
        assert "by another console" not in operator.screen


async def test_the_columns_that_schema_evolution_adds_are_told_before_the_commit(backend: FakeBackend) -> None:
    backend.plans = [
        evolving(samples.a_plan(), ("[/x]", None, "string"), ("addr", "struct<a:int>", "struct<a:bigint>"))
    ]
    told = "schema evolves: adds [/x] string; addr.a int becomes bigint"
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.sees(f"⚠ {told}")
        await operator.press("c")
        await operator.sees("Commit plan 7f3a9c", "copying 869,298 rows", told)


async def test_the_dialog_tells_refused_by_retention_from_gone(backend: FakeBackend) -> None:
    backend.plans = [samples.a_plan(undo=samples.REFUSED_BY_RETENTION)]
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("c")
        await operator.sees(
            "undo: RESTORE TABLE sales.orders TO VERSION AS OF 41", "undo refused by retention: v41 was committed 10"
        )
        await operator.press("ctrl+y")
        await operator.sees("refused by retention: `undo` raises delta.deletedFileRetentionDuration first")


async def test_an_undo_that_is_not_possible_is_not_offered(backend: FakeBackend) -> None:
    backend.plans = [samples.a_plan(undo=samples.GONE)]
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("c")
        await operator.sees("undo will NOT be possible: v42 is a checkpoint")
        await operator.misses("undo: RESTORE")
        await operator.press("ctrl+y")
        await operator.sees("undo is NOT possible: v42 is a checkpoint")


async def test_ctrl_y_commits_and_each_promise_stands_beside_what_happened(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.commit()
        await operator.sees("kept its promise · made v42 of sales.orders · read v41 · 6.2 s", "promised", "actual")
        plan_id, accepted, _ = backend.called("apply")[0]
        assert (plan_id, accepted) == (samples.a_plan().plan_id, ())
        await operator.press("v", "c")
        assert len(backend.called("apply")) == 1


async def test_what_is_copied_of_a_commit_is_what_came_of_it(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.commit()
        await operator.press("y")
        await operator.sees("Copied the commit as text.")
        lines = operator.app.clipboard.splitlines()
        assert lines[0] == "✔ kept its promise · made v42 of sales.orders · read v41 · 6.2 s"
        assert "undo: RESTORE TABLE sales.orders TO VERSION AS OF 41" in lines
        rows = [line.split() for line in lines]
        assert ["metric", "promised", "actual"] in rows
        assert any(row[-2:] == ["✔", "kept"] and row[1] == row[2] for row in rows)


async def test_saving_says_where_a_name_goes_and_of_a_committed_plan_that_apply_changes_nothing(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    (backend.home / "work").mkdir()
    monkeypatch.chdir(backend.home / "work")
    async with console(backend, size=(200, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("s")
        await operator.sees("commits the file later", "A name alone goes into", "/work.")
        await operator.press("escape")
        await operator.commit()
        await operator.sees("kept its promise")
        await operator.press("v", "s")
        await operator.sees("It is committed", "would change nothing", "A name alone goes into")
        assert "commits the file later" not in operator.screen


async def test_a_deviation_is_told_loudly_and_by_name(backend: FakeBackend) -> None:
    backend.deviates = True
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.commit()
        await operator.sees("DEVIATED in 1 number", "869,298", "869,305")


async def test_a_warning_has_to_be_accepted_before_it_can_be_committed(backend: FakeBackend) -> None:
    backend.plans = [samples.a_warned_plan()]
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("c")
        await operator.sees("[REWRITES_MOST_OF_TABLE]", "not accepted yet")
        # the button does not look as if it did something
        await operator.sees("not yet: ctrl+y  commit")
        await operator.press("ctrl+y")
        await operator.sees("To be accepted first:", "REWRITES_MOST_OF_TABLE (tab, then space).")
        # a notice would go while the dialog stays
        assert not operator.app._notifications
        assert not backend.called("apply")
        await operator.press("shift+tab", "space")
        await operator.until(lambda: "accepted" in operator.screen and "not accepted yet" not in operator.screen)
        assert "not yet:" not in operator.screen.lower()
        assert "has to be accepted" not in operator.screen
        await operator.press("ctrl+y")
        await operator.sees("kept its promise")
        assert backend.called("apply")[0][1] == ("REWRITES_MOST_OF_TABLE",)


async def test_one_tick_stands_below_all_that_it_accepts(backend: FakeBackend) -> None:
    unknown = [
        Remark(code="CHECK_FAILED", sentence=f"It is unknown whether it {what}.") for what in ("inserts", "updates")
    ]
    backend.plans = [samples.a_plan(warnings=tuple(unknown))]
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("c")
        await operator.sees("Commit plan", "unknown whether it inserts.", "unknown whether it updates.")
        assert operator.screen.count("not accepted yet") == 1


async def test_progress_is_told_while_it_commits_even_from_another_place(backend: FakeBackend) -> None:
    backend.hold("apply")
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.commit()
        await operator.sees("Committing plan 7f3a9c into sales.orders.", "5 of 10 tasks", "x cancels")
        await operator.press("6")
        await operator.until(lambda: "committing" in operator.first_line)
        backend.release("apply")
        await operator.sees("kept its promise")


async def test_x_cancels_a_commit_by_its_id_and_tells_whether_it_had_committed(backend: FakeBackend) -> None:
    backend.hold("apply")
    async with console(backend) as operator:
        await operator.begin_to_commit(MERGE_SQL)
        await operator.press("x")
        await operator.sees("The commit was cancelled.", "Whether it had committed before is not known yet")
        backend.ledger = [samples.a_try("cancelled")]
        backend.hold("apply")
        await operator.press("v", "c")
        await operator.sees("Commit plan")
        await operator.press("ctrl+y")
        await operator.sees("5 of 10 tasks")
        await operator.press("x")
        await operator.sees("Nothing was committed: the table's log was asked.")
        await operator.press("e")
        await operator.sees("of this text was to be committed: nothing was committed.")
        assert backend.called("cancel") == [(called[2],) for called in backend.called("apply")]


async def test_a_commit_that_is_cancelled_before_it_writes_is_not_committed(backend: FakeBackend) -> None:
    backend.hold("apply")
    backend.writes = False
    async with console(backend) as operator:
        await operator.begin_to_commit(MERGE_SQL)
        await operator.press("x")
        await operator.sees("The commit was cancelled.", "Nothing was committed: it had not begun to write.")
        await operator.press("e")
        await operator.sees("of this text was to be committed: nothing was committed.")


async def test_below_the_text_stands_what_became_of_its_plan(backend: FakeBackend) -> None:
    backend.hold("apply")
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("e")
        await operator.sees("nothing is written yet")
        await operator.press("escape", "v")
        await operator.commit()
        await operator.sees("5 of 10 tasks")
        await operator.press("escape")
        await operator.sees("Plan 7f3a9c of this text is being committed.")
        backend.release("apply")
        await operator.sees("Plan 7f3a9c kept its promise")
        await operator.misses("nothing is written yet")
        await operator.press("escape", "v")
        await operator.sees("numSourceRows", "undo:")
        await operator.press("v")
        await operator.sees("data skipping leaves")
        await operator.press("c")
        await operator.sees("This plan is committed already, as v42.")


async def test_a_cancel_that_came_too_late_is_told_of(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "cancel", lambda _: None)
    backend.hold("apply")
    async with console(backend) as operator:
        await operator.begin_to_commit(MERGE_SQL)
        await operator.press("x")
        await operator.sees("cancelling…")
        backend.release("apply")
        await operator.sees("kept its promise", "The cancel came too late: the commit was in the table")
        await operator.press("v")
        await operator.sees("⚠ This plan is committed already, as v42.", "c why not commit")


async def test_what_was_committed_since_is_told_where_the_undo_stands(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.commit()
        await operator.sees("made v42 of sales.orders", "undo: RESTORE")
        committed = operator.merge.committed
        assert committed is not None
        merge = samples.a_ledger()[0]
        own = merge.model_copy(update={"op_id": committed.op_id, "version": 42, "finished_at": "2026-11-20T12:00:00Z"})
        # of a table of this name that was dropped
        before = {"op_id": "0b0b", "plan_id": "b52cfa", "version": 99, "finished_at": "2026-11-19T12:00:00Z"}
        backend.ledger = [own, merge.model_copy(update=before)]
        operator.app.ledger_changed()
        await operator.until(lambda: not operator.merge.is_asking("taken back"))
        assert "was committed since" not in operator.screen
        later = {"op_id": "0a0a", "plan_id": "cfa152", "version": 43, "finished_at": "2026-11-20T12:00:01Z"}
        backend.ledger = [merge.model_copy(update=later), *backend.ledger]
        operator.app.ledger_changed()
        await operator.sees("⚠ v43 of sales.orders was committed since: an undo takes that back, too.")


async def test_what_became_of_a_commit_is_told_once_spark_is_there_again(backend: FakeBackend) -> None:
    backend.hold("apply")
    async with console(backend) as operator:
        await operator.begin_to_commit(MERGE_SQL)
        backend.die()
        # an older try of the same plan was committed, and says nothing of this one
        await operator.sees("Spark was lost while it ran.", "F9 starts it again")
        await operator.until(lambda: not operator.merge.is_asking("settled"))
        await operator.sees("Spark was lost while it ran.")
        assert "server start" not in operator.screen
        operator.app._ledger_stamped(0)
        for stamp, status, said in (
            (1, "not_committed", "Nothing was committed: the table's log was asked."),
            (2, "applied", "It was committed before the answer was lost, as v42."),
        ):
            backend.ledger = [samples.a_try(status), *samples.a_ledger()]
            operator.app._ledger_stamped(stamp)
            await operator.sees(said)


@pytest.mark.parametrize("visited", [True, False])
async def test_h_goes_to_the_try_that_failed_and_not_to_an_older_one_of_the_same_plan(
    backend: FakeBackend, visited: bool
) -> None:
    backend.errors["apply"] = EngineError("DELTA_CONCURRENT_APPEND", "somebody was faster", "Try again.")
    backend.ledger = [*samples.a_ledger()[1:], samples.a_try("failed", op_id="new"), samples.a_ledger()[0]]
    async with console(backend, size=(120, 36)) as operator:
        if visited:
            await operator.press("3")
            await operator.sees("applied, kept")
        await operator.plan(MERGE_SQL)
        await operator.commit()
        await operator.sees("somebody was faster")
        await operator.press("h")
        await operator.until(lambda: isinstance(operator.app.screen, HistoryPlace))
        place = operator.app.screen
        assert isinstance(place, HistoryPlace)
        await operator.until(lambda: place.op_id == "new")


async def test_a_stale_plan_is_refused_with_what_collides(backend: FakeBackend) -> None:
    backend.errors["apply"] = StalePlanError("STALE_PLAN", "v42 removed part-00031", "")
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.commit()
        await operator.sees("[STALE_PLAN] v42 removed part-00031", "Nothing was committed; r plans again.")


async def test_a_plan_that_was_taken_back_is_not_said_to_be_uncommitted(backend: FakeBackend) -> None:
    backend.errors["apply"] = StalePlanError("PLAN_UNDONE", "The plan was committed and taken back.", "")
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.commit()
        await operator.sees("[PLAN_UNDONE]", "r plans again.")
        assert "Nothing was committed" not in operator.screen


async def test_a_commit_that_fails_says_why_and_keeps_the_plan(backend: FakeBackend) -> None:
    backend.errors["apply"] = EngineError("DELTA_CONCURRENT_APPEND", "somebody was faster", "Try again.")
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.commit()
        await operator.sees("[DELTA_CONCURRENT_APPEND] somebody was faster", "Try again.")
        await operator.press("v")
        await operator.sees("updates 1,204")


async def test_a_policy_may_ask_for_the_tables_name_typed(backend: FakeBackend) -> None:
    backend.policy = Policy(typed_confirmation=True)
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("c")
        await operator.sees("The policy asks for it (typed_confirmation)")
        await operator.press("ctrl+y")
        await operator.sees("The table's name has to be typed first.")
        await operator.press("shift+tab", *"sales.orders")
        await operator.press("ctrl+y")
        await operator.sees("kept its promise")


FAILS = ExpectationResult(
    name="unique_id",
    kind="unique",
    status="fail",
    value="1",
    sentence="1 key: several rows have it in id.",
    checked="changes",
    rows=({"id": "7[/x]", "number of rows": "2"},),
)


async def test_a_failing_expectation_is_said_and_must_be_accepted(backend: FakeBackend) -> None:
    holds = FAILS.model_copy(update={"name": "rows", "status": "pass", "rows": ()})
    backend.plans = [samples.a_plan(warnings=(), expectations=(FAILS, holds))]
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.sees("1 of 2 expectations fails: unique_id", "Expectations")
        operator.app.screen.query_one(Preview).turn_to("expectations")
        await operator.sees("unique_id fails (error): 1 key", "id=7[/x], number of rows=2", "rows holds: 1 key")
        await operator.press("c")
        await operator.sees("Commit plan", "not accepted yet")
        await operator.press("ctrl+y")
        await operator.sees("To be accepted first: ")
        assert not backend.called("apply")
        operator.app.screen.query_one(Accept).focus()
        await operator.press("space")
        await operator.until(lambda: "not accepted yet" not in operator.screen)
        await operator.press("ctrl+y")
        await operator.sees("kept its promise")
        assert backend.called("apply")[0][1] == ("expect:unique_id",)
