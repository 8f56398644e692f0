"""One row in full: each column on its own line, before and after."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Static

from console.dialogs.dialog import Dialog
from console.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

Line = tuple[str, "str | None", "str | None"]


class RowDialog(Dialog[None]):
    """``lines``: column, value, and the value it becomes (the same object where it stays)."""

    AUTO_FOCUS = "#close"
    HELP = "One row in full. y copies it, esc closes."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "copy", "copy", show=False, id="row.copy", tooltip="Copy the row as text"),
        Binding("down,j", "scroll(1)", "down", show=False, id="row.down", tooltip="Scroll down"),
        Binding("up,k", "scroll(-1)", "up", show=False, id="row.up", tooltip="Scroll up"),
    ]

    def __init__(self, title: str, lines: Sequence[Line]) -> None:
        super().__init__()
        self._title = title
        self._lines = list(lines)

    def title_text(self) -> str:
        return visible(self._title)

    def compose_content(self) -> Iterable[Widget]:
        width = max((len(visible(name)) for name, _, _ in self._lines), default=0)
        yield Static(Content("\n").join([self._line(line, width) for line in self._lines]), markup=False)

    def compose_buttons(self) -> Iterable[Widget]:
        yield Button("Close", id="close")

    @on(Button.Pressed, "#close")
    def _close_pressed(self) -> None:
        self.dismiss(None)

    def action_scroll(self, rows: int) -> None:
        self.query_one("#content").scroll_relative(y=rows, animate=False)

    def action_copy(self) -> None:
        self.app.copy_to_clipboard("\n".join(f"{name}\t{_shown(old)}\t{_shown(new)}" for name, old, new in self._lines))
        self.notify("Copied the row.")

    def _line(self, line: Line, width: int) -> Content:
        name, old, new = line
        glyphs = self.console_app.glyphs
        label = (visible(name).ljust(width + 2), "$foreground-muted")
        if old == new:
            return Content.assemble("  ", label, _value(old))
        return Content.assemble(
            (f"{glyphs.changed} ", "$text-warning"), label, _value(old), f" {glyphs.becomes} ", _value(new)
        )


def _shown(value: str | None) -> str:
    return "NULL" if value is None else value


def _value(value: str | None) -> Content:
    return Content.styled("NULL", "dim italic") if value is None else Content(visible(value))
