"""A place where one statement is typed, planned, looked at and committed: what Merge and Create share."""

from __future__ import annotations

import uuid
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from textual import on
from textual.widgets import Input
from typing_extensions import override

from console import garbage
from console.places.statement.ledger_place import LedgerPlace
from console.places.statement.statement_editor import ComposePane
from console.places.statement.steps_place import Operation
from console.progress import Advanced, reporter
from console.status import Job
from console.widgets.editor import SqlEditor
from console.widgets.parameters import Parameters
from console.widgets.running import Running
from console.words import create_sentences, outcome_sentences, plan_summary
from console.words.format import short_id
from console.words.moved import sentence as moved_sentence
from console.words.visible import table_name
from console.work import Failure

if TYPE_CHECKING:
    from console.words.projection import Projection
    from engine.model.operation import Outcome, Rehearsal
    from engine.model.plans import AnyPlan
    from engine.model.progress import Progress

SAMPLE_ROWS = 5
PLANNING = "Spark plans this text. Planning writes nothing."
STALE_FOR_GOOD = ("STALE_PLAN", "PLAN_UNDONE", "DELTA_")
"""Errors after which no apply of the same plan can do better."""
SHOWS_IT = " {merge.preview} shows it."


class StatementPlace(LedgerPlace):
    """Plans and commits; composes a ``#running`` line too."""

    CSS_PATH = Path(__file__).with_name("statement.tcss")

    def __init__(self) -> None:
        super().__init__()
        self._so_far: list[str] = []
        """What the plan that runs said already."""
        self._wrote = Event()
        """Set as soon as a commit of the plan has begun to write."""
        self.stale = ""
        """What apply found that makes the plan stale for good."""
        self.rehearsal: Rehearsal | None = None
        """What the MERGE of the plan did on a clone."""

    @on(ComposePane.Edited)
    def _edited_text(self) -> None:
        if self.plan is not None:
            self.preview.edited(self.is_edited)
            self._name_steps()

    @on(ComposePane.Checked)
    def _checked(self, event: ComposePane.Checked) -> None:
        # the text may have become again what was planned
        plan, happened = self.plan, self.has_commit or self.moved or self.failed or self.stale
        if event.is_accepted and plan is not None and not self.is_edited and not happened:
            self._tell_of_plan(plan)
        self.refresh_bindings()

    def _tell_of_plan(self, plan: AnyPlan) -> None:
        said = f"Plan {short_id(plan.plan_id)} was made of this text; nothing is written yet."
        self.pane.say(self.with_keys(f"{said} {{merge.preview}} shows it again."))

    @on(SqlEditor.Left)
    def _bindings_may_differ(self) -> None:
        self.refresh_bindings()

    @override
    def spark_is_starting(self) -> None:
        # that Spark did not answer was of the one before
        if self.is_composed:
            self.pane.validate()

    @override
    def spark_is_warm(self) -> None:
        if not self.is_composed:
            return
        if self.view == "preview":
            self.preview.ask_again()
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
            self.notify(f"Spark is lost: {self.console_app.spark_again()}. The text is kept.", severity="error")
        elif self.pane.without_value():
            self.pane.validate()
            self.notify("Nothing is planned: a parameter has no value.", severity="warning")
        else:
            self._start_plan()

    action_replan = action_plan

    @on(Parameters.Completed)
    def _values_typed(self) -> None:
        self.action_plan()

    def _start_plan(self) -> None:
        of = self.pane.draft
        self.pane.stop_validating()
        self.pane.forget_error()
        self.pane.say(PLANNING)
        self._so_far = []
        operation = self.begin("planning")
        report = reporter(self, operation.operation_id)

        def plan() -> AnyPlan:
            id, rows = operation.operation_id, SAMPLE_ROWS
            new = self.backend.plan(of.sql, of.params, rows=rows, operation_id=id, on_progress=report, file=of.file)
            if new.kind == "merge":
                garbage.stays(len(new.find_touched_files.files))
            return new

        self.ask("plan", plan, partial(self._planned, operation), self._plan_failed)

    def _planned(self, operation: Operation, plan: AnyPlan) -> None:
        self.end()
        before, self.plan = self.plan if operation.origin == self._planned_origin else None, plan
        self._planned_text, self._planned_origin = operation.typed, operation.origin
        # the preview has it, even if the operator has typed on and stays at the text
        self._name_steps()
        self.committed = self.projection = self.rehearsal = self.failed = self.moved = None
        self.planning_began, self._seen_version, self.stale = operation.began, -1, ""
        self._wrote = Event()
        self._project(plan)
        name = short_id(plan.plan_id)
        self.console_app.record(f"Plan {name}: {plan_summary.summary(plan)}.")
        self.preview.show(plan, before)
        edited, typed_on = self.is_edited, self._typed_on()
        self.preview.edited(edited)
        if not edited:
            self._tell_of_plan(plan)
        if typed_on or self.app.screen is not self:
            of = table_name(plan.target.name) if plan.kind == "merge" else create_sentences.headline(plan)
            sentence = f"Plan {name} is ready: {{merge.preview}} in {self.in_words} shows it."
            self.notify(f"{self.with_keys(sentence)} ({of})")
        if not typed_on:
            self.show_view("preview")
        self.refresh_bindings()

    @property
    def in_words(self) -> str:
        """Where this is, for a notice that is read elsewhere."""
        return f"the {self.PLACE.capitalize()} place"

    def _plan_failed(self, failure: Failure) -> None:
        typed_then = self.operation.typed if self.operation is not None else None
        self.end()
        if failure.cancelled:
            self._tell_here("The plan was cancelled. Nothing was written.")
            return
        if self.view in ("preview", "commit"):
            self.show_view("compose")
        if typed_then is None or typed_then == self._typed():
            self.pane.show_failure(failure)
            return
        # below the text stands what Spark says of the text of now
        self.notify(f"The text as it was cannot be planned: {failure.message}", severity="error")

    def of_committed(self, failure: Failure) -> Failure:
        """Why no more can be asked of the plan: after its commit, where to look instead."""
        done = self.committed
        if failure.condition != "SOURCE_GONE" or done is None or done.version is None:
            return failure
        rows = f"rows of {table_name(done.table)} as of v{done.version} and of the version before"
        where = self.with_keys("{app.tables} shows, in the view Versions, the ")
        return Failure("", f"{outcome_sentences.committed_already(done)} Its source is not kept.", f"{where}{rows}.")

    def was_rehearsed(self, rehearsal: Rehearsal) -> None:
        """What the plan's own MERGE took says more of its commit than what others took."""
        from console.words.projection import rehearsed

        self.rehearsal = rehearsal
        if (measured := rehearsed(rehearsal)) is not None:
            self.forget("projection")
            self.projection = measured

    # Commit

    def action_commit(self) -> None:
        plan = self.plan
        if plan is None:
            self.notify(self.with_keys("There is no plan to commit yet: {merge.plan} makes one."))
            return
        if reason := self._why_not_now(plan):
            self.notify(reason, title="Cannot be committed", severity="error")
            return
        from console.dialogs.commit import CommitDialog
        from engine.commit.policy import to_be_typed

        self.dialog = CommitDialog(
            plan,
            edited=self.is_edited,
            typed=to_be_typed(self.backend.policy, plan),
            projection=self.projection,
            rehearsal=self.rehearsal,
            moved=self.moved,
        )
        self.app.push_screen(self.dialog, partial(self._confirmed, plan))
        self._ask_version(plan)

    action_why_not_commit = action_commit

    def _why_not_now(self, plan: AnyPlan) -> str | None:
        if self.operation is not None:
            return self._busy(self.operation, "now; wait for it, or {merge.cancel} cancels it.")
        if self.committed is not None:
            return outcome_sentences.committed_already(self.committed)
        if self.moved is not None and self.moved.own is not None:
            return moved_sentence(self.moved)
        if self.stale:
            return self.stale
        if self.console_app.status.spark == "lost":
            return f"Spark is lost: {self.console_app.spark_again()}. The plan is kept."
        return plan_summary.why_not_committable(plan)

    def _confirmed(self, plan: AnyPlan, accepted: tuple[str, ...] | None) -> None:
        self.dialog = None
        if accepted is None:
            # gone before another dialog could be confirmed
            self.notify("Nothing was committed.", timeout=2)
            return
        # Spark may have come up below the dialog, and the plan that waited for it have begun or ended
        reason = "Another plan is shown by now." if plan is not self.plan else self._why_not_now(plan)
        if reason:
            self.notify(f"Nothing was committed. {reason}", title="Cannot be committed", severity="error")
            return
        # the ledger cuts what is below a millisecond
        self.failed, self.became, self.commit_began = None, None, datetime.now(timezone.utc).replace(microsecond=0)
        operation = self.begin("committing", self.projection)
        report = reporter(self, operation.operation_id)
        wrote = self._wrote
        self.commit_pane.show_running(plan)
        self._tell_of_commit(f"Plan {short_id(plan.plan_id)} of this text is being committed.", SHOWS_IT)
        self.show_view("commit")

        def tell(progress: Progress) -> None:
            if progress.stage != "reading":
                wrote.set()
            report(progress)

        def apply() -> Outcome:
            return self.backend.apply(plan, accept=accepted, operation_id=operation.operation_id, on_progress=tell)

        self.ask("apply", apply, partial(self._applied, plan), partial(self._apply_failed, plan, wrote))

    def _applied(self, plan: AnyPlan, outcome: Outcome) -> None:
        self.committed = outcome
        self.commit_pane.show_outcome(plan, outcome, self.projection)
        self.preview.plan_became(outcome_sentences.committed_already(outcome))
        if self.operation is not None and self.operation.cancelled.is_set():
            late = "The cancel came too late: the commit was in the table already."
            self.console_app.record(late, "warning")
            self.notify(late, title="Commit", severity="warning")
        did = outcome_sentences.outcome(outcome, plan, self.console_app.glyphs.dot)
        summary = f"Plan {short_id(plan.plan_id)} {did}"
        self._tell_of_commit(f"{summary}.", SHOWS_IT)
        self.console_app.record(summary, "information" if outcome.kept else "error")
        self._commit_ended(summary, kept=outcome.kept)

    def _apply_failed(self, plan: AnyPlan, wrote: Event, failure: Failure) -> None:
        self.failed = plan, failure
        self.commit_pane.show_failure(plan, failure, wrote=wrote.is_set())
        became = "the History place says what became of it" if wrote.is_set() else "nothing was committed"
        self._tell_of_failed(plan, became)
        if failure.stale and failure.condition.startswith(STALE_FOR_GOOD):
            self.stale = f"{failure.message} {failure.hint}".strip()
            self.preview.plan_became(self.stale)
        self._commit_ended(str(failure), kept=False)

    def _commit_ended(self, summary: str, *, kept: bool) -> None:
        self.end()
        self.app.bell()
        if self.app.screen is not self:
            self.notify(summary, title="Commit", severity="information" if kept else "error")
        self.console_app.ledger_changed()

    # What runs

    def begin(self, kind: str, projection: Projection | None = None) -> Operation:
        self.pane.plan_is_wanted = False
        operation = Operation(uuid.uuid4().hex, kind, self._typed(), self.pane.origins.now)
        self.operation = operation
        table, path = (self.plan.target.name, self.plan.target.path) if self.plan is not None else ("", "")
        self.console_app.begin(Job(operation.operation_id, kind, self.plan_id, table, path))
        self.query_one("#running", Running).start(kind, projection.milliseconds if projection is not None else None)
        self.refresh_bindings()
        return operation

    def end(self) -> None:
        if self.operation is not None:
            self.console_app.end(self.operation.operation_id)
        self.operation = None
        self.query_one("#running", Running).stop()
        self.refresh_bindings()

    @on(Advanced)
    def _advanced(self, event: Advanced) -> None:
        if self.operation is None or self.operation.operation_id != event.operation_id:
            return
        self.query_one("#running", Running).advance(event.progress)
        if answers := plan_summary.so_far(event.progress):
            self._so_far += answers
            if self.operation.typed == self._typed():
                self.pane.say(PLANNING, *self._so_far)

    def action_cancel(self) -> None:
        if self.pane.plan_is_wanted:
            self.pane.plan_is_wanted = False
            self._tell_here("The plan was taken back.")
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
            operation.cancelled.set()
            self.query_one("#running", Running).cancelling()

    # Small actions

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if not self.is_mounted:
            return action in ("edit", "plan")
        return self.possible().get(action, True) and (action != "view" or self.preview.has(str(parameters[0])))

    def possible(self) -> dict[str, bool]:
        """The actions that are not always possible, and whether they are now."""
        view = self.view
        has_preview = view == "preview" and self.plan is not None
        may_commit = self.plan is not None and self.operation is None and not self._why_not_now(self.plan)
        typing = view not in ("preview", "commit")
        return {
            "edit": view != "compose" or self.focused is None,
            "leave_field": typing and isinstance(self.focused, Input),
            "plan": self.operation is None and typing,
            "cancel": self.operation is not None or self.pane.plan_is_wanted,
            "preview": self.plan is not None and view != "preview",
            "parameters": typing and bool(self.pane.params),
            "go_to_error": typing and self.pane.error_at is not None,
            "replan": not typing and self.operation is None,
            "cycle": view == "preview",
            "view": view == "preview",
            "save_plan": view == "preview",
            "copy_markdown": self.plan is not None,
            "commit": has_preview and may_commit,
            "why_not_commit": has_preview and not may_commit,
            "history": view == "commit",
        }

    def action_pane(self, view: str) -> None:
        if view == "compose":
            self.action_edit()
        elif view == "preview" and self.plan is not None:
            self.show_view(view)
        elif view == "preview":
            self.action_preview()
        elif self.has_commit:
            self.show_view(view)
        else:
            self.action_commit()
