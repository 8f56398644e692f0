"""A table of text for any number of rows. Imports pyarrow: import this module late."""

from __future__ import annotations

from typing import ClassVar

import pyarrow as pa
from rich.cells import cell_len
from rich.text import Text
from textual.binding import Binding, BindingType
from textual_fastdatatable import DataTable
from textual_fastdatatable.backend import ArrowBackend

from console.format import elide_end, elide_path
from console.visible import visible
from console.widgets.page import Column, Row, Table

CELL_PADDING = 2
MINIMUM_FIT = 12
MAXIMUM_CELL = 400


class Grid(DataTable, inherit_bindings=False):
    """Rows under a cursor. Tab leaves it, as it leaves any other widget."""

    HELP = "A table. The arrow keys move, home and end go to its ends, enter opens the row."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Open", show=False, id="grid.open", tooltip="Open the row"),
        Binding("up,k", "cursor_up", "Up", show=False, id="grid.up", tooltip="Row above"),
        Binding("down,j", "cursor_down", "Down", show=False, id="grid.down", tooltip="Row below"),
        Binding("left", "cursor_left", "Left", show=False, id="grid.left", tooltip="Scroll left"),
        Binding("right", "cursor_right", "Right", show=False, id="grid.right", tooltip="Scroll right"),
        Binding("pageup", "page_up", "Page up", show=False, id="grid.page_up", tooltip="A page up"),
        Binding("pagedown", "page_down", "Page down", show=False, id="grid.page_down", tooltip="A page down"),
        Binding("home,g", "cursor_table_start", "First", show=False, id="grid.first", tooltip="First row"),
        Binding("end,G", "cursor_table_end", "Last", show=False, id="grid.last", tooltip="Last row"),
    ]

    def __init__(self, table: Table, *, width: int, ellipsis: str, id: str | None = None) -> None:
        columns = _fitted(table, width, ellipsis)
        names = [f"{index}" for index in range(len(table.columns))]
        data = pa.table(
            {name: pa.array(cells, type=pa.string()) for name, cells in zip(names, columns, strict=True)}
        )
        super().__init__(
            backend=ArrowBackend(data),
            column_labels=[
                _label(column, cells) for column, cells in zip(table.columns, columns, strict=True)
            ],
            column_widths=_widths(table, columns, width),
            cursor_type="row",
            show_row_labels=False,
            null_rep="[dim italic]NULL[/]",
            render_markup=False,
            id=id,
        )


def _fitted(table: Table, width: int, ellipsis: str) -> list[list[str | None]]:
    """The cells by column, aligned, and the fitted columns cut to the room that the others leave."""
    columns = [[_cut(row[index]) for row in table.rows] for index in range(len(table.columns))]
    widths = [
        max(len(column.label), max((len(cell or "NULL") for cell in cells), default=0))
        for column, cells in zip(table.columns, columns, strict=True)
    ]
    flexible = [index for index, column in enumerate(table.columns) if column.fit]
    if flexible:
        fixed = sum(widths[index] for index in range(len(widths)) if index not in flexible)
        room = width - fixed - CELL_PADDING * len(widths)
        _cut_flexible(table.columns, columns, flexible, room, ellipsis)
    return [
        _right_aligned(cells, column.label) if column.align == "right" else cells
        for column, cells in zip(table.columns, columns, strict=True)
    ]


def _cut_flexible(
    specs: list[Column] | tuple[Column, ...] | object,
    columns: list[list[str | None]],
    flexible: list[int],
    room: int,
    ellipsis: str,
) -> None:
    assert isinstance(specs, (list, tuple))
    share = max(room // len(flexible), MINIMUM_FIT)
    for index in flexible:
        cut = elide_path if specs[index].fit == "path" else elide_end
        columns[index] = [cell if cell is None else cut(cell, share, ellipsis) for cell in columns[index]]


def _cut(cell: str | None) -> str | None:
    return cell if cell is None or len(cell) <= MAXIMUM_CELL else elide_end(cell, MAXIMUM_CELL)


def _widths(table: Table, columns: list[list[str | None]], width: int) -> list[int | None]:
    """As wide as the cells, and the last one to the edge, so that the cursor is a whole line."""
    if not columns or table.columns[-1].align == "right":
        return [None] * len(columns)
    widest = [
        max(len(column.label), max((cell_len(cell or "NULL") for cell in cells), default=0))
        for column, cells in zip(table.columns, columns, strict=True)
    ]
    rest = width - sum(widest) - CELL_PADDING * len(widest)
    return [None] * (len(columns) - 1) + [widest[-1] + max(rest, 0)]


def _right_aligned(cells: list[str | None], label: str) -> list[str | None]:
    width = max(len(label), max((len(cell) for cell in cells if cell is not None), default=0))
    return [cell if cell is None else cell.rjust(width) for cell in cells]


def _label(column: Column, cells: list[str | None]) -> Text:
    text = visible(column.label)
    if column.align == "right":
        text = text.rjust(max((len(cell) for cell in cells if cell is not None), default=0))
    return Text(text)


__all__ = ["Grid", "Row"]
