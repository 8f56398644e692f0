"""A label and what is typed or chosen beside it, on one line."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input, Label

from console.words.visible import is_visible

NOT_HERE = "several lines, or signs that cannot be seen: edit it in the SQL"


class TextBox(Input):
    """One line of text. A text that must not reach a terminal as it is stays whole, unseen, and is not edited here."""

    DEFAULT_CSS = """
    TextBox > .input--placeholder { text-style: italic; }
    """

    def __init__(self, text: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        # the focus selects nothing, so the next key does not replace the text
        super().__init__(id=id, compact=True, select_on_focus=False)
        self._hint = placeholder
        self._hidden: str | None = None
        self.show(text)

    @property
    def text(self) -> str:
        return self.value if self._hidden is None else self._hidden

    def show(self, text: str) -> None:
        """Another text."""
        if text == self.text and is_visible(text):
            self.placeholder = self._hint
            return
        self._hidden = None if is_visible(text) else text
        self.disabled = self._hidden is not None
        self.placeholder = self._hint if self._hidden is None else NOT_HERE
        self.value = text if self._hidden is None else ""
        self.cursor_position = len(self.value)


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
