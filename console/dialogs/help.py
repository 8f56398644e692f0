"""What can be done where the focus is, and every key: made from the bindings, never written twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Button, Static

from console.dialogs.dialog import Dialog
from console.widgets.keys import catalog


class HelpDialog(Dialog[None]):
    """Help about what had the focus, its place, and the console."""

    AUTO_FOCUS = "#close"
    HELP = "Help."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "question_mark,f1,q", "refuse", "close", show=False, id="help.close", tooltip="Close the help"
        ),
        Binding("down,j", "scroll(1)", "down", show=False, id="help.down", tooltip="Scroll down"),
        Binding("up,k", "scroll(-1)", "up", show=False, id="help.up", tooltip="Scroll up"),
        Binding(
            "pagedown,space",
            "scroll(10)",
            "page down",
            show=False,
            id="help.page_down",
            tooltip="A page down",
        ),
        Binding("pageup", "scroll(-10)", "page up", show=False, id="help.page_up", tooltip="A page up"),
    ]

    def __init__(self, about: Screen[object]) -> None:
        super().__init__()
        self._about = about

    def title_text(self) -> str:
        return "Help"

    def compose_content(self) -> Iterable[Widget]:
        yield Static(self.help_text(), markup=False)

    def compose_buttons(self) -> Iterable[Widget]:
        yield Button("Close", id="close")

    @on(Button.Pressed, "#close")
    def _close_pressed(self) -> None:
        self.dismiss(None)

    def action_scroll(self, rows: int) -> None:
        self.query_one("#content").scroll_relative(y=rows, animate=False)

    def help_text(self) -> Content:
        """The whole help as one text."""
        focused = self._about.focused
        parts: list[Content] = []
        if focused is not None and (about := _help_of(focused)):
            parts.append(Content(about))
        if about := _help_of(self._about):
            parts.append(Content(about))
        if focused is not None:
            parts.append(self._keys("Keys of what has the focus", _own_bindings(focused)))
        parts.append(self._keys("Keys of this place", _own_bindings(self._about)))
        parts.append(self._keys("Keys everywhere", Binding.make_bindings(type(self.app).BINDINGS)))
        legend = self.console_app.glyphs
        parts.append(
            Content(
                f"Signs: {legend.exact} exact, known to the row; {legend.estimated} estimated; {legend.unknown} unknown. "
                "Hold shift while dragging to select text with the mouse."
            )
        )
        return Content("\n\n").join([part for part in parts if part])

    def _keys(self, title: str, bindings: Iterable[Binding]) -> Content:
        entries = catalog(bindings, plain=self.console_app.plain)
        if not entries:
            return Content("")
        width = max(len(keys) for keys, _ in entries)
        lines = [Content.styled(title, "bold $text-primary")]
        for keys, binding in entries:
            lines.append(
                Content.assemble(
                    "  ", (keys.ljust(width + 2), "$text-accent"), binding.tooltip or binding.description
                )
            )
        return Content("\n").join(lines)


def _help_of(node: DOMNode) -> str:
    return str(getattr(type(node), "HELP", None) or "")


def _own_bindings(node: DOMNode) -> list[Binding]:
    """The bindings that have a tooltip: ours. Textual's own widgets have dozens that all readers know."""
    bindings: list[Binding] = []
    for cls in type(node).__mro__:
        if cls in (Screen, Widget):
            break
        bindings += Binding.make_bindings(cls.__dict__.get("BINDINGS", []))
    return [binding for binding in bindings if binding.tooltip and binding.id]
