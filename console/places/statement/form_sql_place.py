"""A place whose statement has two views, a form and the SQL: what Create and Merge share of them."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from typing_extensions import override

from console.places.statement.statement import StatementPlace
from console.places.statement.statement_editor import ComposePane


class FormSqlPlace(StatementPlace):
    """Its ``#panes`` have a ``#form-pane`` too."""

    PANES: ClassVar[dict[str, str]] = {"form": "form-pane", **StatementPlace.PANES}
    FIRST: ClassVar[str] = "compose"
    """The view that it opens with, ``form`` or ``compose``."""

    def __init__(self) -> None:
        super().__init__()
        self._writing = self.FIRST
        """In which of the two views the statement was written last."""

    def read_text(self) -> None:
        """Show in the form what it can say of the text."""
        raise NotImplementedError

    def focus_form(self) -> None:
        """Give the focus to the first field of the form."""
        raise NotImplementedError

    @property
    def typing(self) -> bool:
        """Whether the statement is being written, in either view."""
        return self.view in ("form", "compose")

    @override
    def _steps(self) -> list[tuple[str, str]]:
        return [("form", "Form"), *super()._steps()]

    @override
    def show_view(self, view: str) -> None:
        super().show_view(view)
        if self.typing:
            self._writing = view
        if view == "form":
            self.read_text()

    @on(ComposePane.Edited)
    def _text_may_be_others(self) -> None:
        if self.view == "form":
            self.read_text()

    @override
    def possible(self) -> dict[str, bool]:
        return super().possible() | {"form": self.operation is None, "undo_change": self.view == "form"}

    def action_undo_change(self) -> None:
        before = self.pane.text
        self.editor.undo()
        if self.pane.text == before:
            self.notify("There is no change to take back.")
        # the next key may be for what is in the form
        self.read_text()

    def _removed(self, what: str) -> None:
        self.notify(self.with_keys(f"{what} is removed: {{merge.undo_change}} brings it back."))

    def action_form(self) -> None:
        if self.view == "form":
            self.action_edit()
        else:
            self.show_view("form")
            self.focus_form()

    @override
    def action_pane(self, view: str) -> None:
        if view == "form":
            self.show_view("form")
            self.focus_form()
        else:
            super().action_pane(view)

    @override
    def action_back(self) -> None:
        if self.view == "form":
            # leave the field: plain keys are actions again
            self.set_focus(None)
        elif self.view == "preview" and self._writing == "form":
            self.show_view("form")
        else:
            super().action_back()
