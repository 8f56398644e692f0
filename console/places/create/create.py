"""Create: a new table, as a form and as its SQL; see what it would do, commit exactly that."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import ContentSwitcher
from typing_extensions import override

from console.places.create.create_form import FormPane
from console.places.create.create_keys import KEYS
from console.places.statement.commit_pane import CommitPane
from console.places.statement.form_sql_place import FormSqlPlace
from console.places.statement.preview import Preview
from console.places.statement.statement_editor import ComposePane
from console.statements.table_form import FormColumn, TableForm, read_form, to_sql
from console.widgets.lines import TabLine
from console.widgets.page import Paragraph, signed
from console.widgets.running import Running

if TYPE_CHECKING:
    from engine.model.operation import Outcome
    from engine.model.plans import AnyPlan

EMPTY = "Name a table and add columns, or write CREATE TABLE yourself. {create.plan} plans it and writes nothing."
BY_HAND = (
    "The SQL was edited by hand: it runs as it is. The form shows what it can say of it, and asks before it writes."
)
NO_LAYOUT = "No layout is chosen, so the columns beside it are not in the SQL: choose one, or empty them."
NOT_A_FORM = "The form cannot show this SQL and is empty; the SQL runs as it is. The form asks before it replaces it."


class CreatePlace(FormSqlPlace):
    PLACE = "create"
    FIRST = "form"
    HELP = (
        "Create: a CREATE or REPLACE TABLE, as a form or as SQL. Both are one statement: the form writes the SQL, and "
        "the SQL is what is planned and runs. What you type there by hand is never replaced unasked. In Tables, "
        "{tables.like} starts with a table like another one, and {tables.clone} with a shallow clone of one to "
        "rehearse on."
    )
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self) -> None:
        super().__init__()
        self._forms: dict[str, TableForm] = {}
        """The texts that the form wrote, with what it held: undo brings them back, though not all can be read."""
        self._asking = False

    def compose_body(self) -> Iterable[Widget]:
        yield TabLine(
            self._steps(), "screen.pane", chosen="form", id="steps", separator=self.console_app.glyphs.becomes
        )
        with ContentSwitcher(initial="form-pane", id="panes"):
            yield FormPane(id="form-pane")
            yield ComposePane(f"create-{self._draft()}", empty=EMPTY, id="compose-pane")
            yield Preview(id="preview-pane")
            yield CommitPane(id="commit-pane")
        yield Running(id="running")

    def on_mount(self) -> None:
        self.focus_form()

    def _draft(self) -> int:
        """The number of the draft that is shown: the place has one."""
        drafts = self.console_app.drafts
        number = next(drafts.left_open("create"), None) or drafts.free("create")
        if others := drafts.not_ours("create"):
            self.notify(f"Other texts are kept: {', '.join(others)}")
        return number

    @property
    def form_pane(self) -> FormPane:
        return self.query_one("#form-pane", FormPane)

    # One statement, two views

    @property
    def is_the_forms_own(self) -> bool:
        """Whether the text is what the form wrote, so that nothing is lost if it writes again."""
        return self.pane.text in self._forms or not self.pane.text.strip()

    def use_form(self, form: TableForm) -> None:
        """A table from elsewhere, ready to be edited. The text that was there is put aside."""
        self.pane.use_text(self._text_of(form))
        self.form_pane.show(form)
        self.show_view("form")
        self.focus_form()

    @override
    def focus_form(self) -> None:
        self.form_pane.focus_name()

    @override
    def read_text(self) -> None:
        text = self.pane.text
        form = self._forms.get(text) or read_form(text)
        # the form can say all of it, so it may go on
        if form is not None and to_sql(form) == text:
            self._forms[text] = form
        shown = form or TableForm()
        # what is typed on meanwhile stays
        if shown != self.form_pane.form:
            self.form_pane.read(shown)
        self._tell()

    def _text_of(self, form: TableForm) -> str:
        """What the form writes."""
        text = to_sql(form)
        self._forms[text] = form
        return text

    @on(ComposePane.Told)
    def _tell(self) -> None:
        lines: list[Paragraph] = []
        if not self.is_the_forms_own:
            warning = NOT_A_FORM if read_form(self.pane.text) is None else BY_HAND
            lines.append(signed(self.console_app.glyphs.warning, "$text-warning", warning))
        if self.form_pane.form.layout_by and not self.form_pane.form.layout:
            lines.append(signed(self.console_app.glyphs.warning, "$text-warning", NO_LAYOUT))
        self.form_pane.say((*lines, *self.pane.message))

    @on(FormPane.Changed)
    def _form_changed(self, event: FormPane.Changed) -> None:
        event.stop()
        self._change_form(event.form)

    def _change_form(self, form: TableForm) -> None:
        if self._asking:
            return
        if self.is_the_forms_own:
            self._write(form)
            return
        from console.dialogs.confirm import ConfirmDialog

        self._asking = True
        dialog = ConfirmDialog(
            "The SQL was edited by hand",
            self.with_keys(
                "The form would write its own text in its place, without what it cannot say. The text of now is kept "
                "in the drafts folder, and {editor.undo} in the SQL brings it back."
            ),
            confirm_label="replace it",
            refuse_label="Keep the SQL",
        )
        self.app.push_screen(dialog, partial(self._replace_confirmed, form))

    def _replace_confirmed(self, form: TableForm, confirmed: bool | None) -> None:
        self._asking = False
        if confirmed:
            # more may have been typed until the question was shown
            form = self.form_pane.typed(form.columns)
            self.pane.use_text(self._text_of(form))
            self.form_pane.take(form)
            self._tell()
        else:
            # the fields go back to what they were
            self.form_pane.show(self.form_pane.form)
            self.form_pane.find_cursor()

    def _write(self, form: TableForm) -> None:
        text = self._text_of(form)
        self.form_pane.take(form)
        self.editor.replace_all(text)
        self._tell()

    # Columns

    def action_add_column(self) -> None:
        self._edit_column(None)

    @on(FormPane.ColumnOpened)
    def _column_opened(self, event: FormPane.ColumnOpened) -> None:
        event.stop()
        self._edit_column(self.form_pane.at)

    def _edit_column(self, at: int | None) -> None:
        if self.form_pane.form.query:
            self.notify("The query gives the columns; empty it to write them here.")
            return
        from console.dialogs.column import ColumnDialog

        def taken(column: FormColumn | None) -> None:
            if column is not None:
                self._change_form(self.form_pane.with_column(at, column))
                self.form_pane.columns_view.focus_page()

        self.app.push_screen(ColumnDialog(None if at is None else self.form_pane.form.columns[at]), taken)

    def action_remove_column(self) -> None:
        if self.form_pane.column is not None:
            at, is_own = self.form_pane.at, self.is_the_forms_own
            self._change_form(self.form_pane.without_column())
            if is_own:
                self._removed(f"Column {at + 1}")

    def action_move_column(self, step: int) -> None:
        if self.form_pane.column is not None:
            self._change_form(self.form_pane.with_moved_column(step))

    # Steps

    @override
    def possible(self) -> dict[str, bool]:
        in_form = self.view == "form"
        on_column = in_form and self.form_pane.column is not None
        return super().possible() | {"add_column": in_form, "remove_column": on_column, "move_column": on_column}

    @override
    def _applied(self, plan: AnyPlan, outcome: Outcome) -> None:
        super()._applied(plan, outcome)
        self.console_app.tables_changed()
