"""Scroll bars for terminals without block characters: whole cells of colour instead of eighths."""

from __future__ import annotations

from typing import ClassVar

from textual.scrollbar import ScrollBar, ScrollBarRender


class PlainBars(ScrollBarRender):
    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * 8


def draw_scroll_bars(*, plain: bool) -> None:
    """Choose how all scroll bars are drawn: Textual has one renderer for the whole process."""
    ScrollBar.renderer = PlainBars if plain else ScrollBarRender
