"""The form of a MERGE: its target, source and condition, and the list of its clauses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Label

from console.statements.clause_text import HEADS, FormClause
from console.statements.merge_form import MergeForm, Part
from console.widgets.field import Field, TextBox
from console.widgets.page import Column, Page, Paragraph, Row, Table
from console.widgets.page_view import PageView
from console.widgets.part_box import PartBox
from console.widgets.sentences import Sentences
from console.words.format import elide_end
from console.words.plan_summary import sql_line

if TYPE_CHECKING:
    from engine.model.browse import TableRef

PARTS: dict[Part, str] = {
    "target": "e.g. sales.orders, or delta.`/path`",
    "target_alias": "alias",
    "source": "e.g. sales.feed, parquet.`/path`, or (SELECT ...)",
    "source_alias": "alias",
    "condition": "e.g. t.id = s.id",
}
NO_MERGE = "The text is no MERGE that a form can show. It is untouched: change it in the SQL."
NO_TEXT = "There is no statement yet: type or choose a target, and one is started."


class MergeFormPane(Vertical):
    """Posts what the user typed; it is in the statement once ``show`` says so."""

    DEFAULT_CSS = """
    MergeFormPane { height: 1fr; }
    MergeFormPane #parts { height: auto; }
    MergeFormPane .as { width: 4; padding: 0 1; }
    MergeFormPane #target-alias, MergeFormPane #source-alias { width: 16; }
    MergeFormPane #clauses { height: 1fr; margin-top: 1; }
    MergeFormPane #told { height: auto; max-height: 6; padding: 0 1; background: $surface; }
    """
    HELP: ClassVar[str] = (
        "The statement as a form: what is changed here replaces that part of the SQL, and all else in the SQL stays as "
        "it was typed. Tab goes from field to field, {part.offer} in one offers what there is; in the list of clauses "
        "{merge.add_clause} adds one, enter edits it, {merge.remove_clause} removes it. A source is a table, a path as "
        "parquet.`/path`, or a query in brackets."
    )

    class Typed(Message):
        """The operator changed a part."""

        def __init__(self, part: Part, text: str) -> None:
            super().__init__()
            self.part = part
            self.text = text

    class OfferWanted(Message):
        """The operator asked what a part could be."""

        def __init__(self, part: Part) -> None:
            super().__init__()
            self.part = part

    class PartOpened(Message):
        """Enter was pressed in a part."""

        def __init__(self, part: Part) -> None:
            super().__init__()
            self.part = part

    class ClauseOpened(Message):
        """Enter was pressed on a clause."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.form: MergeForm | None = MergeForm()
        """What is shown; None if the text is no MERGE."""
        self.at = 0
        """The clause under the cursor."""
        self.not_taken: dict[Part, str] = {}
        """What is typed in a field but cannot be in the statement."""
        self._known: Sequence[TableRef] = ()

    def compose(self) -> ComposeResult:
        with Vertical(id="parts"):
            for side in ("target", "source"):
                hint, alias_hint = (PARTS[cast("Part", part)] for part in (side, f"{side}_alias"))
                alias = TextBox(placeholder=alias_hint, id=f"{side}-alias")
                yield Field(side, PartBox(placeholder=hint, id=side), Label("AS", classes="as"), alias)
            yield Field("ON", PartBox(placeholder=PARTS["condition"], id="condition"))
        yield PageView(id="clauses")
        yield Sentences(id="told")

    def on_mount(self) -> None:
        self._draw_clauses()

    def box(self, part: Part) -> TextBox:
        return self.query_one(f"#{part.replace('_', '-')}", TextBox)

    @property
    def clauses_view(self) -> PageView:
        return self.query_one("#clauses", PageView)

    def focus_first(self) -> None:
        if self.form is not None:
            self.box("target").focus()

    def say(self, paragraphs: Iterable[Paragraph]) -> None:
        """Sentences below the form."""
        self.query_one("#told", Sentences).show(paragraphs)

    def know(self, tables: Sequence[TableRef]) -> None:
        """Tables, to be offered while one types."""
        if tables is not self._known:
            self._known = tables
            for part in ("target", "source"):
                self.query_one(f"#{part}", PartBox).know([table.name for table in tables])

    def show(self, form: MergeForm | None, typing: Part | None = None) -> None:
        """Another form in the fields, but for the one that is being typed; nothing is posted."""
        self.not_taken = {part: text for part, text in self.not_taken.items() if part == typing}
        self.take(form)
        self.query_one("#parts").display = form is not None
        for part in PARTS if form is not None else ():
            if part != typing:
                self.box(part).show(getattr(form, part))

    def read(self, form: MergeForm | None) -> None:
        """The form of a text that was not written here: the cursor stays on its clause, wherever that stands now."""
        clauses = form.clauses if form is not None else ()
        if self.clause in clauses and self.clause not in clauses[self.at : self.at + 1]:
            self.at = clauses.index(self.clause)
        self.show(form)

    def take(self, form: MergeForm | None) -> None:
        """The same, but all that is typed stays as it is: it is ahead of the text."""
        clauses_differ = form is None or self.form is None or form.clauses != self.form.clauses
        self.form = form
        if clauses_differ or not form:
            self._draw_clauses()

    @on(Input.Changed)
    def _field_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.form is None or not isinstance(event.input, TextBox):
            return
        part = cast("Part", str(event.input.id).replace("-", "_"))
        text = event.input.text.strip()
        # a value set by ``show`` is no change
        if text != getattr(self.form, part) or part in self.not_taken:
            self.post_message(self.Typed(part, text))

    @on(Input.Submitted)
    def _field_entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.PartOpened(cast("Part", str(event.input.id).replace("-", "_"))))

    @on(PartBox.OfferWanted)
    def _offer_wanted(self, event: PartBox.OfferWanted) -> None:
        event.stop()
        self.post_message(self.OfferWanted(cast("Part", event.box.id)))

    # Clauses

    @property
    def clause(self) -> FormClause | None:
        """The clause under the cursor."""
        return self.form.clauses[self.at] if self.form is not None and self.at < len(self.form.clauses) else None

    @on(PageView.RowReached)
    def _clause_reached(self, event: PageView.RowReached) -> None:
        event.stop()
        if event.is_old:
            return
        self.at = event.row

    @on(PageView.RowOpened)
    def _clause_opened(self, event: PageView.RowOpened) -> None:
        event.stop()
        if event.is_old:
            return
        self.at = event.row
        self.post_message(self.ClauseOpened())

    def _draw_clauses(self) -> None:
        self.at = max(min(self.at, len(self.form.clauses) - 1 if self.form is not None else 0), 0)
        ellipsis = self.clauses_view.console_app.glyphs.ellipsis
        # the room there is, if nothing is laid out yet
        self.clauses_view.show(clauses_page(self.form, self.at, self.app.size.width // 4, ellipsis))


def clauses_page(form: MergeForm | None, at: int, width: int, ellipsis: str) -> Page:
    """The clauses of a form, the cursor on one of them; or why there are none. Conditions are cut to ``width``."""
    if form is None or not form.clauses:
        return Page(table=Table([], [], NO_MERGE if form is None else NO_TEXT))
    rows: list[Row] = [
        (
            str(position),
            HEADS[clause.kind].removeprefix("WHEN ").lower(),
            elide_end(sql_line(clause.condition), width, ellipsis),
            sql_line(clause.action),
        )
        for position, clause in enumerate(form.clauses, start=1)
    ]
    columns = [Column("#", align="right"), Column("when"), Column("and"), Column("then", fit="end")]
    return Page(table=Table(columns, rows), at=at)
