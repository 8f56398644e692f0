"""One key in a plan: the rows of either side that have it, the clause that takes them, and why.

Nothing is guessed: the steps that planned the MERGE (find_touched_files, samples) are asked again about these rows,
over the frozen source and the target at the plan's version. What is typed are values for the equalities of ON, which
become literals, or a predicate in the names of the statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.explore.reopen_plan import planned_merge
from engine.explore.row_faults import RowFaults, codes_sql, row_faults
from engine.merge.analyze import AnalyzedMerge
from engine.merge.find_touched_files import (
    BY_SOURCE_CLAUSE,
    CLAUSE,
    FILE,
    INSERT_CLAUSE,
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
from engine.model.errors import EngineError, UsageError
from engine.model.plan import ClauseKind, Plan, Sample
from engine.model.value import Cells
from engine.preflight.samples import Writes, cells_of, sample_of, struct_after, struct_of
from engine.spark.confs import confs_set, for_rows
from engine.spark.schema import schema_of
from engine.spark.session_state import tagged
from engine.spark.spark_errors import translate
from engine.sql.names import string
from engine.sql.resolve import resolve
from engine.sql.sql_text import (
    EQUALITIES,
    NOT_ONE_EQUALITY,
    OTHER_COMPARISONS,
    conjuncts,
    quoted_values,
    split_top_level,
    tokenize,
)
from engine.sql.store_types import ddl, is_same
from engine.table.delta_log import list_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LIMIT = 20
"""Rows of each kind that are shown."""
SAYS_PREDICATE = (*EQUALITIES, *OTHER_COMPARISONS, *NOT_ONE_EQUALITY, "(")


@dataclass(frozen=True)
class ClauseTest:
    """A clause that was asked about a row: its place in the statement, from 0, and the ``value`` of its condition
    (None for NULL), which is True where it has none."""

    clause: int
    value: bool | None


@dataclass(frozen=True)
class FoundRow:
    """A source row and a target row that ON ties (``matched``), or one that nothing on the other side matches.

    ``source`` has the columns that the MERGE uses. ``change`` is what the clause that takes the row does, None where
    none does. ``file`` of the target row as the log names it; ``touched`` tells whether the MERGE rewrites it or marks
    rows of it, None where the plan does not know. ``source_rows`` match the target row; several are a conflict.
    ``faults`` are the codes of the silent faults that the plan counts the row in.
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
    """What was ``asked``, as SQL, and the rows; there are ``more`` of some kind than are shown."""

    asked: tuple[str, ...]
    rows: tuple[FoundRow, ...]
    more: bool = False


@dataclass(frozen=True)
class Question:
    """What the rows are to fulfil, by the side that it names; ``pairs`` names both. ``by_value``: ``source`` and
    ``target`` say the same of the two sides, else all of it together is asked. ``narrow``: a target row that matches
    fulfils ``target``. ``typed``: all of it in the names of the statement."""

    source: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    by_value: bool = False
    narrow: bool = True
    typed: tuple[str, ...] = ()


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
    with tagged(spark, tag):
        try:
            return _find(spark, plan, typed.strip(), private, checks or Checks())
        except EngineError:
            raise
        except Exception as error:
            raise translate(error) from error


def _find(spark: SparkSession, plan: Plan, typed: str, private: bool, checks: Checks) -> FoundKey:
    planned = planned_merge(spark, plan)
    merge, source = planned.merge, planned.source
    ask = _by_predicate if is_predicate(typed) else _by_value
    question = ask(spark, merge, source, typed)
    writes = {one.clause: one.columns for one in planned.assigned}
    narrow = question.target if question.by_value and question.narrow else ()
    faults = row_faults(spark, plan, planned, checks, narrow)
    look = Look(spark, plan, merge, source, writes, faults, private)
    found: dict[ClauseKind, list[Any]] = {}
    with confs_set(spark, {**for_rows(source.num_rows), **merge_reads(spark, merge)}):
        found["matched"] = _pairs(look, question)
        if question.by_value or not (question.source or question.pairs):
            found["not_matched_by_source"] = _lone_targets(look, question)
        if question.by_value or not (question.target or question.pairs):
            found["not_matched"] = _lone_sources(look, question)
    files: dict[int, str] = {}
    if found["matched"] or found.get("not_matched_by_source"):
        files = {file.file_hash: file.path for file in list_files(spark, merge.path, merge.version)}
    return FoundKey(
        asked=question.typed,
        rows=tuple(_found_row(look, kind, row, files) for kind, rows in found.items() for row in rows[:LIMIT]),
        more=any(len(rows) > LIMIT for rows in found.values()),
    )


# What is asked


def is_predicate(typed: str) -> bool:
    """Whether ``typed`` compares or calls something; else it is values."""
    try:
        tokens = tokenize(typed)
    except UsageError:
        return False  # O'Brien
    return any(token.word in SAYS_PREDICATE or token.text in SAYS_PREDICATE for token in tokens)


def values_of(typed: str, count: int) -> tuple[str | None, ...]:
    """The values in ``typed``; a single one is taken as it stands. None is NULL."""
    try:
        parts = split_top_level(typed, ",") if count > 1 else (typed,)
    except UsageError:
        parts = tuple(typed.split(","))
    return tuple(_value(part.strip()) for part in parts)


def _value(text: str) -> str | None:
    if text.upper() == "NULL":
        return None
    try:
        tokens = tokenize(text)
    except UsageError:
        return text
    # DATE'2026-11-19' as well
    is_quoted = tokens and tokens[-1].is_string and (len(tokens) == 1 or (len(tokens) == 2 and tokens[0].word))
    return quoted_values(text)[-1] if is_quoted else text


def _by_value(spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, typed: str) -> Question:
    """Each equality of ON with a literal of the type of its target side in place of the other side."""
    keys = merge.keys
    if not keys:
        raise EngineError(
            "KEY_NOT_UNDERSTOOD",
            "ON has no equality between the two sides, so a value alone says nothing.",
            f"Type a predicate, such as {merge.typed.target.reference}.id = 5.",
        )
    values = values_of(typed, len(keys))
    if len(values) != len(keys):
        wanted = ", ".join(f"{key.target.typed} = {key.source.typed}" for key in keys)
        raise EngineError(
            "KEY_NOT_UNDERSTOOD",
            f"ON ties {len(keys)} {'key' if len(keys) == 1 else 'keys'} ({wanted}), and {len(values)} were typed.",
            "Type a value for each, separated by commas, or a predicate; quote a text that holds a comma.",
        )
    ours = [key.target.text for key in keys]
    theirs = [key.source.text for key in keys]
    reference = merge.statement.target.reference
    to_types = schema_of(spark, f"SELECT {_items(ours)} FROM {merge.target_sql} AS {reference}").fields
    from_types = schema_of(spark, f"SELECT {_items(theirs)} FROM {source.view} AS {merge.source_reference}").fields
    literals = [
        f"CAST({'NULL' if value is None else string(value)} AS {ddl(field.dataType)})"
        for value, field in zip(values, to_types, strict=True)
    ]
    return Question(
        source=tuple(f"{text} <=> {literal}" for text, literal in zip(theirs, literals, strict=True)),
        target=tuple(f"{text} <=> {literal}" for text, literal in zip(ours, literals, strict=True)),
        typed=tuple(f"{key.target.typed} <=> {literal}" for key, literal in zip(keys, literals, strict=True)),
        by_value=True,
        # '007' and 7 are one key where ON casts one side, and then the target's own literal may not find it
        narrow=all(is_same(one.dataType, other.dataType) for one, other in zip(to_types, from_types, strict=True)),
    )


def _items(texts: Sequence[str]) -> str:
    return ", ".join(f"({text}\n) AS __dm_key_{at}" for at, text in enumerate(texts))


def _by_predicate(spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, typed: str) -> Question:
    """The conjuncts of a predicate, by the side that they name."""
    parts = [resolve(text, merge.sides) for text in conjuncts(typed)]
    both = (
        f"{source.view} AS {merge.source_reference} CROSS JOIN {merge.target_sql} AS {merge.statement.target.reference}"
    )
    # what is no column of either side is refused in Spark's words
    schema_of(spark, f"SELECT 1 FROM {both} WHERE {' AND '.join(f'({part.text})' for part in parts)}")
    texts = list(zip(parts, conjuncts(typed), strict=True))
    of_target = [(part.text, text) for part, text in texts if not part.source_columns]
    of_source = [(part.text, text) for part, text in texts if part.source_columns and not part.target_columns]
    of_both = [(part.text, text) for part, text in texts if part.source_columns and part.target_columns]
    return Question(
        source=tuple(ours for ours, _ in of_source),
        target=tuple(ours for ours, _ in of_target),
        pairs=tuple(ours for ours, _ in of_both),
        typed=tuple(text for _, text in (*of_target, *of_source, *of_both)),
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
        f"SELECT {_source(look)} AS source, {_target(look)} AS target, {_tests(look, 'matched')} AS tests, "
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
        f"SELECT CAST(NULL AS STRING) AS source, {_target(look)} AS target, {_tests(look, kind)} AS tests, "
        f"{FILE} AS file, {BY_SOURCE_CLAUSE} AS {CLAUSE}, {_after(look, kind, BY_SOURCE_CLAUSE)} AS after, "
        f"{codes_sql(look.faults.lone_targets)} AS faults, 0 AS source_rows "
        f"FROM {target_relation(look.merge, question.target, whole=True)} "
        f"LEFT ANTI JOIN {source_relation(look.merge, look.source)} ON {look.on}\n",
    )


def _lone_sources(look: Look, question: Question) -> list[Any]:
    kind: ClauseKind = "not_matched"
    wanted = " AND ".join(f"({text}\n)" for text in question.source) or "TRUE"
    return _rows(
        look,
        f"SELECT {_source(look)} AS source, CAST(NULL AS STRING) AS target, {_tests(look, kind)} AS tests, "
        f"CAST(NULL AS BIGINT) AS file, {INSERT_CLAUSE} AS {CLAUSE}, {_after(look, kind, INSERT_CLAUSE)} AS after, "
        f"{codes_sql(look.faults.inserts)} AS faults, 1 AS source_rows, ({wanted}) AS __dm_wanted "
        f"FROM {look.faults.with_written_keys(_unmatched(look, question))}",
        "__dm_wanted",
    )


def _unmatched(look: Look, question: Question) -> str:
    """Source rows that nothing matches: all of them if a fault depends on the other inserted rows. Which they are the
    plan has kept."""
    merge, source = look.merge, look.source
    if look.faults.needs_all_inserts:
        return unmatched_source(merge, source, SeenRows(pairs_view(source.view), source.num_rows))
    narrow = question.target if question.by_value and question.narrow else ()
    lone = source_relation(merge, source, question.source)
    return with_insert_clause(merge, f"{lone} LEFT ANTI JOIN {target_relation(merge, narrow)} ON {look.on}\n")


def _rows(look: Look, query: str, where: str = "TRUE") -> list[Any]:
    return list(look.spark.sql(f"SELECT * FROM ({query}) WHERE {where} LIMIT {LIMIT + 1}").collect())


def _source(look: Look) -> str:
    return struct_of(look.source.columns, look.merge.source_reference)


def _target(look: Look) -> str:
    return struct_of(look.merge.target_schema, look.merge.statement.target.reference)


def _tests(look: Look, kind: ClauseKind) -> str:
    """The values of the conditions of the clauses of one kind, in their order."""
    conditions = [clause.condition or "TRUE" for clause in look.merge.statement.of_kind(kind)]
    items = ", ".join(f"({condition}\n)" for condition in conditions)
    return f"CAST(array({items}) AS ARRAY<BOOLEAN>)"


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
