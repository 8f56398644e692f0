"""A MERGE that is planned, and what its clauses write: all that is needed to ask more about its rows."""

from __future__ import annotations

from dataclasses import dataclass

from engine.merge.analyze import AnalyzedMerge
from engine.merge.prepare_source import PreparedSource
from engine.preflight.assignments import ClauseAssignments
from engine.preflight.target_rules import TargetRules
from engine.table.log_file import LogFile


@dataclass(frozen=True)
class PlannedMerge:
    """The MERGE at the version that is planned, its frozen source, and what its clauses write. ``files`` are the
    target's, for the values of its partitions: () where it has none."""

    merge: AnalyzedMerge
    source: PreparedSource
    rules: TargetRules
    assigned: tuple[ClauseAssignments, ...]
    files: tuple[LogFile, ...]
