"""Some rows before and after, by clause: at most ``--rows`` of each, and none with ``--rows 0``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.merge.analyze import AnalyzedMerge
from engine.merge.derive_conjuncts import NO_VALUE
from engine.merge.find_touched_files import Matches, takes_rows
from engine.merge.join_sides import (
    CLAUSE,
    SOURCE_ROW,
    TARGET_ROW,
    clause_number,
    matched_clause,
    source_relation,
    target_relation,
)
from engine.merge.prepare_source import PreparedSource
from engine.model.browse import Column
from engine.model.plan import ClauseKind, Sample
from engine.model.value import Cells
from engine.preflight.assignments import Assignment, ClauseAssignments
from engine.preflight.rows_after import clause_rows
from engine.spark.confs import LIMIT_PARTITIONS, confs_set, for_rows
from engine.spark.spark_errors import translate
from engine.sql.literals import INTEGERS, few_literals, printed, shown
from engine.sql.names import quote, string
from engine.sql.parse import MergeClause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Writes = Mapping[MergeClause, tuple[Assignment, ...]]
# a clause, and a query of the rows that it takes: before and after
Asked = tuple[MergeClause, str]
# monotonically_increasing_id() is the number of the partition above these bits, and of the row in it
PARTITION_BITS = 33
KEY = "__dm_key_"
SAME_COLUMNS = re.compile(r"^\s*[\w.`]+\s*=\s*[\w.`]+\s*$")


def sample_rows(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: PreparedSource,
    matches: Matches,
    assigned: Sequence[ClauseAssignments],
    target_rows: int | None,
    limit: int,
) -> tuple[Sample, ...]:
    """Up to ``limit`` rows for each clause that takes some. Cells are strings as Spark casts them; those that the
    commit will give another value are named in ``unknown`` and left out of ``after``.

    ``target_rows`` are those in the files of the scan, None if unknown.
    """
    if limit <= 0:
        return ()
    writes = {one.clause: one.columns for one in assigned}
    few, every = for_rows(source.num_rows), for_rows(source.num_rows, target_rows)
    with confs_set(spark, few):
        picked = _pick(spark, merge, source, matches, limit)
        inserted = _unmatched(merge, source, matches, writes, "not_matched", limit)
        samples = [] if every else _rows(spark, merge, inserted, writes)
    with confs_set(spark, every):
        by_source = _unmatched(merge, source, matches, writes, "not_matched_by_source", limit)
        if every:
            # all in one query: of so few rows, what is asked costs more than what is read
            return tuple(_matched(spark, merge, source, picked, writes, [*by_source, *inserted]))
        matched = _matched_apart(spark, merge, source, picked, writes)
        return (*matched, *_rows(spark, merge, by_source, writes), *samples)


def _one_job_for(picked: Sequence[Any]) -> dict[str, str]:
    """A LIMIT reads one partition first, then four more, and so on: here it is known where the rows are."""
    last = max(row["target"] >> PARTITION_BITS for row in picked)
    return {LIMIT_PARTITIONS: str(last + 1)}


def _pick(spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, matches: Matches, limit: int) -> list[Any]:
    """The pairs to show of the clauses for matched rows: (row, target, clause, and the source's ``skipping_keys``)."""
    statement = merge.statement
    clauses = [clause for clause in statement.matched if takes_rows(statement, matches, clause)]
    if not clauses:
        return []
    pairs = matches.view
    if statement.only_one_unconditional_delete:
        # a row that several source rows delete is one row
        pairs = (
            f"(SELECT min({SOURCE_ROW}) AS {SOURCE_ROW}, {TARGET_ROW}, {CLAUSE} FROM {pairs} "
            f"GROUP BY {TARGET_ROW}, {CLAUSE})"
        )
    # the first ones as the target was read: a LIMIT that looks for them has read enough when it has come to them
    wanted = " UNION ALL ".join(
        f"(SELECT {SOURCE_ROW}, {TARGET_ROW}, {CLAUSE} FROM {pairs} "
        f"WHERE {CLAUSE} = {clause_number(statement, clause)} ORDER BY {TARGET_ROW} LIMIT {limit})"
        for clause in clauses
    )
    keys = "".join(
        f", {printed(type_, quote(source))} AS {quote(KEY + source)}" for _, source, type_ in skipping_keys(merge)
    )
    return spark.sql(
        f"SELECT p.{SOURCE_ROW} AS row, p.{TARGET_ROW} AS target, p.{CLAUSE} AS clause{keys} FROM ({wanted}) AS p JOIN "
        f"(SELECT *, monotonically_increasing_id() AS {SOURCE_ROW} FROM {source.view}) AS s "
        f"ON s.{SOURCE_ROW} = p.{SOURCE_ROW}"
    ).collect()


def skipping_keys(merge: AnalyzedMerge) -> Iterator[tuple[str, str, str]]:
    """(Target column, source column, the target's type) of the equalities of ON by which Delta skips files for certain:
    two columns of whole numbers, or two dates."""
    of_source = {c.name: c.type for c in merge.source_schema}
    of_target = {c.name: c.type for c in merge.target_schema}
    for e in merge.on:
        if SAME_COLUMNS.match(e.text) and len(e.target_columns) == 1 and len(e.source_columns) == 1:
            target, source = e.target_columns[0], e.source_columns[0]
            both = (of_source[source], of_target[target])
            if set(both) <= INTEGERS.keys() or set(both) == {"date"}:
                yield target, source, of_target[target]


def _bounds(merge: AnalyzedMerge, picked: Sequence[Any]) -> list[str]:
    """What holds of the target rows that the ``picked`` source rows match, so that the read skips files."""
    bounds = []
    for target, source, type_ in skipping_keys(merge):
        key = f"{merge.statement.target.reference}.{quote(target)}"
        literals = few_literals(type_, sorted({str(row[KEY + source]) for row in picked}))
        # of an IN, Delta skips by its least and its greatest value alone
        bounds += [" OR ".join(f"{key} = {one}" for one in literals)] if literals else []
    return bounds


def _matched_apart(
    spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, picked: Sequence[Any], writes: Writes
) -> list[Sample]:
    """One job for each clause, which reads only the target's partitions that have its rows."""
    samples: list[Sample] = []
    for clause in merge.statement.matched:
        these = [row for row in picked if row["clause"] == clause_number(merge.statement, clause)]
        if these:
            with confs_set(spark, _one_job_for(these)):
                samples += _matched(spark, merge, source, these, writes)
    return samples


def _matched(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: PreparedSource,
    picked: Sequence[Any],
    writes: Writes,
    others: Sequence[Asked] = (),
) -> list[Sample]:
    """What the clauses for matched rows do to those ``picked``, and then ``others``."""

    def ask(*, bounded: bool) -> list[Sample]:
        return _rows(spark, merge, [*_matched_rows(merge, source, picked, writes, bounded=bounded), *others], writes)

    try:
        return ask(bounded=True)
    except Exception as error:
        # a partition of another hand may have a value that is none of its type
        if translate(error).condition != NO_VALUE:
            raise
        return ask(bounded=False)


def _matched_rows(
    merge: AnalyzedMerge, source: PreparedSource, picked: Sequence[Any], writes: Writes, *, bounded: bool
) -> Iterator[Asked]:
    statement = merge.statement
    before = struct_of(merge.target_schema, statement.target.reference)
    for clause in statement.matched:
        number = clause_number(statement, clause)
        these = [row for row in picked if row["clause"] == number]
        if not these:
            continue
        ids = ", ".join(f"{row['row']}L" for row in these)
        matched = number if statement.only_one_unconditional_delete else matched_clause(merge)
        # the operator's names resolve one level down, where both sides are in scope
        query = (
            f"SELECT __dm_before, __dm_after FROM (SELECT /*+ BROADCAST({merge.source_reference}) */ "
            f"{matched} AS {CLAUSE}, {before} AS __dm_before, "
            f"{struct_after(writes.get(clause))} AS __dm_after FROM "
            f"{_joined(merge, source, ids, _bounds(merge, these) if bounded else ())}"
        )
        yield clause, f"{query}) WHERE {CLAUSE} = {number} LIMIT {len(these)}"


def _joined(merge: AnalyzedMerge, source: PreparedSource, ids: str, bounds: Sequence[str]) -> str:
    """What follows FROM: the target rows that these source rows match; a row that several may delete, once."""
    target = target_relation(merge, bounds)
    on = merge.statement.condition
    if merge.statement.only_one_unconditional_delete:
        matched = f"{target} LEFT SEMI JOIN {source_relation(merge, source)}"
        return f"{matched} ON ({on}\n) AND {SOURCE_ROW} IN ({ids}) WHERE TRUE"
    matched = f"{source_relation(merge, source)} INNER JOIN {target}"
    return f"{matched} ON {on}\nWHERE {SOURCE_ROW} IN ({ids})"


def _unmatched(
    merge: AnalyzedMerge, source: PreparedSource, matches: Matches, writes: Writes, kind: ClauseKind, limit: int
) -> list[Asked]:
    """What the clauses of that kind do to the rows of the one side that they take."""
    of_target = struct_of(merge.target_schema, merge.statement.target.reference)
    before = of_target if kind == "not_matched_by_source" else "NULL"
    asked: list[Asked] = []
    for clause in merge.statement.of_kind(kind):
        if takes_rows(merge.statement, matches, clause):
            after, rows = struct_after(writes.get(clause)), clause_rows(merge, source, clause, matches.seen)
            asked.append((clause, f"SELECT {before} AS __dm_before, {after} AS __dm_after FROM {rows} LIMIT {limit}"))
    return asked


def struct_of(columns: Sequence[Column], reference: str) -> str:
    """The columns of one side as a struct of strings."""
    parts = ", ".join(f"{string(c.name)}, {shown(f'{reference}.{quote(c.name)}', c.type)}" for c in columns)
    return f"named_struct({parts})"


def struct_after(columns: tuple[Assignment, ...] | None) -> str:
    """The row that a clause writes as a struct of strings, NULL for a DELETE."""
    if columns is None:
        return "NULL"
    cells = [shown("NULL" if one.unknown else str(one.read_value), one.column.type.simpleString()) for one in columns]
    parts = ", ".join(f"{string(one.column.name)}, {cell}" for one, cell in zip(columns, cells, strict=True))
    return f"named_struct({parts})"


def _rows(spark: SparkSession, merge: AnalyzedMerge, asked: Sequence[Asked], writes: Writes) -> list[Sample]:
    """The rows of all the queries, in their order."""
    if not asked:
        return []
    query = "\nUNION ALL\n".join(f"(SELECT {n} AS __dm_at, * FROM ({text}))" for n, (_, text) in enumerate(asked))
    samples: list[Sample] = []
    for at, *row in spark.sql(query).collect():
        before, after = (None if struct is None else cells_of(struct) for struct in row)
        samples.append(sample_of(merge, asked[at][0], before, after, writes))
    return samples


def sample_of(
    merge: AnalyzedMerge, clause: MergeClause, before: Cells | None, after: Cells | None, writes: Writes
) -> Sample:
    unknown = tuple(one.column.name for one in writes.get(clause, ()) if one.unknown)
    known = None if after is None else {name: cell for name, cell in after.items() if name not in unknown}
    place = merge.statement.clauses.index(clause)
    return Sample(action=clause.action_kind, clause=place, before=before, after=known, unknown=unknown)


def cells_of(struct: Any) -> Cells:
    return {str(k): v for k, v in struct.asDict().items()}
