"""A label and what is typed or chosen beside it, on one line."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Label


class Field(Horizontal):
    """``widgets`` share the line right of the label."""

    DEFAULT_CSS = """
    Field { height: 1; }
    Field Label { width: 14; padding: 0 1; color: $foreground-muted; }
    Field Input { width: 1fr; height: 1; border: none; padding: 0 1; background: $surface; }
    Field Input:focus { border: none; background: $panel; }
    """

    def __init__(self, label: str, *widgets: Widget) -> None:
        super().__init__()
        self._label = label
        self._widgets = widgets

    def compose(self) -> ComposeResult:
        yield Label(self._label, markup=False)
        yield from self._widgets
