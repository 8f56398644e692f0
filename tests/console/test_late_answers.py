"""What is shown is of what it says it is of, however late and in whatever order the backend answers."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from textual.events import Key
from textual.widgets import Input, Static

from console.dialogs.commit import CommitDialog
from console.dialogs.confirm import ConfirmDialog
from console.dialogs.dialog import Dialog
from console.dialogs.pick import Choice, PickDialog
from console.places.create.create import CreatePlace
from console.places.history.history import HistoryPlace
from console.places.session import SessionPlace
from console.places.statement.preview import Verdict
from console.places.statement.statement import StatementPlace
from console.places.tables.tables import TablesPlace
from console.widgets.grid import Grid
from console.widgets.lines import TabLine
from console.widgets.page_view import PageView
from console.words.format import short_id
from console.work import Answered, Question
from engine.model.operation import UndoPlan
from tests.console import samples
from tests.console.drive import ORDERS, Clock, Operator, console
from tests.console.fake_backend import FakeBackend
from tests.console.naming_backend import NamingBackend, a_long_ledger, tag
from tests.console.samples import MERGE_SQL

MOVES: tuple[tuple[str, ...], ...] = (
    ("escape", "down", "enter"),
    ("escape", "up", "enter"),
    ("left_square_bracket",),
    ("right_square_bracket",),
    ("right_square_bracket",) * 3,
    ("r",),
    ("plus",),
    ("enter",),
    ("3",),
    ("1",),
    ("3", "down"),
    ("3", "u"),
    ("3", "u", "down"),
    ("3", "u", "escape"),
    ("3", "right_square_bracket"),
    ("2", "escape", "p"),
    ("2", "e", "x", "escape"),
    ("2", "escape", "v"),
    ("2", "left_square_bracket"),
    ("2", "right_square_bracket"),
    ("2", "x"),
    ("2", "escape", "v", "c", "ctrl+y"),
    ("4",),
    ("4", "escape", "p"),
    ("4", "escape", "p"),
    ("4", "e", "x", "escape"),
    ("4", "escape", "v"),
    ("4", "escape", "v", "c", "ctrl+y"),
    ("4", "escape", "x"),
    ("4", "ctrl+t"),
    ("4", "right_square_bracket"),
    ("1", "n"),
    ("1", "c"),
    ("5",),
    ("5", "r"),
    ("5", "r"),
    ("5", "s", "ctrl+y"),
    ("f9",),
    ("f9",),
)
MARK = re.compile(r"<[^<>]*>")
STEPS = st.lists(st.one_of(st.sampled_from(MOVES), st.integers(0, 3)), min_size=15, max_size=40)
"""Keys that are pressed, or which of the waiting answers comes now."""


def marks(view: PageView) -> Iterator[str]:
    """The marks that are on the screen."""
    for grid in view.query(Grid):
        for row in grid.table.rows:
            yield from (mark for cell in row for mark in MARK.findall(cell or ""))
    for paragraph in view.page.head:
        yield from MARK.findall(f"{paragraph.lead.plain} {paragraph.body.plain}")
    if view.page.sql is not None:
        yield from MARK.findall(view.page.sql)


def _rows_version(place: TablesPlace) -> int | None:
    """The version whose rows belong under the name above them."""
    if place.shown is None or place.detail is None:
        return None
    return place.detail.version if place.shown.version is None else place.shown.version


def check_tables(place: TablesPlace) -> None:
    name = str(place.query_one("#table-name", Static).visual).partition(" · ")[0]
    # statistics name the columns of the table
    view = "columns" if place.view == "statistics" else place.view
    for mark in marks(place.page):
        version = _rows_version(place) if view == "rows" else None
        assert mark == tag(name, view, version), f"{mark} is shown under {name} {view}"


def check_history(place: HistoryPlace) -> None:
    for mark in marks(place.detail_view):
        assert place.detail is not None
        assert mark == f"<{place.detail.operation.op_id}>", f"{mark} is shown as {place.detail.operation.op_id}"


def check_statement(place: StatementPlace) -> None:
    """The preview and the commit are of the plan whose name is above them, and it says if the text is another.

    What Spark says of a text is of the text above it.
    """
    told = " ".join(one.body.plain for one in place.pane.message)
    for mark in MARK.findall(told):
        assert mark == f"<{sha256(place.pane.text.encode()).hexdigest()}>", f"{told} is shown of another text"
    if (plan := place.plan) is None:
        return
    assert place.preview.plan is plan
    step = dict(place.query_one("#steps", TabLine).tabs)["preview"]
    name, _, other = step.partition(" (")
    assert name == f"Preview {short_id(plan.plan_id)}"
    assert bool(other) == place.is_edited
    shown = "\n".join(one.body.plain for one in place.query_one(Verdict).paragraphs)
    page = place.commit_pane.page if place.view == "commit" else place.preview.page
    for mark in [*MARK.findall(shown), *marks(page)]:
        assert mark == f"<{plan.plan_id}>", f"{mark} is shown as {plan.plan_id}"
    is_edited = place.pane.text.strip() != plan.statement.sql.strip()
    assert ("The text was edited" in shown) == is_edited


def check_session(place: SessionPlace, backend: NamingBackend) -> None:
    for mark in marks(place.page):
        assert place.console_app.status.spark == "warm", f"{mark} is shown of no Spark"
        assert mark == f"<spark {backend.starts}>", f"{mark} is shown of Spark {backend.starts}"


def check_undo(operator: Operator) -> None:
    dialog = operator.app.screen
    below = operator.app.screen_stack[0]
    if isinstance(dialog, ConfirmDialog) and isinstance(below, HistoryPlace):
        assert below.selected is not None
        assert dialog.title_text() == f"Undo operation {below.selected.op_id}"


def check(operator: Operator) -> None:
    check_undo(operator)
    for place in operator.app.open_places():
        if isinstance(place, TablesPlace):
            check_tables(place)
        elif isinstance(place, HistoryPlace):
            check_history(place)
        elif isinstance(place, StatementPlace):
            check_statement(place)
        elif isinstance(place, SessionPlace):
            assert isinstance(operator.app.backend, NamingBackend)
            check_session(place, operator.app.backend)


def is_drawing(operator: Operator) -> bool:
    return any(view._swapping for place in operator.app.open_places() for view in place.query(PageView))


async def run(steps: list[tuple[str, ...] | int], home: Path) -> None:
    backend = NamingBackend(home)
    backend.waiting = []
    backend.ledger = a_long_ledger()
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.write(MERGE_SQL)
        await operator.press("escape", "1", *ORDERS, "enter")
        for step in steps:
            if isinstance(step, int):
                backend.answer(step)
                await asyncio.sleep(0.002)
            else:
                await operator.press(*step)
            await operator.pilot.pause()
            # on a busy machine a page may still be on its way to the screen
            await operator.until(lambda: not is_drawing(operator), "a page that is drawn")
            check(operator)
        while isinstance(operator.app.screen, Dialog):
            await operator.press("escape")
        if operator.app.status.spark == "lost":
            await operator.press("f9")
        await operator.press("1")
        await all_answered(operator, backend)
        check(operator)
        for place in operator.app.open_places():
            if isinstance(place, HistoryPlace) and place.detail is not None and place.view == "sql":
                assert set(marks(place.detail_view)) <= {f"<{place.detail.operation.op_id}>"}
        await shows_what_was_asked_for(operator)


async def all_answered(operator: Operator, backend: NamingBackend) -> None:
    """Each of them has the whole patience: on a busy machine forty of them last longer than one may."""

    def asked() -> list[str]:
        return [group for place in operator.app.open_places() for group in place._newest_tickets()]

    while backend.waiting or asked():
        backend.answer(0)
        before = len(backend.calls), asked()
        if before[1] and not backend.waiting:
            await operator.until(
                lambda before=before: backend.waiting or (len(backend.calls), asked()) != before,  # type: ignore[misc]
                f"an answer to {before[1]}",
            )
        await operator.pilot.pause()


async def shows_what_was_asked_for(operator: Operator) -> None:
    """Nothing that was dropped is waited for."""
    place = next(one for one in operator.app.open_places() if isinstance(one, TablesPlace))
    if place.shown is not None and place.view != "scan":
        await operator.until(lambda: any(marks(place.page)), "an answer on the screen")


def test_rows_are_of_the_table_the_version_and_the_view_above_them(request: pytest.FixtureRequest) -> None:
    runs = request.config.getoption("--delays")

    # a run takes half a second: what fails is short enough as it is
    @settings(
        max_examples=runs,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        phases=(Phase.generate,),
    )
    @given(STEPS)
    def law(steps: list[tuple[str, ...] | int]) -> None:
        with tempfile.TemporaryDirectory() as home:
            asyncio.run(run(steps, Path(home)))

    law()


async def test_a_table_that_is_left_takes_no_rows_to_the_next(tmp_path: Path) -> None:
    backend = NamingBackend(tmp_path)
    backend.waiting = []
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.until(lambda: backend.waiting)
        backend.answer(0)
        await operator.sees(tag("sales.orders", "columns"))
        place = operator.app.screen
        assert isinstance(place, TablesPlace)
        place.action_view("rows")
        # the rows, and whether the table is as it was
        await operator.until(lambda: len(backend.waiting) == 2)
        await operator.press("escape", "up", "enter")
        await operator.until(lambda: len(backend.waiting) == 3)
        backend.answer(0)
        backend.answer(0)
        await operator.until(lambda: not place.is_asking("view"))
        assert not list(marks(place.page))
        backend.answer(0)
        await operator.until(lambda: backend.waiting)
        backend.answer(0)
        await operator.sees(tag("sales.customers", "rows", 41))


UNDOS = (samples.an_undo, samples.a_dropping_undo)
"""A RESTORE and a DROP."""


@pytest.mark.parametrize("looked", UNDOS)
async def test_esc_leaves_a_lookup_and_another_row_makes_it_void(
    tmp_path: Path, looked: Callable[[str], UndoPlan]
) -> None:
    backend = NamingBackend(tmp_path)
    backend.undo_plan = looked("op1")
    backend.waiting = []
    backend.ledger = a_long_ledger()
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("3")
        await operator.sees("applied, kept")
        await all_answered(operator, backend)
        for leave in ("escape", "down"):
            await operator.press("u", leave)
            await operator.until(lambda: any(call.method == "plan_undo" for call in backend.waiting))
            await all_answered(operator, backend)
            assert isinstance(operator.app.screen, HistoryPlace)
        await operator.press("u")
        await all_answered(operator, backend)
        await operator.sees("Undo operation op1")


@pytest.mark.parametrize("looked", UNDOS)
async def test_no_dialog_takes_a_confirm_key_before_it_could_be_read(
    tmp_path: Path, looked: Callable[[str], UndoPlan]
) -> None:
    backend = NamingBackend(tmp_path)
    backend.undo_plan = looked("op0")
    backend.waiting = []
    backend.ledger = a_long_ledger()
    async with console(backend, size=(120, 36)) as operator:
        clock = operator.app.clock
        assert isinstance(clock, Clock)
        await operator.warm()
        await operator.press("3")
        await operator.sees("applied, kept")
        await all_answered(operator, backend)
        clock.stands = True
        await operator.press("u")
        await all_answered(operator, backend)
        await operator.sees("Undo operation op0")
        await operator.press("ctrl+y")
        assert isinstance(operator.app.screen, ConfirmDialog)
        assert "undo" not in operator.screen.splitlines()[-2]
        clock.seconds += 0.7
        await operator.sees("ctrl+y  undo")
        await operator.press("ctrl+y")
        await operator.until(lambda: backend.called("undo"))
        await all_answered(operator, backend)


@pytest.mark.parametrize("place", ["2", "4"])
async def test_a_commit_dialog_takes_no_confirm_key_before_it_could_be_read(tmp_path: Path, place: str) -> None:
    backend = FakeBackend(tmp_path)
    async with console(backend, size=(120, 36)) as operator:
        clock = operator.app.clock
        assert isinstance(clock, Clock)
        await operator.warm()
        await operator.press(place)
        statement = operator.app.screen_stack[0]
        assert isinstance(statement, StatementPlace)
        statement.use_text(MERGE_SQL if place == "2" else samples.CREATE_SQL)
        await operator.press("ctrl+r")
        await operator.until(lambda: statement.view == "preview", "the preview")
        clock.stands = True
        await operator.press("c", "ctrl+y")
        assert isinstance(operator.app.screen, CommitDialog)
        clock.seconds += 0.6
        await operator.press("ctrl+y")
        assert isinstance(operator.app.screen, CommitDialog)
        clock.seconds += 0.1
        await operator.sees("ctrl+y  commit")
        await operator.press("ctrl+y")
        await operator.until(lambda: backend.called("apply"))


async def test_a_commit_dialog_takes_no_key_for_a_plan_that_is_no_longer_shown(tmp_path: Path) -> None:
    backend = FakeBackend(tmp_path)
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        operator.app._heartbeat((False, False))
        backend.hold("restart")
        await operator.press("f9")
        await operator.until(lambda: operator.app.status.spark == "starting")
        backend.plans = [samples.a_plan(plan_id="5ec0nd000000")]
        await operator.press("e", "x", "ctrl+r", "escape", "v", "c")
        assert isinstance(operator.app.screen, CommitDialog)
        backend.release("restart")
        await operator.until(lambda: operator.merge.plan_id == "5ec0nd000000", "the second plan")
        await operator.press("ctrl+y")
        assert operator.app.screen_stack == [operator.merge]
        assert not backend.called("apply")
        await operator.sees("Another plan is shown by now.")


@pytest.mark.parametrize("key", ["n", "c"])
async def test_a_new_table_is_like_the_one_that_is_still_selected(tmp_path: Path, key: str) -> None:
    backend = NamingBackend(tmp_path)
    backend.waiting = []
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, key)
        await operator.until(lambda: backend.waiting)
        await operator.press("up")
        await all_answered(operator, backend)
        assert isinstance(operator.app.screen, TablesPlace)
        await operator.press(key)
        await operator.until(lambda: backend.waiting)
        await all_answered(operator, backend)
        await operator.until(lambda: isinstance(operator.app.screen_stack[0], CreatePlace))


async def test_the_session_of_a_lost_spark_is_not_shown_as_warm(tmp_path: Path) -> None:
    backend = NamingBackend(tmp_path)
    backend.waiting = []
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("5")
        await operator.until(lambda: backend.waiting)
        operator.app._heartbeat((False, False))
        await all_answered(operator, backend)
        await operator.sees("is lost.")
        assert not list(marks(operator.app.screen.query_one(PageView)))


async def test_a_dialog_that_is_closed_before_it_is_drawn_crashes_nothing(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        dialog = ConfirmDialog("Undo", "It takes it back.", confirm_label="undo", refuse_label="Cancel")
        await operator.app.push_screen(dialog)
        await operator.app.pop_screen()
        dialog._is_drawn()
        assert not dialog.was_readable


async def test_an_answer_that_comes_while_the_console_closes_is_dropped(backend: FakeBackend) -> None:
    shown: list[str] = []
    async with console(backend) as operator:
        app = operator.app
    app._newest_tickets()["late"] = 1
    question = Question("late", 1, of=lambda: None, was=None, spark=0, ended=lambda: shown.append("ended"))
    app._on_answered(Answered(question, lambda: shown.append("delivered")))
    assert shown == ["ended"]


@pytest.mark.parametrize("open_dialog", ["ctrl+q", "f1"])
async def test_no_undo_is_asked_about_above_another_dialog(backend: FakeBackend, open_dialog: str) -> None:
    """A confirm key that is meant for one would reach the other."""
    backend.hold("plan_undo")
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("3")
        await operator.sees("u takes it back")
        await operator.press("u")
        await operator.until(lambda: backend.called("plan_undo"))
        await operator.press(open_dialog)
        dialog = operator.app.screen
        assert isinstance(dialog, Dialog)
        backend.release("plan_undo")
        await operator.sees("The answer came while a dialog was open")
        assert operator.app.screen is dialog
        await operator.press("escape", "u")
        await operator.sees("Undo operation")


@pytest.mark.parametrize("key", ["e", "p"])
async def test_no_other_place_comes_below_a_dialog(backend: FakeBackend, key: str) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("3")
        await operator.sees("u takes it back")
        backend.hold("operation")
        await operator.press("down", key, "f1")
        dialog = operator.app.screen
        backend.release("operation")
        await operator.sees("The answer came while a dialog was open")
        assert operator.app.screen is dialog
        assert not backend.called("plan")


async def test_no_text_is_replaced_below_a_dialog(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        backend.hold("operation")
        await operator.press("o")
        await operator.sees("Open a merge", "sales.customers")
        await operator.press(*"customers", "enter")
        await operator.until(lambda: backend.called("operation"))
        await operator.press("c")
        backend.release("operation")
        await operator.sees("The answer came while a dialog was open")
        assert operator.merge.editor.text == MERGE_SQL
        assert isinstance(operator.app.screen, CommitDialog)


async def test_a_choice_that_nobody_saw_is_not_taken(backend: FakeBackend) -> None:
    taken: list[str | None] = []
    async with console(backend) as operator:
        clock = operator.app.clock
        assert isinstance(clock, Clock)
        dialog = PickDialog("Table", "Which?", (), awaits="Listing the tables…")
        operator.app.push_screen(dialog, taken.append)
        await operator.sees("Listing the tables…")
        clock.stands = True
        dialog.add([Choice("a", "first")])
        await operator.press("enter")
        assert not taken
        clock.seconds += 1
        await operator.press("enter")
        await operator.until(lambda: taken == ["a"])


async def test_a_row_that_came_under_the_mouse_is_not_taken_by_the_click_on_another(backend: FakeBackend) -> None:
    taken: list[str | None] = []
    async with console(backend) as operator:
        clock = operator.app.clock
        assert isinstance(clock, Clock)
        dialog = PickDialog("Table", "Which?", [Choice("z", "zebra")], last=Choice("l", "the last"), awaits="Listing…")
        operator.app.push_screen(dialog, taken.append)
        await operator.sees("the last")
        clock.stands = True
        dialog.add([Choice("b", "bear")])
        await operator.sees("bear")
        await operator.pilot.click("#choices", offset=(2, 1))
        assert not taken
        # that one was there before
        await operator.pilot.click("#choices", offset=(2, 0))
        await operator.until(lambda: taken == ["z"])


async def test_a_late_list_takes_no_click_before_it_could_be_read(backend: FakeBackend) -> None:
    taken: list[str | None] = []
    async with console(backend) as operator:
        clock = operator.app.clock
        assert isinstance(clock, Clock)
        clock.stands = True
        dialog = PickDialog("Table", "Which?", [Choice("z", "zebra")])
        dialog.must_be_read = True
        operator.app.push_screen(dialog, taken.append)
        await operator.sees("zebra", "Table …")
        await operator.pilot.click("#choices", offset=(2, 0))
        assert not taken
        clock.seconds += 0.7
        await operator.misses("Table …")
        await operator.pilot.click("#choices", offset=(2, 0))
        await operator.until(lambda: taken == ["z"])


async def test_keys_behind_the_one_that_closes_the_help_reach_the_dialog_below(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        dialog = PickDialog("Table", "Which?", [Choice("a", "first"), Choice("b", "second")])
        dialog.must_be_read = True
        operator.app.push_screen(dialog)
        await operator.sees("second")
        await operator.press("f1")
        await operator.until(lambda: operator.app.screen is not dialog)
        for key in (Key("escape", None), *(Key(sign, sign) for sign in "seco")):
            operator.app.post_message(key)
        await operator.until(lambda: dialog.query_one("#narrow", Input).value == "seco", "what was typed")
