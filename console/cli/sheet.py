"""Tables of the command line: in columns where these fit, else one cell a line. No number is ever cut."""

from __future__ import annotations

from collections.abc import Iterator
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
        for row in zip(*(column.cells for column in self.columns), strict=True):
            texts = [cell if isinstance(cell, Text) else Text(str(cell)) for cell in row]
            # what has one text alone, and not in its first column, goes on with the row before
            goes_on = not texts[0].plain and sum(bool(text.plain) for text in texts) == 1
            indent = GAP if goes_on else 0
            for column, text in zip(self.columns, texts, strict=True):
                if not text.plain:
                    continue
                header = f"{column.header} " if self.show_header and column.header and not goes_on else ""
                line = Text.assemble((header, QUIET), text, style=column.style)
                yield Padding(line, (0, 0, 0, indent))
                indent = GAP
