"""Errors that Delta would raise while running, foreseen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.analyze import AnalyzedMerge
from engine.find_touched_files import Matches
from engine.parse import MergeStatement
from engine.should_materialize_source import is_on
from engine.values import Conflicts, Decision, Refused, WritePlan

AMBIGUOUS = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
APPEND_ONLY = "DELTA_CANNOT_MODIFY_APPEND_ONLY"
AMBIGUOUS_NAME = "AMBIGUOUS_REFERENCE"
UNRESOLVED = "UNRESOLVED_COLUMN.WITH_SUGGESTION"
REPARTITION = "spark.databricks.delta.merge.repartitionBeforeWrite.enabled"
OPTIMIZE_WRITE = "spark.databricks.delta.optimizeWrite.enabled"
MISSING = "MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_APPEAR_IN_OPERATION"


def ambiguity(statement: MergeStatement, conflicts: Conflicts) -> Refused | None:
    """MergeIntoCommandBase.throwErrorOnMultipleMatches: several source rows for one target row."""
    if not conflicts.count or statement.only_one_unconditional_delete:
        return None
    return Refused(
        condition=AMBIGUOUS,
        message=f"{conflicts.count:,} target rows are matched by more than one source row.",
        rows=tuple({**key.key, "source rows": str(key.source_rows)} for key in conflicts.keys),
        hint="Keep one source row for each key"
        + (": the plan's conflicts hold a source that does, to paste after USING." if conflicts.dedupe else "."),
    )


def append_only(metrics: Mapping[str, int]) -> Refused | None:
    """DeltaLog.assertRemovable, at the commit: a table with delta.appendOnly lets no file go. ``metrics`` are the
    promised ones: a MERGE that touches no file is let pass."""
    if not metrics["numTargetFilesRemoved"] and not metrics["numTargetDeletionVectorsAdded"]:
        return None
    return Refused(
        condition=APPEND_ONLY,
        message="The table takes appends only (delta.appendOnly), and this MERGE changes rows of it.",
        hint="Keep to WHEN NOT MATCHED THEN INSERT, or set delta.appendOnly to false.",
    )


def reserved_names(merge: AnalyzedMerge, decision: Decision, matches: Matches, write: WritePlan) -> Refused | None:
    """Columns that are called like those that ClassicMergeExecutor adds to the target or the source while it runs.

    ``_row_id_`` and ``_file_name_`` collide in findTouchedFiles if the source has them, the others in
    writeAllChanges, if there is something to write: seen by running each on either side, with and without deletion
    vectors. A source that is materialized has its used columns only. InsertOnlyMergeExecutor adds none.
    """
    if write.join_type == "leftanti":
        return None
    target = {column.name.lower() for column in merge.target_schema}
    source = {column.name.lower() for column in merge.source_schema}
    if decision.materialize:
        source &= {name.lower() for name in merge.columns_used}
    finding = _found(source, "source", "_row_id_", "_file_name_")
    if finding:
        return _reserved(AMBIGUOUS_NAME, finding)
    if not matches.touched:
        return None
    ambiguous = _found(target, "target", "_source_row_present_", "_row_dropped_")
    ambiguous += _found(source, "source", "_target_row_present_")
    if ambiguous:
        return _reserved(AMBIGUOUS_NAME, ambiguous)
    used = {name.lower() for name in merge.columns_used}
    missing = _found(used, "source", "_source_row_present_")
    if write.join_type != "inner":
        missing += _found(target, "target", "_target_row_present_")
    return _reserved(MISSING, missing) if missing else None


def dotted_partitions(merge: AnalyzedMerge, matches: Matches, detail: Any, confs: Mapping[str, str]) -> Refused | None:
    """MergeIntoCommandBase.writeFiles: rows are shuffled by ``col(name)``, which takes a dot for a struct's field.

    Where anything is written to a partitioned table, unless an optimized write shuffles by itself. ``detail`` is the
    row of DESCRIBE DETAIL.
    """
    optimized = dict(detail["properties"] or {}).get("delta.autoOptimize.optimizeWrite", "false")
    shuffled = is_on(confs, REPARTITION) and not is_on(confs, OPTIMIZE_WRITE, optimized)
    if not shuffled or not (matches.touched or merge.statement.not_matched):
        return None
    columns = {column.name.lower() for column in merge.target_schema}
    # the first part may be a struct that has the field
    dotted = [p for p in detail["partitionColumns"] or () if "." in p and p.partition(".")[0].lower() not in columns]
    if not dotted:
        return None
    return Refused(
        condition=UNRESOLVED,
        message=f"Delta's MERGE cannot write to a table that is partitioned by a name with a dot: {', '.join(dotted)}.",
        hint=f"Rename the column, or set {REPARTITION} to false.",
    )


def _found(columns: set[str], side: str, *names: str) -> list[str]:
    return [f"{name} of the {side}" for name in names if name in columns]


def _reserved(condition: str, found: Iterable[str]) -> Refused:
    return Refused(
        condition=condition,
        message=f"Delta's MERGE uses a column of the same name for itself: {', '.join(found)}.",
        hint="Rename it: in the source by SELECT … AS, in the target by ALTER TABLE … RENAME COLUMN.",
    )
