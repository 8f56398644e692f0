"""DeltaScan → TouchedFiles: which rows match, and so which files the MERGE touches.

Mirrors ClassicMergeExecutor.findTouchedFiles: the frozen source joined with the target on the operator's own ON,
each target row known by ``monotonically_increasing_id()``, each file by its name. Delta keeps only the files; here
the pairs are kept (row ids and the clause that takes them, no data), so that every later question is cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.merge.analyze import AnalyzedMerge
from engine.merge.count_inserts import InsertedKeys, KeyCounts, counted_inserts, inserts_sql
from engine.merge.join_sides import (
    BY_SOURCE_CLAUSE,
    CLAUSE,
    FILE,
    SOURCE_ROW,
    TARGET_ROW,
    SeenRows,
    clause_number,
    clause_numbers,
    first_clause,
    source_filter,
    source_relation,
    target_relation,
    unmatched_source,
)
from engine.merge.prepare_delta_scan import DeltaScan
from engine.merge.prepare_source import PreparedSource, pairs_view
from engine.merge.run_with_source_lost_retries import lost_blocks
from engine.model.errors import ENDS_ALL, EngineError
from engine.spark.checkpoint import checkpoint
from engine.spark.confs import confs_set, for_rows
from engine.spark.spark_errors import WITHOUT_CLASS, collected
from engine.sql.parse import MergeClause, MergeStatement
from engine.sql.some_values import some_values
from engine.table.delta_log import live_rows
from engine.table.log_file import FILES_NOT_UNDERSTOOD, LogFile, hold_to_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# errors that are not the MERGE's: a query of ours that does not parse is our fault, not the operator's
NOT_REFUSALS = (
    *ENDS_ALL,
    FILES_NOT_UNDERSTOOD,
    "MATERIALIZE_SOURCE_OUT_OF_DISK",
    "PARSE_SYNTAX_ERROR",
    *WITHOUT_CLASS,
)
COUNTED, RECORDED = "__dm_counted", "__dm_recorded"


@dataclass(frozen=True)
class FlaggedRows:
    """How many target rows a flag is set for, and the ids of some source rows that match them."""

    rows: int = 0
    source_rows: tuple[int, ...] = ()


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
    flagged: Mapping[str, FlaggedRows] = field(default_factory=dict)
    """By flag: see :func:`find_touched_files`."""

    def flagged_rows(self, flag: str) -> int:
        return self.flagged.get(flag, FlaggedRows()).rows


@dataclass(frozen=True)
class Matches:
    """The result of the job: by file, and the source rows without a match by the insert clause that takes them.

    ``inserts`` maps a clause's number (from 1) to rows, 0 to those no clause takes. ``keys`` are those that they are
    inserted with, None if it was not asked or ``keys_failed`` says why they cannot be told. ``view`` names the pairs,
    ``seen`` the source rows that have a match, which an insert-only MERGE has without them.
    """

    join_type: str | None = None
    matched_predicate: str | None = None
    files: tuple[FileMatches, ...] = ()
    inserts: dict[int, int] = field(default_factory=dict)
    keys: KeyCounts | None = None
    keys_failed: EngineError | None = None
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
    asked: InsertedKeys | None = None,
) -> Matches:
    """Run the join. Anything that fails while running (a cast, an overflow) raises Delta's error.

    ``flags`` are further columns of the pairs: a name, and a condition over both sides of a pair. Each is counted by
    file. ``asked`` is counted of the rows to insert.
    """
    flags = flags or {}
    view = pairs_view(source.view)
    checkpoint(spark, pairs_sql(merge, source, flags), "DISK_ONLY", view)
    every_row = bool(merge.statement.not_matched_by_source)
    seen = SeenRows(view)

    def by_file(asked: InsertedKeys | None) -> list[Any]:
        return collected(spark, by_file_sql(merge, source, seen, tuple(flags), asked))

    with confs_set(spark, for_rows(source.num_rows, live_rows(scan.before) if every_row else 0)):
        answer, keys_failed = ask_with_keys(by_file, asked)
    # the row without a file counts the source rows that match nothing
    rows = {int(row["file"]): row for row in answer if row["file"] is not None}
    hold_to_log(rows, scan.before)
    kept = {file.file_hash for file in scan.after}
    counted = scan.before if every_row else [file for file in scan.before if file.file_hash in rows]
    live = rows_by_file(spark, merge, counted, scan.before)
    files = tuple(
        _file_matches(merge, file, rows.get(file.file_hash), live, tuple(flags))
        for file in scan.before
        # Delta never reads the files that are skipped, nor notices conflicts in them
        if file.file_hash in kept and (every_row or file.file_hash in rows)
    )
    unmatched = [row["unmatched"] for row in answer if row["file"] is None]
    inserts, keys = counted_inserts(unmatched[0], None if keys_failed else asked) if unmatched else ({}, None)
    return Matches(
        join_type="right_outer" if every_row else "inner",
        matched_predicate=matched_predicate(merge.typed),
        files=files,
        inserts=inserts,
        keys=keys,
        keys_failed=keys_failed,
        view=view,
        seen=SeenRows(view, sum(int(row["pairs"]) for row in rows.values())),
    )


def find_seen_rows(
    spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, asked: InsertedKeys | None = None
) -> Matches:
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
    seen = SeenRows(view, source.num_rows)

    def count(asked: InsertedKeys | None) -> list[Any]:
        return collected(spark, f"SELECT {_inserts_sql(merge, source, seen, asked)}")

    with confs_set(spark, for_rows(source.num_rows)):
        answer, keys_failed = ask_with_keys(count, asked)
    inserts, keys = counted_inserts(answer[0][0], None if keys_failed else asked)
    return Matches(inserts=inserts, keys=keys, keys_failed=keys_failed, seen=seen)


def ask_with_keys(
    ask: Callable[[InsertedKeys | None], list[Any]], asked: InsertedKeys | None
) -> tuple[list[Any], EngineError | None]:
    """The answer, and why it has no keys: what is asked of them must not make the plan fail."""
    if asked is None:
        return ask(None), None
    try:
        return ask(asked), None
    except EngineError as error:
        if error.condition in NOT_REFUSALS or lost_blocks(error):
            raise
        return ask(None), error


def matched_predicate(statement: MergeStatement) -> str | None:
    """The OR of the clause conditions for a matched-only MERGE; None stands for TRUE."""
    clauses = statement.matched
    if not statement.matched_only or any(clause.condition is None for clause in clauses):
        return None
    return any_of(clauses)


def any_of(clauses: Sequence[MergeClause]) -> str:
    """Whether any clause takes the row: the OR of their conditions."""
    return " OR ".join(f"({clause.condition or 'TRUE'}\n)" for clause in clauses)


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


def takes_rows(statement: MergeStatement, matches: Matches, clause: MergeClause) -> bool:
    """Whether any row falls to ``clause``."""
    number = clause_number(statement, clause)
    if clause.kind == "not_matched":
        return bool(matches.inserts.get(number))
    return any(file.clause_pairs.get(number) for file in matches.touched)


def by_file_sql(
    merge: AnalyzedMerge, source: PreparedSource, seen: SeenRows, flags: Sequence[str], asked: InsertedKeys | None
) -> str:
    """Pairs → target rows → files, with Delta's count of conflicts and the true one.

    Where a clause inserts, a last row, its file NULL, has in ``unmatched`` what counted_inserts reads.
    """
    numbers = clause_numbers(merge)
    inner = "".join(f", count_if({CLAUSE} = {n}) AS c{n}" for n in numbers)
    # a target row without a source row is flagged by no id
    inner += "".join(f", max(CASE WHEN {name} THEN coalesce({SOURCE_ROW}, -1) END) AS {name}" for name in flags)
    outer = "".join(f", sum(c{n}) AS pairs{n}, count_if(c{n} > 0) AS rows{n}" for n in numbers)
    outer += "".join(f", count({name}) AS {name}, {some_values(name)} AS {name}_rows" for name in flags)
    by_file = (
        f"SELECT {FILE} AS file, count_if(n > 0) AS matched, sum(n) AS pairs, max(recorded) AS recorded, "
        "count_if(counted > 1) AS conflicts, sum(greatest(counted - 1, 0)) AS overcount, "
        f"count_if(n > 1) AS true_conflicts, count_if(n > 1 AND counted <= 1) AS null_conflicts{outer}, "
        f"NULL AS unmatched FROM (SELECT {FILE}, {TARGET_ROW}, count({SOURCE_ROW}) AS n, "
        f"count_if({SOURCE_ROW} IS NOT NULL AND {COUNTED}) AS counted, max({RECORDED}) AS recorded{inner} "
        f"FROM {seen.view} GROUP BY {FILE}, {TARGET_ROW}) GROUP BY {FILE}"
    )
    if not merge.statement.not_matched:
        return by_file
    nothing = ", 0, 0" * len(numbers) + ", 0, NULL" * len(flags)
    return (
        f"{by_file} UNION ALL SELECT NULL, 0, 0, FALSE, 0, 0, 0, 0{nothing}, {_inserts_sql(merge, source, seen, asked)}"
    )


def _inserts_sql(merge: AnalyzedMerge, source: PreparedSource, seen: SeenRows, asked: InsertedKeys | None) -> str:
    return inserts_sql(len(merge.statement.not_matched), unmatched_source(merge, source, seen), asked)


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
        flagged={
            name: FlaggedRows(int(row[name]), tuple(int(one) for one in row[f"{name}_rows"] if one >= 0))
            for name in flags
        },
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
