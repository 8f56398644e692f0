"""A table of text for any number of rows: only the lines in sight are formatted, so a hundred thousand open at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from console.widgets.page import Column, Order, Table, order_of
from console.words.format import elide_end, elide_file
from console.words.glyphs import UNICODE, Glyphs
from console.words.visible import or_null, visible
from console.work import Asking

PADDING = 1
MINIMUM_FIT = 8
READABLE_FIT = 24
MAXIMUM_CELL = 400
MEASURED = 600
"""About as many rows, spread over all, are measured. A wider cell elsewhere widens its column once it is in sight."""
CUT = "~"
"""Where the edge cuts a text, in a terminal whose ellipsis takes several cells."""


class Grid(ScrollView, Asking, can_focus=True):
    """Rows under a cursor. Tab leaves it, as it leaves any other widget.

    The cursor counts the lines on screen; messages name rows by their numbers in the table.
    """

    HELP = (
        "A table. The arrow keys move, home and end go to its ends, enter opens the row. A click on the name of a "
        "column sorts by it, a second one the other way round."
    )
    COMPONENT_CLASSES: ClassVar[set[str]] = {"grid--header", "grid--cursor", "grid--hover", "grid--failed"}
    DEFAULT_CSS = """
    Grid { height: 1fr; text-wrap: nowrap; }
    Grid > .grid--failed { color: $text-error; text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", show=False, id="grid.open", tooltip="Open the row"),
        Binding("up,k", "move(-1)", "up", show=False, id="grid.up", tooltip="Row above"),
        Binding("down,j", "move(1)", "down", show=False, id="grid.down", tooltip="Row below"),
        Binding("left", "scroll_sideways(-8)", "left", show=False, id="grid.left", tooltip="Scroll left"),
        Binding("right", "scroll_sideways(8)", "right", show=False, id="grid.right", tooltip="Scroll right"),
        Binding("pageup", "page(-1)", "page up", show=False, id="grid.page_up", tooltip="A page up"),
        Binding("pagedown", "page(1)", "page down", show=False, id="grid.page_down", tooltip="A page down"),
        Binding("home,g", "go_to(0)", "first", show=False, id="grid.first", tooltip="First row"),
        Binding("end,G", "go_to(-1)", "last", show=False, id="grid.last", tooltip="Last row"),
        Binding("greater_than_sign", "sort_by(1)", "sort", show=False, id="grid.sort_next",
                tooltip="Sort by the next column; a column of numbers has its greatest first"),
        Binding("less_than_sign", "sort_by(-1)", "sort by the one before", show=False, id="grid.sort_before",
                tooltip="Sort by the column before; before the first the rows are as they came"),
        Binding("S", "reverse", "sort the other way", show=False, id="grid.sort_reverse",
                tooltip="Sort the other way round"),
    ]  # fmt: skip

    cursor: reactive[int] = reactive(0)
    hovered: reactive[int] = reactive(-1)

    class OfTable(Message):
        """Names its table: another one may be shown when the message arrives."""

        def __init__(self, table: Table) -> None:
            super().__init__()
            self.table = table

    class RowMessage(OfTable):
        def __init__(self, table: Table, row: int) -> None:
            super().__init__(table)
            self.row = row

    class RowSelected(RowMessage):
        """Enter was pressed on a row, or it was clicked while the cursor was on it."""

    class RowHighlighted(RowMessage):
        """The cursor has come to a row."""

    class Sorted(OfTable):
        """The rows are in another order now."""

        def __init__(self, table: Table, order: Order | None) -> None:
            super().__init__(table)
            self.order = order

    def __init__(
        self, table: Table, *, width: int, glyphs: Glyphs = UNICODE, order: Order | None = None, at: int = 0
    ) -> None:
        super().__init__()
        self.set_reactive(Grid.cursor, at if order is None else order.rows.index(at))
        self.table = table
        self.order = order
        self._room = width
        self._glyphs = glyphs
        self._ellipsis = glyphs.ellipsis
        self._sample = table.rows[:: max(len(table.rows) // MEASURED, 1)]
        self._is_short = False
        self._natural = self._measured()
        if self._needed() > width:
            self._is_short = True
            self._natural = self._measured()
        self._widths = self._fitted()
        self._lines: LRUCache[tuple[object, ...], Strip] = LRUCache(512)

    def on_mount(self) -> None:
        self._resize_content()
        if self.table.rows:
            self.post_message(self.RowHighlighted(self.table, self.number_of(self.cursor)))

    def on_resize(self) -> None:
        # it may begin below, and there is no height to scroll in before
        self._bring_in_sight(self.cursor)

    # What is drawn

    def render_line(self, y: int) -> Strip:
        left, top = self.scroll_offset
        width = self.size.width
        if y == 0:
            return self._header(left, width)
        row = top + y - 1
        if row >= len(self.table.rows):
            return Strip.blank(width, self.rich_style)
        look = "cursor" if row == self.cursor else "hover" if row == self.hovered else ""
        key = (self.number_of(row), look, left, width, self.has_focus, tuple(self._widths), self.app.theme)
        if key not in self._lines:
            style = self.get_component_rich_style(f"grid--{look}") if look else self.rich_style
            cells = self._cells(self.number_of(row), style, selected=bool(look))
            self._lines[key] = self._in_sight(Strip(cells), left, width, style).apply_style(style)
        return self._lines[key]

    def _header(self, left: int, width: int) -> Strip:
        style = self.get_component_rich_style("grid--header")
        labels = [
            _aligned(self._label(at), column, self._widths[at], self._ellipsis)
            for at, column in enumerate(self.table.columns)
        ]
        text = "".join(f"{' ' * PADDING}{label}{' ' * PADDING}" for label in labels)
        return self._in_sight(Strip([Segment(text, style)]), left, width, style)

    def _in_sight(self, line: Strip, left: int, width: int, style: Style) -> Strip:
        """What is seen of a whole line: the columns that stay, then the others from where they are scrolled to."""
        still = self._still()
        begin, end = left + still, left + width
        seen = line.crop_extend(begin, end, style)
        # half a number is another number
        mark = Strip([Segment(self._ellipsis if cell_len(self._ellipsis) == 1 else CUT, style)])
        if still < begin and _is_cut(line.text, begin):
            seen = Strip.join([mark, seen.crop(1)])
        if end - begin > 1 and _is_cut(line.text, end):
            seen = Strip.join([seen.crop(0, end - begin - 1), mark])
        return Strip.join([line.crop(0, still), seen])

    def _still(self) -> int:
        """The width of the columns that stay; 0 if they left less than a third for the others."""
        widths = self._widths[: self.table.still]
        still = sum(widths) + 2 * PADDING * len(widths)
        return still if still <= self.size.width * 2 // 3 else 0

    def _label(self, at: int) -> str:
        label = visible(self.table.columns[at].label)
        if self.order is None or self.order.column != at:
            return label
        return f"{label}{self._glyphs.descending if self.order.descending else self._glyphs.ascending}"

    def _cells(self, number: int, style: Style, *, selected: bool) -> list[Segment]:
        segments = []
        row = self.table.rows[number]
        # on the cursor's background its own colour is readable
        failed = style + Style(bold=True) if selected else self.get_component_rich_style("grid--failed")
        pad = " " * PADDING
        null = style + Style(dim=True, italic=True)
        for at, (cell, column) in enumerate(zip(row, self.table.columns, strict=True)):
            text = elide_end(self._text(cell, column), MAXIMUM_CELL, self._ellipsis)
            size = self._widths[at]
            if column.fit is None and cell_len(text) > size:
                # a cell that was not measured: a number is never cut
                self._natural[at] = cell_len(text)
                self.call_later(self._widen)
            shown = _aligned(text, column, size, self._ellipsis)
            own = null if cell is None else failed if column.failed and column.failed(number) else style
            segments.append(Segment(f"{pad}{shown}{pad}", own))
        return segments

    # How wide it is

    def _cells_of(self, at: int) -> list[str]:
        """The cells of one column in the rows that are measured."""
        return [self._text(row[at], self.table.columns[at]) for row in self._sample]

    def _text(self, cell: str | None, column: Column) -> str:
        shown = or_null(cell)
        return column.short(shown) if self._is_short and column.short is not None else shown

    def _measured(self) -> list[int]:
        """The widths that the columns ask for."""
        return [_measured(column, self._cells_of(at)) for at, column in enumerate(self.table.columns)]

    def _needed(self) -> int:
        """The width in which all that is not scrolled to can be read; a long text is readable when it is cut."""
        near = [
            min(size, READABLE_FIT) if column.fit else size
            for size, column in zip(self._natural, self.table.columns, strict=True)
            if not column.beyond
        ]
        return sum(near) + 2 * PADDING * len(near)

    def _fitted(self) -> list[int]:
        """As wide as the cells; ``fit`` columns share the room that the others leave. One that asks for less than its
        share leaves the rest to those that ask for more."""
        columns = self.table.columns
        flexible = [at for at, column in enumerate(columns) if column.fit]
        widths = list(self._natural)
        if flexible:
            near = [at for at, column in enumerate(columns) if not column.beyond]
            taken = sum(widths[at] for at in near if at not in flexible)
            padding = 2 * PADDING * len(near)
            rest = self._room - taken - padding
            for already, at in enumerate(sorted(flexible, key=self._natural.__getitem__)):
                column = self.table.columns[at]
                room = max(rest // (len(flexible) - already), MINIMUM_FIT)
                cells = (_cut(cell, column, room, self._ellipsis) for cell in self._cells_of(at))
                widths[at] = max(cell_len(visible(column.label)), max(map(cell_len, cells), default=0))
                rest -= widths[at]
        return [max(size, cell_len(self._label(at))) for at, size in enumerate(widths)]

    def _widen(self) -> None:
        self._widths = self._fitted()
        self._resize_content()
        self.refresh()

    def _resize_content(self) -> None:
        width = sum(self._widths) + 2 * PADDING * len(self._widths)
        self.virtual_size = Size(width, len(self.table.rows) + 1)

    # The order

    def number_of(self, line: int) -> int:
        """The number in the table of the row that is shown as ``line``."""
        return line if self.order is None else self.order.rows[line]

    def show_row(self, number: int) -> None:
        """Bring the cursor to a row of the table."""
        self.cursor = number if self.order is None else self.order.rows.index(number)

    def action_sort_by(self, step: int) -> None:
        at = (-1 if self.order is None else self.order.column) + step
        if at == -1 or at >= len(self.table.columns):
            self._sorted(None)
        else:
            self._sort(at if at >= 0 else len(self.table.columns) - 1)

    def action_reverse(self) -> None:
        if self.order is not None:
            self._sort(self.order.column, descending=not self.order.descending)

    def _sort(self, at: int, *, descending: bool | None = None) -> None:
        numbers = self.table.columns[at].align == "right"
        down = numbers if descending is None else descending
        # many rows take a moment; meanwhile the console answers
        self.ask("sort", lambda: order_of(self.table, at, descending=down), self._sorted, of=lambda: id(self.table))

    def _sorted(self, order: Order | None) -> None:
        self.order = order
        self._widen()
        self.cursor = 0
        self.post_message(self.Sorted(self.table, order))
        if self.table.rows:
            self.post_message(self.RowHighlighted(self.table, self.number_of(0)))

    def _column_at(self, x: int) -> int | None:
        end = 0 if x < self._still() else -self.scroll_offset.x
        for at, size in enumerate(self._widths):
            end += size + 2 * PADDING
            if x < end:
                return at
        return None

    # The cursor

    @property
    def row_count(self) -> int:
        return len(self.table.rows)

    def validate_cursor(self, row: int) -> int:
        return max(min(row, self.row_count - 1), 0)

    def watch_cursor(self, row: int) -> None:
        if not self.is_mounted:
            return
        self._bring_in_sight(row)
        self.refresh()
        self.post_message(self.RowHighlighted(self.table, self.number_of(row)))

    def watch_hovered(self) -> None:
        self.refresh()

    def _bring_in_sight(self, row: int) -> None:
        height = self.scrollable_content_region.height - 1
        top = round(self.scroll_target_y)
        if row < top:
            self.scroll_to(y=row, animate=False)
        elif height > 0 and row >= top + height:
            self.scroll_to(y=row - height + 1, animate=False)

    def action_move(self, step: int) -> None:
        self.cursor += step

    def action_page(self, step: int) -> None:
        self.cursor += step * max(self.scrollable_content_region.height - 1, 1)

    def action_go_to(self, row: int) -> None:
        """A row; -1 is the last."""
        self.cursor = row if row >= 0 else self.row_count - 1

    def action_scroll_sideways(self, cells: int) -> None:
        self.scroll_relative(x=cells, animate=False)

    def action_open(self) -> None:
        if self.row_count:
            self.post_message(self.RowSelected(self.table, self.number_of(self.cursor)))

    def on_click(self, event: events.Click) -> None:
        if event.y == 0 and (at := self._column_at(event.x)) is not None:
            is_it = self.order is not None and self.order.column == at
            if is_it:
                self.action_reverse()
            else:
                self._sort(at)
            return
        row = self._row_at(event.y)
        if row is None:
            return
        if row == self.cursor and event.chain > 1:
            self.action_open()
        self.cursor = row

    def on_mouse_move(self, event: events.MouseMove) -> None:
        row = self._row_at(event.y)
        self.hovered = -1 if row is None else row

    def on_leave(self) -> None:
        self.hovered = -1

    def _row_at(self, y: int) -> int | None:
        row = self.scroll_offset.y + y - 1
        return row if y > 0 and row < self.row_count else None


def _is_cut(text: str, at: int) -> bool:
    """Whether the edge before the cell ``at`` goes through a word of ``text``, or through a character of two cells."""
    before, begin = " ", 0
    for character in text:
        end = begin + cell_len(character)
        if begin == at:
            return " " not in (before, character)
        if begin < at < end:
            return True
        before, begin = character, end
    return False


def _measured(column: Column, cells: Iterable[str]) -> int:
    widest = max(map(cell_len, cells), default=0)
    return max(cell_len(visible(column.label)), min(widest, MAXIMUM_CELL))


def _cut(text: str, column: Column, width: int, ellipsis: str) -> str:
    if cell_len(text) <= width:
        return text
    return (elide_file if column.fit == "file" else elide_end)(text, width, ellipsis)


def _aligned(text: str, column: Column, width: int, ellipsis: str) -> str:
    text = _cut(text, column, width, ellipsis)
    if column.align == "right":
        return " " * (width - cell_len(text)) + text
    return set_cell_size(text, width)
