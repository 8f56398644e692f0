"""What is shown is of what it says it is of, however late and in whatever order the backend answers."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from textual.widgets import Static

from console.dialogs.confirm import ConfirmDialog
from console.places.history.history import HistoryPlace
from console.places.merge.merge import MergePlace
from console.places.tables.tables import TablesPlace
from console.widgets.grid import Grid
from console.widgets.page_view import PageView
from tests.console.drive import ORDERS, Clock, Operator, console
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


def check_tables(place: TablesPlace) -> None:
    name = str(place.query_one("#table-name", Static).visual).partition(" · ")[0]
    # statistics name the columns of the table
    view = "columns" if place.view == "statistics" else place.view
    for mark in marks(place.page):
        version = place.shown.version if place.shown is not None and view == "rows" else None
        assert mark == tag(name, view, version), f"{mark} is shown under {name} {view}"


def check_history(place: HistoryPlace) -> None:
    for mark in marks(place.detail_view):
        assert place.detail is not None
        assert mark == f"<{place.detail.operation.op_id}>", f"{mark} is shown as {place.detail.operation.op_id}"


def check_merge(place: MergePlace) -> None:
    if place.preview.view == "spark":
        for mark in marks(place.preview.page):
            assert mark == f"<{place.plan_id}>", f"{mark} is shown below plan {place.plan_id}"


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
        elif isinstance(place, MergePlace):
            check_merge(place)


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
            check(operator)
        while isinstance(operator.app.screen, ConfirmDialog):
            await operator.press("escape")
        await operator.press("1")
        await all_answered(operator, backend)
        check(operator)
        for place in operator.app.open_places():
            if isinstance(place, HistoryPlace) and place.detail is not None and place.view == "sql":
                assert set(marks(place.detail_view)) <= {f"<{place.detail.operation.op_id}>"}
        await shows_what_was_asked_for(operator)


async def all_answered(operator: Operator, backend: NamingBackend) -> None:
    def is_quiet() -> bool:
        backend.answer(0)
        return not backend.waiting and not any(place._newest_tickets() for place in operator.app.open_places())

    await operator.until(is_quiet, "the last answer")


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
        await operator.until(lambda: backend.waiting)
        await operator.press("escape", "up", "enter")
        await operator.until(lambda: len(backend.waiting) == 2)
        backend.answer(0)
        await operator.until(lambda: not place.is_asking("view"))
        assert not list(marks(place.page))
        backend.answer(0)
        await operator.until(lambda: backend.waiting)
        backend.answer(0)
        await operator.sees(tag("sales.customers", "rows"))


async def test_esc_leaves_a_lookup_and_another_row_makes_it_void(tmp_path: Path) -> None:
    backend = NamingBackend(tmp_path)
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


async def test_no_dialog_takes_a_confirm_key_before_it_could_be_read(tmp_path: Path) -> None:
    backend = NamingBackend(tmp_path)
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
