"""One WHEN clause of a MERGE: for which rows, and what is done with them, column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, cast

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from console.dialogs.dialog import Dialog
from console.statements.clause_text import HEADS, FormClause
from console.widgets.column_rows import ColumnRows
from console.widgets.field import Field, TextBox
from console.widgets.one_of import OneOf

KINDS = (("matched", "matched"), ("not_matched", "not matched"), ("not_matched_by_source", "not matched by source"))
ACTIONS = (("update", "update"), ("delete", "delete"))
INSERT = (("insert", "insert"),)
STAR = (("*", "all columns (*)"), ("", "these columns"))


class ClauseDialog(Dialog[FormClause]):
    """Gives back the clause, or None if it stays as it was.

    ``columns`` are those of the target (SQL) that the clause does not set, and what each may be set to, "" for nothing
    that is known; ``complaint`` of a clause is why it cannot be taken.
    """

    AUTO_FOCUS = "#condition"
    HELP = (
        "A clause: for which rows it is, and what is done with them. Columns are set one by one where an expression "
        "stands beside them; space in an empty one takes the source's column of the same name. Enter takes the "
        "clause, esc leaves it as it was."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+y,enter", "accept", "use it", id="clause.accept", tooltip="Take the clause as it is written here"
        ),
    ]

    def __init__(
        self,
        clause: FormClause | None,
        columns: Sequence[tuple[str, str]],
        complaint: Callable[[FormClause], str],
    ) -> None:
        super().__init__()
        self._is_new = clause is None
        self._clause = clause or FormClause("matched", "update", star=True)
        self._columns = [
            *((column, expression, "") for column, expression in self._clause.assignments),
            *((column, "", proposal) for column, proposal in columns),
        ]
        self._complaint = complaint

    def title_text(self) -> str:
        return "New clause" if self._is_new else HEADS[self._clause.kind]

    def compose_content(self) -> Iterable[Widget]:
        one = self._clause
        if self._is_new:
            yield Field("when", OneOf(KINDS, one.kind, id="kind"))
        yield Field("then", OneOf(INSERT if one.kind == "not_matched" else ACTIONS, one.action_kind, id="action"))
        yield Field("if also", TextBox(one.condition, placeholder="nothing more: all such rows", id="condition"))
        if not one.by_columns:
            yield Static(Content("What it sets is edited in the SQL: this form cannot say it all."), markup=False)
        yield Field("sets", OneOf(STAR, "*" if one.star or not one.assignments else "", id="star"))
        yield Vertical(id="columns")
        yield Static(id="complaint", classes="complaint", markup=False)

    def compose_buttons(self) -> Iterable[Widget]:
        yield Button("Cancel", id="refuse")
        yield Button(Content(self.console_app.with_keys("{clause.accept}  use it")), id="accept")

    def on_mount(self) -> None:
        if not self._clause.by_columns:
            self.query_one("#action", OneOf).disabled = True
        self._shape()

    @property
    def _kind(self) -> str:
        return self.query_one("#kind", OneOf).value if self._is_new else self._clause.kind

    @on(OneOf.Changed)
    def _shape(self) -> None:
        """Show what can be said of this kind of clause."""
        action, star = self.query_one("#action", OneOf), self.query_one("#star", OneOf)
        action.offer(INSERT if self._kind == "not_matched" else ACTIONS)
        # a row that is not in the source cannot be set from it
        star.offer(STAR[1:] if self._kind == "not_matched_by_source" else STAR)
        sets = action.value != "delete" and self._clause.by_columns
        cast("Widget", star.parent).display = sets
        columns = self.query_one("#columns")
        columns.display = sets and not star.value
        # their boxes cost a moment: only if they are wanted
        if columns.display and not columns.children:
            rows = ColumnRows([(column, expression) for column, expression, _ in self._columns], self._proposal)
            another = Field("another", TextBox(placeholder="column", id="more"), TextBox(placeholder="SQL", id="as"))
            columns.mount_all([rows, another])
        for rows in columns.query(ColumnRows):
            rows.draw()

    def _proposal(self, at: int) -> str:
        return "" if self._kind == "not_matched_by_source" else self._columns[at][2]

    @property
    def clause(self) -> FormClause:
        """The clause as it is typed now."""
        one = replace(self._clause, condition=self.query_one("#condition", TextBox).text.strip())
        if not one.by_columns:
            return one
        if self._is_new:
            one = replace(one, kind=self._kind)  # type: ignore[arg-type]
        action = self.query_one("#action", OneOf).value
        star = action != "delete" and bool(self.query_one("#star", OneOf).value)
        return replace(
            one,
            action_kind=action,  # type: ignore[arg-type]
            star=star,
            assignments=() if star or action == "delete" else tuple(self._assignments()),
        )

    @property
    def _another(self) -> tuple[str, str]:
        """The column that is typed below the others, and its SQL."""
        return self.query_one("#more", TextBox).text.strip(), self.query_one("#as", TextBox).text.strip()

    def _assignments(self) -> Iterable[tuple[str, str]]:
        if not self.query("#more"):
            return
        yield from self.query_one(ColumnRows).assignments
        if all(self._another):
            yield self._another

    @on(Input.Submitted)
    @on(Button.Pressed, "#accept")
    def action_accept(self) -> None:
        if not self.was_readable:
            return
        one = self.clause
        complaint = self._columns_complaint(one) or self._complaint(one)
        line = self.query_one("#complaint", Static)
        line.update(Content(complaint))
        if complaint:
            # below the columns, of which there may be many
            self.call_after_refresh(line.scroll_visible, animate=False)
        else:
            self.dismiss(one)

    def _columns_complaint(self, one: FormClause) -> str:
        if not one.by_columns or one.action_kind == "delete" or one.star:
            return ""
        column, expression = self._another
        if bool(column) != bool(expression):
            return f"Another column has no {'SQL' if column else 'name'}: write both, or neither."
        return "" if one.assignments else "Which columns? Write an expression beside one, or take all."

    @on(Button.Pressed, "#refuse")
    def _refused(self) -> None:
        self.dismiss(None)
