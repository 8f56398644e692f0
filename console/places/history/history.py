"""History: every operation of every table, out of the ledger. Needs no Spark."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input
from typing_extensions import override

from console.places.history.history_pages import (
    GROUPINGS,
    Group,
    can_be_undone,
    detail_page,
    grouped,
    list_page,
    matches,
    sql_page,
)
from console.places.place import Place
from console.status import Job
from console.widgets.lines import TabLine
from console.widgets.page_view import PageView
from console.words import undo_sentences
from console.work import Failure

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from console.places.statement.statement import StatementPlace
    from console.widgets.page import Page
    from engine.model.operation import Operation, Outcome, UndoPlan
    from engine.model.plans import OperationDetail

LIMIT = 500
# the cursor may run down the list: only a row where it rests is read
REST_SECONDS = 0.15
FILTER_SECONDS = 0.1
VIEWS = (("promise", "Promise against actual"), ("sql", "SQL"), ("plots", "Over time"))
VIEWS_GROUP = Binding.Group("views", compact=True)


class HistoryPlace(Place):
    PLACE = "history"
    CSS_PATH = Path(__file__).with_name("history.tcss")
    HELP = (
        "History: what was planned and committed, from this console and any other that shares the ledger. "
        "It works while Spark is down. The lower half shows the operation under the cursor."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "filter", id="history.filter",
                tooltip="Filter by table, status, plan or text"),
        Binding("left_square_bracket", "cycle(-1)", "view before", id="history.view_before",
                group=VIEWS_GROUP, tooltip="The view before this one"),
        Binding("right_square_bracket", "cycle(1)", "next view", id="history.view_next",
                group=VIEWS_GROUP, tooltip="The next view"),
        Binding("e", "edit_again", "edit again", id="history.edit",
                tooltip="Put this SQL where it was planned, to be edited"),
        Binding("u", "undo", "undo", id="history.undo",
                tooltip="Take this back: shows what comes back and what is lost, and asks"),
        Binding("b", "group", "group by", id="history.group",
                tooltip="Group the operations by table, by day, or not at all"),
        Binding("p", "plan_again", "plan again", id="history.plan",
                tooltip="Plan this merge again, against its tables as they are now"),
        Binding("r", "reload", "refresh", id="history.refresh", tooltip="Read the ledger again"),
        Binding("y", "copy_sql", "copy SQL", id="history.copy", tooltip="Copy the SQL of this operation"),
        Binding("escape", "back", "back", show=False, id="history.back", tooltip="Back to the list"),
    ]  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[Operation] = []
        self._outcomes: dict[str, Outcome] = {}
        """What the operations did, by their ids."""
        self.listed: list[Operation | Group] = []
        self.grouping = ""
        self.detail: OperationDetail | None = None
        self.view = "promise"
        self._row = 0
        """Where the cursor of the list is."""
        self._wanted = ""
        """The operation that the cursor is to go to as soon as it is listed."""
        self._rest: Timer | None = None
        self._filtering: Timer | None = None
        self._is_old = False
        self._undoing = ""

    def compose_body(self) -> Iterable[Widget]:
        yield Input(placeholder="/ filter", id="filter", compact=True)
        yield PageView(id="list")
        yield TabLine(VIEWS, "screen.view", chosen=self.view, id="views")
        yield PageView(id="detail")

    def on_mount(self) -> None:
        self.list_view.say("Reading the ledger…")
        self.action_reload()

    def on_screen_resume(self) -> None:
        if self._is_old:
            self.action_reload()

    def ledger_changed(self) -> None:
        self._is_old = True
        if self.app.screen is self:
            self.action_reload()

    @property
    def list_view(self) -> PageView:
        return self.query_one("#list", PageView)

    @property
    def detail_view(self) -> PageView:
        return self.query_one("#detail", PageView)

    def action_reload(self) -> None:
        self._is_old = False

        def read() -> tuple[list[Operation], dict[str, Outcome]]:
            operations = self.backend.history(limit=LIMIT)
            committed = self.backend.outcomes(LIMIT)
            return operations, {one.operation.op_id: one.outcome for one in committed if one.outcome is not None}

        self.ask("history", read, self._read, self.list_view.fail)

    def _read(self, ledger: tuple[list[Operation], dict[str, Outcome]]) -> None:
        before = self._op_id
        self.operations, self._outcomes = ledger
        self._list(before)
        if self.focused is None:
            self.list_view.focus_page()

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self._filtering is not None:
            self._filtering.stop()
        self._filtering = self.set_timer(FILTER_SECONDS, self._list)

    @on(Input.Submitted, "#filter")
    def _filter_done(self, event: Input.Submitted) -> None:
        event.stop()
        self.list_view.focus_page()

    def _list(self, before: str = "") -> None:
        """``before``: the operation that the cursor stays on, wherever it is listed now."""
        words = self.query_one("#filter", Input).value.split()
        found = [one for one in self.operations if matches(one, words)]
        self.listed = grouped(found, self.grouping)
        rows = {one.op_id: row for row, one in enumerate(self.listed) if not isinstance(one, Group)}
        self._row = rows.get(self._wanted, rows.get(before, 0))
        if self._wanted in rows:
            self._wanted = ""
        page = list_page(self.listed, self._outcomes, len(self.operations), self.console_app.glyphs, self.grouping)
        self.list_view.show(replace(page, at=self._row))
        if self.view == "plots":
            self._plot()
        if not self.listed:
            self.detail = None
            self.detail_view.say("")

    @override
    def show_operation(self, op_id: str) -> None:
        """Put the cursor on an operation, whatever was filtered for."""
        self._wanted, self.grouping = op_id, ""
        with self.prevent(Input.Changed):
            self.query_one("#filter", Input).value = ""
        self._list()
        self.list_view.focus_page()

    @on(PageView.RowReached, "#list")
    def _reached(self, event: PageView.RowReached) -> None:
        event.stop()
        if event.is_old:
            return
        self._row = event.row
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(REST_SECONDS, self._look)
        self.refresh_bindings()

    @on(PageView.RowOpened, "#list")
    def _opened(self, event: PageView.RowOpened) -> None:
        event.stop()
        if not event.is_old:
            self._row = event.row
            self._look()
            self.detail_view.focus_page()

    @on(PageView.RowOpened, "#detail")
    def _detail_opened(self, event: PageView.RowOpened) -> None:
        event.stop()
        self.open_row(event, "One row")

    @property
    def selected(self) -> Operation | None:
        """The operation under the cursor; of a group the newest."""
        return next((one for one in self.listed[self._row :] if not isinstance(one, Group)), None)

    @property
    def _op_id(self) -> str:
        return self.selected.op_id if self.selected is not None else ""

    @property
    def _detail_of_selected(self) -> OperationDetail | None:
        """None as long as another row is shown below."""
        shown = self.detail
        return shown if shown is not None and shown.operation.op_id == self._op_id else None

    def _look(self) -> None:
        one = self.selected
        if one is None or (self.detail is not None and self.detail.operation == one):
            return
        op_id = one.op_id
        self.ask(
            "operation",
            lambda: self.backend.operation(op_id),
            self._show,
            self.detail_view.fail,
            of=lambda: self._op_id,
        )

    def _show(self, detail: OperationDetail) -> None:
        self.detail = detail
        self.refresh_bindings()
        if self.view == "plots":
            return  # the plots are of all listed operations
        glyphs, undo_key = self.console_app.glyphs, self.console_app.with_keys("{history.undo}")
        page = detail_page(detail, glyphs, undo_key) if self.view == "promise" else sql_page(detail, glyphs)
        self.detail_view.show(page)

    # Over time

    def _plot(self) -> None:
        """What the listed operations wrote, out of the ledger: Spark is not asked."""
        wanted = {one.op_id for one in self.listed if not isinstance(one, Group)}
        glyphs = self.console_app.glyphs

        def plots() -> Page:
            from console.places.history.history_plots import plots_page

            known = [one for one in self.backend.outcomes(LIMIT) if one.operation.op_id in wanted]
            return plots_page(known, glyphs)

        self.ask("plots", plots, self.detail_view.show, self.detail_view.fail, of=lambda: self.view)

    def action_group(self) -> None:
        self.grouping = GROUPINGS[(GROUPINGS.index(self.grouping) + 1) % len(GROUPINGS)]
        self._list(self._op_id)
        self.notify(f"Grouped by {self.grouping}." if self.grouping else "Not grouped.")

    # Small actions

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("cycle", "view"):
            return self.detail is not None
        if action in ("edit_again", "copy_sql"):
            return self.selected is not None
        if action == "plan_again":
            return self.selected is not None and self.selected.kind == "merge"
        if action == "undo":
            return self.selected is not None and can_be_undone(self.selected)
        return True

    def action_view(self, view: str) -> None:
        self.view = view
        self.query_one("#views", TabLine).chosen = view
        if view == "plots":
            # what was there is of another view
            self.detail_view.say("Reading the history…")
            self._plot()
        elif self.detail is not None:
            self._show(self.detail)

    def action_cycle(self, step: int) -> None:
        names = [name for name, _ in VIEWS]
        self.action_view(names[(names.index(self.view) + step) % len(names)])

    def action_filter(self) -> None:
        self.query_one("#filter", Input).focus()

    def action_back(self) -> None:
        if self.is_asking("plan_undo"):
            self.forget("plan_undo")
            self.notify("Nothing is undone.")
            return
        self.list_view.focus_page()

    def action_copy_sql(self) -> None:
        if self.selected is not None:
            self.copy(self.selected.sql, "the SQL")

    # Undo

    def action_undo(self) -> None:
        if self.selected is None or self._undoing:
            return
        op_id = self.selected.op_id
        self.notify(self.with_keys("Looking at what would come back… {history.back} leaves it."))
        self.ask("plan_undo", lambda: self.backend.plan_undo(op_id), self._ask_undo, self._undo_failed, of=self.here)

    @override
    def here(self) -> object:
        return self.is_current, self._op_id

    def _ask_undo(self, undo_plan: UndoPlan) -> None:
        from console.dialogs.confirm import ConfirmDialog

        lines = [*undo_sentences.statements(undo_plan), "", *undo_sentences.page(undo_plan)]
        if undo_plan.lost:
            lines += ["", undo_sentences.lost(undo_plan), *(f"  {line}" for line in undo_plan.lost)]
        dialog = ConfirmDialog(
            f"Undo operation {undo_plan.op_id}",
            "\n".join(lines),
            confirm_label="undo",
            refuse_label="Cancel",
        )
        self.app.push_screen(dialog, partial(self._undo_confirmed, undo_plan, self._op_id))

    def _undo_confirmed(self, undo_plan: UndoPlan, op_id: str, confirmed: bool | None) -> None:
        if not confirmed:
            self.notify("Nothing was undone.")
            return
        if op_id != self._op_id:
            # the ledger was read below the dialog
            self.notify("Nothing was undone: the cursor is on another operation by now.", severity="warning")
            return
        operation_id = uuid.uuid4().hex
        self._undoing = operation_id
        self.console_app.begin(Job(operation_id, "undoing"))

        def undo() -> Outcome:
            return self.backend.undo(undo_plan, operation_id=operation_id, on_progress=lambda _: None)

        self.ask("undo", undo, partial(self._undone, undo_plan), self._undo_failed)

    def _undone(self, undo_plan: UndoPlan, outcome: Outcome) -> None:
        text = undo_sentences.done(undo_plan, outcome, self.console_app.glyphs.dot)
        self._undo_ended(text, "information" if outcome.kept else "error")

    def _undo_failed(self, failure: Failure) -> None:
        self._undo_ended(f"{failure} {failure.hint}".strip(), "error")

    def _undo_ended(self, text: str, severity: SeverityLevel) -> None:
        self.console_app.end(self._undoing)
        self._undoing = ""
        self.console_app.record(text, severity)
        self.notify(text, title="Undo", severity=severity, timeout=10)
        self.console_app.ledger_changed()

    def action_plan_again(self) -> None:
        if self.selected is not None:
            self._with_detail(self.selected, self._plan_again)

    def _with_detail(self, one: Operation, use: Callable[[OperationDetail], None]) -> None:
        """Go on with the whole of an operation, which may not have been read yet."""
        if (detail := self._detail_of_selected) is not None:
            use(detail)
        else:
            self.ask("use", lambda: self.backend.operation(one.op_id), use, self.detail_view.fail, of=self.here)

    def _plan_again(self, detail: OperationDetail) -> None:
        from console.places.merge.saved import SECRET_LEFT_OUT, draft_of, lacks_secrets

        place = cast("StatementPlace", self.console_app.go_to("merge"))
        draft = draft_of(detail)

        def plan() -> None:
            place.use_draft(draft)
            if lacks_secrets(draft):
                place.notify(SECRET_LEFT_OUT, severity="warning")
                return
            # by then the editor has its new text, and that is planned
            place.call_after_refresh(place.action_plan)

        place.call_after_refresh(plan)

    def action_edit_again(self) -> None:
        if self.selected is not None:
            self._with_detail(self.selected, self._edit_again)

    def _edit_again(self, detail: OperationDetail) -> None:
        from console.places.merge.saved import draft_of

        sql, kind = draft_of(detail).sql, detail.operation.kind
        place = cast("StatementPlace", self.console_app.go_to("create" if kind == "create_table" else "merge"))
        place.call_after_refresh(place.use_text, sql)
