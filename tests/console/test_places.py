"""Six places, a key for each; help and the palette are reachable everywhere."""

from __future__ import annotations

import pytest
from textual.widgets import Input, TextArea

from console.status import Job
from tests.console import samples
from tests.console.drive import ORDERS, Clock, Operator, console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL

PLACES = {
    "1": "Open a table with enter.",
    "2": "Type a MERGE statement",
    "3": "Promise against actual",
    "4": "No columns yet: a adds one.",
    "5": "Spark is warm at local[*].",
    "6": "The console opened on local[*].",
}


async def test_each_place_is_one_number_key_away(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        for key, sentence in PLACES.items():
            await operator.press(key)
            await operator.sees(sentence)
            # in the editor the numbers are text: there the help names other keys
            await operator.press("escape")
            assert "ctrl+p all" in operator.keys


async def test_question_mark_and_f1_explain_the_place_and_its_keys(backend: FakeBackend) -> None:
    async with console(backend, size=(100, 60)) as operator:
        await operator.warm()
        for key in ("question_mark", "f1"):
            await operator.press("1", key)
            await operator.sees("schemas and directories at the left", "Keys of this place", "merge")
            await operator.press("escape")
            await operator.misses("Keys of this place")


async def test_in_the_editor_alt_and_a_number_changes_the_place(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("MERGE")
        await operator.press("3")
        assert "3" in operator.merge.editor.text
        await operator.press("alt+3")
        await operator.sees("Promise against actual")


async def test_the_palette_finds_an_action_of_another_place_by_name(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("ctrl+p", *"go to log")
        await operator.sees("Go to Log")
        await operator.press("enter")
        await operator.sees("The console opened on local[*].")


async def test_help_stays_on_screen_where_it_is_small_and_ascii_draws_nothing_else(backend: FakeBackend) -> None:
    async with console(backend, size=(60, 18), ascii=True) as operator:
        await operator.warm()
        for key in PLACES:
            await operator.press(key)
            await operator.until(lambda: operator.screen.replace("\n", "").isascii(), "ASCII only")
            await operator.press("escape")
            await operator.until(lambda: "? help" in operator.keys and "ctrl+p all" in operator.keys)


async def test_notices_and_the_palette_are_drawn_in_ascii_too(backend: FakeBackend) -> None:
    async with console(backend, ascii=True) as operator:
        await operator.warm()
        for severity in ("information", "warning", "error"):
            operator.app.notify(f"One {severity}.", severity=severity)
            await operator.sees(f"One {severity}.")
        assert operator.screen.replace("\n", "").isascii()
        await operator.press("ctrl+p")
        await operator.sees("Search for commands")
        assert not {sign for sign in operator.screen if not sign.isascii()}


async def test_the_palette_lists_of_this_place_what_is_possible_and_says_what_is_not_elsewhere(
    backend: FakeBackend,
) -> None:
    def listed() -> set[str]:
        return {one.title for one in operator.app.get_system_commands(operator.app.screen)}

    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("3")
        await operator.sees("u takes it back")
        assert "History: undo" in listed()
        assert "History: why not undo" not in listed()
        await operator.press("ctrl+p", *"merge: commit", "enter")
        await operator.sees("Merge: commit… is not possible now: Commit exactly this")
        assert not {"Merge: commit…", "Merge: why not commit", "Merge: cancel"} & listed()
        await operator.plan(MERGE_SQL)
        assert "Merge: commit…" in listed()
        assert "Merge: why not commit" not in listed()
        # those of the whole console are always listed
        await operator.press("ctrl+p", *"restart", "enter")
        await operator.sees("restart Spark is not possible now")


async def test_quitting_while_nothing_runs_asks_nothing(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("ctrl+q")
        assert not operator.app.is_running


async def quit_all_the_same(operator: Operator) -> None:
    await operator.press("ctrl+q")
    await operator.sees("Work is running")
    await operator.press("ctrl+y")


async def test_quitting_while_spark_works_asks_first_and_then_cancels(backend: FakeBackend) -> None:
    backend.hold("plan")
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("MERGE INTO sales.orders")
        await operator.press("ctrl+r")
        await operator.sees("planning")
        await operator.press("ctrl+q")
        await operator.sees("Work is running", "Stay")
        await operator.press("enter")
        await operator.misses("Work is running")
        assert operator.app.is_running
        await quit_all_the_same(operator)
        await operator.until(lambda: not operator.app.is_running)
        assert backend.called("cancel")


async def test_quitting_waits_until_the_work_that_it_cancelled_has_written_what_became_of_it(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work itself does, after its cancel has come back: it asks the table's log first."""
    backend.hold("apply")
    asked: list[str] = []
    monkeypatch.setattr(backend, "cancel", asked.append)
    async with console(backend) as operator:
        await operator.begin_to_commit(MERGE_SQL)
        await quit_all_the_same(operator)
        await operator.until(lambda: asked)
        await operator.sees("The console leaves as soon as it has ended.")
        assert operator.app.is_running
        place = operator.merge
        FakeBackend.cancel(backend, asked[0])
        await operator.until(lambda: not operator.app.is_running)
        assert place.failed is not None
        assert place.failed[1].cancelled


@pytest.mark.parametrize(
    ("status", "told"),
    [("applied", "The commit to sales.orders was applied, as v42."),
     ("cancelled", "The commit to sales.orders was cancelled: nothing was written.")],
)  # fmt: skip
async def test_a_commit_that_a_quit_may_come_too_late_for_is_told_of_on_the_terminal(
    backend: FakeBackend, capfd: pytest.CaptureFixture[str], status: str, told: str
) -> None:
    backend.hold("apply")
    async with console(backend) as operator:
        await operator.begin_to_commit(MERGE_SQL)
        backend.ledger = [samples.a_try(status), *backend.ledger]
        await operator.press("ctrl+q")
        await operator.sees("Quitting tries to cancel it", "if it is in the table already, it stays,")
        await operator.press("ctrl+y")
        await operator.until(lambda: not operator.app.is_running)
    assert " ".join(capfd.readouterr().err.split()) == told


async def test_an_undo_that_is_left_is_told_of_too(backend: FakeBackend, capfd: pytest.CaptureFixture[str]) -> None:
    backend.hold("undo")
    undo_plan = backend.undo_plan = samples.an_undo("01JCM4Z7")
    async with console(backend, size=(110, 36)) as operator:
        await operator.warm()
        await operator.press("3")
        await operator.sees("u takes it back")
        await operator.press("u")
        await operator.sees("Undo operation", "ctrl+y  undo")
        await operator.press("ctrl+y")
        await operator.until(lambda: operator.app.status.work == "undoing")
        restored = samples.a_try("applied", plan_id=undo_plan.undo_id, kind="restore", version=43)
        backend.ledger = [restored, *backend.ledger]
        await quit_all_the_same(operator)
        await operator.until(lambda: not operator.app.is_running)
    assert "The undo in sales.orders was applied, as v43." in " ".join(capfd.readouterr().err.split())


async def test_a_commit_that_ends_below_the_question_is_told_of_too(
    backend: FakeBackend, capfd: pytest.CaptureFixture[str]
) -> None:
    backend.hold("apply")
    async with console(backend) as operator:
        await operator.begin_to_commit(MERGE_SQL)
        backend.ledger = [samples.a_try("applied"), *backend.ledger]
        await operator.press("ctrl+q")
        await operator.sees("Work is running")
        backend.release("apply")
        await operator.until(lambda: not operator.app.status.work)
        await operator.press("ctrl+y")
        await operator.until(lambda: not operator.app.is_running)
        assert not backend.called("cancel")
    assert "The commit to sales.orders was applied, as v42." in " ".join(capfd.readouterr().err.split())


async def test_the_question_whether_to_quit_says_that_the_work_has_ended_and_has_to_be_read_again(
    backend: FakeBackend,
) -> None:
    backend.hold("apply")
    async with console(backend) as operator:
        clock = operator.app.clock
        assert isinstance(clock, Clock)
        await operator.begin_to_commit(MERGE_SQL)
        await operator.press("ctrl+q")
        await operator.sees("Work is running", "Spark is committing for this console.", "cancel it and quit")
        clock.stands = True
        backend.release("apply")
        await operator.sees("The work has ended", "What Spark did for this console has ended meanwhile (committing).")
        assert "Spark is committing" not in operator.screen
        assert "cancel it" not in operator.screen
        await operator.press("ctrl+y")
        assert operator.app.is_running
        clock.stands = False
        await operator.press("ctrl+y")
        await operator.until(lambda: not operator.app.is_running)
    assert not backend.called("cancel")


async def test_work_that_does_not_end_does_not_keep_the_terminal(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("console.spark_app.QUIT_PATIENCE_SECONDS", 0.01)
    monkeypatch.setattr(backend, "cancel", lambda _: None)
    backend.hold("apply")
    async with console(backend) as operator:
        await operator.begin_to_commit(MERGE_SQL)
        await quit_all_the_same(operator)
        await operator.until(lambda: not operator.app.is_running)
        backend.release("apply")
    assert "whether it was applied is not known yet" in " ".join(capfd.readouterr().err.split())


async def test_where_this_is_is_always_in_sight_and_production_is_said_in_words(backend: FakeBackend) -> None:
    for size, line in (((120, 36), 0), ((80, 24), 1)):
        async with console(backend, size=size, profile="nightly", production=True) as operator:
            await operator.sees("warm")
            assert "local[*] · nightly · PRODUCTION" in operator.screen.splitlines()[line]
            await operator.plan(MERGE_SQL)
            assert "nightly · PRODUCTION" in operator.screen.splitlines()[line]
            await operator.press("c")
            await operator.sees("Commit plan")
            assert operator.screen.count("nightly · PRODUCTION") == 2


TYPING: dict[str, tuple[str, ...]] = {
    "the filter of the tables": ("1", *ORDERS, "enter", "slash", *"ord"),
    "a predicate": ("1", *ORDERS, "enter", "e", *"ord"),
    "the filter of the history": ("3", "slash", *"ord"),
    "the editor": ("2", "e", *"MERGE"),
    "the name of a new table": ("4", *"ord"),
}


@pytest.mark.parametrize("typing", TYPING)
async def test_nothing_that_happens_by_itself_takes_the_keys_of_who_types(backend: FakeBackend, typing: str) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*TYPING[typing])
        typed_in = operator.app.focused
        assert isinstance(typed_in, Input | TextArea)
        for happens in (
            operator.app.ledger_changed,
            operator.app.tables_changed,
            lambda: operator.app._heartbeat((False, False)),
            operator.app.action_restart_spark,
        ):
            happens()
            askers = (operator.app, *operator.app.open_places())
            await operator.until(lambda askers=askers: not any(one._newest_tickets() for one in askers), "all answers")  # type: ignore[misc]
            assert operator.app.focused is typed_in
        assert operator.app.status.spark == "warm"


async def test_work_is_named_whole_in_a_narrow_console_or_shows_that_it_is_cut(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        for kind in ("planning", "committing", "rehearsing", "undoing", "looking at an undo", "looking for a key",
                     "reading changes"):  # fmt: skip
            operator.app.begin(Job("1", kind))
            await operator.pilot.pause()
            assert operator.first_line.endswith(kind), kind
        operator.app.begin(Job("2", "looking at an undo"))
        await operator.pilot.pause()
        assert operator.first_line.endswith("reading changes, l…")


@pytest.mark.parametrize(("view", "tabs"), [
    ("columns", " Columns Statistics Properties Describe Versions …"),
    ("versions", " Columns Statistics Properties Describe Versions …"),
    ("files", " … Statistics Properties Describe Versions Files …"),
    ("rows", " … Describe Versions Files Scan Advice Rows"),
])  # fmt: skip
async def test_tabs_that_have_no_room_beside_the_list_are_left_out_whole(
    backend: FakeBackend, view: str, tabs: str
) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter", "escape")
        operator.app.screen.action_view(view)  # type: ignore[attr-defined]
        await operator.pilot.pause()
        line = next(line for line in operator.screen.splitlines() if "Versions" in line)
        assert line.partition("│")[2] == tabs
