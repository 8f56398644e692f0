"""Merge: write a statement, see what it would do, commit exactly that."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import ContentSwitcher
from typing_extensions import override

from console.drafts import Draft
from console.format import short_id
from console.places import sentences
from console.places.commit_pane import CommitPane
from console.places.compose import ComposePane
from console.places.merge_keys import KEYS
from console.places.place import Place
from console.places.plan_pages import spark_page
from console.places.preview import Preview
from console.progress import Advanced, reporter
from console.visible import visible
from console.widgets.editor import SqlEditor
from console.widgets.lines import TabLine
from console.widgets.page_view import PageView
from console.widgets.running import Running
from console.widgets.status import Job
from console.work import Failure

if TYPE_CHECKING:
    from console.places.templates import Sides
    from console.widgets.page import Page
    from engine.values import Outcome, Plan

PANES = {"compose": "compose-pane", "preview": "preview-pane", "commit": "commit-pane"}


@dataclass(frozen=True)
class Operation:
    """A plan or an apply that runs. ``typed`` is the text of then."""

    operation_id: str
    kind: str
    typed: Draft


class MergePlace(Place):
    PLACE = "merge"
    CSS_PATH = "merge.tcss"
    HELP = (
        "Merge: type a MERGE statement, plan it, look at what it would do, and commit exactly that. "
        "Planning writes nothing. The text is saved as you type and comes back after a crash."
    )
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, number: int = 1) -> None:
        super().__init__()
        self.number = number
        self.plan: Plan | None = None
        self.committed: Outcome | None = None
        self.operation: Operation | None = None
        self.proposed: Sides | None = None
        """The tables of the last proposal, for another template."""

    def compose_body(self) -> Iterable[Widget]:
        becomes = self.console_app.glyphs.becomes
        yield TabLine(self._merges(), "app.merge", chosen=str(self.number), id="merges")
        yield TabLine(self._steps(), "screen.pane", chosen="compose", id="steps", separator=becomes)
        with ContentSwitcher(initial="compose-pane", id="panes"):
            yield ComposePane(f"merge-{self.number}", id="compose-pane")
            yield Preview(id="preview-pane")
            yield CommitPane(id="commit-pane")
        yield Running(id="running")

    def on_mount(self) -> None:
        self.console_app.merges_signal.subscribe(self, self._merges_changed)
        self._merges_changed(self.number)
        if self.console_app.open_sql and self.number == 1:
            self.use_text(self.console_app.open_sql)
        self.editor.focus()

    # Several merges

    def _merges(self) -> list[tuple[str, str]]:
        return [
            (str(number), f"{number} {visible(table) or 'new'}") for number, table in self.console_app.merges.items()
        ]

    def _merges_changed(self, _number: int) -> None:
        line = self.query_one("#merges", TabLine)
        line.tabs = self._merges()
        # one merge is no choice
        line.display = len(line.tabs) > 1
        line.refresh()
        self.refresh_bindings()

    async def action_close_merge(self) -> None:
        if self.operation is not None:
            self.notify(self._busy(self.operation, "now; wait for it, or {merge.cancel} cancels it."))
            return
        if (kept := self.pane.discard()) is not None:
            self.app.notify(f"The text is kept in drafts/{kept.name}.")
        self.app.run_worker(self.console_app.close_merge(self.number), name="close merge")

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
        return next(name for name, pane in PANES.items() if pane == current)

    def show_view(self, view: str) -> None:
        """Turn to one of the three steps: the SQL, the preview, the commit."""
        self.query_one("#panes", ContentSwitcher).current = PANES[view]
        line = self.query_one("#steps", TabLine)
        line.tabs = self._steps()
        line.chosen = view
        line.refresh()
        self.set_focus(None)
        if view != "compose":
            page = self.preview.page if view == "preview" else self.commit_pane.page
            page.focus_page()
        self.refresh_bindings()

    def _steps(self) -> list[tuple[str, str]]:
        plan = f" {short_id(self.plan.plan_id)}" if self.plan is not None else ""
        return [("compose", "SQL"), ("preview", f"Preview{plan}"), ("commit", "Commit")]

    def use_text(self, sql: str) -> None:
        """A statement from elsewhere, ready to be edited."""
        self.pane.use_text(sql)
        self.show_view("compose")
        self.editor.focus()

    def use_draft(self, draft: Draft) -> None:
        """A statement from elsewhere with the values of its parameters."""
        self.pane.remember(draft.params)
        self.use_text(draft.sql)

    def use_proposal(self, known: Sides) -> None:
        """An upsert between two tables, ready to be edited; ``t`` makes another kind of merge of them."""
        from console.places.templates import upsert

        self.proposed = known
        self.use_text(upsert(known))

    @on(ComposePane.Edited)
    def _edited_text(self) -> None:
        self._tell_target()
        if self.plan is not None:
            self.preview.edited(self._edited())

    def _tell_target(self) -> None:
        self.console_app.name_merge(self.number, self.pane.target)

    @on(ComposePane.Checked)
    @on(SqlEditor.Left)
    def _bindings_may_differ(self) -> None:
        self.refresh_bindings()

    def spark_is_warm(self) -> None:
        if self.pane.plan_is_wanted:
            self.action_plan()
        else:
            self.pane.validate()

    # Plan

    def action_plan(self) -> None:
        if self.operation is not None:
            self.notify(self._busy(self.operation, "already; {merge.cancel} cancels that."))
            return
        if not self.pane.text.strip():
            self.notify("There is no statement to plan yet.")
            return
        state = self.console_app.status.spark
        self.pane.plan_is_wanted = state == "starting"
        if state == "starting":
            self.pane.validate()
            self.refresh_bindings()
        elif state == "lost":
            self.notify(
                self.console_app.told("Spark is lost: {app.restart_spark} starts it again. The text is kept."),
                severity="error",
            )
        else:
            self._start_plan()

    action_replan = action_plan

    def _start_plan(self) -> None:
        sql, params, rows = self.pane.text, self.pane.params, self.console_app.sample_rows
        self.pane.stop_validating()
        self.pane.say("Spark plans this text. Planning writes nothing.")
        operation = self._begin("planning")
        report = reporter(self, operation.operation_id)

        def plan() -> Plan:
            return self.backend.plan(sql, params, rows=rows, operation_id=operation.operation_id, on_progress=report)

        self.ask("plan", plan, partial(self._planned, operation), self._plan_failed)

    def _planned(self, operation: Operation, plan: Plan) -> None:
        self._end()
        before, self.plan = self.plan, plan
        self.committed = None
        name = short_id(plan.plan_id)
        self.console_app.record(f"Plan {name}: {sentences.summary(plan)}.")
        self.preview.show(plan, before)
        typed_on = self._typed() != operation.typed
        self.preview.edited(typed_on)
        if not typed_on:
            self.pane.say(f"Plan {name} was made of this text; nothing is written yet.")
        if typed_on or self.app.screen is not self:
            self.notify(self.console_app.told(f"Plan {name} is ready: {{merge.preview}} in the Merge place shows it."))
        if not typed_on:
            self.show_view("preview")
        self.refresh_bindings()

    def _plan_failed(self, failure: Failure) -> None:
        self._end()
        if failure.cancelled:
            self.pane.say("The plan was cancelled. Nothing was written.")
            return
        if self.view != "compose":
            self.show_view("compose")
        self.pane.show_failure(failure)

    def _busy(self, operation: Operation, what_now: str) -> str:
        return self.console_app.told(f"It is {operation.kind} {what_now}")

    # Commit

    def action_commit(self) -> None:
        plan = self.plan
        if plan is None:
            self.notify(self.console_app.told("There is no plan to commit yet: {merge.plan} makes one."))
            return
        if reason := self._why_not_now(plan):
            self.notify(reason, title="Cannot be committed", severity="error")
            return
        from console.dialogs.commit import CommitDialog

        self.app.push_screen(
            CommitDialog(plan, edited=self._edited(), typed=self.backend.policy.typed_confirmation),
            partial(self._confirmed, plan),
        )

    action_why_not_commit = action_commit

    def _why_not_now(self, plan: Plan) -> str | None:
        if self.operation is not None:
            return self._busy(self.operation, "now; wait for it, or {merge.cancel} cancels it.")
        if self.committed is not None:
            return f"This plan is committed already, as v{self.committed.version}."
        if self.console_app.status.spark == "lost":
            return self.console_app.told("Spark is lost: {app.restart_spark} starts it again. The plan is kept.")
        return sentences.why_not_committable(plan)

    def _edited(self) -> bool:
        return self.plan is not None and (
            self.pane.text.strip() != self.plan.statement.sql.strip() or self.pane.params != self.plan.statement.params
        )

    def _confirmed(self, plan: Plan, accepted: tuple[str, ...] | None) -> None:
        if accepted is None:
            self.notify("Nothing was committed.")
            return
        operation = self._begin("committing")
        report = reporter(self, operation.operation_id)
        self.commit_pane.show_running(plan)
        self.show_view("commit")

        def apply() -> Outcome:
            return self.backend.apply(plan, accept=accepted, operation_id=operation.operation_id, on_progress=report)

        self.ask("apply", apply, partial(self._applied, plan), partial(self._apply_failed, plan))

    def _applied(self, plan: Plan, outcome: Outcome) -> None:
        self.committed = outcome
        self.commit_pane.show_outcome(plan, outcome)
        summary = sentences.outcome(outcome, plan, self.console_app.glyphs.dot)
        self._commit_ended(f"Plan {short_id(plan.plan_id)} {summary}", kept=outcome.kept)

    def _apply_failed(self, plan: Plan, failure: Failure) -> None:
        self.commit_pane.show_failure(plan, failure)
        self._commit_ended(str(failure), kept=False)

    def _commit_ended(self, summary: str, *, kept: bool) -> None:
        self._end()
        severity = "information" if kept else "error"
        self.console_app.record(summary, severity)  # type: ignore[arg-type]
        self.app.bell()
        if self.app.screen is not self:
            self.notify(summary, title="Commit", severity=severity)  # type: ignore[arg-type]
        for place in self.console_app.open_places():
            place.ledger_changed()

    # What runs

    def _typed(self) -> Draft:
        return Draft(self.pane.text, dict(self.pane.params))

    def _begin(self, kind: str) -> Operation:
        self.pane.plan_is_wanted = False
        operation = Operation(uuid.uuid4().hex, kind, self._typed())
        self.operation = operation
        self.console_app.begin(Job(operation.operation_id, kind))
        self.query_one("#running", Running).start(kind)
        self.refresh_bindings()
        return operation

    def _end(self) -> None:
        if self.operation is not None:
            self.console_app.end(self.operation.operation_id)
        self.operation = None
        self.query_one("#running", Running).stop()
        self.refresh_bindings()

    @on(Advanced)
    def _advanced(self, event: Advanced) -> None:
        if self.operation is not None and self.operation.operation_id == event.operation_id:
            self.query_one("#running", Running).advance(event.progress)

    def action_cancel(self) -> None:
        if self.pane.plan_is_wanted:
            self.pane.plan_is_wanted = False
            self.pane.say("The plan was taken back.")
            self.refresh_bindings()
        elif self.operation is None:
            self.notify("Nothing is running.")
        else:
            self.cancel_operation()

    def cancel_operation(self) -> None:
        """Interrupt Spark. A plan is dropped at once; a commit is waited for, as it may have happened."""
        operation = self.operation
        if operation is None:
            return
        self.console_app.cancel_jobs([operation.operation_id])
        if operation.kind == "planning":
            self.forget("plan")
            self._plan_failed(Failure("", "cancelled", cancelled=True))
        else:
            self.query_one("#running", Running).cancelling()

    # Small actions

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if not self.is_mounted:
            return action in ("edit", "plan")
        view = self.view
        may_commit = view == "preview" and self.plan is not None and self.committed is None
        never = sentences.why_not_committable(self.plan) if self.plan is not None else None
        possible = {
            "edit": view != "compose" or self.focused is None,
            "plan": self.operation is None and view == "compose",
            "cancel": self.operation is not None or self.pane.plan_is_wanted,
            "preview": self.plan is not None and view != "preview",
            "template": view == "compose",
            "close_merge": self.number != 1,
            "open_merge": view == "compose",
            "save_merge": view == "compose",
            "go_to_error": view == "compose" and self.pane.error_at is not None,
            "replan": view != "compose" and self.operation is None,
            "cycle": view == "preview",
            "view": view == "preview",
            "save_plan": view == "preview",
            "find_key": view == "preview" and self.plan is not None and self.operation is None,
            "copy_markdown": self.plan is not None,
            "commit": may_commit and never is None,
            "why_not_commit": may_commit and never is not None,
            "history": view == "commit",
        }
        return possible.get(action, True)

    def action_edit(self) -> None:
        self.show_view("compose")
        self.editor.focus()

    def action_back(self) -> None:
        if self.view == "commit" and self.operation is None and self.committed is None:
            self.show_view("preview")
        else:
            self.show_view("compose")

    def action_pane(self, view: str) -> None:
        if view == "compose":
            self.action_edit()
        elif view == "preview":
            self.action_preview()
        elif self.committed is None and self.operation is None:
            self.action_commit()
        else:
            self.show_view(view)

    def action_preview(self) -> None:
        if self.plan is None:
            self.notify(self.console_app.told("There is no plan yet: {merge.plan} makes one."))
        else:
            self.show_view("preview")

    def action_go_to_error(self) -> None:
        self.show_view("compose")
        self.pane.go_to_error()

    def action_cycle(self, step: int) -> None:
        self.preview.cycle(step)

    def action_view(self, view: str) -> None:
        self.preview.turn_to(view)

    def action_find_key(self) -> None:
        if self.plan is None:
            self.notify("There is no plan to look into yet.")
            return
        from console.places.find_key import ask_for_key

        ask_for_key(self, self.plan, self.preview.typed)

    @on(Preview.SparkPlanWanted)
    def _ask_spark_plan(self, event: Preview.SparkPlanWanted) -> None:
        event.stop()
        if (plan := self.plan) is None:
            return
        self.ask(
            "explain",
            lambda: spark_page(self.backend.explain_merge(plan)),
            self._spark_plan_told,
            self.preview.page.fail,
        )

    def _spark_plan_told(self, page: Page) -> None:
        self.preview.show_asked("spark", page)

    def action_history(self) -> None:
        self.console_app.go_to("history")

    def action_copy_text(self) -> None:
        if self.view == "compose" or self.plan is None:
            self.copy(self.pane.text, "the SQL")
        else:
            self.copy(sentences.as_text(self.plan, self.console_app.glyphs), "the plan as text")

    def action_copy_markdown(self) -> None:
        if self.plan is None:
            self.notify("There is no plan to copy yet.")
            return
        from console.cli.markdown import page

        self.copy(page(self.plan), "the plan as Markdown")

    @on(PageView.RowOpened)
    def _open_row(self, event: PageView.RowOpened) -> None:
        event.stop()
        if self.plan is None or self.view != "preview" or self.preview.view != "rows":
            self.open_row(event, "One row")
            return
        from console.dialogs.row import RowDialog
        from console.places.plan_pages import sample_lines

        sample = self.plan.samples[event.row]
        self.app.push_screen(RowDialog(f"{sample.action} by clause {sample.clause + 1}", sample_lines(sample)))

    def action_template(self) -> None:
        from console.places.propose import propose_template

        propose_template(self)

    def action_open_merge(self) -> None:
        from console.places.saved import ask_which_to_open

        ask_which_to_open(self)

    def action_save_merge(self) -> None:
        if not self.pane.text.strip():
            self.notify("There is no statement to save yet.")
            return
        from console.places.saved import ask_name_to_save

        ask_name_to_save(self)

    def action_external_editor(self) -> None:
        self.show_view("compose")
        self.pane.edit_outside()
        self.editor.focus()

    def action_save_plan(self) -> None:
        plan = self.plan
        if plan is None:
            self.notify("There is no plan to save yet.")
            return
        from console.places.save_plan import ask_where_to_save

        ask_where_to_save(self, plan)
