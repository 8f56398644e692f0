"""Both kinds of plan, and the ledger's record of one operation."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engine.model.create_values import CreatePlan
from engine.model.operation import Operation, Outcome, Rehearsal, UndoRefused
from engine.model.plan import Plan
from engine.model.value import Value

AnyPlan = Annotated[Plan | CreatePlan, Field(discriminator="kind")]


class OperationDetail(Value):
    """One operation in full: its plan, once it ran its outcome, and the rehearsals of the plan, the newest first.

    ``taken_back_by`` is the undo of it that committed, ``overwritten_by`` that of an earlier operation, by which its
    commit went too; ``undo_refused`` says that one was found not possible.
    """

    operation: Operation
    plan: AnyPlan | None = None
    outcome: Outcome | None = None
    rehearsals: tuple[Rehearsal, ...] = ()
    taken_back_by: Operation | None = Field(default=None, exclude_if=lambda value: value is None)
    overwritten_by: Operation | None = Field(default=None, exclude_if=lambda value: value is None)
    undo_refused: UndoRefused | None = Field(default=None, exclude_if=lambda value: value is None)
