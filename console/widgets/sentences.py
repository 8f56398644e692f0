"""Draws paragraphs at whatever width there is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget
from typing_extensions import override

from console.widgets.page import Paragraph, laid_out


class Sentences(Widget):
    """Paragraphs, wrapped with hanging indents. As high as they need."""

    DEFAULT_CSS = """
    Sentences { width: 1fr; height: auto; }
    """

    def __init__(
        self, paragraphs: Iterable[Paragraph] = (), *, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.paragraphs = tuple(paragraphs)

    def show(self, paragraphs: Iterable[Paragraph]) -> None:
        self.paragraphs = tuple(paragraphs)
        self.refresh(layout=True)

    def laid_out(self, width: int) -> Content:
        return laid_out(self.paragraphs, width)

    @override
    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        if not self.paragraphs or not width:
            return 0
        return self.laid_out(width).plain.count("\n") + 1

    def render(self) -> Content:
        return self.laid_out(self.content_size.width)


class Reading(VerticalScroll):
    """Sentences in the room that they get. Where they are longer than that, the focus can go to them: the usual keys
    scroll them."""

    HELP: ClassVar[str] = (
        "More than there is room for: up, down, page up, page down, home and end scroll it; tab goes on."
    )

    is_alone = False
    """Whether the focus has nowhere else to go."""
    foreseen_long = False
    """Whether they will be longer, before they are laid out."""

    @override
    def allow_focus(self) -> bool:
        is_long = self.max_scroll_y > 0 if self.size.height else self.foreseen_long
        return self.is_alone or is_long
