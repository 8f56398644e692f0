"""A page: a few sentences, then perhaps a table. Pages are plain values, made off the UI thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import count
from typing import Any, ClassVar, Literal, TypeVar, overload

from textual.content import Content

from console.words.format import cells, padded
from console.words.visible import visible

Row = tuple["str | None", ...]
Value = Callable[[int], "float | str | None"]
T = TypeVar("T")


_NOTHING = Content("")


@dataclass(frozen=True)
class Paragraph:
    """A sentence. ``lead`` is a sign or a label before it: lines that wrap stay right of it."""

    body: Content
    lead: Content = _NOTHING


Head = tuple[Paragraph, ...]


class LazyRows(Sequence[Row]):
    """Rows made of ``things`` when they are looked at: a hundred thousand cost nothing until then."""

    def __init__(self, things: Sequence[T], row_of: Callable[[T], Row]) -> None:
        self._things = things
        self._row_of: Callable[[Any], Row] = row_of

    def __len__(self) -> int:
        return len(self._things)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self._row_of(thing) for thing in self._things[index]]
        return self._row_of(self._things[index])


@dataclass(frozen=True)
class Column:
    """``fit`` columns give way to the others: their cells are elided to the room that is left. ``beyond``: is scrolled
    to, and takes no room from them.

    ``value``: from a row's number to what the column sorts by, and is exported as, if its cells say it for people
    (``1.2 GB``, ``1,204``). ``short``: what of a cell is shown where the table is wider than the room for it.
    """

    label: str
    align: Literal["left", "right"] = "left"
    fit: Literal["file", "end"] | None = None
    value: Value | None = None
    beyond: bool = False
    short: Callable[[str], str] | None = None
    failed: Callable[[int], bool] | None = None
    """Whether the cell of a row, by its number, is shown in the colour of errors."""
    name: str = ""
    """What it is called beside a row in full and in a file, if it has no label."""


@dataclass(frozen=True)
class Full:
    """A row in full: the name of each cell, its value, and the value it becomes (the same where it stays). ``texts``:
    the line ends of values are kept."""

    title: str
    lines: Sequence[tuple[str, str | None, str | None]]
    texts: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of text, already made visible. None is NULL."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    empty: str = "Nothing here."
    """The sentence shown if there are no rows."""
    still: int = 0
    """So many of the first columns stay where they are while the others scroll sideways."""
    more: bool = False
    """Whether there are other rows, which were not fetched."""
    cut: str = ""
    """Which of its cells are not whole, in words; "" if all are."""
    key: Callable[[int], object] | None = None
    """From a row's number to what the row is about, if its cells may say something else of it another time."""
    full: Callable[[int], Full] | None = None
    """From a row's number to the row in full, if its cells do not say all of it."""

    @property
    def names(self) -> list[str]:
        """The labels of the columns, or their names; one without either has a number. No two are alike, nor are they to
        a reader to whom case is nothing: the facts of a file stand beside columns that may be called as they are."""
        labels = [column.label or column.name or f"column {at}" for at, column in enumerate(self.columns, start=1)]
        known = {label.casefold() for label in labels}
        names: dict[str, str] = {}
        for label in labels:
            name = label
            if label.casefold() in names:
                others = (f"{label} ({number})" for number in count(2))
                name = next(one for one in others if one.casefold() not in known and one.casefold() not in names)
            names[name.casefold()] = name
        return list(names.values())


def with_values(columns: Iterable[Column], rows: Sequence[Row]) -> list[Column]:
    """The columns of ``rows`` of data, whose cells are shown made visible and exported as they are."""
    return [replace(column, value=partial(_cell_of, rows, at)) for at, column in enumerate(columns)]


def _cell_of(rows: Sequence[Row], at: int, row: int) -> str | None:
    return rows[row][at]


@dataclass(frozen=True)
class Order:
    """``rows`` of a table, by their numbers, in the order of one of its columns."""

    column: int
    name: str
    descending: bool
    rows: Sequence[int]


def order_of(table: Table, at: int, *, descending: bool) -> Order:
    """The rows in the order of column ``at``: numbers before texts, NULL last in either direction."""
    value = table.columns[at].value
    values = [value(row) for row in range(len(table.rows))] if value else [row[at] for row in table.rows]
    known = [row for row, cell in enumerate(values) if cell is not None]
    keys = {row: _sort_key(values[row]) for row in known}
    known.sort(key=keys.__getitem__, reverse=descending)
    return Order(at, table.names[at], descending, [*known, *(row for row, cell in enumerate(values) if cell is None)])


def order_again(table: Table | None, order: Order | None) -> Order | None:
    """The order by the same column, of a table that is not the one it was made of."""
    if table is None or order is None or order.name not in table.names:
        return None
    return order_of(table, table.names.index(order.name), descending=order.descending)


def row_again(table: Table | None, before: Table | None, at: int, first: int = 0) -> int:
    """The row that is about what row ``at`` of the table ``before`` was about; ``first`` if none is. One behind the
    last is the first that was not there yet."""
    if table is None or before is None or at >= len(before.rows):
        return at
    was, key = (before.key or before.rows.__getitem__)(at), table.key or table.rows.__getitem__
    # of rows that are alike the nearest
    return min((row for row in range(len(table.rows)) if key(row) == was), key=lambda row: abs(row - at), default=first)


def _sort_key(cell: float | str | None) -> tuple[int, float | Decimal | str]:
    if not isinstance(cell, str):
        return 0, cell or 0
    try:
        # a float takes neighbours of more than 15 digits for one
        number = Decimal(cell.replace(",", ""))
    except InvalidOperation:
        return 1, cell.casefold()
    # NaN has no place in an order
    return (1, cell) if number.is_nan() else (0, number)


def in_order(table: Table, order: Order | None) -> Table:
    """The table with its rows as they are shown."""
    if order is None:
        return table
    columns = [
        column if column.value is None else replace(column, value=_in_rows(column.value, order.rows))
        for column in table.columns
    ]
    return replace(table, columns=columns, rows=LazyRows(order.rows, table.rows.__getitem__))


def _in_rows(value: Value, rows: Sequence[int]) -> Value:
    return lambda at: value(rows[at])


@dataclass(frozen=True)
class MapMode:
    """One way to tell files apart. ``classes``: a letter and what it means; ``class_of``: from a file's row to one."""

    label: str
    classes: Sequence[tuple[str, str]]
    class_of: Callable[[int], int]


@dataclass(frozen=True)
class FileMap:
    """A map of the files that are the rows of the table on the same page. What is counted once is kept with it."""

    count: int
    modes: Sequence[MapMode]
    counted: dict[int, Counter[int]] = field(default_factory=dict, compare=False, repr=False)

    LEAST: ClassVar[int] = 8
    """A table of fewer files is its own map."""

    def counts(self, mode: int) -> Counter[int]:
        """How many files there are of each class."""
        if mode not in self.counted:
            self.counted[mode] = Counter(map(self.modes[mode].class_of, range(self.count)))
        return self.counted[mode]


@dataclass(frozen=True)
class Page:
    head: Head = ()
    table: Table | None = None
    files: FileMap | None = None
    """Shown above the table, the cursors of both together."""
    sql: str | None = None
    """SQL shown read-only below the sentences."""
    order: Order | None = None
    """The order that its table begins in."""
    at: int = 0
    """The row that the cursor of the table begins on."""


def page_text(page: Page) -> str:
    """The sentences of a page and its table, for the clipboard."""
    lines = [f"{one.lead.plain}{one.body.plain}" for one in page.head]
    if page.table is not None and page.table.rows:
        rows = [
            [column.label for column in page.table.columns],
            *([cell or "" for cell in row] for row in page.table.rows),
        ]
        widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
        lines += ["", *("  ".join(map(padded, row, widths)).rstrip() for row in rows)]
    return "\n".join(lines)


def sentence(text: str, style: str = "") -> Paragraph:
    """Text from anyone, made visible."""
    shown = visible(text, lines=True)
    return Paragraph(Content.styled(shown, style) if style else Content(shown))


def signed(sign: str, sign_style: str, text: str | Content, style: str = "") -> Paragraph:
    """A sentence with a sign before it."""
    body = text if isinstance(text, Content) else sentence(text, style).body
    return Paragraph(body, Content.assemble((sign, sign_style), " "))


def facts(pairs: Iterable[tuple[str, str]]) -> Head:
    """Names and values, the values in line."""
    known = [(visible(name), value) for name, value in pairs]
    width = max((cells(name) for name, _ in known), default=0)
    return tuple(
        Paragraph(sentence(value).body, Content.styled(padded(name, width + 2), "$foreground-muted"))
        for name, value in known
    )


def laid_out(paragraphs: Iterable[Paragraph], width: int) -> Content:
    """The paragraphs in lines of at most ``width`` cells."""
    lines: list[Content] = []
    for paragraph in paragraphs:
        indent = paragraph.lead.cell_length
        # if the lead takes most of the line, wrapped lines start at the edge
        if indent > width // 2:
            lines += Content.assemble(paragraph.lead, paragraph.body).wrap(max(width, 1))
            continue
        first, *rest = paragraph.body.wrap(max(width - indent, 1)) or [Content("")]
        lines.append(Content.assemble(paragraph.lead, first))
        lines += [Content.assemble(" " * indent, line) for line in rest]
    return Content("\n").join(lines)
