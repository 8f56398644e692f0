"""Taking an operation back: look at what would come back, ask, do it."""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING

from console.places.place import Place
from console.status import Job
from console.words import undo_sentences
from console.work import Failure

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from engine.model.operation import Operation, Outcome, UndoPlan


class Undoing(Place):
    """A place with an operation under the cursor."""

    def __init__(self) -> None:
        super().__init__()
        self._undoing = ""

    @property
    def selected(self) -> Operation | None:
        """The operation under the cursor."""
        raise NotImplementedError

    @property
    def op_id(self) -> str:
        """Its id, or nothing."""
        return self.selected.op_id if self.selected is not None else ""

    def action_undo(self) -> None:
        if self.selected is None or self._undoing:
            return
        op_id, app = self.selected.op_id, self.console_app
        looking = uuid.uuid4().hex
        app.begin(Job(looking, "looking at an undo"))
        self.notify(self.told("Looking at what would come back… {history.back} leaves it."))
        self.ask(
            "plan_undo",
            lambda: self.backend.plan_undo(op_id),
            self._ask_undo,
            self._undo_failed,
            of=self.here,
            ended=lambda: app.end(looking),
        )

    def _ask_undo(self, looked: UndoPlan) -> None:
        from console.dialogs.confirm import ConfirmDialog

        told = [*undo_sentences.statements(looked), "", *undo_sentences.page(looked)]
        if looked.lost:
            told += ["", undo_sentences.lost(looked), *(f"  {line}" for line in looked.lost)]
        dialog = ConfirmDialog(
            f"Undo operation {looked.op_id}",
            "\n".join(told),
            confirm_label="undo",
            refuse_label="Cancel",
        )
        self.app.push_screen(dialog, partial(self._undo_confirmed, looked, self.op_id))

    def _undo_confirmed(self, looked: UndoPlan, op_id: str, confirmed: bool | None) -> None:
        if not confirmed:
            self.notify("Nothing was undone.")
            return
        if op_id != self.op_id:
            # the ledger was read below the dialog
            self.notify("Nothing was undone: the cursor is on another operation by now.", severity="warning")
            return
        operation_id = uuid.uuid4().hex
        self._undoing = operation_id
        self.console_app.begin(Job(operation_id, "undoing"))

        def undo() -> Outcome:
            return self.backend.undo(looked, operation_id=operation_id, on_progress=lambda _: None)

        self.ask("undo", undo, partial(self._undone, looked), self._undo_failed)

    def _undone(self, looked: UndoPlan, outcome: Outcome) -> None:
        told = undo_sentences.done(looked, outcome, self.console_app.glyphs.dot)
        self._undo_ended(told, "information" if outcome.kept else "error")

    def _undo_failed(self, failure: Failure) -> None:
        self._undo_ended(f"{failure} {failure.hint}".strip(), "error")

    def _undo_ended(self, told: str, severity: SeverityLevel) -> None:
        self.console_app.end(self._undoing)
        self._undoing = ""
        self.console_app.record(told, severity)
        self.notify(told, title="Undo", severity=severity, timeout=10)
        self.console_app.ledger_changed()
