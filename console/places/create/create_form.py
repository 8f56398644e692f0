"""The form of a table to create: one statement, as fields and a list of columns instead of as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input

from console.statements.table_form import LAYOUTS, FormColumn, TableForm
from console.widgets.field import Field, TextBox
from console.widgets.grid import Grid
from console.widgets.one_of import OneOf
from console.widgets.page import Column, Page, Paragraph, Row, Table
from console.widgets.page_view import PageView
from console.widgets.sentences import Sentences
from console.words.visible import visible

TEXTS = ("name", "layout_by", "properties", "location", "comment", "query")
PLACEHOLDERS = {
    "name": "e.g. sales.orders, or delta.`/path`",
    "layout_by": "e.g. order_date",
    "properties": "e.g. 'delta.enableDeletionVectors' = 'true'",
    "location": "empty for a managed table",
    "query": "a query: then it gives the columns",
}
SHORT = {
    "": "",
    "default": "DEFAULT",
    "generated": "AS",
    "identity": "IDENTITY",
    "identity_default": "IDENTITY BY DEFAULT",
}
OF_MODES = (("", "fail"), ("if_not_exists", "IF NOT EXISTS"), ("or_replace", "OR REPLACE"))
OF_LAYOUTS = tuple((key, words or "none") for key, words in LAYOUTS.items())


class FormPane(Vertical):
    """Posts Changed with the edited form, and shows it until ``show`` brings another."""

    DEFAULT_CSS = """
    FormPane { height: 1fr; }
    FormPane #layout { width: 46; max-width: 60%; }
    FormPane #columns { height: 1fr; }
    FormPane #told { height: auto; max-height: 6; padding: 0 1; background: $surface; }
    """
    HELP: ClassVar[str] = (
        "The table as a form: it writes the SQL, which is what runs. Tab goes from field to field, space chooses where "
        "there is a choice; in the list of columns a adds one, enter edits it, d removes it. The name, the brackets of "
        "layout and properties and the query are SQL; location and comment are plain text."
    )

    class Changed(Message):
        """The operator changed a field or a column."""

        def __init__(self, form: TableForm) -> None:
            super().__init__()
            self.form = form

    class ColumnOpened(Message):
        """Enter was pressed on a column."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.form = TableForm()
        """What is shown."""
        self.at = 0
        """The column under the cursor."""

    def compose(self) -> ComposeResult:
        def text(name: str) -> TextBox:
            return TextBox(placeholder=PLACEHOLDERS.get(name, ""), id=name.replace("_", "-"))

        yield Field("table", text("name"))
        yield Field("if it exists", OneOf(OF_MODES, id="mode"))
        yield Field("layout", OneOf(OF_LAYOUTS, id="layout"), text("layout_by"))
        yield Field("properties", text("properties"))
        yield Field("location", text("location"))
        yield Field("comment", text("comment"))
        yield Field("as select", text("query"))
        yield PageView(id="columns")
        yield Sentences(id="told")

    def on_mount(self) -> None:
        self._draw_columns()

    def _text(self, name: str) -> TextBox:
        return self.query_one(f"#{name.replace('_', '-')}", TextBox)

    @property
    def columns_view(self) -> PageView:
        return self.query_one("#columns", PageView)

    def focus_name(self) -> None:
        self._text("name").focus()

    def say(self, paragraphs: Iterable[Paragraph]) -> None:
        """Sentences below the form."""
        self.query_one("#told", Sentences).show(paragraphs)

    def show(self, form: TableForm) -> None:
        """Another form in the fields; nothing is posted."""
        self.take(form)
        for name in TEXTS:
            self._text(name).show(getattr(form, name))
        self.query_one("#mode", OneOf).value = form.mode
        self.query_one("#layout", OneOf).value = form.layout

    def take(self, form: TableForm) -> None:
        """The same, but all that is typed stays as it is: it is ahead of the text."""
        columns_differ = (form.columns, bool(form.query)) != (self.form.columns, bool(self.form.query))
        self.form = form
        if columns_differ:
            self._draw_columns()

    def typed(self, columns: tuple[FormColumn, ...]) -> TableForm:
        """What the fields hold, with ``columns``."""
        return TableForm(
            mode=self.query_one("#mode", OneOf).value,
            layout=self.query_one("#layout", OneOf).value,
            columns=columns,
            **{name: self._text(name).text for name in TEXTS},
        )

    def read(self, form: TableForm) -> None:
        """The form of a text that was not written here: the cursor stays on its column, wherever that stands now."""
        names = [column.name for column in form.columns]
        if self.column is not None and self.column.name in names:
            self.at = names.index(self.column.name)
        self.show(form)

    @on(Input.Changed)
    @on(OneOf.Changed)
    def _field_changed(self, event: Message) -> None:
        event.stop()
        typed = self.typed(self.form.columns)
        # a value set by ``show`` is no change
        if typed != self.form:
            self.post_message(self.Changed(typed))

    # Columns

    def with_column(self, at: int | None, column: FormColumn) -> TableForm:
        """The form with another column in place of that at ``at``, or with one more at the end."""
        columns = list(self.form.columns)
        if at is None:
            self.at = len(columns)
            columns.append(column)
        else:
            columns[at] = column
        return replace(self.form, columns=tuple(columns))

    def without_column(self) -> TableForm:
        """The form without the column under the cursor."""
        at = self.at
        self.at = max(min(at, len(self.form.columns) - 2), 0)
        return replace(self.form, columns=self.form.columns[:at] + self.form.columns[at + 1 :])

    def with_moved_column(self, step: int) -> TableForm:
        """The form with the column under the cursor one place further, or back."""
        columns = list(self.form.columns)
        to = max(min(self.at + step, len(columns) - 1), 0)
        columns.insert(to, columns.pop(self.at))
        self.at = to
        return replace(self.form, columns=tuple(columns))

    def find_cursor(self) -> None:
        """A change was not taken: the column under the cursor is the one that it is drawn on."""
        self.at = next((grid.cursor for grid in self.query(Grid)), 0)

    @property
    def column(self) -> FormColumn | None:
        """The column under the cursor."""
        return self.form.columns[self.at] if self.at < len(self.form.columns) and not self.form.query else None

    @on(PageView.RowReached)
    def _column_reached(self, event: PageView.RowReached) -> None:
        event.stop()
        if event.is_old:
            return
        self.at = event.row

    @on(PageView.RowOpened)
    def _column_opened(self, event: PageView.RowOpened) -> None:
        event.stop()
        if event.is_old:
            return
        self.at = event.row
        self.post_message(self.ColumnOpened())

    def _draw_columns(self) -> None:
        self.at = max(min(self.at, len(self.form.columns) - 1), 0)
        self.columns_view.show(columns_page(self.form, self.at))


def columns_page(form: TableForm, at: int = 0) -> Page:
    """The columns of a form, the cursor on one of them."""
    if form.query:
        return Page(table=Table([], [], "The query gives the columns: types, names and comments are those of SELECT."))
    rows: list[Row] = [
        (
            str(position),
            visible(column.name),
            visible(column.type),
            "" if column.nullable else "not null",
            visible(f"{SHORT[column.value]} {column.expression}".strip()),
            visible(column.comment),
        )
        for position, column in enumerate(form.columns, start=1)
    ]
    columns = [Column("#", align="right"), Column("column"), Column("type"), Column("", name="constraint"),
               Column("value", fit="end"), Column("comment", fit="end")]  # fmt: skip
    return Page(table=Table(columns, rows, "No columns yet: a adds one."), at=at)
