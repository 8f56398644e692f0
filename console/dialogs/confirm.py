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
        yield Static(self._text(), id="sentence", markup=False)
        yield from self.compose_typed()

    def _text(self) -> Content:
        return Content(visible(self._sentence, lines=True))

    def ask_anew(self, title: str, sentence: str, confirm_label: str) -> None:
        """What is asked has changed while it is open: it has to be read again."""
        self._title, self._sentence, self._confirm = title, sentence, confirm_label
        # it may not be composed yet
        self.call_later(self._draw_anew)

    def _draw_anew(self) -> None:
        # it may be closed by now; help may be above it
        if self in self.app.screen_stack:
            self.query_one("#title", Static).update(Content(self.title_text()))
            self.query_one("#sentence", Static).update(self._text())
            self.to_be_read()

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
