"""One column of a table that is to be created."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from console.dialogs.dialog import Dialog
from console.statements.table_form import VALUES, FormColumn
from console.widgets.field import Field, TextBox
from console.widgets.one_of import OneOf

NULLS = (("", "may be NULL"), ("not_null", "NOT NULL"))
OF_VALUES = tuple(zip(VALUES, ("none", "DEFAULT", "GENERATED AS", "IDENTITY", "IDENTITY BY DEFAULT"), strict=True))


class ColumnDialog(Dialog[FormColumn]):
    """Gives back the column, or None if it stays as it was."""

    AUTO_FOCUS = "#name"
    HELP = (
        "A column: its name, its type as Spark writes it, whether it may be NULL, where its value comes from if none "
        "is given, and a comment. Enter takes it, esc leaves it as it was."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+y,enter", "accept", "use it", id="column.accept", tooltip="Take the column as it is written here"
        ),
    ]

    def __init__(self, column: FormColumn | None) -> None:
        super().__init__()
        self._column = column or FormColumn("", "")
        self._is_new = column is None

    def title_text(self) -> str:
        return "New column" if self._is_new else "Column"

    def compose_content(self) -> Iterable[Widget]:
        one = self._column
        yield Field("name", TextBox(one.name, id="name"))
        yield Field("type", TextBox(one.type, placeholder="e.g. bigint, string, decimal(12,2)", id="type"))
        yield Field("NULL", OneOf(NULLS, "" if one.nullable else "not_null", id="null"))
        yield Field("value", OneOf(OF_VALUES, one.value, id="value"))
        placeholder = "SQL of the value; of an IDENTITY e.g. START WITH 1 INCREMENT BY 1"
        yield Field("expression", TextBox(one.expression, placeholder=placeholder, id="expression"))
        yield Field("comment", TextBox(one.comment, id="comment"))
        yield Static(id="complaint", classes="complaint", markup=False)

    def compose_buttons(self) -> Iterable[Widget]:
        yield Button("Cancel", id="refuse")
        yield Button(Content(self.console_app.with_keys("{column.accept}  use it")), id="accept")

    @property
    def column(self) -> FormColumn:
        """The column as it is typed now."""
        name, type_, expression, comment = (
            self.query_one(f"#{id}", TextBox).text.strip() for id in ("name", "type", "expression", "comment")
        )
        value = self.query_one("#value", OneOf).value
        return FormColumn(
            name=name,
            type=type_,
            nullable=not self.query_one("#null", OneOf).value,
            value=value,
            expression=expression if value else "",
            comment=comment,
        )

    @on(Input.Submitted)
    @on(Button.Pressed, "#accept")
    def action_accept(self) -> None:
        one = self.column
        complaint, has_expression = "", bool(self.query_one("#expression", TextBox).text.strip())
        if not one.name or not one.type:
            complaint = "A column needs a name and a type."
        elif one.value in ("default", "generated") and not one.expression:
            complaint = "The expression is missing: what is the value?"
        elif has_expression and not one.expression:
            complaint = "What is the expression for? Choose what the value is, or empty it."
        self.query_one("#complaint", Static).update(Content(complaint))
        if not complaint:
            self.dismiss(one)

    @on(Button.Pressed, "#refuse")
    def _refused(self) -> None:
        self.dismiss(None)
