"""Expectations that a statement was held to before, and is not now: their file is not read here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.model.counted import count, verb_of
from engine.model.plan import Remark
from engine.model.plans import AnyPlan

if TYPE_CHECKING:
    from engine.ledger.history import History

CODE = "FEWER_EXPECTATIONS"


def with_fewer_expectations(history: History, plan: AnyPlan) -> AnyPlan:
    """``plan`` with the warning, if plans of the same MERGE into the same table had expectations that it has not: those
    since the last that was applied, and that one. Raises EngineError if the ledger cannot be read."""
    if plan.kind != "merge" or plan.refused:
        return plan
    before = history.expected(plan.target.table_id, plan.statement.before_parameters)
    missing = [name for name in before if all(name != one.name for one in plan.expectations)]
    if not missing:
        return plan
    what = f"{count(len(missing), 'expectation')} that this statement was held to before"
    remark = Remark(
        code=CODE,
        sentence=f"{what} {verb_of(len(missing), 'are')} not checked here: {', '.join(missing)}.",
        evidence="No file that is read here has them: name one with --expect, or open the .sql file that it is beside.",
    )
    return plan.model_copy(update={"warnings": (*plan.warnings, remark)})
