"""The cells of one row, one of them under a cursor: one widget that draws only the lines in sight, however many."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import ClassVar

from textual.cache import LRUCache
from textual.content import Content
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from typing_extensions import override

from console.widgets.page import Paragraph, laid_out
from console.widgets.sentences import Sentences


class CellLines(Sentences):
    """A paragraph for each cell."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"cell-lines--chosen"}
    DEFAULT_CSS = """
    CellLines > .cell-lines--chosen { background: $block-cursor-blurred-background; }
    """

    def __init__(self, paragraphs: Iterable[Paragraph]) -> None:
        super().__init__(paragraphs)
        self.chosen = 0
        # a dialog is measured with a scroll bar and without
        self._known: LRUCache[int, tuple[list[Content], list[int]]] = LRUCache(2)

    def _laid_out(self, width: int) -> tuple[list[Content], list[int]]:
        """The lines, and of each cell the first one, with the end of the last."""
        if width not in self._known:
            cells = [laid_out([one], width).split(allow_blank=True) for one in self.paragraphs]
            starts = list(accumulate(map(len, cells), initial=0))
            self._known[width] = [line for lines in cells for line in lines], starts
        return self._known[width]

    @override
    def laid_out(self, width: int) -> Content:
        return Content("\n").join(self._laid_out(width)[0])

    @override
    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._laid_out(width)[0]) if width else 0

    def choose(self, cell: int) -> None:
        """Bring the cursor to a cell, or to the nearest there is."""
        self.chosen = max(min(cell, len(self.paragraphs) - 1), 0)
        self.refresh()

    @property
    def chosen_region(self) -> Region:
        """The lines of the chosen cell."""
        _, starts = self._laid_out(self.content_size.width)
        begin, end = starts[self.chosen : self.chosen + 2] if self.paragraphs else (0, 0)
        return Region(0, begin, self.size.width, end - begin)

    @override
    def render_line(self, y: int) -> Strip:
        width = self.content_size.width
        lines, _ = self._laid_out(width)
        if y >= len(lines):
            return Strip.blank(width, self.rich_style)
        line, region = lines[y], self.chosen_region
        is_chosen = region.y <= y < region.bottom
        style = self.get_visual_style("cell-lines--chosen") if is_chosen else self.visual_style
        if (selection := self.text_selection) is not None and (span := selection.get_span(y)) is not None:
            begin, end = span
            marked = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            line = line.stylize(marked, begin, len(line.plain) if end == -1 else end)
        strips = Visual.to_strips(self, line, width, 1, style, apply_selection=False, pad=True)
        # the mouse selects by them
        return strips[0].apply_offsets(0, y)
