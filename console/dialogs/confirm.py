"""Yes or no: the focus is on no, and yes has a key of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Static

from console.dialogs.writing import WritingDialog
from console.words.visible import visible

if TYPE_CHECKING:
    from engine.commit.policy import Broken


class ConfirmDialog(WritingDialog[bool]):
    """One sentence, a button that refuses, and one that confirms."""

    AUTO_FOCUS = "#refuse"
    HELP = "A question. Enter or esc changes nothing; {confirm.yes} confirms."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+y", "confirm", "confirm", id="confirm.yes", tooltip="Confirm"),
    ]

    def __init__(
        self,
        title: str,
        sentence: str,
        *,
        confirm_label: str,
        refuse_label: str,
        to_be_typed: tuple[Broken, str] | None = None,
    ) -> None:
        super().__init__()
        self.to_be_typed = to_be_typed
        self._title = title
        self._sentence = sentence
        self._confirm = confirm_label
        self._refuse = refuse_label

    def title_text(self) -> str:
        return visible(self._title)

    def compose_content(self) -> Iterable[Widget]:
        yield Static(Content(visible(self._sentence, lines=True)), markup=False)
        yield from self.compose_typed()

    def compose_buttons(self) -> Iterable[Widget]:
        yield Button(Content(self._refuse), id="refuse")
        yield Button(Content(self.confirm_label()), id="confirm")

    def confirm_label(self) -> str:
        return f"{self.console_app.with_keys('{confirm.yes}')}  {self._confirm}"

    @on(Button.Pressed, "#refuse")
    def action_refuse(self) -> None:
        self.dismiss(False)

    @on(Button.Pressed, "#confirm")
    def action_confirm(self) -> None:
        self.confirmed(True)
