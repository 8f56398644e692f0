"""The three steps of a statement, its SQL, its preview and its commit: how to go through them, and to copy them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from threading import Event
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.widgets import ContentSwitcher, Input
from typing_extensions import override

from console.drafts import Draft
from console.places.place import Place
from console.places.statement.commit_pane import CommitPane
from console.places.statement.markers import markers_of
from console.places.statement.preview import OF_ONE_PLAN, Preview
from console.places.statement.statement_editor import ComposePane
from console.widgets.editor import SqlEditor
from console.widgets.lines import TabLine
from console.widgets.page import page_text
from console.widgets.page_view import PageView
from console.words import plan_summary
from console.words.format import parse_time, short_id
from console.words.visible import table_name
from console.work import Failure

if TYPE_CHECKING:
    from engine.model.operation import Operation as Recorded
    from engine.model.operation import Outcome
    from engine.model.plans import AnyPlan

EVER = datetime.min.replace(tzinfo=timezone.utc)
RECENT = 50
"""How many operations of the ledger are looked through for one of now."""


@dataclass(frozen=True)
class Operation:
    """A plan or an apply that runs. ``typed`` is the text of then, ``origin`` the one from elsewhere that it was made
    of; ``cancelled`` is set once it was to be cancelled."""

    operation_id: str
    kind: str
    typed: Draft
    origin: int
    began: datetime = field(default_factory=lambda: datetime.now(timezone.utc))
    cancelled: Event = field(default_factory=Event, compare=False)


def newest_of(plan_id: str, operations: Iterable[Recorded], since: datetime = EVER) -> Recorded | None:
    """The last try of a plan, if it began ``since`` then, out of operations that come newest first."""
    newest = next((one for one in operations if one.plan_id == plan_id), None)
    began = parse_time(newest.started_at) if newest is not None else None
    return newest if began is not None and began >= since else None


class StepsPlace(Place):
    """Composes a ``#panes`` of PANES, and a ``#steps`` line of them."""

    PANES: ClassVar[dict[str, str]] = {"compose": "compose-pane", "preview": "preview-pane", "commit": "commit-pane"}
    """The id of each step's pane."""

    def __init__(self) -> None:
        super().__init__()
        self.plan: AnyPlan | None = None
        self._planned_text = Draft("")
        self._planned_origin = 0
        self.committed: Outcome | None = None
        self.failed: tuple[AnyPlan, Failure] | None = None
        """The commit that failed last, and how."""
        self.became: Recorded | None = None
        """What the ledger has of it."""
        self.commit_began = EVER
        self.operation: Operation | None = None

    @property
    def is_composed(self) -> bool:
        """Whether the text is there: a place that was gone to before the first frame is told of Spark before it is."""
        return bool(self.query("#compose-pane"))

    @property
    def pane(self) -> ComposePane:
        return self.query_one("#compose-pane", ComposePane)

    @property
    def editor(self) -> SqlEditor:
        return self.pane.editor

    @property
    def preview(self) -> Preview:
        return self.query_one("#preview-pane", Preview)

    @property
    def commit_pane(self) -> CommitPane:
        return self.query_one("#commit-pane", CommitPane)

    @property
    def view(self) -> str:
        """``compose``, ``preview`` or ``commit``."""
        current = self.query_one("#panes", ContentSwitcher).current
        return next(name for name, pane in self.PANES.items() if pane == current)

    def show_view(self, view: str) -> None:
        """Turn to one of the three steps: the SQL, the preview, the commit."""
        self.query_one("#panes", ContentSwitcher).current = self.PANES[view]
        self.query_one("#steps", TabLine).chosen = view
        self._name_steps()
        self.set_focus(None)
        if view in ("preview", "commit"):
            page = self.preview.page if view == "preview" else self.commit_pane.page
            page.focus_page()
        self.refresh_bindings()

    def _name_steps(self) -> None:
        """Write the name of the plan that the preview shows now."""
        line = self.query_one("#steps", TabLine)
        line.tabs = self._steps()
        line.refresh()

    def _steps(self) -> list[tuple[str, str]]:
        plan = f" {short_id(self.plan.plan_id)}" if self.plan is not None else ""
        if self.is_edited:
            plan += " (text edited)" if self.pane.origins.now == self._planned_origin else " (of another text)"
        return [("compose", "SQL"), ("preview", f"Preview{plan}"), ("commit", "Commit")]

    def use_text(self, sql: str, params: Mapping[str, str] | None = None, file: str = "") -> None:
        """A statement from elsewhere, ready to be edited, with the values of its parameters if it has its own."""
        self.pane.use_text(sql, params, file)
        self.show_view("compose")
        self.editor.focus()

    def use_draft(self, draft: Draft) -> None:
        """A statement from elsewhere with the values of its parameters."""
        # a marker that has no value there has none of the text before
        values = {**dict.fromkeys(markers_of(draft.sql) or (), ""), **draft.params}
        self.use_text(draft.sql, values, draft.file)

    @override
    def with_keys(self, text: str) -> str:
        """A sentence that Merge and Create share, with the keys in use here in place of ``{merge.plan}``."""
        return self.console_app.with_keys(text.replace("{merge.", f"{{{self.PLACE}."))

    @override
    def here(self) -> object:
        return self.is_current, self.view, self.pane.text

    @property
    def plan_id(self) -> str:
        """The id of the plan that is shown, "" without one."""
        return self.plan.plan_id if self.plan is not None else ""

    @property
    def has_commit(self) -> bool:
        """Whether the plan is committed here, or is being: the last step shows it."""
        return self.committed is not None or (self.operation is not None and self.operation.kind == "committing")

    def _tell_here(self, text: str) -> None:
        """A sentence below the text, and a notice if the text is not shown."""
        self.pane.say(text)
        if self.view in ("preview", "commit"):
            self.notify(text)

    def _busy(self, operation: Operation, what_now: str) -> str:
        return self.with_keys(f"It is {operation.kind} {what_now}")

    @property
    def is_edited(self) -> bool:
        """Whether the text is another than what was planned."""
        return self.plan is not None and self._typed() != self._planned_text

    def _typed_on(self) -> bool:
        """Whether the operator writes something else than what was planned, which a preview would cut off."""
        return self.is_edited

    def _typed(self) -> Draft:
        return Draft(self.pane.text.strip(), dict(self.pane.params))

    def action_edit(self) -> None:
        self.show_view("compose")
        self.editor.focus()

    def action_back(self) -> None:
        if self.view == "commit" and self.operation is None and self.committed is None:
            self.show_view("preview")
        else:
            self.show_view("compose")

    def action_leave_field(self) -> None:
        self.action_back()

    def action_preview(self) -> None:
        if self.plan is None:
            self.notify(self.with_keys("There is no plan yet: {merge.plan} makes one."))
        else:
            self.show_view("commit" if self.has_commit and self.view != "commit" else "preview")

    def action_parameters(self) -> None:
        if self.view == "compose" and isinstance(self.focused, Input):
            self.editor.focus()
            return
        self.show_view("compose")
        self.pane.focus_parameters()

    def action_go_to_error(self) -> None:
        self.show_view("compose")
        self.pane.go_to_error()

    def action_cycle(self, step: int) -> None:
        self.preview.cycle(step)

    def action_view(self, view: str) -> None:
        self.preview.turn_to(view)

    def action_history(self) -> None:
        place, plan_id = cast("Place", self.console_app.go_to("history")), self.plan_id

        def found(newest: Recorded | None) -> None:
            if newest is not None:
                place.call_after_refresh(place.show_operation, newest.op_id)

        if self.committed is not None:
            # the cursor of the history stays where it was, and the commit is above it
            place.call_after_refresh(place.show_operation, self.committed.op_id)
        elif plan_id:
            # one plan may have been tried before
            self.ask(
                "newest",
                lambda: newest_of(plan_id, self.backend.history(limit=RECENT)),
                found,
                lambda _: None,
                of=lambda: (self.plan_id, place.is_current),
            )

    def action_copy_text(self) -> None:
        if self.plan is None or self.view not in ("preview", "commit"):
            self.copy(self.pane.text, "the SQL")
        elif self.view == "commit":
            self.copy(page_text(self.commit_pane.page.page), "the commit as text")
        elif self.preview.view in OF_ONE_PLAN:
            self.copy(page_text(self.preview.page.page), f"the {self.preview.view} as text")
        else:
            self.copy(plan_summary.as_text(self.plan, self.console_app.glyphs), "the plan as text")

    def action_copy_markdown(self) -> None:
        if self.plan is None:
            self.notify("There is no plan to copy yet.")
            return
        from console.words.markdown import page

        self.copy(page(self.plan), "the plan as Markdown")

    def action_external_editor(self) -> None:
        self.show_view("compose")
        self.pane.edit_outside()
        self.editor.focus()

    def action_save_plan(self) -> None:
        plan = self.plan
        if plan is None:
            self.notify("There is no plan to save yet.")
            return
        from console.places.statement.save_plan import ask_where_to_save

        ask_where_to_save(self, plan, is_committed=self.committed is not None)

    @on(PageView.RowOpened)
    def _open_row(self, event: PageView.RowOpened) -> None:
        event.stop()
        self.open_row(event, "One row" if self.plan is None else table_name(self.plan.target.name))
