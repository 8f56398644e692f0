"""Taking an operation back: look at what would come back, ask, do it."""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING

from console.places.place import Place
from console.status import Job
from console.words import undo_sentences
from console.words.moved import no_drop
from console.work import Failure
from engine.commit.policy import why_not_writable
from engine.recovery.why_not_undone import why_not_undone

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from engine.model.operation import Operation, Outcome, UndoPlan
    from engine.model.plans import OperationDetail


class Undoing(Place):
    """A place with an operation under the cursor."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[Operation] = []
        """Those that the ledger has, newest first."""
        self.detail: OperationDetail | None = None
        """The operation that was read last."""
        self._undoing = ""

    @property
    def detail_of_selected(self) -> OperationDetail | None:
        """None as long as another row is shown below."""
        shown = self.detail
        return shown if shown is not None and shown.operation.op_id == self.op_id else None

    @property
    def selected(self) -> Operation | None:
        """The operation under the cursor."""
        raise NotImplementedError

    @property
    def op_id(self) -> str:
        """Its id, or nothing."""
        return self.selected.op_id if self.selected is not None else ""

    @property
    def no_drop(self) -> str:
        """Why the table that it made is not dropped any more."""
        return no_drop(self.selected, self.operations) if self.selected is not None else ""

    @property
    def why_not_undone(self) -> str:
        """Why the operation under the cursor cannot be taken back, "" if it may be: Spark is not asked."""
        refused = why_not_undone(self.selected) if self.selected is not None else None
        if refused is not None:
            return f"{refused.message} {refused.hint}".strip()
        found = self.detail_of_selected.undo_refused if self.detail_of_selected is not None else None
        if self.no_drop:
            return self.no_drop
        if found is not None:
            told = undo_sentences.refused(found)
            return f"{told[0].upper()}{told[1:]} The command `undo` looks again."
        forbidden = why_not_writable(self.backend.policy)
        return f"{forbidden.message} {forbidden.hint}" if forbidden is not None else ""

    def action_why_not_undo(self) -> None:
        if why := self.why_not_undone:
            self.notify(why, title="Nothing to undo")

    def action_undo(self) -> None:
        if self.selected is None or self._undoing:
            return
        op_id, app = self.selected.op_id, self.console_app
        looking = uuid.uuid4().hex
        app.begin(Job(looking, "looking at an undo"))
        looks = "Looking at what would come back… {history.back} leaves it, {app.cancel_work} ends it."
        app.notify_of_work(self.with_keys(looks))
        self.ask_here(
            "plan_undo",
            lambda: self.backend.plan_undo(op_id, operation_id=looking),
            self._ask_undo,
            self._look_failed,
            ended=lambda: app.end(looking),
        )

    def _ask_undo(self, undo_plan: UndoPlan) -> None:
        from console.dialogs.confirm import ConfirmDialog
        from engine.commit.policy import undo_to_be_typed

        rule = undo_to_be_typed(self.backend.policy, undo_plan)
        lines = [*undo_sentences.statements(undo_plan), "", *undo_sentences.page(undo_plan)]
        if undo_plan.lost:
            lines += ["", undo_sentences.lost(undo_plan), *(f"  {line}" for line in undo_plan.lost)]
        dialog = ConfirmDialog(
            f"Undo operation {undo_plan.op_id}",
            "\n".join(lines),
            confirm_label="undo",
            refuse_label="Cancel",
            to_be_typed=None if rule is None else (rule, undo_plan.table),
        )
        self.app.push_screen(dialog, partial(self._undo_confirmed, undo_plan, self.op_id))

    def _look_failed(self, failure: Failure) -> None:
        if failure.cancelled:
            self.notify("Nothing was undone.")
        else:
            # the ledger knows by now what was found
            self.detail = None
            self._undo_failed(failure)

    def _undo_confirmed(self, undo_plan: UndoPlan, op_id: str, confirmed: bool | None) -> None:
        if not confirmed:
            self.notify("Nothing was undone.")
            return
        if op_id != self.op_id:
            # the ledger was read below the dialog
            self.notify("Nothing was undone: the cursor is on another operation by now.", severity="warning")
            return
        operation_id = uuid.uuid4().hex
        self._undoing = operation_id
        self.console_app.begin(Job(operation_id, "undoing", undo_plan.undo_id, undo_plan.table, undo_plan.path))

        def undo() -> Outcome:
            return self.backend.undo(undo_plan, operation_id=operation_id, on_progress=lambda _: None)

        self.ask("undo", undo, partial(self._undone, undo_plan), self._undo_failed)

    def _undone(self, undo_plan: UndoPlan, outcome: Outcome) -> None:
        text = undo_sentences.done(undo_plan, outcome, self.console_app.glyphs.dot)
        severity: SeverityLevel = "information" if outcome.kept else "error"
        self.console_app.record(text, severity)
        self._undo_ended(text, severity)
        if undo_plan.kind == "drop":
            self.console_app.tables_changed()

    def _undo_failed(self, failure: Failure) -> None:
        self._undo_ended(f"{failure} {failure.hint}".strip(), "error")

    def _undo_ended(self, text: str, severity: SeverityLevel) -> None:
        self.console_app.end(self._undoing)
        self._undoing = ""
        self.notify(text, title="Undo", severity=severity, timeout=10)
        self.console_app.ledger_changed()
