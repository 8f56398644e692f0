"""PreparedSource → MergeScan: the files that Delta keeps, narrowed by the source's keys if it then skips more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge
from engine.merge.derive_conjuncts import (
    NO_VALUE,
    ODD_PARTITION,
    condition_splice,
    derive_conjuncts,
    leave_gaps_out,
    not_derived,
    with_conjuncts,
    without_odd_bounds,
)
from engine.merge.prepare_delta_scan import DeltaScan, TargetLog, prepare_delta_scan
from engine.merge.prepare_source import PreparedSource
from engine.merge.running_statement import named_in_full
from engine.model.errors import EngineError
from engine.model.plan import Splice
from engine.model.scan import DerivedConjunct, Scan
from engine.spark.confs import confs_set, for_rows
from engine.table.logged_schema import LoggedColumn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class MergeScan:
    """What data skipping leaves under the text ``as_typed``, and with the ``derived`` conjuncts in the ON of
    ``merge``, which are there only if Delta skips more files with them."""

    merge: AnalyzedMerge
    as_typed: DeltaScan
    scan: DeltaScan
    derived: tuple[DerivedConjunct, ...] = ()

    @property
    def is_narrowed(self) -> bool:
        return self.scan is not self.as_typed

    @property
    def splice(self) -> Splice | None:
        """What is added to ON, None if it would skip nothing."""
        return condition_splice(self.merge, self.derived) if self.is_narrowed else None

    def value(self) -> Scan:
        update = {"derived": self.derived, "files_after_as_typed": len(self.as_typed.after)}
        return self.scan.value().model_copy(update=update)


def scan_as_typed(spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, log: TargetLog) -> MergeScan:
    scan = prepare_delta_scan(spark, merge, source.view, log)
    return MergeScan(merge, scan, scan)


def scan_with_bounds(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: PreparedSource,
    log: TargetLog,
    columns: Sequence[LoggedColumn],
) -> MergeScan:
    """The scan with the bounds of the source's keys in ON. ``columns`` are the target's, as the log has them."""
    first = scan_as_typed(spark, merge, source, log)
    if len(first.as_typed.after) < 2 or named_in_full(merge):
        return first

    def narrowed(scan: MergeScan, derived: tuple[DerivedConjunct, ...]) -> MergeScan:
        with_bounds = with_conjuncts(merge, derived)
        try:
            after = scan.as_typed if with_bounds is merge else prepare_delta_scan(spark, with_bounds, source.view, log)
        except EngineError as error:
            if error.condition != NO_VALUE:
                raise
            return MergeScan(merge, scan.as_typed, scan.as_typed, not_derived(derived, ODD_PARTITION))
        fewer = len(after.after) < len(scan.scan.after)
        return MergeScan(with_bounds, scan.as_typed, after, derived) if fewer else scan

    keys = (spark, merge, source.view, without_odd_bounds(merge, source.bounds, first.as_typed.after))
    derived = derive_conjuncts(*keys, columns, log.partition_columns)
    scan = narrowed(MergeScan(merge, first.as_typed, first.as_typed, derived), derived)
    if len(scan.scan.after) > 1:
        with confs_set(spark, for_rows(source.num_rows)):
            apart = leave_gaps_out(*keys, derived, log.partition_columns)
        return narrowed(scan, apart) if apart != derived else scan
    return scan
