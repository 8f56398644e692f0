"""Tables of the command line: in columns where these fit, else one cell a line. No number is ever cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

QUIET = "dim"
GAP = 2
READABLE = 8
"""A column that folds into fewer cells is one of syllables."""
ANY_WIDTH = 1_000_000


class Sheet(Table):
    """A table without rules, of texts. A column with ``no_wrap`` keeps its width; the others fold."""

    def __init__(self, *columns: Column, show_header: bool = True) -> None:
        super().__init__(
            *columns, box=None, padding=(0, GAP, 0, 0), pad_edge=False, show_header=show_header, header_style=QUIET
        )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The columns if they fit: rich would cut them, and without a sign that it does."""
        if self.rows and self._least(console, options) > options.max_width:
            yield from self._cell_by_cell()
        else:
            yield from super().__rich_console__(console, options)

    def _least(self, console: Console, options: ConsoleOptions) -> int:
        """The width in which each column can be read."""
        uncut, least = options.update(max_width=ANY_WIDTH), GAP * (len(self.columns) - 1)
        for column in self.columns:
            texts = [*((column.header,) if self.show_header else ()), *column.cells]
            widest = max(Measurement.get(console, uncut, text).maximum for text in texts)
            least += widest if column.no_wrap else min(widest, READABLE)
        return least

    def _cell_by_cell(self) -> Iterator[RenderableType]:
        for row in self._texts():
            yield from self._one_below_the_other(row)

    def _texts(self) -> Iterator[list[Text]]:
        for row in zip(*(column.cells for column in self.columns), strict=True):
            yield [cell if isinstance(cell, Text) else Text(str(cell)) for cell in row]

    def _one_below_the_other(self, row: list[Text]) -> Iterator[RenderableType]:
        indent = 0
        for column, text in zip(self.columns, row, strict=True):
            if not text.plain:
                continue
            header = f"{column.header} " if self.show_header and column.header else ""
            line = Text.assemble((header, QUIET), text, style=column.style)
            yield Padding(line, (0, 0, 0, indent))
            indent = GAP


class Listing(Sheet):
    """A sheet of rows of one line each. What is longer stands below its row, as wide as the terminal: the columns
    ``below``, the first of them first, if not all fit beside each other; and texts that no column is for."""

    def __init__(self, *columns: Column, below: Sequence[str]) -> None:
        super().__init__(*columns)
        self._below, self._more = below, dict[int, list[Text]]()

    def add_below(self, text: Text) -> None:
        """Go on with the last row."""
        self._more.setdefault(len(self.rows) - 1, []).append(text)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The rows, each with what stands below it."""
        headers, rows = [Text(str(column.header), QUIET) for column in self.columns], [*self._texts()]
        widths = [max(text.cell_len for text in texts) for texts in zip(headers, *rows, strict=True)]
        beside = self._beside(widths, options.max_width)
        if beside:
            yield self._line(headers, widths, beside)
        for at, row in enumerate(rows):
            more = [*self._more.get(at, ())]
            if not beside:
                yield from self._one_below_the_other(row)
            else:
                yield self._line(row, widths, beside)
                if others := [text for column, text in enumerate(row) if column not in beside and text.plain]:
                    more.insert(0, Text(" " * GAP).join(others))
            yield from (Padding(text, (0, 0, 0, GAP)) for text in more)

    def _beside(self, widths: Sequence[int], room: int) -> list[int]:
        """The columns that stand beside each other; none if that are too few."""
        for moved in range(len(self._below) + 1):
            kept = [at for at, column in enumerate(self.columns) if column.header not in self._below[:moved]]
            if sum(widths[at] for at in kept) + GAP * (len(kept) - 1) <= room:
                return kept
        return []

    def _line(self, row: list[Text], widths: Sequence[int], beside: Sequence[int]) -> Text:
        cells = [row[at].copy() for at in beside]
        for at, cell in zip(beside, cells, strict=True):
            cell.align("right" if self.columns[at].justify == "right" else "left", widths[at])
        line = Text(" " * GAP).join(cells)
        line.rstrip()
        return line
