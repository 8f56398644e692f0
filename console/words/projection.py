"""How long a commit may take, out of what those before it took. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import linear_regression, median
from typing import TYPE_CHECKING

from console.words.format import count
from console.words.plan_summary import COPIED, INSERTED, UPDATED

if TYPE_CHECKING:
    from engine.model.operation import Rehearsal
    from engine.model.plan import Plan
    from engine.model.plans import OperationDetail

WRITTEN = (INSERTED, UPDATED, COPIED)
COMMITS = 10
"""The newest ones; a table and its Spark change."""
ALIKE = 2
"""Commits that wrote at most this many times more or fewer rows are alike."""
FARTHEST = 4
"""What writes more rows than this many times the most so far is not foreseen."""


@dataclass(frozen=True)
class Projection:
    """An estimate, and of how many commits it was made: of the ``same`` statement, or of others into the table; of
    those ``alike`` in rows, or of all that are known. Of none: of the plan's own rehearsal."""

    milliseconds: int
    commits: int
    same: bool = True
    alike: bool = True

    @property
    def basis(self) -> str:
        """Out of what it was made."""
        if not self.commits:
            return "from its rehearsal on a clone"
        of = "of this statement" if self.same else "into this table"
        return f"from {count(self.commits, 'commit')} {of}{', as large' if self.alike else ''}"


def projected(plan: Plan, outcomes: Sequence[OperationDetail]) -> Projection | None:
    """How long ``plan`` may take to commit. ``outcomes``: what committed before, newest first; None where merges into
    this table have nothing to say of one that writes so many rows."""
    rows = rows_written(plan.promise)
    merges = [one for one in outcomes if one.operation.kind == "merge" and one.operation.table == plan.target.name]
    # the same statement does most alike
    same = [one for one in merges if one.operation.sql == plan.statement.script]
    known = [point for one in same or merges if (point := _point(one)) is not None][:COMMITS]
    if rows is None or not known:
        return None
    alike = [took for wrote, took in known if max(wrote, rows, 1) <= ALIKE * max(min(wrote, rows), 1)]
    if alike:
        return Projection(round(median(alike)), len(alike), same=bool(same))
    sizes, times = zip(*known, strict=True)
    if len(set(sizes)) < 2 or rows > FARTHEST * max(sizes):
        return None
    slope, fixed = linear_regression(sizes, times)
    if slope < 0:
        return None
    return Projection(round(max(fixed + slope * rows, min(times))), len(known), same=bool(same), alike=False)


def rehearsed(rehearsal: Rehearsal) -> Projection | None:
    """How long the plan's MERGE took on a clone of its target; None if it did there something else than it would."""
    measures = rehearsal.kept and not rehearsal.refused and rehearsal.duration_ms
    return Projection(rehearsal.duration_ms, commits=0) if measures else None


def rows_written(metrics: Mapping[str, int]) -> int | None:
    """Rows that a merge writes, those that it only copies among them; None if one of the numbers is unknown."""
    if any(metric not in metrics for metric in WRITTEN):
        return None
    return sum(metrics[metric] for metric in WRITTEN)


def _point(one: OperationDetail) -> tuple[int, int] | None:
    """Rows written and milliseconds taken."""
    outcome = one.outcome
    if outcome is None or outcome.already_applied or not outcome.duration_ms:
        return None
    rows = rows_written(outcome.metrics)
    return None if rows is None else (rows, outcome.duration_ms)
