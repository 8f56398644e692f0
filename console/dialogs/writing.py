"""A dialog before something is written: its confirm key works only after the dialog could be read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from textual import on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Input
from typing_extensions import override

from console.dialogs.dialog import Dialog
from console.widgets.page import sentence
from console.widgets.sentences import Sentences
from console.words.visible import table_name

if TYPE_CHECKING:
    from engine.commit.policy import Broken

Result = TypeVar("Result")


class WritingDialog(Dialog[Result]):
    """The button ``#confirm`` shows its label as soon as it works."""

    must_be_read = True
    to_be_typed: tuple[Broken, str] | None = None
    """The rule that asks for the table's name, and the name."""

    def confirm_label(self) -> str:
        raise NotImplementedError

    def may_confirm(self) -> bool:
        """Whether all that is asked for is given. To be extended."""
        return self.is_typed

    def compose_typed(self) -> Iterable[Widget]:
        """The field for the table's name, if a rule of the policy asks for it."""
        if self.to_be_typed is not None:
            rule, name = self.to_be_typed
            question = f"The policy asks for it ({rule.rule}): {rule.how} (tab goes there):"
            yield Sentences((sentence(""), sentence(question)))
            yield Input(placeholder=f"type {table_name(name)}", id="typed", compact=True)

    @property
    def is_typed(self) -> bool:
        """Whether the table's name is typed, if that is asked for."""
        if self.to_be_typed is None:
            return True
        typed = self.query_one("#typed", Input).value.strip()
        return table_name(typed) == table_name(self.to_be_typed[1])

    @on(Input.Changed, "#typed")
    def _name_typed(self) -> None:
        self._draw_button()

    def confirmed(self, result: Result) -> None:
        """Close with ``result``, if all that is asked for is given and the dialog could be read."""
        if not self.is_typed:
            self.notify("The table's name has to be typed first.", severity="warning")
        elif self.was_readable:
            self.dismiss(result)

    @override
    def show_waiting(self, waits: bool) -> None:
        button = self.query_one("#confirm", Button)
        label = self.confirm_label()
        button.label = Content(self.console_app.glyphs.ellipsis.center(len(label)) if waits else label)
        button.disabled = waits or not self.may_confirm()

    def _draw_button(self) -> None:
        """What is asked for has changed."""
        self.show_waiting(not self.was_readable)
