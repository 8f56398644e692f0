"""Promise against actual: what a commit did, beside what its plan said."""

from __future__ import annotations

from engine.commits import Commit
from engine.staleness import Staleness
from engine.values import Deviation, Outcome, Plan


def outcome_of(plan: Plan, op_id: str, state: Staleness, commit: Commit | None, duration_ms: int = 0) -> Outcome:
    """What ``commit`` did of ``plan``; ``state`` is what was checked just before. None: the MERGE committed nothing."""
    found = deviations(plan, commit)
    read_version = commit.read_version if commit else None
    if commit and read_version != state.version:
        found = (*found, Deviation(metric="readVersion", promised=state.version, actual=read_version))
    return Outcome(
        plan_id=plan.plan_id,
        op_id=op_id,
        table=plan.target.name,
        verdict=state.verdict,
        version=commit.version if commit else None,
        read_version=read_version,
        kept=commit is not None and not found,
        metrics=commit.metrics if commit else {},
        deviations=found,
        moved_by=state.moved_by,
        duration_ms=duration_ms,
    )


def deviations(plan: Plan, commit: Commit | None) -> tuple[Deviation, ...]:
    """The promised metrics that the commit does not show, in the promise's order."""
    metrics = commit.metrics if commit else {}
    return tuple(
        Deviation(metric=name, promised=promised, actual=metrics.get(name))
        for name, promised in plan.promise.items()
        if metrics.get(name) != promised
    )
