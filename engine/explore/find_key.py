"""One key in a plan: the rows of either side that have it, the clause that takes them, and why.

Nothing is guessed: the steps that planned the MERGE (find_touched_files, samples) are asked again about these rows,
over the frozen source and the target at the plan's version. What is typed are values for the equalities of ON, which
become literals, or a predicate in the names of the statement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from engine.explore.key_question import Question, ask_for
from engine.explore.reopen_plan import planned_merge
from engine.explore.row_faults import RowFaults, codes_sql, row_faults
from engine.merge.analyze import AnalyzedMerge
from engine.merge.join_sides import (
    BY_SOURCE_CLAUSE,
    CLAUSE,
    FILE,
    INSERT_CLAUSE,
    SOURCE_ROW,
    TARGET_ROW,
    SeenRows,
    clause_number,
    matched_clause,
    source_relation,
    target_relation,
    unmatched_source,
    with_insert_clause,
)
from engine.merge.prepare_delta_scan import merge_reads
from engine.merge.prepare_source import PreparedSource, pairs_view
from engine.model.checks import Checks
from engine.model.errors import EngineError
from engine.model.plan import ClauseKind, Plan, Sample
from engine.model.value import Cells
from engine.preflight.samples import Writes, cells_of, sample_of, struct_after, struct_of
from engine.spark.confs import AS_WRITTEN, confs_set, for_rows
from engine.spark.session_state import tagged
from engine.spark.spark_errors import translate
from engine.table.delta_log import list_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LIMIT = 20
"""Rows of each kind that are shown."""


@dataclass(frozen=True)
class ClauseTest:
    """A clause of the kind of a row: its place in the statement, from 0, and the ``value`` of its condition (None for
    NULL), which is True where it has none. Behind the clause that takes the row none is asked: ``value`` is None."""

    clause: int
    value: bool | None


@dataclass(frozen=True)
class FoundRow:
    """A source row and a target row that ON ties (``matched``), or one that nothing on the other side matches.

    ``source`` has the columns that the MERGE uses. ``change`` is what the clause that takes the row does, None where
    none does. ``file`` of the target row as the log names it; ``touched`` tells whether the MERGE rewrites it or marks
    rows of it, None where the plan does not know. ``source_rows`` match the target row; several are a conflict.
    ``faults`` are the codes of the plan's silent faults that the row has part in.
    """

    kind: ClauseKind
    source: Cells | None
    target: Cells | None
    tests: tuple[ClauseTest, ...]
    change: Sample | None
    file: str | None = None
    touched: bool | None = None
    source_rows: int = 1
    faults: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoundKey:
    """What was ``asked``, as SQL, and the rows; there are ``more`` of some kind than are shown. ``of_pairs``: it names
    both sides, and rows that nothing matches are not looked at. ``side``: the only one that it names, "" where it is
    none or both."""

    asked: tuple[str, ...]
    rows: tuple[FoundRow, ...]
    more: bool = False
    of_pairs: bool = False
    side: Literal["", "source", "target"] = ""


def find_key(
    spark: SparkSession,
    plan: Plan,
    typed: str,
    *,
    private: bool = False,
    checks: Checks | None = None,
    tag: str | None = None,
) -> FoundKey:
    """The rows that have a key, and what ``plan`` does to them; in the session that planned.

    ``typed`` holds a value for each equality of ON, separated by commas (``10001, 2026-11-19``; a text may be quoted,
    NULL is a word), or a predicate (``t.amount > s.amount``). ``private`` leaves the rows' values out, ``checks`` are
    those of the plan. Raises EngineError: ``SOURCE_GONE`` where the frozen source is not there any more,
    ``KEY_NOT_UNDERSTOOD``, and what Spark says of the predicate or the values.
    """
    with tagged(spark, tag), confs_set(spark, AS_WRITTEN):
        try:
            return _find(spark, plan, typed.strip(), private, checks or Checks())
        except EngineError:
            raise
        except Exception as error:
            raise translate(error) from error


def _find(spark: SparkSession, plan: Plan, typed: str, private: bool, checks: Checks) -> FoundKey:
    planned = planned_merge(spark, plan)
    merge, source = planned.merge, planned.source
    question = ask_for(spark, merge, source, typed)
    writes = {one.clause: one.columns for one in planned.assigned}
    faults = row_faults(spark, plan, planned, checks, question.of_target_rows)
    look = Look(spark, plan, merge, source, writes, faults, private)
    found: dict[ClauseKind, list[Any]] = {}
    with confs_set(spark, {**for_rows(source.num_rows), **merge_reads(spark, merge, planned.files)}):
        found["matched"] = _pairs(look, question)
        if not question.of_pairs and question.side != "source":
            found["not_matched_by_source"] = _lone_targets(look, question)
        if not question.of_pairs and question.side != "target":
            found["not_matched"] = _lone_sources(look, question)
    files: dict[int, str] = {}
    if found["matched"] or found.get("not_matched_by_source"):
        files = {file.file_hash: file.path for file in list_files(spark, merge.path, merge.version)}
    return FoundKey(
        asked=question.typed,
        rows=tuple(_found_row(look, kind, row, files) for kind, rows in found.items() for row in rows[:LIMIT]),
        more=any(len(rows) > LIMIT for rows in found.values()),
        of_pairs=question.of_pairs,
        side=question.side,
    )


# The rows that fulfil it


@dataclass(frozen=True)
class Look:
    """What all of the queries need. ``writes``: the columns that each clause writes; ``faults``: those to report."""

    spark: SparkSession
    plan: Plan
    merge: AnalyzedMerge
    source: PreparedSource
    writes: Writes
    faults: RowFaults
    private: bool

    @property
    def on(self) -> str:
        return self.merge.statement.condition


def _pairs(look: Look, question: Question) -> list[Any]:
    """Pairs that ON ties. All source rows of a target row are counted before any is left out."""
    taken = matched_clause(look.merge)
    of_pairs = question.pairs if question.by_value else (*question.source, *question.pairs)
    wanted = " AND ".join(f"({text}\n)" for text in of_pairs) or "TRUE"
    return _rows(
        look,
        f"SELECT {_source(look)} AS source, {_target(look)} AS target, {_tests(look, 'matched', taken)} AS tests, "
        f"{FILE} AS file, {taken} AS {CLAUSE}, {_after(look, 'matched', taken)} AS after, "
        f"{codes_sql(look.faults.pairs)} AS faults, "
        f"count(*) OVER (PARTITION BY {FILE}, {TARGET_ROW}) AS source_rows, ({wanted}) AS __dm_wanted "
        f"FROM {source_relation(look.merge, look.source)} INNER JOIN {_targets(look, question)} ON {look.on}\n",
        "__dm_wanted",
    )


def _targets(look: Look, question: Question) -> str:
    """The target rows among which pairs are looked for: no more than can be among them."""
    narrow = question.target if question.narrow else ()
    rows = target_relation(look.merge, narrow)
    if not question.source or (question.by_value and question.narrow):
        return rows
    reference = look.merge.statement.target.reference
    some = source_relation(look.merge, look.source, question.source)
    return f"(SELECT {reference}.* FROM {rows} LEFT SEMI JOIN {some} ON {look.on}\n) AS {reference}"


def _lone_targets(look: Look, question: Question) -> list[Any]:
    kind: ClauseKind = "not_matched_by_source"
    return _rows(
        look,
        f"SELECT CAST(NULL AS STRING) AS source, {_target(look)} AS target, "
        f"{_tests(look, kind, BY_SOURCE_CLAUSE)} AS tests, "
        f"{FILE} AS file, {BY_SOURCE_CLAUSE} AS {CLAUSE}, {_after(look, kind, BY_SOURCE_CLAUSE)} AS after, "
        f"{codes_sql(look.faults.lone_targets)} AS faults, 0 AS source_rows "
        f"FROM {target_relation(look.merge, question.target, whole=True)} "
        f"LEFT ANTI JOIN {source_relation(look.merge, look.source)} ON {look.on}\n",
    )


def _lone_sources(look: Look, question: Question) -> list[Any]:
    kind: ClauseKind = "not_matched"
    # rows are chosen after all of them were compared with each other
    chosen = question.source if look.faults.needs_all_inserts else ()
    wanted = " AND ".join(f"({text}\n)" for text in chosen) or "TRUE"
    return _rows(
        look,
        f"SELECT {_source(look)} AS source, CAST(NULL AS STRING) AS target, "
        f"{_tests(look, kind, INSERT_CLAUSE)} AS tests, "
        f"CAST(NULL AS BIGINT) AS file, {INSERT_CLAUSE} AS {CLAUSE}, {_after(look, kind, INSERT_CLAUSE)} AS after, "
        f"{codes_sql(look.faults.inserts)} AS faults, 1 AS source_rows, ({wanted}) AS __dm_wanted "
        f"FROM {look.faults.with_written_keys(_unmatched(look, question))}",
        "__dm_wanted",
    )


def _unmatched(look: Look, question: Question) -> str:
    """Source rows that nothing matches: beside those in question all that are inserted, if a fault depends on the
    other inserted rows. Which they are the plan has kept, but of no row that a clause leaves out."""
    merge, source = look.merge, look.source
    lone = source_relation(merge, source, question.source)
    target = target_relation(merge, question.of_target_rows)
    asked = with_insert_clause(merge, f"{lone} LEFT ANTI JOIN {target} ON {look.on}\n")
    if not look.faults.needs_all_inserts:
        return asked
    view = pairs_view(source.view)
    pairs = int(look.spark.sql(f"SELECT count({SOURCE_ROW}) FROM {view}").collect()[0][0])
    every = unmatched_source(merge, source, SeenRows(view, pairs))
    return (
        f"(SELECT * FROM {every} WHERE {INSERT_CLAUSE} > 0 UNION ALL "
        f"SELECT * FROM {asked} WHERE {INSERT_CLAUSE} = 0) AS {merge.source_reference}"
    )


def _rows(look: Look, query: str, where: str = "TRUE") -> list[Any]:
    return list(look.spark.sql(f"SELECT * FROM ({query}) WHERE {where} LIMIT {LIMIT + 1}").collect())


def _source(look: Look) -> str:
    return struct_of(look.source.columns, look.merge.source_reference)


def _target(look: Look) -> str:
    return struct_of(look.merge.target_schema, look.merge.statement.target.reference)


def _tests(look: Look, kind: ClauseKind, taken: str) -> str:
    """The values of the conditions of the clauses of one kind, in their order. Those behind the clause with the number
    ``taken`` are not computed: MERGE does not either, and they may fail."""
    statement = look.merge.statement
    items = ", ".join(
        f"CASE WHEN {taken} NOT BETWEEN 1 AND {clause_number(statement, clause) - 1} "
        f"THEN ({clause.condition or 'TRUE'}\n) END"
        for clause in statement.of_kind(kind)
    )
    return f"CAST(`array`({items}) AS ARRAY<BOOLEAN>)"


def _after(look: Look, kind: ClauseKind, taken: str) -> str:
    """The row as the clause with the number ``taken`` writes it: the others are not computed, and cannot fail."""
    statement = look.merge.statement
    arms = " ".join(
        f"WHEN {clause_number(statement, clause)} THEN {struct_after(look.writes[clause])}"
        for clause in statement.of_kind(kind)
        if clause.action_kind != "delete"
    )
    return f"CASE {taken} {arms} END" if arms else "CAST(NULL AS STRING)"


def _found_row(look: Look, kind: ClauseKind, row: Any, files: dict[int, str]) -> FoundRow:
    statement = look.merge.statement
    clauses = statement.of_kind(kind)
    places = [statement.clauses.index(clause) for clause in clauses]
    source, target, after = (
        None if row[name] is None or look.private else cells_of(row[name]) for name in ("source", "target", "after")
    )
    taking = next((one for one in clauses if clause_number(statement, one) == row[CLAUSE]), None)
    change = None
    if taking is not None:
        change = sample_of(look.merge, taking, target, after, look.writes)
    touched_files = look.plan.changed_files
    file = None if row["file"] is None else files.get(int(row["file"]))
    knows = file is not None and bool(touched_files or look.plan.refused is None)
    return FoundRow(
        kind=kind,
        source=source,
        target=target,
        tests=tuple(ClauseTest(place, value) for place, value in zip(places, row["tests"], strict=True)),
        change=change,
        file=file,
        touched=any(one.path == file for one in touched_files) if knows else None,
        source_rows=int(row["source_rows"]),
        faults=tuple(row["faults"]),
    )
