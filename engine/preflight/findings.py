"""What the steps of a plan find: those that read no source, and those that read the frozen one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.merge.analyze import AnalyzedMerge
from engine.merge.find_touched_files import Matches
from engine.merge.join_of_match import Join
from engine.merge.merge_scan import MergeScan
from engine.merge.plan_writes import Promise
from engine.merge.prepare_source import PreparedSource
from engine.merge.run_with_source_lost_retries import Attempt
from engine.model.conflicts import Conflicts
from engine.model.expectation import ExpectationResult
from engine.model.plan import Decision, PlanningState, Refused, Remark, Sample
from engine.preflight.planned_merge import PlannedMerge
from engine.preflight.target_reads import DescribedTarget


@dataclass(frozen=True)
class Basis:
    """What is known without the source. ``merge`` is the statement as typed, ``functions``: see Surroundings."""

    merge: AnalyzedMerge
    decision: Decision
    target: DescribedTarget
    confs: Mapping[str, str]
    state: PlanningState
    join: Join
    functions: tuple[str, ...]


@dataclass(frozen=True)
class Findings:
    """What the frozen source showed, in the ``attempt`` that kept its blocks. ``not_compared`` says why the old and new
    values of updated rows were not compared, "" if they were."""

    basis: Basis
    attempt: Attempt
    source: PreparedSource
    scan: MergeScan
    matches: Matches
    promise: Promise
    conflicts: Conflicts
    refused: Refused | None = None
    samples: tuple[Sample, ...] = ()
    faults: tuple[Remark, ...] = ()
    not_compared: str = ""
    expectations: tuple[ExpectationResult, ...] = ()

    @property
    def planned(self) -> PlannedMerge:
        target = self.basis.target
        return PlannedMerge(self.merge, self.source, target.rules, target.assigned, self.scan.scan.before)

    @property
    def merge(self) -> AnalyzedMerge:
        """The MERGE that runs: with the derived conjuncts in its ON, if there are any."""
        return self.scan.merge
