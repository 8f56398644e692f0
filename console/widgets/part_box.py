"""One part of a statement on one line: several lines are shown shortened, and stay whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.suggester import SuggestFromList
from typing_extensions import override

from console.widgets.field import TextBox
from console.words.visible import is_visible, visible

NOTHING = r"(?!)"
"""The value if nothing can be typed."""


class PartBox(TextBox):
    """Its placeholder is what it shows of a text of several lines; enter is to open that in full."""

    DEFAULT_CSS = """
    PartBox.-shortened > .input--placeholder { color: $foreground; text-style: none; }
    """
    HELP = (
        "A part of the statement. What is typed here replaces that part in the SQL and nothing else. The rest of a "
        "known name is offered as one types: the right arrow takes it. Enter opens the part in full."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,ctrl+n", "offer", "choose", id="part.offer",
                tooltip="Choose from what is known: a table, or a condition from keys and columns of the same name"),
    ]  # fmt: skip

    class OfferWanted(Message):
        """The user asked for a list to choose from."""

        def __init__(self, box: PartBox) -> None:
            super().__init__()
            self.box = box

    def know(self, names: Sequence[str]) -> None:
        """Names that may be typed here. A name with invisible characters is not offered."""
        self.suggester = SuggestFromList(list(filter(is_visible, names)), case_sensitive=False)

    @override
    def show(self, text: str) -> None:
        super().show(text)
        is_short = self._hidden is None
        self.disabled = False
        self.restrict = None if is_short else NOTHING
        self.set_class(not is_short, "-shortened")
        if not is_short:
            lines = text.count("\n") + 1
            one_line = visible(" ".join(text.split()))
            self.placeholder = f"{lines} lines, enter: {one_line}" if lines > 1 else one_line

    def action_offer(self) -> None:
        self.post_message(self.OfferWanted(self))


class ProposalBox(TextBox):
    """Where an expression is typed: space in the empty box takes the one that is proposed, which is shown there."""

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        self._proposal = ""
        super().__init__(text, placeholder="not set", id=id)

    def propose(self, proposal: str) -> None:
        """Another proposal, or "". One with invisible characters is not proposed."""
        self._proposal = proposal if is_visible(proposal) else ""
        self._hint = f"not set; space: {self._proposal}" if self._proposal else "not set"
        self.show(self.text)

    async def on_key(self, event: events.Key) -> None:
        if event.key == "space" and not self.text and self._proposal:
            event.stop()
            event.prevent_default()
            self.value = self._proposal
            self.cursor_position = len(self.value)
