"""History: every operation of every table, out of the ledger. Needs no Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input
from typing_extensions import override

from console.places.history.history_pages import (
    GROUPINGS,
    LIMIT,
    Group,
    detail_page,
    grouped,
    key_of,
    list_page,
    matches,
    sql_page,
)
from console.places.history.undoing import Undoing
from console.status import Status
from console.widgets.lines import TabLine
from console.widgets.page import order_again
from console.widgets.page_view import PageView
from console.words.format import this_year

if TYPE_CHECKING:
    from console.places.statement.statement import StatementPlace
    from console.widgets.page import Page
    from console.work import Failure
    from engine.model.operation import Operation, Outcome
    from engine.model.plans import OperationDetail

# the cursor may run down the list: only a row where it rests is read
REST_SECONDS = 0.15
FILTER_SECONDS = 0.1
VIEWS = (("promise", "Promise against actual"), ("sql", "SQL"), ("plots", "Over time"))
PLANNED_IN: Mapping[str, str] = MappingProxyType({"merge": "merge", "create_table": "create"})
"""The place that plans an operation of a kind."""
VIEWS_GROUP = Binding.Group("views", compact=True)


class HistoryPlace(Undoing):
    PLACE = "history"
    CSS_PATH = Path(__file__).with_name("history.tcss")
    HELP = (
        "History: what was planned and committed, from this console and any other that shares the ledger. "
        "It works while Spark is down. The lower half shows the operation under the cursor: {grid.open} goes there, "
        "{history.back} comes back."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", show=False, id="history.back", tooltip="Back to the whole list"),
        # before the others, so that a narrow key line shows where the focus is
        Binding("escape", "back_to_list", "to the list", id="history.back",
                tooltip="Back to the list of the operations"),
        Binding("slash", "filter", "filter", id="history.filter",
                tooltip="Filter by table, status, plan or text"),
        Binding("left_square_bracket", "cycle(-1)", "view before", id="history.view_before",
                group=VIEWS_GROUP, tooltip="The view before this one"),
        Binding("right_square_bracket", "cycle(1)", "next view", id="history.view_next",
                group=VIEWS_GROUP, tooltip="The next view"),
        Binding("e", "edit_again", "edit again", id="history.edit",
                tooltip="Edit this SQL again: in Create, or in a merge that has no text of its own"),
        Binding("u", "undo", "undo", id="history.undo",
                tooltip="Take this back: shows what comes back and what is lost, and asks"),
        # the same key where nothing can be taken back: it says why
        Binding("u", "why_not_undo", "why not undo", show=False, id="history.undo",
                tooltip="Why this cannot be taken back"),
        Binding("b", "group", "group by", id="history.group",
                tooltip="Group the operations by table, by day, or not at all"),
        Binding("p", "plan_again", "plan again", id="history.plan",
                tooltip="Plan this merge again, against its tables as they are now"),
        Binding("r", "reload", "refresh", id="history.refresh", tooltip="Read the ledger again"),
        Binding("y", "copy_sql", "copy SQL", id="history.copy", tooltip="Copy the SQL of this operation"),
    ]  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._outcomes: dict[str, Outcome] = {}
        """What the operations did, by their ids."""
        self.listed: list[Operation | Group] = []
        self.grouping = ""
        self._told = ""
        """What it says of why the table is not dropped any more."""
        self.view = "promise"
        self._row = 0
        """Where the cursor of the list is."""
        self._wanted = ""
        """The operation that the cursor is to go to as soon as it is listed."""
        self._rest: Timer | None = None
        self._filtering: Timer | None = None

    def compose_body(self) -> Iterable[Widget]:
        yield Input(placeholder="/ filter", id="filter", compact=True)
        yield PageView(id="list")
        yield TabLine(VIEWS, "screen.view", chosen=self.view, id="views")
        yield PageView(id="detail")

    def on_mount(self) -> None:
        self.list_view.say("Reading the ledger…")
        self._work = ""
        self.console_app.status_signal.subscribe(self, self._work_changed)

    def _work_changed(self, status: Status) -> None:
        # what begins or ends is in the ledger
        before, self._work = self._work, status.work
        if before != status.work:
            self.ledger_changed()

    def on_screen_resume(self) -> None:
        # this console may be planning, and others write to the same ledger
        self.action_reload()

    def ledger_changed(self) -> None:
        if self.app.screen is self:
            self.action_reload()

    @property
    def list_view(self) -> PageView:
        return self.query_one("#list", PageView)

    @property
    def detail_view(self) -> PageView:
        return self.query_one("#detail", PageView)

    def action_reload(self) -> None:
        def read() -> tuple[list[Operation], dict[str, Outcome]]:
            operations = self.backend.history(limit=LIMIT)
            committed = self.backend.outcomes(LIMIT)
            return operations, {one.operation.op_id: one.outcome for one in committed if one.outcome is not None}

        self.ask("history", read, self._read, self.list_view.fail)

    def _read(self, ledger: tuple[list[Operation], dict[str, Outcome]]) -> None:
        before = self._at
        self.operations, self._outcomes = ledger
        self._list(before)
        if self._wanted and len(self.operations) >= LIMIT:
            self.notify(f"Operation {self._wanted} is not one of the newest {LIMIT}, which are listed.")
            self._wanted = ""
        if self.focused is None:
            self.list_view.focus_page()

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self._filtering is not None:
            self._filtering.stop()
        self._filtering = self.set_timer(FILTER_SECONDS, lambda: self._list(self._at))

    @on(Input.Submitted, "#filter")
    def _filter_done(self, event: Input.Submitted) -> None:
        event.stop()
        self.list_view.focus_page()

    def _list(self, before: str = "") -> None:
        """``before``: what the cursor stays on, wherever it is listed now."""
        words = self.query_one("#filter", Input).value.split()
        glyphs, total, outcomes = self.console_app.glyphs, len(self.operations), self._outcomes
        found = [one for one in self.operations if matches(one, outcomes.get(one.op_id), glyphs, words)]
        self.listed = grouped(found, self.grouping)
        rows = {key_of(one): row for row, one in enumerate(self.listed)}
        self._row = rows.get(self._wanted, rows.get(before, 0))
        if self._wanted in rows:
            self._wanted = ""
        page = list_page(self.listed, outcomes, total, glyphs, self.grouping, this_year())
        order = order_again(page.table, self.list_view.order) if before else None
        self.list_view.show(replace(page, order=order, at=self._row))
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
    @override
    def selected(self) -> Operation | None:
        """The operation under the cursor; of a group the newest."""
        return next((one for one in self.listed[self._row :] if not isinstance(one, Group)), None)

    @property
    def _at(self) -> str:
        """What the cursor is on: an operation, or the line of a group."""
        return key_of(self.listed[self._row]) if self._row < len(self.listed) else ""

    def _look(self) -> None:
        one = self.selected
        if one is None or (self.detail is not None and (self.detail.operation, self._told) == (one, self.no_drop)):
            return
        op_id = one.op_id
        self.ask(
            "operation",
            lambda: self.backend.operation(op_id),
            self._show,
            self._not_read,
            of=lambda: self.op_id,
        )

    def _not_read(self, failure: Failure) -> None:
        """None is shown below, so that each row is asked for again."""
        self.detail = None
        self.refresh_bindings()
        if self.view == "plots":
            self.notify(f"The operation cannot be read: {failure}", severity="error")
        else:
            self.detail_view.fail(failure)

    def _show(self, detail: OperationDetail) -> None:
        self.detail, self._told = detail, self.no_drop
        self.refresh_bindings()
        if self.view == "plots":
            return  # the plots are of all listed operations
        glyphs, may_undo = self.console_app.glyphs, not self.backend.policy.read_only
        undo_key = self.console_app.with_keys("{history.undo}") if may_undo else ""
        page = detail_page(detail, glyphs, undo_key, self._told) if self.view == "promise" else sql_page(detail, glyphs)
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
        self._list(self.op_id)
        self.notify(f"Grouped by {self.grouping}." if self.grouping else "Not grouped.")

    # Small actions

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("cycle", "view", "copy_sql"):
            return self.selected is not None
        if action == "edit_again":
            # an undo is no statement to plan
            return self.selected is not None and self.selected.kind in PLANNED_IN
        if action == "plan_again":
            return self.selected is not None and self.selected.kind == "merge"
        if action == "undo":
            return self.selected is not None and not self.why_not_undone
        if action == "why_not_undo":
            return bool(self.why_not_undone)
        if action in ("back", "back_to_list"):
            return (action == "back_to_list") == (self.is_mounted and self.detail_view.has_focus_within)
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
        else:
            self._look()

    def action_cycle(self, step: int) -> None:
        names = [name for name, _ in VIEWS]
        self.action_view(names[(names.index(self.view) + step) % len(names)])

    def action_filter(self) -> None:
        self.query_one("#filter", Input).focus()

    def action_back(self) -> None:
        if self.is_asking("plan_undo"):
            self.forget("plan_undo")
            self.notify("Nothing was undone.")
            return
        if not self.detail_view.has_focus_within:
            self.query_one("#filter", Input).value = ""
        self.list_view.focus_page()

    action_back_to_list = action_back

    def action_copy_sql(self) -> None:
        if self.selected is not None:
            self.copy(self.selected.sql, "the SQL")

    # Again

    @override
    def here(self) -> object:
        return self.is_current, self.op_id

    def action_plan_again(self) -> None:
        if self.selected is not None:
            self._with_detail(self.selected, self._plan_again)

    def _with_detail(self, one: Operation, use: Callable[[OperationDetail], None]) -> None:
        """Go on with the whole of an operation, which may not have been read yet."""
        if (detail := self.detail_of_selected) is not None:
            use(detail)
        else:
            self.ask_here("use", lambda: self.backend.operation(one.op_id), use, self._not_read)

    def _plan_again(self, detail: OperationDetail) -> None:
        def plan(place: StatementPlace) -> None:
            # by then the editor has its new text, and that is planned
            place.call_after_refresh(place.action_plan)

        self._use(detail, plan)

    def action_edit_again(self) -> None:
        if self.selected is not None:
            self._with_detail(self.selected, self._use)

    def _use(self, detail: OperationDetail, go_on: Callable[[StatementPlace], None] = lambda _: None) -> None:
        """Put the SQL where it can be planned; ``go_on`` if it can be as it is."""
        from console.places.merge.saved import draft_of, use_recorded

        draft, shell, name = draft_of(detail), self.console_app, PLANNED_IN[detail.operation.kind]

        def use(place: StatementPlace) -> None:
            if use_recorded(place, draft):
                go_on(place)

        def use_beside() -> None:
            if name == "merge" and place.pane.text.strip() and place.pane.text != draft.sql:
                shell.action_new_merge()
                beside = cast("StatementPlace", shell.go_to(name))
                beside.call_after_refresh(use, beside)
            else:
                use(place)

        place = cast("StatementPlace", shell.go_to(name))
        # one that was just made reads its draft first
        place.call_after_refresh(use_beside)
