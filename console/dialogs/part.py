"""One part of a statement in full, on as many lines as it has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Static

from console.dialogs.dialog import Dialog
from console.widgets.editor import SqlEditor


class PartDialog(Dialog[str]):
    """Gives back the text, or None if it stays as it was. ``complaint`` of a text is why it cannot be taken."""

    AUTO_FOCUS = "#part"
    HELP = "A part of the statement. Only this part of the SQL is replaced; esc closes and leaves it as it was."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+y", "accept", "use it", id="full.accept", priority=True, tooltip="Take the part as it is"),
    ]

    def __init__(self, title: str, text: str, complaint: Callable[[str], str]) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._complaint = complaint

    def title_text(self) -> str:
        return self._title

    def compose_content(self) -> Iterable[Widget]:
        yield SqlEditor(id="part")
        yield Static(id="complaint", classes="complaint", markup=False)

    def compose_buttons(self) -> Iterable[Widget]:
        yield Button("Cancel", id="refuse")
        yield Button(Content(self.console_app.with_keys("{full.accept}  use it")), id="accept")

    def on_mount(self) -> None:
        editor = self.query_one(SqlEditor)
        editor.load_text(self._text)
        editor.move_cursor(editor.document.end)

    @on(Button.Pressed, "#accept")
    def action_accept(self) -> None:
        text = self.query_one(SqlEditor).text
        complaint = self._complaint(text)
        self.query_one("#complaint", Static).update(Content(complaint))
        if not complaint:
            self.dismiss(text)

    @on(SqlEditor.Left)
    @on(Button.Pressed, "#refuse")
    def _refused(self) -> None:
        self.dismiss(None)
