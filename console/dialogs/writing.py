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
from console.widgets.page import sentence, signed
from console.widgets.sentences import Sentences
from console.words.visible import table_name

if TYPE_CHECKING:
    from engine.commit.policy import Broken

Result = TypeVar("Result")


class WritingDialog(Dialog[Result]):
    """The button ``#confirm`` shows its label alone as soon as it works."""

    must_be_read = True
    to_be_typed: tuple[Broken, str] | None = None
    """The rule that asks for the table's name, and the name."""
    _tells_missing = False
    """Whether it was to be confirmed without all that is asked for."""

    def confirm_label(self) -> str:
        raise NotImplementedError

    def missing(self) -> str:
        """What is asked for and not given yet, in a sentence; "" if nothing is. To be extended."""
        return "" if self.is_typed else "The table's name has to be typed first."

    def missing_at(self) -> Widget | None:
        """Where it is to be given. To be extended."""
        return None if self.is_typed else self.query_one("#typed")

    @override
    def compose_foot(self) -> Iterable[Widget]:
        yield Sentences(id="missing")

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
        if self.missing():
            self._tells_missing = True
            self._draw_missing()
            if (at := self.missing_at()) is not None:
                at.scroll_visible(animate=False)
        elif self.was_readable:
            self.dismiss(result)

    def _draw_missing(self) -> None:
        """Say what is missing, once it was to be confirmed without, until nothing is."""
        missing = self.missing() if self._tells_missing else ""
        error = self.console_app.glyphs.error
        self.query_one("#missing", Sentences).show([signed(error, "$text-error", missing, "bold")] if missing else [])

    @override
    def show_waiting(self, waits: bool) -> None:
        button = self.query_one("#confirm", Button)
        label, is_missing = self.confirm_label(), bool(self.missing())
        if is_missing:
            # not told by its colour alone
            label = f"not yet: {label}"
        button.label = Content(self.console_app.glyphs.ellipsis.center(len(label)) if waits else label)
        button.disabled = waits or is_missing

    def _draw_button(self) -> None:
        """What is asked for has changed."""
        self.show_waiting(not self.was_readable)
        self._draw_missing()
