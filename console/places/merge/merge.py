"""Merge: write a statement, see what it would do, commit exactly that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import ContentSwitcher, Input
from typing_extensions import override

from console.drafts import DraftStore
from console.places.merge.changes import ask_for_changes
from console.places.merge.merge_form_pane import MergeFormPane
from console.places.merge.merge_keys import KEYS
from console.places.statement.commit_pane import CommitPane
from console.places.statement.form_sql_place import FormSqlPlace
from console.places.statement.markers import target_of
from console.places.statement.preview import Preview
from console.places.statement.spark_page import spark_page
from console.places.statement.statement_editor import ComposePane
from console.statements.clause_text import FormClause
from console.statements.merge_form import (
    Part,
    comments_between,
    place_of_new,
    read_form,
    with_clause,
    with_moved_clause,
    with_new_clause,
    with_part,
    without_clause,
)
from console.widgets.lines import TabLine
from console.widgets.page import signed
from console.widgets.running import Running
from console.words.visible import visible

if TYPE_CHECKING:
    from console.statements.templates import Sides
    from console.widgets.page import Page

EMPTY = (
    "Type a MERGE statement, or press {tables.merge} on a table. {merge.plan} plans it and writes nothing. "
    "{merge.open} opens one."
)
NOT_IN_SQL = "The {part} as it is typed here is not in the SQL: it is empty, or would not stay one part of it."


class MergePlace(FormSqlPlace):
    PLACE = "merge"
    HELP = (
        "Merge: type a MERGE statement, plan it, look at what it would do, and commit exactly that. "
        "Planning writes nothing. The text is saved as you type and comes back after a crash. {merge.form} shows it as "
        "a form, which changes the part that is edited there and leaves the rest of the text as it is. "
        "In the preview {merge.find_key} finds a key: what becomes of its row, by which clause, and why; "
        "{merge.rehearse} runs the MERGE on a clone and compares."
    )
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, number: int = 1) -> None:
        super().__init__()
        self.number = number
        self.proposed: Sides | None = None
        """The tables of the last proposal, for another template of the same target."""
        self._in_form = ""
        """The text that the form shows: what is typed there may be ahead of it."""

    def compose_body(self) -> Iterable[Widget]:
        becomes = self.console_app.glyphs.becomes
        yield TabLine(self._merges(), "app.merge", chosen=str(self.number), id="merges")
        yield TabLine(self._steps(), "screen.pane", chosen="compose", id="steps", separator=becomes)
        with ContentSwitcher(initial="compose-pane", id="panes"):
            yield MergeFormPane(id="form-pane")
            yield ComposePane(f"merge-{self.number}", empty=EMPTY, id="compose-pane")
            yield Preview(id="preview-pane")
            yield CommitPane(id="commit-pane")
        yield Running(id="running")

    def on_mount(self) -> None:
        self.console_app.merges_signal.subscribe(self, self._merges_changed)
        self._merges_changed(self.number)
        self._name_restored()
        if self.is_first and (others := self.console_app.drafts.not_ours("merge")):
            self.notify(f"Another console has {', '.join(others)}; this one has drafts of its own.")
        if self.console_app.open_sql and self.is_first:
            self.use_text(self.console_app.open_sql)
        self.editor.focus()

    # Several merges

    @property
    def is_first(self) -> bool:
        """Whether it is the one that stays open."""
        return self.number == min(self.console_app.merges)

    def _merges(self) -> list[tuple[str, str]]:
        # a number alone would look like the key of a place
        named = self.console_app.merges.items()
        return [(str(number), f"merge {number} {visible(table) or 'new'}") for number, table in named]

    @property
    @override
    def in_words(self) -> str:
        one_of_several = len(self.console_app.merges) > 1
        return f"merge {self.number} of the Merge place" if one_of_several else super().in_words

    def _merges_changed(self, _number: int) -> None:
        line = self.query_one("#merges", TabLine)
        line.tabs = self._merges()
        # one merge is no choice
        line.display = len(line.tabs) > 1
        line.refresh()
        self.refresh_bindings()

    def _name_restored(self) -> None:
        """Say which tables the merges go into that were left open the last time, before anybody goes to them."""
        store, known = DraftStore(self.console_app.home), self.console_app.merges
        unnamed = [number for number, table in known.items() if not table and number != self.number]

        def named(tables: dict[int, str]) -> None:
            for number, table in tables.items():
                if not known.get(number):
                    self.console_app.name_merge(number, table)

        if unnamed:
            self.ask(
                "restored",
                lambda: {number: target_of(store.glimpse(f"merge-{number}")) for number in unnamed},
                named,
                lambda _: None,
            )

    async def action_close_merge(self) -> None:
        if self.operation is not None:
            self.notify(self._busy(self.operation, "now; wait for it, or {merge.cancel} cancels it."))
            return
        try:
            kept = self.pane.discard()
        except OSError as error:
            self.notify(f"The text could not be put aside: {error}. The merge stays open.", severity="error")
            return
        if kept is not None:
            self.app.notify(f"The text is kept in drafts/{kept.name}.")
        self.app.run_worker(self.console_app.close_merge(self.number), name="close merge")

    @on(ComposePane.Edited)
    def _name_by_target(self) -> None:
        self.console_app.name_merge(self.number, self.pane.target)

    @override
    def use_text(self, sql: str, params: Mapping[str, str] | None = None, file: str = "") -> None:
        if self.view == "form" and read_form(sql) is not None:
            self.pane.use_text(sql, params, file)
        else:
            super().use_text(sql, params, file)

    def use_proposal(self, known: Sides) -> None:
        """An upsert between two tables, ready to be edited; ``t`` makes another kind of merge of them."""
        from console.statements.templates import upsert

        self.proposed = known
        self.use_text(upsert(known))

    # One statement, two views

    @property
    def form_pane(self) -> MergeFormPane:
        return self.query_one("#form-pane", MergeFormPane)

    @override
    def focus_form(self) -> None:
        self.form_pane.focus_first()

    @override
    def show_view(self, view: str) -> None:
        # typed text that did not fit is dropped
        self._in_form = ""
        super().show_view(view)

    @override
    def read_text(self) -> None:
        if self.pane.text != self._in_form or not self._in_form:
            self.form_pane.read(read_form(self.pane.text))
            self._in_form = self.pane.text
        self._tell()

    @on(ComposePane.Told)
    def _tell(self) -> None:
        warning = self.console_app.glyphs.warning
        lines = [
            signed(warning, "$text-warning", NOT_IN_SQL.replace("{part}", part.replace("_", "'s ")))
            for part in self.form_pane.not_taken
        ]
        self.form_pane.say((*lines, *self.pane.message))
        self.form_pane.know(self.console_app.catalog.known_tables())

    @on(MergeFormPane.Typed)
    def _part_typed(self, event: MergeFormPane.Typed) -> None:
        self.change_part(event.part, event.text, typing=event.part)

    def change_part(self, part: Part, text: str, typing: Part | None = None) -> None:
        """Put another target, source, alias or condition into the statement, if it can be one."""
        new_text = with_part(self.pane.text, part, text)
        if new_text is not None:
            self.form_pane.not_taken.pop(part, None)
            self.change(new_text, typing)
        elif typing is None:
            self.notify(NOT_IN_SQL.replace("{part}", part), severity="warning")
        else:
            self.form_pane.not_taken[part] = text
            self._tell()

    def change(self, text: str | None, typing: Part | None = None) -> None:
        """The form wrote another text. None if it could not."""
        if text is None:
            return
        is_first = not self.pane.text.strip()
        self.editor.change_to(text)
        self._in_form = self.pane.text
        form = read_form(text)
        if typing is None or is_first:
            self.form_pane.show(form, typing)
        else:
            self.form_pane.take(form)
        self._tell()
        self.refresh_bindings()

    @on(MergeFormPane.OfferWanted)
    def _offer_wanted(self, event: MergeFormPane.OfferWanted) -> None:
        from console.places.merge.merge_offers import offer

        if (form := self.form_pane.form) is not None:
            offer(self, form, event.part, partial(self._take_part, event.part))

    @on(MergeFormPane.PartOpened)
    def _part_opened(self, event: MergeFormPane.PartOpened) -> None:
        part, form = event.part, self.form_pane.form
        if form is None or part.endswith("alias"):
            return
        from console.dialogs.part import PartDialog

        def complaint(text: str) -> str:
            return "" if with_part(self.pane.text, part, text) is not None else NOT_IN_SQL.replace("{part}", part)

        now = self.form_pane.not_taken.get(part, getattr(form, part))
        self.app.push_screen(
            PartDialog("ON" if part == "condition" else part.capitalize(), now, complaint),
            partial(self._take_part, part),
        )

    def _take_part(self, part: Part, text: str | None) -> None:
        if text is not None:
            self.change_part(part, text)

    # Clauses

    def action_add_clause(self) -> None:
        self._open_clause(None)

    @on(MergeFormPane.ClauseOpened)
    def _clause_opened(self, event: MergeFormPane.ClauseOpened) -> None:
        event.stop()
        self._open_clause(self.form_pane.at)

    def _open_clause(self, at: int | None) -> None:
        from console.places.merge.merge_offers import open_clause

        if (form := self.form_pane.form) is not None:
            open_clause(
                self,
                form,
                None if at is None else form.clauses[at],
                lambda clause: self._clause_changed(at, clause) is not None,
                partial(self._take_clause, at),
            )

    def _clause_changed(self, at: int | None, clause: FormClause) -> str | None:
        """The text with another clause at ``at``, or with one more; None if it cannot be part of it."""
        return with_new_clause(self.pane.text, clause) if at is None else with_clause(self.pane.text, at, clause)

    def _take_clause(self, at: int | None, clause: FormClause | None) -> None:
        """Put a clause into the statement; the cursor goes to it."""
        form = self.form_pane.form
        if form is not None and clause is not None and (new_text := self._clause_changed(at, clause)) is not None:
            self.form_pane.at = place_of_new(form, clause.kind) if at is None else at
            self.change(new_text)
            self.form_pane.clauses_view.focus_page()

    def action_remove_clause(self) -> None:
        at = self.form_pane.at
        new_text = without_clause(self.pane.text, at)
        if new_text is None:
            self.notify("A MERGE has one clause at least.")
            return
        self.change(new_text)
        self._removed(f"Clause {at + 1}")

    def action_move_clause(self, step: int) -> None:
        at = self.form_pane.at
        new_text = with_moved_clause(self.pane.text, at, step)
        if new_text is None:
            self.notify("Clauses of one kind stand together: matched, not matched, not matched by source.")
            return
        if comments_between(self.pane.text, at, at + step):
            self.notify("The comments between the two clauses stay where they were.")
        self.form_pane.at = at + step
        self.change(new_text)

    # Small actions

    @override
    def possible(self) -> dict[str, bool]:
        of_merge = self.plan is not None and self.plan.kind == "merge"
        looking = of_merge and self.view == "preview" and self.operation is None
        own = {"close_merge": not self.is_first, "find_key": looking, "rehearse": looking and self.committed is None}
        own |= dict.fromkeys(("form", "template", "save_merge"), self.typing)
        on_clause = self.view == "form" and self.form_pane.clause is not None
        return super().possible() | own | dict.fromkeys(("add_clause", "remove_clause", "move_clause"), on_clause)

    @override
    def action_back(self) -> None:
        if self.view == "form" and isinstance(self.focused, Input):
            # leave the field: plain keys are actions again
            self.form_pane.clauses_view.focus_page()
        else:
            super().action_back()

    @property
    def _is_ahead(self) -> bool:
        """Whether the form holds more than the text."""
        return self.view == "form" and bool(self.form_pane.not_taken)

    @override
    def _typed_on(self) -> bool:
        return self._is_ahead or super()._typed_on()

    @override
    def action_plan(self) -> None:
        if self._is_ahead:
            self.notify("What is typed in the form is not all in the SQL yet.", severity="warning")
        else:
            super().action_plan()

    def action_find_key(self) -> None:
        if self.plan is None or self.plan.kind != "merge":
            self.notify("There is no plan of a MERGE to look into yet.")
            return
        from console.places.merge.find_key import ask_for_key

        ask_for_key(self, self.plan, self.preview.typed)

    def action_rehearse(self) -> None:
        if self.plan is None or self.plan.kind != "merge":
            self.notify("There is no plan of a MERGE to rehearse yet.")
            return
        from console.places.merge.rehearse import ask_to_rehearse

        ask_to_rehearse(self, self.plan)

    @on(Preview.ViewWanted)
    def _ask_view(self, event: Preview.ViewWanted) -> None:
        event.stop()
        plan = self.plan
        if plan is None or plan.kind != "merge":
            return
        if event.view == "changes":
            ask_for_changes(self, plan)
            return
        self.ask(
            "explain",
            lambda: spark_page(self.backend.explain_merge(plan)),
            self._spark_plan_told,
            lambda failure: self.preview.page.fail(self.of_committed(failure)),
            of=lambda: (self.plan_id, self.preview.view),
        )

    def _spark_plan_told(self, page: Page) -> None:
        self.preview.show_asked("spark", page)

    def action_template(self) -> None:
        from console.places.merge.merge_offers import ask_for_template

        ask_for_template(self, self.proposed, self._propose)

    def _propose(self, known: Sides) -> None:
        self.proposed = known

    def action_open_merge(self) -> None:
        from console.places.merge.saved import ask_which_to_open

        ask_which_to_open(self)

    def action_save_merge(self) -> None:
        if not self.pane.text.strip():
            self.notify("There is no statement to save yet.")
            return
        from console.places.merge.saved import ask_name_to_save

        ask_name_to_save(self)
