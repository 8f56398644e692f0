"""A box to tick, whose state can be read without its colour."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from console.shell import shell_of


class Accept(Widget, can_focus=True):
    """``I accept this``, ticked or not."""

    DEFAULT_CSS = """
    Accept { height: 1; width: auto; }
    Accept:focus { background: $block-cursor-background; color: $block-cursor-foreground; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "space,enter",
            "tick",
            "tick",
            show=False,
            id="accept.tick",
            tooltip="Accept the warning, or not",
        ),
    ]

    value: reactive[bool] = reactive(False)

    class Changed(Message):
        """It was ticked, or unticked."""

    def render(self) -> Content:
        glyphs = shell_of(self).glyphs
        box, word = (glyphs.ticked, "accepted") if self.value else (glyphs.unticked, "not accepted yet")
        return Content(f"{box} {word}")

    def watch_value(self) -> None:
        self.refresh(layout=True)
        self.post_message(self.Changed())

    def action_tick(self) -> None:
        self.value = not self.value

    def on_click(self) -> None:
        self.action_tick()
