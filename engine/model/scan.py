"""What data skipping leaves of the target, and which of those files the MERGE touches."""

from __future__ import annotations

from pydantic import Field

from engine.model.conflicts import Conflicts
from engine.model.value import Accuracy, Cells, Value


class DerivedConjunct(Value):
    """What a key of ON says about a target ``column`` when the source's keys are known: ``text``, or "" and
    ``why_not``."""

    column: str
    text: str
    why_not: str = ""


class Scan(Value):
    """What data skipping leaves of the target (OptimisticTransaction.filterFiles).

    ``files_after_as_typed``: what it leaves without the ``derived`` conjuncts; equal if there are none.
    ``files_after_of_a_read``: what a read with the same predicates keeps, which unlike a MERGE uses partition filters
    derived from generated columns; None in the plans of older versions.
    """

    predicates: tuple[str, ...]
    files_before: int
    files_after: int
    bytes_before: int
    bytes_after: int
    partitions_before: int | None = None
    partitions_after: int
    files_after_as_typed: int | None = None
    files_after_of_a_read: int | None = None
    derived: tuple[DerivedConjunct, ...] = ()
    accuracy: Accuracy = "exact"
    why: str = ""


class TouchedFile(Value):
    """One file that the MERGE rewrites, or (with deletion vectors) marks rows of. Counts are rows."""

    path: str
    bytes: int
    rows: int
    matched: int
    updated: int
    deleted: int
    copied: int
    partition: Cells = Field(default_factory=dict)


class TouchedFiles(Value):
    """ClassicMergeExecutor.findTouchedFiles. ``join_type`` is None if no such job runs."""

    join_type: str | None
    matched_predicate: str | None
    files: tuple[TouchedFile, ...] = ()
    conflicts: Conflicts = Conflicts()
    partitions_removed_from: int = 0
