"""A MERGE that is planned, and what its clauses write: all that is needed to ask more about its rows."""

from __future__ import annotations

from dataclasses import dataclass

from engine.merge.analyze import AnalyzedMerge
from engine.merge.prepare_source import PreparedSource
from engine.preflight.assignments import ClauseAssignments
from engine.preflight.target_rules import TargetRules


@dataclass(frozen=True)
class PlannedMerge:
    """The MERGE at the version that is planned, its frozen source, and what its clauses write."""

    merge: AnalyzedMerge
    source: PreparedSource
    rules: TargetRules
    assigned: tuple[ClauseAssignments, ...]
