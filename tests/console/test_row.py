"""One row in full, however wide its table is."""

from __future__ import annotations

import pytest

from console.dialogs.row import Line, RowDialog
from tests.console.drive import Operator, console
from tests.console.fake_backend import FakeBackend


async def open_row(operator: Operator, lines: list[Line]) -> RowDialog:
    dialog = RowDialog("One row", lines)
    await operator.app.push_screen(dialog)
    await operator.sees("copies the cell")
    return dialog


def cells(count: int) -> list[Line]:
    return [(f"column_{at}", f"value {at}", f"value {at}") for at in range(count)]


async def test_a_row_of_three_thousand_cells_takes_no_more_widgets_than_one_of_three(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        counts = []
        for count in (3, 3_000):
            dialog = await open_row(operator, cells(count))
            counts.append(len(dialog.query("*")))
            await operator.press("escape")
        assert counts[0] == counts[1]


async def test_every_cell_is_reached_seen_whole_and_copied(backend: FakeBackend) -> None:
    long = " ".join(f"word{at}" for at in range(60))
    lines: list[Line] = [*cells(60), ("long", long, long), ("gone", "before", None)]
    async with console(backend) as operator:
        await open_row(operator, lines)
        assert "value 59" not in operator.screen
        await operator.press(*["down"] * 60)
        await operator.sees("word0", "word59")
        await operator.press("c")
        assert operator.app.clipboard == long
        await operator.press("j", "j")
        await operator.sees("before → NULL")
        await operator.press("c")
        assert operator.app.clipboard == "NULL"
        await operator.press(*["up"] * 70, "c")
        await operator.sees("value 0")
        assert operator.app.clipboard == "value 0"
        await operator.press("pagedown")
        await operator.misses("value 0")


async def test_the_mouse_selects_text_across_cells(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        dialog = await open_row(operator, cells(3))
        content = dialog.query_one("#content")
        x, y = content.region.offset
        await operator.pilot.mouse_down(offset=(x + 4, y))
        await operator.pilot.hover(offset=(x + 10, y + 1))
        await operator.pilot.mouse_up(offset=(x + 10, y + 1))
        assert (dialog.get_selected_text() or "").rstrip() == "lumn_0  value 0\n  column_1"


@pytest.mark.parametrize("lines", [[], cells(1)])
async def test_a_row_of_few_cells_takes_every_key(backend: FakeBackend, lines: list[Line]) -> None:
    async with console(backend) as operator:
        dialog = await open_row(operator, lines)
        await operator.press("down", "up", "pagedown", "y")
        assert operator.app.screen is dialog


async def test_null_is_told_from_a_text_that_reads_null_where_it_is_copied(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await open_row(operator, [("a", None, None), ("b", "NULL", "NULL")])
        await operator.sees("a  NULL", "b  'NULL'")
        await operator.press("y")
        assert operator.app.clipboard == "a\tNULL\tNULL\nb\t'NULL'\t'NULL'"
        await operator.press("down", "c")
        assert operator.app.clipboard == "'NULL'"
