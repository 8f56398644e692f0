"""TouchedFiles → WritePlan and the promise: what will be written, in Delta's own operationMetrics.

Mirrors ClassicMergeExecutor.writeAllChanges and writeDVs, InsertOnlyMergeExecutor.writeOnlyInserts, and the choice
between them in MergeIntoCommand.runMerge. Counts follow Delta's: of pairs, not of rows, where it counts pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from engine.merge.analyze import AnalyzedMerge
from engine.merge.find_touched_files import FileMatches, Matches
from engine.merge.join_of_match import Join
from engine.merge.join_sides import BY_SOURCE
from engine.merge.should_materialize_source import OPTIMIZE_INSERT_ONLY
from engine.model.plan import ActionKind, Estimate
from engine.model.scan import TouchedFile
from engine.model.write import WritePlan
from engine.spark.confs import is_on
from engine.sql.parse import MergeStatement
from engine.table.delta_log import partitions_of

MATCHED_ONLY = "spark.databricks.delta.merge.optimizeMatchedOnlyMerge.enabled"
COLLECT_STATISTICS = "spark.databricks.delta.stats.collect"
PERSISTENT_VECTORS = "spark.databricks.delta.merge.deletionVectors.persistent"


@dataclass(frozen=True)
class TableTraits:
    """What of the target's metadata decides how a MERGE writes."""

    deletion_vectors: bool
    change_data_feed: bool
    partitioned: bool = False


@dataclass(frozen=True)
class Promise:
    """``metrics`` are exact, ``estimates`` bounds."""

    executor: Literal["ClassicMergeExecutor", "InsertOnlyMergeExecutor"]
    write: WritePlan
    metrics: dict[str, int]
    estimates: dict[str, int | Estimate]
    files: tuple[TouchedFile, ...]
    partitions_removed_from: int


def runs_insert_only(statement: MergeStatement, confs: Mapping[str, str]) -> bool:
    """Whether InsertOnlyMergeExecutor runs the statement (MergeIntoCommand.runMerge)."""
    return statement.insert_only and is_on(confs, OPTIMIZE_INSERT_ONLY)


def plan_writes(
    merge: AnalyzedMerge,
    matches: Matches,
    num_source_rows: int,
    traits: TableTraits,
    confs: Mapping[str, str],
    join: Join,
) -> Promise:
    """The write plan and the exact metrics of a MERGE whose matches are known. Pure: asks Spark nothing.

    ``join``: see :func:`engine.merge.join_of_match.join_that_reads`; "by key" if no file is read.
    """
    if runs_insert_only(merge.statement, confs):
        return write_only_inserts(matches, num_source_rows, traits, confs)
    promise = write_all_changes(merge, matches, num_source_rows, traits, confs)
    return with_source_bounds(promise, join) if num_source_rows else promise


def write_all_changes(
    merge: AnalyzedMerge,
    matches: Matches,
    num_source_rows: int,
    traits: TableTraits,
    confs: Mapping[str, str],
) -> Promise:
    """ClassicMergeExecutor.writeAllChanges, and writeDVs where the table has deletion vectors."""
    statement = merge.statement
    vectors = traits.deletion_vectors and is_on(confs, PERSISTENT_VECTORS)
    touched = matches.touched
    write = choose_writer(statement, bool(touched), vectors, traits, confs)
    rows = row_metrics(statement, matches, vectors)
    removal = removal_metrics(touched, vectors)
    gone = [f for f in touched if not vectors or (changed_rows(f) and fully_replaced(f))]
    metrics = {
        "numSourceRows": num_source_rows,
        **rows,
        "numOutputRows": rows["numTargetRowsInserted"] + rows["numTargetRowsUpdated"] + rows["numTargetRowsCopied"],
        **removal,
    }
    if not traits.change_data_feed or not touched:
        metrics["numTargetChangeFilesAdded"] = 0
    estimates = file_estimates(metrics["numOutputRows"], traits, confs)
    return Promise(
        executor="ClassicMergeExecutor",
        write=write,
        metrics=metrics,
        estimates=estimates,
        files=tuple(touched_file(f, statement, vectors) for f in touched),
        partitions_removed_from=partitions_of(f.file for f in gone),
    )


def with_source_bounds(promise: Promise, join: Join) -> Promise:
    """Without a key Spark may read the source twice to write, and Delta counts both. Where Spark sees, perhaps only as
    it runs, that nothing can match, it may not read the source at all to find files."""
    if join == "by key" or (join == "by loops" and not promise.files):
        return promise
    rows = promise.metrics["numSourceRows"]
    bounds = Estimate(low=rows if promise.files else 0, high=2 * rows)
    metrics = {name: value for name, value in promise.metrics.items() if name != "numSourceRows"}
    return replace(promise, metrics=metrics, estimates={**promise.estimates, "numSourceRows": bounds})


def write_only_inserts(
    matches: Matches, num_source_rows: int, traits: TableTraits, confs: Mapping[str, str]
) -> Promise:
    """InsertOnlyMergeExecutor.writeOnlyInserts: a left anti join, nothing read twice, nothing removed."""
    inserted = sum(n for clause, n in matches.inserts.items() if clause)
    metrics = dict.fromkeys(ROW_METRICS, 0) | {
        "numSourceRows": num_source_rows,
        "numTargetRowsInserted": inserted,
        "numOutputRows": inserted,
        "numTargetFilesRemoved": 0,
        "numTargetBytesRemoved": 0,
        "numTargetChangeFilesAdded": 0,
        **dict.fromkeys(VECTOR_METRICS, 0),
    }
    return Promise(
        executor="InsertOnlyMergeExecutor",
        write=WritePlan(
            extra_op_type="writeInsertsOnlyWhenNoMatchedClauses",
            join_type="leftanti",
            deletion_vectors=False,
            change_data_feed=traits.change_data_feed,
            unmodified_rows_written=False,
        ),
        metrics=metrics,
        estimates=file_estimates(inserted, traits, confs),
        files=(),
        partitions_removed_from=0,
    )


ROW_METRICS = (
    "numSourceRows",
    "numTargetRowsInserted",
    "numTargetRowsUpdated",
    "numTargetRowsMatchedUpdated",
    "numTargetRowsNotMatchedBySourceUpdated",
    "numTargetRowsDeleted",
    "numTargetRowsMatchedDeleted",
    "numTargetRowsNotMatchedBySourceDeleted",
    "numTargetRowsCopied",
)
FILES_ADDED = ("numTargetFilesAdded", "numTargetBytesAdded")
VECTOR_METRICS = (
    "numTargetDeletionVectorsAdded",
    "numTargetDeletionVectorsRemoved",
    "numTargetDeletionVectorsUpdated",
)


def choose_writer(
    statement: MergeStatement, touched: bool, vectors: bool, traits: TableTraits, confs: Mapping[str, str]
) -> WritePlan:
    """Which of Delta's writers runs, with which join (the table of DELTA_MERGE.md §B)."""
    matched_only = statement.matched_only and is_on(confs, MATCHED_ONLY)
    join: str | None
    if not touched:
        operation, join = "writeInsertsOnlyWhenNoMatches", None
    elif vectors:
        operation = "writeModifiedRowsOnly"
        if statement.matched_only:
            join = "inner"
        elif not statement.not_matched_by_source:
            join = "leftOuter"
        elif not statement.not_matched:
            join = "rightOuter"
        else:
            join = "fullOuter"
    else:
        operation, join = (
            ("writeAllUpdatesAndDeletes", "rightOuter") if matched_only else ("writeAllChanges", "fullOuter")
        )
    return WritePlan(
        extra_op_type=operation,
        join_type=join,
        deletion_vectors=vectors and touched,
        change_data_feed=traits.change_data_feed,
        unmodified_rows_written=touched and not vectors,
    )


def action_of(statement: MergeStatement, clause: int) -> ActionKind:
    """What a clause number of the pairs does."""
    if clause > BY_SOURCE:
        return statement.not_matched_by_source[clause - BY_SOURCE - 1].action_kind
    return statement.matched[clause - 1].action_kind


def row_metrics(statement: MergeStatement, matches: Matches, vectors: bool) -> dict[str, int]:
    """The row metrics, counted over the touched files as writeAllChanges counts them."""
    metrics = dict.fromkeys(ROW_METRICS[1:], 0)
    for file in matches.touched:
        for clause, pairs in file.clause_pairs.items():
            kind = action_of(statement, clause)
            side = "NotMatchedBySource" if clause > BY_SOURCE else "Matched"
            verb = "Updated" if kind == "update" else "Deleted"
            metrics[f"numTargetRows{verb}"] += pairs
            metrics[f"numTargetRows{side}{verb}"] += pairs
        if not vectors:
            metrics["numTargetRowsCopied"] += copied_rows(file)
    if statement.only_one_unconditional_delete:
        # multipleMatchDeleteOnlyOvercount: every pair was counted, every row is deleted once
        overcount = sum(file.overcount for file in matches.files)
        metrics["numTargetRowsDeleted"] -= overcount
        metrics["numTargetRowsMatchedDeleted"] -= overcount
    metrics["numTargetRowsInserted"] = sum(n for clause, n in matches.inserts.items() if clause)
    return metrics


def copied_rows(file: FileMatches) -> int:
    """Rows of a rewritten file that no clause changes, and pairs that none takes (each is written once)."""
    taken_by_source = sum(n for clause, n in file.clause_rows.items() if clause > BY_SOURCE)
    taken_pairs = sum(n for clause, n in file.clause_pairs.items() if clause < BY_SOURCE)
    alone = file.rows - file.matched - taken_by_source
    return alone + file.pairs - taken_pairs


def changed_rows(file: FileMatches) -> int:
    """Distinct target rows that some clause takes."""
    return sum(file.clause_rows.values())


def fully_replaced(file: FileMatches) -> bool:
    """Whether Delta takes a file of which every row changes away: one without a count of rows in the log it keeps,
    with a vector over all of them (TouchedFileWithDV.isFullyReplaced)."""
    return file.file.rows is not None and changed_rows(file) == file.rows


def removal_metrics(touched: tuple[FileMatches, ...], vectors: bool) -> dict[str, int]:
    """Files, bytes and deletion vectors that leave or come. A vector that grows counts as added and removed."""
    if not vectors:
        return {
            "numTargetFilesRemoved": len(touched),
            "numTargetBytesRemoved": sum(f.file.bytes for f in touched),
            **dict.fromkeys(VECTOR_METRICS, 0),
        }
    changed = [f for f in touched if changed_rows(f)]
    gone = [f for f in changed if fully_replaced(f)]
    with_vectors = [f for f in changed if not fully_replaced(f)]
    updated = sum(1 for f in with_vectors if f.file.has_deletion_vector)
    return {
        "numTargetFilesRemoved": len(gone),
        "numTargetBytesRemoved": sum(f.file.bytes for f in gone),
        "numTargetDeletionVectorsAdded": len(with_vectors),
        "numTargetDeletionVectorsRemoved": sum(1 for f in gone if f.file.has_deletion_vector) + updated,
        "numTargetDeletionVectorsUpdated": updated,
    }


def touched_file(file: FileMatches, statement: MergeStatement, vectors: bool) -> TouchedFile:
    kinds = {"update": 0, "delete": 0}
    for clause, rows in file.clause_rows.items():
        kinds[action_of(statement, clause)] += rows
    return TouchedFile(
        path=file.file.path,
        bytes=file.file.bytes,
        rows=file.rows,
        matched=file.matched,
        updated=kinds["update"],
        deleted=kinds["delete"],
        copied=0 if vectors else copied_rows(file),
        partition=file.file.partition,
    )


def file_estimates(rows_written: int, traits: TableTraits, confs: Mapping[str, str]) -> dict[str, int | Estimate]:
    """Files added depend on the shuffle: none without rows, else at least one and at most one for each row.

    Spark's first task writes a file even if it has no rows, unless the table is partitioned, and Delta drops a file
    only if its statistics say that it is empty (TransactionalWrite.writeFiles).
    """
    empty = int(not (traits.partitioned or is_on(confs, COLLECT_STATISTICS)))
    if rows_written == 0:
        return {"numTargetFilesAdded": Estimate(low=0, high=1)} if empty else dict.fromkeys(FILES_ADDED, 0)
    return {"numTargetFilesAdded": Estimate(low=1, high=rows_written + empty)}
