"""One of a few choices on one line, the chosen one marked by a sign and not by colour alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from console.shell import shell_of


class OneOf(Widget, can_focus=True):
    """``choices``: a value and its label. A click, space or the arrow keys choose."""

    HELP = "One of a few choices. The arrow keys choose another, and space keeps it; space alone chooses the next."
    DEFAULT_CSS = """
    OneOf { height: 1; width: 1fr; text-wrap: nowrap; text-overflow: clip; background: $surface; }
    OneOf:focus { background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "choose(1)", "another", show=False, id="choice.next", tooltip="The next choice"),
        Binding("left,h", "choose(-1)", "before", show=False, id="choice.before", tooltip="The choice before"),
        Binding("space", "keep", "keep", show=False, id="choice.keep",
                tooltip="Keep the choice that an arrow key went to; without an arrow key, the next one"),
    ]  # fmt: skip

    value: reactive[str] = reactive("")

    class Changed(Message):
        """Another one was chosen."""

    def __init__(self, choices: Sequence[tuple[str, str]], value: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._choices = list(choices)
        self._wanted = value
        """What was chosen last, offered now or not."""
        self._went = False
        """Whether an arrow key went to the choice since the focus came."""
        self.set_reactive(OneOf.value, value)

    def render(self) -> Content:
        glyphs = shell_of(self).glyphs
        parts: list[Content] = []
        for value, label in self._choices:
            mark = glyphs.on if value == self.value else glyphs.off
            style = "bold $text-primary" if value == self.value else "$foreground-muted"
            part = Content.styled(f"{mark} {label}", f"{style} underline" if self._is_at(value) else style)
            parts.append(part.stylize(Style.from_meta({"choice": value})))
        return Content("   ").join(parts[self._first_shown(parts) :])

    def _first_shown(self, parts: Sequence[Content]) -> int:
        """From which choice on they are shown: where the line is too short, the chosen one is not cut."""
        at = [value for value, _ in self._choices].index(self.value)
        first, gap = 0, 3
        while first < at and sum(part.cell_length + gap for part in parts[first : at + 1]) - gap > self.size.width:
            first += 1
        return first

    def offer(self, choices: Sequence[tuple[str, str]]) -> None:
        """Other choices. Falls back to the first one if the old one is gone, for as long as it is."""
        self._choices = list(choices)
        values = [value for value, _ in choices]
        self.value = next((value for value in (self._wanted, self.value) if value in values), values[0])
        self.refresh()

    def _is_at(self, value: str) -> bool:
        return self.has_focus and value == self.value

    def watch_value(self) -> None:
        self.post_message(self.Changed())

    def on_focus(self) -> None:
        self._went = False

    def action_choose(self, step: int) -> None:
        self._went = True
        self._step(step)

    def action_keep(self) -> None:
        # what an arrow key went to is chosen already, and a second choice would take it away
        if not self._went:
            self._step(1)

    def _step(self, step: int) -> None:
        values = [value for value, _ in self._choices]
        self._choose(values[(values.index(self.value) + step) % len(values)])

    def _choose(self, value: str) -> None:
        self.value = self._wanted = value

    def on_click(self, event: events.Click) -> None:
        choice = event.style.meta.get("choice")
        if choice is not None:
            self._choose(str(choice))
