"""DeltaScan → TouchedFiles: which rows match, and so which files the MERGE touches.

Mirrors ClassicMergeExecutor.findTouchedFiles: the frozen source joined with the target on the operator's own ON,
each target row known by ``monotonically_increasing_id()``, each file by its name. Delta keeps only the files; here
the pairs are kept (row ids and the clause that takes them, no data), so that every later question is cheap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.merge.analyze import AnalyzedMerge
from engine.merge.prepare_delta_scan import DeltaScan
from engine.merge.prepare_source import FIELD_BYTES, ROW_BYTES, PreparedSource, pairs_view
from engine.spark.checkpoint import checkpoint
from engine.spark.confs import confs_set, for_rows
from engine.spark.spark_errors import collected, translate
from engine.sql.parse import MergeClause, MergeStatement
from engine.sql.some_values import some_values
from engine.table.delta_log import live_rows
from engine.table.log_file import LogFile, hold_to_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOURCE_ROW, TARGET_ROW, FILE = "__dm_source_row", "__dm_target_row", "__dm_file"
INSERT_CLAUSE, BY_SOURCE_CLAUSE, CLAUSE, COUNTED, RECORDED = (
    "__dm_insert",
    "__dm_by_source",
    "__dm_clause",
    "__dm_counted",
    "__dm_recorded",
)
APART = "__dm_apart"
# NOT MATCHED BY SOURCE clauses are numbered from here, matched ones from 1; 0 is no clause.
BY_SOURCE = 100


@dataclass(frozen=True)
class FileMatches:
    """What happens in one file. ``clause_pairs`` counts pairs, ``clause_rows`` distinct target rows, by clause."""

    file: LogFile
    touched: bool
    rows: int
    matched: int
    clause_pairs: dict[int, int]
    clause_rows: dict[int, int]
    pairs: int
    conflicts: int
    overcount: int
    true_conflicts: int
    null_conflicts: int
    flagged: Mapping[str, int] = field(default_factory=dict)
    """Target rows by flag: see :func:`find_touched_files`."""
    flagged_source_rows: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Some of the source rows that match them, by flag."""


@dataclass(frozen=True)
class SeenRows:
    """A ``view`` with the source rows that have a match, in at most ``rows`` rows."""

    view: str
    rows: int


@dataclass(frozen=True)
class Matches:
    """The result of the job: by file, and the source rows without a match by the insert clause that takes them.

    ``inserts`` maps a clause's number (from 1) to rows, 0 to those no clause takes. ``view`` names the pairs, ``seen``
    the source rows that have a match, which an insert-only MERGE has without them.
    """

    join_type: str | None = None
    matched_predicate: str | None = None
    files: tuple[FileMatches, ...] = ()
    inserts: dict[int, int] = field(default_factory=dict)
    view: str | None = None
    seen: SeenRows | None = None

    @property
    def touched(self) -> tuple[FileMatches, ...]:
        return tuple(file for file in self.files if file.touched)

    @property
    def touched_rows(self) -> int:
        """Rows in the touched files, for the size of a job over them."""
        return sum(file.rows for file in self.touched)

    @property
    def touched_hashes(self) -> str:
        """The hashes of the touched files as SQL literals, for IN (…)."""
        return ", ".join(f"{file.file.file_hash}L" for file in self.touched)

    @property
    def conflicts(self) -> int:
        """Target rows that several source rows match, as Delta counts them."""
        return sum(file.conflicts for file in self.files)


def find_touched_files(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: PreparedSource,
    scan: DeltaScan,
    flags: Mapping[str, str] | None = None,
) -> Matches:
    """Run the join. Anything that fails while running (a cast, an overflow) raises Delta's error.

    ``flags`` are further columns of the pairs: a name, and a condition over both sides of a pair. Each is counted by
    file.
    """
    flags = flags or {}
    view = pairs_view(source.view)
    checkpoint(spark, pairs_sql(merge, source, flags), "DISK_ONLY", view)
    every_row = bool(merge.statement.not_matched_by_source)
    try:
        with confs_set(spark, for_rows(source.num_rows, live_rows(scan.before) if every_row else 0)):
            by_file = spark.sql(by_file_sql(merge, view, tuple(flags))).collect()
    except Exception as error:
        raise translate(error) from error
    # the row without a file counts source rows
    rows = {int(row["file"]): row for row in by_file if row["file"] is not None}
    hold_to_log(rows, scan.before)
    num_seen = sum(int(row["matched"]) for row in by_file if row["file"] is None)
    seen = SeenRows(view, sum(int(row["pairs"]) for row in rows.values()))
    kept = {file.file_hash for file in scan.after}
    counted = scan.before if every_row else [file for file in scan.before if file.file_hash in rows]
    live = rows_by_file(spark, merge, counted, scan.before)
    files = tuple(
        _file_matches(merge, file, rows.get(file.file_hash), live, tuple(flags))
        for file in scan.before
        # Delta never reads the files that are skipped, nor notices conflicts in them
        if file.file_hash in kept and (every_row or file.file_hash in rows)
    )
    return Matches(
        join_type="right_outer" if every_row else "inner",
        matched_predicate=matched_predicate(merge.typed),
        files=files,
        inserts=_inserts(spark, merge, source, seen, num_seen),
        view=view,
        seen=seen,
    )


def find_seen_rows(spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource) -> Matches:
    """What an insert-only MERGE needs (InsertOnlyMergeExecutor): which source rows have no match, by those that have.

    Delta joins by LEFT ANTI, which can only build on the target; an inner join builds on the source where it is small.
    But it reads every pair; the other stops at the first, before a pair for which ON cannot be computed.
    """
    view = pairs_view(source.view)
    join = "LEFT SEMI" if any(merge.may_raise(e.text) for e in merge.on) else "INNER"
    rows = source_relation(merge, source, source_filter(merge), to_join=True)
    query = (
        f"SELECT DISTINCT {SOURCE_ROW} FROM {rows} {join} JOIN {target_relation(merge)} "
        f"ON {merge.statement.condition}\n"
    )
    checkpoint(spark, query, "DISK_ONLY", view)
    with confs_set(spark, for_rows(source.num_rows)):
        seen = SeenRows(view, source.num_rows)
        return Matches(inserts=count_inserts(spark, merge, source, seen), seen=seen)


def matched_predicate(statement: MergeStatement) -> str | None:
    """The OR of the clause conditions for a matched-only MERGE; None stands for TRUE."""
    clauses = statement.matched
    if not statement.matched_only or any(clause.condition is None for clause in clauses):
        return None
    return any_of(clauses)


def any_of(clauses: Sequence[MergeClause]) -> str:
    """Whether any clause takes the row: the OR of their conditions."""
    return " OR ".join(f"({clause.condition or 'TRUE'}\n)" for clause in clauses)


def source_relation(
    merge: AnalyzedMerge, source: PreparedSource, where: Sequence[str] = (), *, to_join: bool = False
) -> str:
    """The frozen source with its row ids; of them those ``where`` all of these hold. ``to_join``: of its columns the
    query needs those alone that the join does."""
    reference = merge.source_reference
    # a checkpoint has the size that Spark estimated before it was run
    is_small = source.joins_small if to_join else source.is_small
    hint = f"/*+ BROADCAST({reference}) */ " if is_small else ""
    relation = f"{source.view} AS {reference}{_where(where)}"
    return f"(SELECT {hint}*, monotonically_increasing_id() AS {SOURCE_ROW} FROM {relation}) AS {reference}"


def target_relation(merge: AnalyzedMerge, where: Sequence[str] = (), *, whole: bool = False) -> str:
    """The target at its version with row ids and file hashes, the target-only conjuncts of ON applied below them
    unless the ``whole`` of it is wanted; of its rows those ``where`` all of these hold.

    A non-deterministic column keeps filters above it, so they are written where they can reach the scan.
    """
    statement = merge.statement
    reference = statement.target.reference
    by_source = first_clause(statement.not_matched_by_source, BY_SOURCE + 1)
    texts = list(where)
    if not (statement.not_matched_by_source or whole):
        texts += [e.text for e in merge.on if e.target_only]
    return (
        f"(SELECT *, xxhash64({merge.file_path}) AS {FILE}, monotonically_increasing_id() AS {TARGET_ROW}, "
        f"{by_source} AS {BY_SOURCE_CLAUSE} "
        f"FROM {merge.target_sql} AS {reference}{_where(texts)}) AS {reference}"
    )


def _where(texts: Sequence[str]) -> str:
    return " WHERE " + " AND ".join(f"({text}\n)" for text in texts) if texts else ""


def first_clause(clauses: Sequence[MergeClause], first: int) -> str:
    """A CASE that gives the number of the first clause whose condition holds, or 0."""
    if not clauses:
        return "0"
    arms = " ".join(
        f"WHEN ({clause.condition or 'TRUE'}\n) THEN {first + index}" for index, clause in enumerate(clauses)
    )
    return f"CASE {arms} ELSE 0 END"


def pairs_sql(merge: AnalyzedMerge, source: PreparedSource, flags: Mapping[str, str]) -> str:
    """One row for each (source row, target row) that ON ties; with NOT MATCHED BY SOURCE also the lone target
    rows that a clause takes (source row NULL)."""
    statement = merge.statement
    predicate = matched_predicate(statement)
    counted = f"(({predicate}) IS NOT NULL)" if predicate else "TRUE"
    recorded = f"coalesce(({predicate}), FALSE)" if predicate else "TRUE"
    matched = first_clause(statement.matched, 1)
    flagged = "".join(f", {text} AS {name}" for name, text in flags.items())
    join = "RIGHT OUTER JOIN" if statement.not_matched_by_source else "INNER JOIN"
    body = (
        f"SELECT {SOURCE_ROW}, {TARGET_ROW}, {FILE}, "
        f"CAST(CASE WHEN {SOURCE_ROW} IS NULL THEN {BY_SOURCE_CLAUSE} ELSE {matched} END AS INT) AS {CLAUSE}, "
        f"{counted} AS {COUNTED}, {recorded} AS {RECORDED}{flagged} "
        f"FROM {source_relation(merge, source, to_join=True)} {join} {target_relation(merge)} "
        f"ON {statement.condition}\n"
    )
    if not statement.not_matched_by_source:
        return body
    return f"SELECT * FROM ({body}) WHERE {SOURCE_ROW} IS NOT NULL OR {CLAUSE} > 0"


def matched_clause(merge: AnalyzedMerge) -> str:
    """The number of the matched clause that takes a pair. It names both sides, so that Spark does not compute it below
    the join, for a row without a match, for which a condition may fail."""
    return (
        f"CASE WHEN {TARGET_ROW} >= 0 AND {SOURCE_ROW} >= 0 THEN {first_clause(merge.statement.matched, 1)} ELSE 0 END"
    )


def clause_number(statement: MergeStatement, clause: MergeClause) -> int:
    """What the engine's queries call a clause: its place among its kind from 1, from BY_SOURCE + 1 among the last."""
    first = BY_SOURCE if clause.kind == "not_matched_by_source" else 0
    return first + 1 + statement.of_kind(clause.kind).index(clause)


def clause_numbers(merge: AnalyzedMerge) -> list[int]:
    """Those of the clauses that take target rows."""
    statement = merge.statement
    return [clause_number(statement, clause) for clause in (*statement.matched, *statement.not_matched_by_source)]


def takes_rows(statement: MergeStatement, matches: Matches, clause: MergeClause) -> bool:
    """Whether any row falls to ``clause``."""
    number = clause_number(statement, clause)
    if clause.kind == "not_matched":
        return bool(matches.inserts.get(number))
    return any(file.clause_pairs.get(number) for file in matches.touched)


def by_file_sql(merge: AnalyzedMerge, view: str, flags: Sequence[str]) -> str:
    """Pairs → target rows → files, with Delta's count of conflicts and the true one.

    A last row, its file NULL, has in ``matched`` the source rows that some target row matches.
    """
    numbers = clause_numbers(merge)
    inner = "".join(f", count_if({CLAUSE} = {n}) AS c{n}" for n in numbers)
    inner += "".join(
        f", max({name}) AS {name}, min(CASE WHEN {name} THEN {SOURCE_ROW} END) AS {name}_row" for name in flags
    )
    outer = "".join(f", sum(c{n}) AS pairs{n}, count_if(c{n} > 0) AS rows{n}" for n in numbers)
    outer += "".join(f", count_if({name}) AS {name}, {some_values(f'{name}_row')} AS {name}_rows" for name in flags)
    nothing = ", 0, 0" * len(numbers) + ", 0, NULL" * len(flags)
    return (
        f"SELECT {FILE} AS file, count_if(n > 0) AS matched, sum(n) AS pairs, max(recorded) AS recorded, "
        "count_if(counted > 1) AS conflicts, sum(greatest(counted - 1, 0)) AS overcount, "
        f"count_if(n > 1) AS true_conflicts, count_if(n > 1 AND counted <= 1) AS null_conflicts{outer} "
        f"FROM (SELECT {FILE}, {TARGET_ROW}, count({SOURCE_ROW}) AS n, "
        f"count_if({SOURCE_ROW} IS NOT NULL AND {COUNTED}) AS counted, max({RECORDED}) AS recorded{inner} "
        f"FROM {view} GROUP BY {FILE}, {TARGET_ROW}) GROUP BY {FILE} "
        f"UNION ALL SELECT NULL, count(*), 0, FALSE, 0, 0, 0, 0{nothing} "
        f"FROM (SELECT DISTINCT {SOURCE_ROW} FROM {view} WHERE {SOURCE_ROW} IS NOT NULL)"
    )


def _file_matches(
    merge: AnalyzedMerge, file: LogFile, row: Any, live: dict[int, int], flags: Sequence[str]
) -> FileMatches:
    numbers = clause_numbers(merge)
    every_row = bool(merge.statement.not_matched_by_source)
    rows = live[file.file_hash]
    if row is None:
        empty = dict.fromkeys(numbers, 0)
        return FileMatches(file, every_row and rows > 0, rows, 0, empty, empty, 0, 0, 0, 0, 0)
    return FileMatches(
        file=file,
        touched=(every_row and rows > 0) or bool(row["recorded"]),
        rows=rows,
        matched=int(row["matched"]),
        clause_pairs={n: int(row[f"pairs{n}"]) for n in numbers},
        clause_rows={n: int(row[f"rows{n}"]) for n in numbers},
        pairs=int(row["pairs"]),
        conflicts=int(row["conflicts"]),
        overcount=int(row["overcount"]),
        true_conflicts=int(row["true_conflicts"]),
        null_conflicts=int(row["null_conflicts"]),
        flagged={name: int(row[name]) for name in flags},
        flagged_source_rows={name: tuple(row[f"{name}_rows"]) for name in flags},
    )


def rows_by_file(
    spark: SparkSession, merge: AnalyzedMerge, files: Sequence[LogFile], every_file: Sequence[LogFile]
) -> dict[int, int]:
    """Rows of ``files`` by file hash: from the log's statistics, or counted where one has none. ``every_file`` are
    those of the table."""
    known = {file.file_hash: file.rows for file in files}
    if any(rows is None for rows in known.values()):
        query = f"SELECT xxhash64({merge.file_path}) AS file, count(*) AS n FROM {merge.target_sql} GROUP BY 1"
        counted = {int(row["file"]): int(row["n"]) for row in spark.sql(query).collect()}
        hold_to_log(counted, every_file)
        known = {h: counted.get(h, 0) if rows is None else rows for h, rows in known.items()}
    return {h: rows or 0 for h, rows in known.items()}


def _inserts(
    spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, seen: SeenRows, num_seen: int
) -> dict[int, int]:
    clauses = merge.statement.not_matched
    if clauses and clauses[0].condition is None:
        return {1: source.num_rows - num_seen}
    return count_inserts(spark, merge, source, seen)


def count_inserts(spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, seen: SeenRows) -> dict[int, int]:
    """Source rows that no target row matches, by the insert clause that takes them (0: none does)."""
    if not merge.statement.not_matched:
        return {}
    rows = collected(
        spark,
        f"SELECT {INSERT_CLAUSE} AS clause, count(*) AS n FROM {unmatched_source(merge, source, seen)} GROUP BY 1",
    )
    return {int(row["clause"]): int(row["n"]) for row in rows}


def unmatched_source(merge: AnalyzedMerge, source: PreparedSource, seen: SeenRows | None) -> str:
    """The source rows without a match, by those that have one, else by Delta's left anti join."""
    if seen:
        rows = seen_rows(source, seen)
        joined = f"LEFT ANTI JOIN {rows} ON {merge.source_reference}.{SOURCE_ROW} = __dm_seen"
    else:
        joined = f"LEFT ANTI JOIN {target_relation(merge)} ON {merge.statement.condition}\n"
    return with_insert_clause(merge, f"{source_relation(merge, source, source_filter(merge))} {joined}")


def source_filter(merge: AnalyzedMerge) -> list[str]:
    """Where only one clause inserts and nothing else happens, its condition: Delta filters the source by it, and
    computes ON for the rows that are left (InsertOnlyMergeExecutor)."""
    clauses = merge.statement.not_matched if merge.statement.insert_only else ()
    return [clauses[0].condition] if len(clauses) == 1 and clauses[0].condition else []


def with_insert_clause(merge: AnalyzedMerge, rows: str) -> str:
    """``rows`` of the source, with the insert clause that takes each.

    Its condition is computed for these alone: it may fail for a row that has a match. What is not deterministic keeps
    Spark from computing it below the join.
    """
    reference = merge.source_reference
    apart = f"SELECT {reference}.*, monotonically_increasing_id() AS {APART} FROM {rows}"
    clause = first_clause(merge.statement.not_matched, 1)
    return f"(SELECT *, {clause} AS {INSERT_CLAUSE} FROM ({apart}) AS {reference} WHERE {APART} >= 0) AS {reference}"


def seen_rows(source: PreparedSource, seen: SeenRows, where: str = "TRUE") -> str:
    """The ids of those rows as ``__dm_seen``, with a hint if they are few: Spark does not know a checkpoint's size."""
    few = seen.rows * (ROW_BYTES + FIELD_BYTES) <= source.broadcast_bytes
    hint = f"/*+ BROADCAST({seen.view}) */ " if few else ""
    rows = f"SELECT {hint}{SOURCE_ROW} AS __dm_seen FROM {seen.view}"
    return f"({rows} WHERE {SOURCE_ROW} IS NOT NULL AND {where})"
