"""A table of text for any number of rows. Imports pyarrow: import this module late."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import pyarrow as pa
from rich.align import Align
from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text
from textual.binding import Binding, BindingType
from textual_fastdatatable import DataTable
from textual_fastdatatable.backend import ArrowBackend

from console.format import elide_end, elide_file
from console.visible import visible
from console.widgets.page import Column, Table

CELL_PADDING = 2
MINIMUM_FIT = 8
MAXIMUM_CELL = 400

Cells = list["str | None"]


class Grid(DataTable, inherit_bindings=False):
    """Rows under a cursor. Tab leaves it, as it leaves any other widget."""

    HELP = "A table. The arrow keys move, home and end go to its ends, enter opens the row."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "open", show=False, id="grid.open", tooltip="Open the row"),
        Binding("up,k", "cursor_up", "up", show=False, id="grid.up", tooltip="Row above"),
        Binding("down,j", "cursor_down", "down", show=False, id="grid.down", tooltip="Row below"),
        Binding("left", "cursor_left", "left", show=False, id="grid.left", tooltip="Scroll left"),
        Binding("right", "cursor_right", "right", show=False, id="grid.right", tooltip="Scroll right"),
        Binding("pageup", "page_up", "page up", show=False, id="grid.page_up", tooltip="A page up"),
        Binding("pagedown", "page_down", "page down", show=False, id="grid.page_down", tooltip="A page down"),
        Binding("home,g", "cursor_table_start", "first", show=False, id="grid.first", tooltip="First row"),
        Binding("end,G", "cursor_table_end", "last", show=False, id="grid.last", tooltip="Last row"),
    ]

    def __init__(self, table: Table, *, width: int, ellipsis: str) -> None:
        columns = _fitted(table, width, ellipsis)
        data = pa.table({str(index): pa.array(cells, type=pa.string()) for index, cells in enumerate(columns)})
        super().__init__(
            backend=ArrowBackend(data),
            column_labels=[_label(*pair) for pair in zip(table.columns, columns, strict=True)],
            column_widths=_widths(table, columns, width),
            cursor_type="row",
            show_row_labels=False,
            null_rep="[dim italic]NULL[/]",
            render_markup=False,
        )

    def _get_cell_renderable(self, row_index: int, column_index: int, max_width: int | None = None) -> RenderableType:
        # all cells are text, so only NULL comes aligned: at the centre, away from its column
        renderable: RenderableType = super()._get_cell_renderable(row_index, column_index, max_width)
        return renderable.renderable if isinstance(renderable, Align) else renderable


def _fitted(table: Table, width: int, ellipsis: str) -> list[Cells]:
    """The cells by column, aligned, and the fitted columns cut to the room that the others leave."""
    columns: list[Cells] = [
        [cell if cell is None else elide_end(cell, MAXIMUM_CELL) for cell in cells]
        for cells in (zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns))
    ]
    flexible = [index for index, column in enumerate(table.columns) if column.fit]
    if flexible:
        taken = sum(_widest(*pair) for pair in zip(table.columns, columns, strict=True) if not pair[0].fit)
        room = (width - taken - CELL_PADDING * len(columns)) // len(flexible)
        for index in flexible:
            cut = _cutter(table.columns[index], max(room, MINIMUM_FIT), ellipsis)
            columns[index] = [cell if cell is None else cut(cell) for cell in columns[index]]
    return [
        _right_aligned(cells, column.label) if column.align == "right" else cells
        for column, cells in zip(table.columns, columns, strict=True)
    ]


def _cutter(column: Column, width: int, ellipsis: str) -> Callable[[str], str]:
    elide = elide_file if column.fit == "file" else elide_end
    return lambda cell: elide(cell, width, ellipsis)


def _widths(table: Table, columns: Sequence[Cells], width: int) -> list[int | None]:
    """As wide as the cells, and the last one to the edge, so that the cursor is a whole line."""
    if not columns:
        return []
    widest = [_widest(*pair) for pair in zip(table.columns, columns, strict=True)]
    rest = width - sum(widest) - CELL_PADDING * len(widest)
    return [None] * (len(widest) - 1) + [widest[-1] + max(rest, 0)]


def _widest(column: Column, cells: Cells) -> int:
    return max(len(column.label), max((cell_len("NULL" if cell is None else cell) for cell in cells), default=0))


def _right_aligned(cells: Cells, label: str) -> Cells:
    width = max(len(label), max((len(cell) for cell in cells if cell is not None), default=0))
    return [cell if cell is None else cell.rjust(width) for cell in cells]


def _label(column: Column, cells: Cells) -> Text:
    text = visible(column.label)
    if column.align == "right":
        text = text.rjust(max((len(cell) for cell in cells if cell is not None), default=0))
    return Text(text)
