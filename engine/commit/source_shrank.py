"""A source that is much smaller than those of the runs before: often a feed that broke off."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from engine.model.checks import Checks
from engine.model.counted import count
from engine.model.plan import Remark
from engine.model.plans import AnyPlan

if TYPE_CHECKING:
    from engine.ledger.history import History

CODE = "SOURCE_SHRANK"
RUNS, FEWEST_RUNS, SHARE = 5, 3, 0.5


def with_source_shrank(history: History, plan: AnyPlan, checks: Checks | None) -> AnyPlan:
    """``plan`` with the warning, if its source has less than half of the rows that the last runs of the same MERGE into
    the same table had in the median. Raises EngineError if the ledger cannot be read."""
    if plan.kind != "merge" or plan.refused or checks is None or not checks.looks_for(CODE):
        return plan
    rows = plan.source.num_rows
    # an empty source has a warning of its own
    before = history.source_rows(plan.target.table_id, plan.statement.before_parameters, RUNS) if rows else ()
    if len(before) < FEWEST_RUNS or rows >= SHARE * median(before):
        return plan
    usual = median(before)
    remark = Remark(
        code=CODE,
        sentence=f"The source has {count(rows, 'row')}; the last {len(before)} runs had {usual:,.0f} in the median.",
        evidence=f"Rows of the last runs, newest first: {', '.join(f'{one:,}' for one in before)}.",
        count=rows,
        exactness="exact",
        severity="error" if CODE in checks.errors else "warning",
    )
    return plan.model_copy(update={"warnings": (*plan.warnings, remark)})
