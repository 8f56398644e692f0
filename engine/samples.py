"""Some rows before and after, by clause: never more than asked for, and none with ``--rows 0``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.analyze import AnalyzedMerge, qualified
from engine.assignments import Assignment, ClauseAssignments
from engine.find_touched_files import (
    BY_SOURCE,
    CLAUSE,
    FILE,
    SOURCE_ROW,
    Matches,
    clause_number,
    first_clause,
    source_relation,
    takes_rows,
    target_relation,
)
from engine.names import quote, string
from engine.parse import MergeClause
from engine.plan_writes import action_of
from engine.prepare_source import PreparedSource
from engine.rows_after import clause_rows
from engine.values import ActionKind, Cells, Column, Sample

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Writes = Mapping[MergeClause, tuple[Assignment, ...]]
SAME_COLUMNS = re.compile(r"^\s*[\w.`]+\s*=\s*[\w.`]+\s*$")


def sample_rows(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: PreparedSource,
    matches: Matches,
    assigned: Sequence[ClauseAssignments],
    limit: int,
) -> tuple[Sample, ...]:
    """Up to ``limit`` rows for each clause that takes some. Cells are strings as Spark casts them; those that the
    commit will give another value are named in ``unknown`` and left out of ``after``."""
    if limit <= 0:
        return ()
    writes = {one.clause: one.columns for one in assigned}
    samples: list[Sample] = []
    if matches.view:
        samples += _matched(spark, merge, source, matches, writes, limit)
        samples += _by_source(spark, merge, source, matches, writes, limit)
    samples += _inserted(spark, merge, source, matches, writes, limit)
    return tuple(samples)


def _matched(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: PreparedSource,
    matches: Matches,
    writes: Writes,
    limit: int,
) -> list[Sample]:
    wanted = []
    for number in range(1, len(merge.statement.matched) + 1):
        # the first file that has some: its keys lie close together, so the read below can skip
        file = next((f for f in matches.files if f.clause_pairs.get(number)), None)
        if file is not None:
            wanted.append(
                f"(SELECT {SOURCE_ROW}, {CLAUSE} FROM {matches.view} WHERE {CLAUSE} = {number} "
                f"AND {FILE} = {file.file.file_hash}L LIMIT {limit})"
            )
    if not wanted:
        return []
    picked = spark.sql(
        f"SELECT p.{SOURCE_ROW} AS row, p.{CLAUSE} AS clause, s.* FROM ({' UNION ALL '.join(wanted)}) AS p JOIN "
        f"(SELECT monotonically_increasing_id() AS {SOURCE_ROW}, {_keys_select(merge)} FROM {source.view}) AS s "
        f"ON s.{SOURCE_ROW} = p.{SOURCE_ROW}"
    ).collect()
    if not picked:
        return []
    ids = ", ".join(f"{row['row']}L" for row in picked)
    statement = merge.statement
    matched = qualified(merge, first_clause(statement.matched, 1))
    after = _after(statement.matched)
    before = struct_of(merge.target_schema, statement.target.reference)
    where = " AND ".join((f"{SOURCE_ROW} IN ({ids})", *_bounds(merge, picked)))
    # the operator's names resolve one level down, where both sides are in scope
    query = (
        f"SELECT {CLAUSE}, __dm_before, {after} FROM (SELECT *, {matched} AS {CLAUSE}, {before} AS "
        f"__dm_before, {_expressions(statement.matched, writes)} FROM {source_relation(merge, source)} INNER JOIN "
        f"{target_relation(merge)} ON {qualified(merge, statement.condition)}\nWHERE {where}) "
        f"WHERE {CLAUSE} > 0 LIMIT {4 * limit * max(1, len(statement.matched))}"
    )
    return _rows(merge, spark.sql(query).collect(), writes, limit)


def _by_source(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: PreparedSource,
    matches: Matches,
    writes: Writes,
    limit: int,
) -> list[Sample]:
    before = struct_of(merge.target_schema, merge.statement.target.reference)
    samples: list[Sample] = []
    for clause in merge.statement.not_matched_by_source:
        if takes_rows(merge.statement, matches, clause):
            number, rows = clause_number(merge.statement, clause), clause_rows(merge, source, clause)
            query = (
                f"SELECT {number} AS {CLAUSE}, {before} AS __dm_before, "
                f"{struct_after(writes.get(clause))} AS __dm_after FROM {rows} LIMIT {limit}"
            )
            samples += _rows(merge, spark.sql(query).collect(), writes, limit)
    return samples


def _inserted(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: PreparedSource,
    matches: Matches,
    writes: Writes,
    limit: int,
) -> list[Sample]:
    samples: list[Sample] = []
    for clause in merge.statement.not_matched:
        if takes_rows(merge.statement, matches, clause):
            rows = clause_rows(merge, source, clause, matches.view)
            query = f"SELECT {struct_after(writes.get(clause))} AS after FROM {rows} LIMIT {limit}"
            place = merge.statement.clauses.index(clause)
            samples += [
                sample_of(merge, "insert", place, None, cells_of(row["after"]), writes)
                for row in spark.sql(query).collect()
            ]
    return samples


def _keys_select(merge: AnalyzedMerge) -> str:
    """The source side of each plain ``t.x = s.y`` of ON, as strings."""
    names = [source for _, source, _ in _equalities(merge)]
    if not names:
        return "1 AS __dm_none"
    return ", ".join(f"CAST({quote(name)} AS STRING) AS {quote('__dm_key_' + name)}" for name in dict.fromkeys(names))


def _equalities(merge: AnalyzedMerge) -> list[tuple[str, str, str]]:
    """(target column, source column, type) of conjuncts that compare two columns of the same simple type."""
    types = {c.name: c.type for c in merge.source_schema}
    target_types = {c.name: c.type for c in merge.target_schema}
    found = []
    for e in merge.on:
        if SAME_COLUMNS.match(e.text) and len(e.target_columns) == 1 and len(e.source_columns) == 1:
            target, source = e.target_columns[0], e.source_columns[0]
            if types[source] == target_types[target] and types[source] in (
                "bigint",
                "int",
                "smallint",
                "string",
                "date",
            ):
                found.append((target, source, types[source]))
    return found


def _bounds(merge: AnalyzedMerge, picked: list[Any]) -> list[str]:
    """The picked keys as literals on the target, so that the read skips files and row groups."""
    bounds = []
    for target, source, type_ in _equalities(merge):
        values = {row[f"__dm_key_{source}"] for row in picked}
        literals = ", ".join(f"CAST({string(v)} AS {type_})" for v in sorted(v for v in values if v is not None))
        if literals:
            bounds.append(f"{merge.statement.target.reference}.{quote(target)} IN ({literals})")
    return bounds


def struct_of(columns: Sequence[Column], reference: str) -> str:
    """The columns of one side as a struct of strings."""
    parts = ", ".join(f"{string(c.name)}, CAST({reference}.{quote(c.name)} AS STRING)" for c in columns)
    return f"named_struct({parts})"


def struct_after(columns: tuple[Assignment, ...] | None) -> str:
    """The row that a clause writes as a struct of strings, NULL for a DELETE."""
    if columns is None:
        return "CAST(NULL AS STRING)"
    parts = ", ".join(
        f"{string(one.column.name)}, {'CAST(NULL' if one.unknown else f'CAST({one.read_value}'} AS STRING)"
        for one in columns
    )
    return f"named_struct({parts})"


def _expressions(clauses: tuple[MergeClause, ...], writes: Writes) -> str:
    return ", ".join(f"{struct_after(writes.get(clause))} AS __dm_after_{i + 1}" for i, clause in enumerate(clauses))


def _after(clauses: tuple[MergeClause, ...]) -> str:
    arms = " ".join(
        f"WHEN {i + 1} THEN to_json(__dm_after_{i + 1}, map('ignoreNullFields', 'false'))"
        if c.action_kind != "delete"
        else f"WHEN {i + 1} THEN CAST(NULL AS STRING)"
        for i, c in enumerate(clauses)
    )
    return f"CASE {CLAUSE} {arms} END AS __dm_after"


def _rows(merge: AnalyzedMerge, rows: list[Any], writes: Writes, limit: int) -> list[Sample]:
    import json

    samples: list[Sample] = []
    taken: dict[int, int] = {}
    for row in rows:
        clause = int(row[CLAUSE])
        if taken.get(clause, 0) >= limit:
            continue
        taken[clause] = taken.get(clause, 0) + 1
        after = row["__dm_after"]
        cells = None if after is None else json.loads(after) if isinstance(after, str) else cells_of(after)
        action, place = action_of(merge.statement, clause), place_of(merge, clause)
        samples.append(sample_of(merge, action, place, cells_of(row["__dm_before"]), cells, writes))
    return samples


def sample_of(
    merge: AnalyzedMerge, action: ActionKind, place: int, before: Cells | None, after: Cells | None, writes: Writes
) -> Sample:
    columns = writes.get(merge.statement.clauses[place], ())
    unknown = tuple(one.column.name for one in columns if one.unknown)
    known = None if after is None else {name: cell for name, cell in after.items() if name not in unknown}
    return Sample(action=action, clause=place, before=before, after=known, unknown=unknown)


def place_of(merge: AnalyzedMerge, number: int) -> int:
    """A clause number of the pairs as the clause's place in the statement, from 0."""
    statement = merge.statement
    by_source = number > BY_SOURCE
    clause = statement.not_matched_by_source[number - BY_SOURCE - 1] if by_source else statement.matched[number - 1]
    return statement.clauses.index(clause)


def cells_of(struct: Any) -> Cells:
    return {str(k): v for k, v in struct.asDict().items()}
