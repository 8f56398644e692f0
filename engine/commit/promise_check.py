"""Promise against actual: what a commit did, beside what its plan said."""

from __future__ import annotations

from collections.abc import Mapping

from engine.commit.staleness import Staleness
from engine.model.operation import Deviation, Outcome
from engine.model.plan import Plan
from engine.table.commits import Commit


def outcome_of(
    plan: Plan,
    op_id: str,
    state: Staleness,
    commit: Commit | None,
    duration_ms: int = 0,
    more: tuple[Deviation, ...] = (),
) -> Outcome:
    """What ``commit`` did of ``plan``; ``state`` is what was checked just before. None: the MERGE committed nothing.
    ``more`` are deviations that were found elsewhere."""
    differences = deviations(plan.promise, commit, checked=state.version) + more
    return Outcome(
        plan_id=plan.plan_id,
        op_id=op_id,
        table=plan.target.name,
        verdict=state.verdict,
        version=commit.version if commit else None,
        read_version=commit.read_version if commit else None,
        kept=commit is not None and not differences,
        promise=plan.promise,
        metrics=commit.metrics if commit else {},
        deviations=differences,
        moved_by=state.moved_by,
        duration_ms=duration_ms,
    )


def outcome_of_commit(commit: Commit, plan_id: str, op_id: str, table: str) -> Outcome:
    """What ``commit``, which is ours, did, where no promise of it is known."""
    return Outcome(
        plan_id=plan_id,
        op_id=op_id,
        table=table,
        verdict="fresh",
        version=commit.version,
        read_version=commit.read_version,
        metrics=commit.metrics,
    )


def deviations(
    promise: Mapping[str, int], commit: Commit | None, *, checked: int | None = None
) -> tuple[Deviation, ...]:
    """The promised metrics that the commit does not show, in the promise's order, and the version it read where that
    is not the one that was ``checked``."""
    metrics = commit.metrics if commit else {}
    differences = [
        Deviation(metric=name, promised=promised, actual=metrics.get(name))
        for name, promised in promise.items()
        if metrics.get(name) != promised
    ]
    if commit and checked is not None and commit.read_version != checked:
        differences.append(Deviation(metric="readVersion", promised=checked, actual=commit.read_version))
    return tuple(differences)
