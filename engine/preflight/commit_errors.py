"""Errors that Delta would raise only at the commit, after all the work (OptimisticTransaction.commitImpl), foreseen."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from engine.merge.analyze import AnalyzedMerge
from engine.merge.find_touched_files import Matches, takes_rows
from engine.merge.plan_writes import COLLECT_STATISTICS, Promise
from engine.model.plan import Refused
from engine.preflight.evolution_errors import ICEBERG_COMPAT, NOT_OF_ICEBERG, not_null_inside
from engine.preflight.target_reads import DescribedTarget
from engine.spark.confs import is_on
from engine.spark.spark_errors import SPARK_ERROR

APPEND_ONLY = "DELTA_CANNOT_MODIFY_APPEND_ONLY"
WITHOUT_STATISTICS = "DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS"


def moved_identity(merge: AnalyzedMerge, matches: Matches, target: DescribedTarget) -> Refused | None:
    """precommitUpdateSchemaWithIdentityHighWaterMarks: an identity that gives values changes the schema, in which Delta
    then finds a NOT NULL inside of an array or a map, as other writers leave it."""
    writing = (one for one in target.assigned if takes_rows(merge.statement, matches, one.clause))
    moves = any(a.value is None for one in writing for a in one.columns)
    return not_null_inside(merge.type_after, target) if moves else None


def without_statistics(
    merge: AnalyzedMerge, matches: Matches, target: DescribedTarget, promise: Promise, confs: Mapping[str, str]
) -> Refused | None:
    """:func:`uncounted_files`, where the MERGE writes any."""
    writes = matches.touched or merge.statement.not_matched
    # also for no rows: Spark's first task writes a file, which Delta keeps where nothing tells that it is empty
    if is_on(confs, COLLECT_STATISTICS) or not (writes and promise.estimates["numTargetFilesAdded"]):
        return None
    return uncounted_files(target.features, target.properties)


def uncounted_files(features: Collection[str], properties: Mapping[str, str | None]) -> Refused | None:
    """CheckAddFileHasStats and RowId.assignFreshRowIds, of files of which the log does not count the rows."""
    compatible = (ICEBERG_COMPAT.format(one) for one in NOT_OF_ICEBERG)
    iceberg = next((name for name in compatible if is_on(properties, name, "false")), None)
    tracks_rows = "rowTracking" in features and not is_on(properties, "delta.rowTrackingSuspended", "false")
    if not (iceberg or tracks_rows):
        return None
    return Refused(
        condition=SPARK_ERROR if iceberg else WITHOUT_STATISTICS,
        message=f"The table has {iceberg or 'row tracking'}, for which the log must count the rows of each new file: "
        f"{COLLECT_STATISTICS} is off.",
        hint=f"Set {COLLECT_STATISTICS} to true.",
    )


def append_only(metrics: Mapping[str, int]) -> Refused | None:
    """DeltaLog.assertRemovable: a table with delta.appendOnly lets no file go. ``metrics`` are the promised ones: a
    MERGE that touches no file is let pass."""
    if not metrics["numTargetFilesRemoved"] and not metrics["numTargetDeletionVectorsAdded"]:
        return None
    return Refused(
        condition=APPEND_ONLY,
        message="The table takes appends only (delta.appendOnly), and this MERGE changes rows of it.",
        hint="Keep to WHEN NOT MATCHED THEN INSERT, or set delta.appendOnly to false.",
    )
