"""The two sides of the join that finds the matches, as SQL: rows with numbers, and the clause that takes each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.merge.analyze import AnalyzedMerge
from engine.merge.prepare_source import FIELD_BYTES, ROW_BYTES, PreparedSource
from engine.sql.parse import MergeClause, MergeStatement

SOURCE_ROW, TARGET_ROW, FILE = "__dm_source_row", "__dm_target_row", "__dm_file"
INSERT_CLAUSE, BY_SOURCE_CLAUSE, CLAUSE = "__dm_insert", "__dm_by_source", "__dm_clause"
APART = "__dm_apart"
# NOT MATCHED BY SOURCE clauses are numbered from here, matched ones from 1; 0 is no clause.
BY_SOURCE = 100


@dataclass(frozen=True)
class SeenRows:
    """A ``view`` with the source rows that have a match, in at most ``rows`` rows; None if it is not known how many."""

    view: str
    rows: int | None = None


def source_relation(
    merge: AnalyzedMerge, source: PreparedSource, where: Sequence[str] = (), *, to_join: bool = False
) -> str:
    """The frozen source with its row ids; of them those ``where`` all of these hold. ``to_join``: of its columns the
    query needs those alone that the join does."""
    reference = merge.source_reference
    # a checkpoint has the size that Spark estimated before it was run
    is_small = source.joins_small if to_join else source.is_small
    hint = f"/*+ BROADCAST({reference}) */ " if is_small else ""
    numbered = f"SELECT {hint}*, monotonically_increasing_id() AS {SOURCE_ROW} FROM {source.view} AS {reference}"
    if where:
        # a row has one number, whatever is filtered
        numbered = f"SELECT {hint}* FROM ({numbered}) AS {reference}{_where(where)}"
    return f"({numbered}) AS {reference}"


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
    """The ids of those rows as ``__dm_seen``, with a hint: Spark does not know a checkpoint's size.

    One source row may match millions, and to broadcast so many ends the driver: if they are not counted yet, each id is
    taken once, and they are sorted.
    """
    if seen.rows is None:
        ids = f"/*+ MERGE({seen.view}) */ DISTINCT {SOURCE_ROW}"
    elif seen.rows * (ROW_BYTES + FIELD_BYTES) <= source.broadcast_bytes:
        ids = f"/*+ BROADCAST({seen.view}) */ {SOURCE_ROW}"
    else:
        ids = SOURCE_ROW
    rows = f"SELECT {ids} AS __dm_seen FROM {seen.view}"
    return f"({rows} WHERE {SOURCE_ROW} IS NOT NULL AND {where})"
