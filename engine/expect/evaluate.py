"""Expectations → results: each is one query over the rows before and after. Reads, and writes nothing.

The four names are WITH queries in front of each: they hide nothing of the session, and leave nothing behind in it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from engine.expect.expectation import Expectation
from engine.expect.judge import judge
from engine.expect.queries import CHANGE, Query, Table, in_brackets, own_references, query_of, unknown_columns
from engine.expect.read_expectations import Declared
from engine.expect.reads_target import read_by
from engine.merge.run_with_source_lost_retries import lost_blocks
from engine.model.counted import count
from engine.model.errors import ENDS_ALL, EngineError
from engine.model.expectation import ExpectationResult, Status
from engine.model.value import Cells
from engine.spark.explain import parsed_plan
from engine.spark.schema import schema_of
from engine.spark.spark_errors import collected
from engine.spark.time_limit import time_limit
from engine.sql.literals import shown
from engine.sql.names import quote, string
from engine.sql.sql_text import names_in
from engine.sql.substitution import refuse_substituted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FAILING_ROWS: Final = 10
KIND_OF_CHANGE: Final = re.compile(r"_change_type|update_(?:pre|post)image", re.IGNORECASE)
LATE: Final = "__dm_late "
"""Before the name of a column in the error that its value raises where the commit gives it."""


@dataclass(frozen=True)
class Relations:
    """What the four names stand for, each to be read in a FROM. ``missing``: those that SQL cannot read, and why.
    ``unpaired``: why ``changes`` has no images of updated rows, "" if it has."""

    before: str
    after: str
    changes: str
    source: str = ""
    missing: Mapping[str, str] = field(default_factory=dict)
    unpaired: str = ""

    @property
    def queries(self) -> str:
        """The WITH clause that stands before a query."""
        names = {"before": self.before, "after": self.after, "changes": self.changes, "source": self.source}
        return "WITH " + ", ".join(f"{name} AS (SELECT * FROM {text})" for name, text in names.items() if text) + "\n"


def check_declared(
    spark: SparkSession, declared: Sequence[Declared], table: Table, path: str, functions: Sequence[str]
) -> None:
    """Raise a UsageError for an expectation that can never be computed: ``EXPECTATION_UNKNOWN_COLUMN``,
    ``EXPECTATION_NOT_A_QUERY`` for SQL that Spark does not read as a query, such as one that writes, or
    ``EXPECTATION_READS_TARGET`` for SQL that reads the table at ``path`` by its own name.
    ``functions``: see Surroundings."""
    for one in declared:
        missing = unknown_columns(one.expectation, table)
        if missing:
            names = ", ".join(name for name, _ in table.columns.values())
            raise one.error("EXPECTATION_UNKNOWN_COLUMN", f"there is no column {missing[0]} ({names}).")
        if one.expectation.sql is not None:
            try:
                refuse_substituted(one.expectation.sql)
                parsed = parsed_plan(spark, f"SELECT * FROM {in_brackets(one.expectation.sql)}")
            except EngineError as error:
                if error.condition in ENDS_ALL:
                    raise
                raise one.error(
                    "EXPECTATION_NOT_A_QUERY", f"its SQL is no SELECT that Spark can read: {error.message}"
                ) from error
            if name := read_by(spark, one.expectation.sql, parsed, path, functions):
                raise one.error(
                    "EXPECTATION_READS_TARGET",
                    f"its SQL reads {name}; a plan has the target without the rows of the MERGE: read after or before.",
                )


def results_for(declared: Sequence[Declared], status: Status, why: str) -> tuple[ExpectationResult, ...]:
    """The same for all of them, for one reason."""
    return tuple(_result(one.expectation, status, None, why) for one in declared)


def evaluate(
    spark: SparkSession,
    declared: Sequence[Declared],
    table: Table,
    relations: Relations,
    *,
    private: bool,
    not_known: Sequence[str] = (),
) -> tuple[ExpectationResult, ...]:
    """Each expectation, in turn. ``private`` leaves out the values of rows; the columns ``not_known`` get their values
    in the commit.

    One that cannot be computed, or takes longer than its timeout, has the status ``error``.
    """
    expectations = [one.expectation for one in declared]
    by_sql = any(one.sql is not None for one in expectations)
    late = _with_late(spark, relations, not_known) if not_known and by_sql else relations
    return tuple(
        _evaluated(spark, one, table, relations if one.sql is None else late, private, not_known)
        for one in expectations
    )


def _evaluated(
    spark: SparkSession,
    expectation: Expectation,
    table: Table,
    relations: Relations,
    private: bool,
    not_known: Sequence[str],
) -> ExpectationResult:
    why = _why_unknown(expectation, table, relations, not_known)
    if why:
        return _result(expectation, "unknown", None, why)
    if missing := unknown_columns(expectation, table):
        return _result(expectation, "error", None, f"There is no column {missing[0]}.")
    query = query_of(expectation, table)
    if expectation.sql is None and query.checked == "changes" and "changes" in relations.missing:
        return _result(expectation, "unknown", None, relations.missing["changes"])
    with time_limit(spark, expectation.timeout) as over:
        try:
            if query.measures:
                return _measured(spark, expectation, query, relations, private)
            return _failing(spark, expectation, query, relations, private)
        except EngineError as error:
            late = [name for name in not_known if LATE + name in error.message]
            if late:
                # one name may begin as another does
                return _result(expectation, "unknown", None, only_the_commit(max(late, key=len)))
            if over.is_set():
                text = f"It took longer than its timeout of {expectation.timeout} s."
            elif error.condition in ENDS_ALL or lost_blocks(error):
                raise
            else:
                # Spark's message may show a value
                text = f"It could not be computed: {error.condition if private else str(error)}"
            return _result(expectation, "error", None, text, checked=query.checked)


def _why_unknown(expectation: Expectation, table: Table, relations: Relations, not_known: Sequence[str]) -> str:
    named = {name.lower() for name in (*expectation.columns, *own_references(expectation, table))}
    if expectation.sql is not None:
        if relations.unpaired and KIND_OF_CHANGE.search(expectation.sql):
            return relations.unpaired
        named = set(names_in(expectation.sql))
        for name, why in relations.missing.items():
            if name in named:
                return why
    late = [name for name in not_known if name.lower() in named]
    return only_the_commit(late[0]) if late else ""


def only_the_commit(column: str) -> str:
    return f"Only the commit gives {column} its value."


def _with_late(spark: SparkSession, relations: Relations, columns: Sequence[str]) -> Relations:
    """Relations in which a value of ``columns`` raises where it is computed: SQL reads columns that it does not name,
    by a star, GROUP BY ALL or other names for them, and Spark computes those alone that the answer rests on."""
    late = {name.lower() for name in columns}

    def wrapped(view: str) -> str:
        items = ", ".join(
            f"CASE WHEN raise_error({string(LATE + name)}) IS NULL THEN {quote(name)} END AS {quote(name)}"
            if name.lower() in late
            else quote(name)
            for name in schema_of(spark, f"SELECT * FROM {view}").names
        )
        return f"(SELECT {items} FROM {view})"

    return replace(relations, after=wrapped(relations.after), changes=wrapped(relations.changes))


def _measured(
    spark: SparkSession, expectation: Expectation, query: Query, relations: Relations, private: bool
) -> ExpectationResult:
    cells = tuple(collected(spark, f"{relations.queries}{query.sql}")[0])
    status, value, sentence = judge(expectation, cells)
    # the number of rows is in the plan anyway
    hidden = private and expectation.rows is None
    text = "Its value is left out: the profile is private." if hidden else sentence
    return _result(expectation, status, None if hidden else value, text, checked=query.checked)


def _failing(
    spark: SparkSession, expectation: Expectation, query: Query, relations: Relations, private: bool
) -> ExpectationResult:
    counts = ", ".join(("count(*)", *(f"count_if({fault})" for fault in query.faults.values())))
    bad, *by_column = map(int, collected(spark, f"{relations.queries}SELECT {counts} FROM ({query.sql})")[0])
    if not bad:
        where = "of those that change" if query.checked == "changes" else "of the table"
        return _result(expectation, "pass", "0", f"No row {where} speaks against it.", checked=query.checked)
    what = "key" if expectation.unique else "row"
    at_fault = [name for name, failing in zip(query.faults, by_column, strict=True) if failing]
    said = said_of(expectation, at_fault or expectation.columns)
    sentence = f"{count(bad, what)}: {said}."
    hidden = () if expectation.sql is not None else (CHANGE,)
    rows = () if private else _rows(spark, query, relations, hidden)
    return _result(expectation, "fail", str(bad), sentence, checked=query.checked, rows=rows)


def _rows(spark: SparkSession, query: Query, relations: Relations, hidden: Collection[str]) -> tuple[Cells, ...]:
    """Some of the rows that fail, without the columns ``hidden``. Columns go by their places, for SQL may give two of
    one name."""
    names = schema_of(spark, f"{relations.queries}{query.sql}").names
    given = ", ".join(f"c{at}" for at in range(len(names)))
    kept = {at: name for at, name in enumerate(names) if name not in hidden}
    items = ", ".join(shown(f"c{at}") for at in kept)
    try:
        rows = collected(
            spark, f"{relations.queries}SELECT {items} FROM ({query.sql}) AS q({given}) LIMIT {FAILING_ROWS}"
        )
    except EngineError as error:
        if LATE in error.message:
            return ()  # which rows fail is known, and not what the commit writes into them
        raise
    return tuple(dict(zip(kept.values(), row, strict=True)) for row in rows)


def said_of(expectation: Expectation, named: Sequence[str]) -> str:
    """What is said of the rows that fail, by the columns that are at fault, together or one of them."""
    columns, one = ", ".join(named), " or ".join(named)
    said = {
        "unique": f"several rows have it in {columns}",
        "not_null": f"NULL in {one}",
        "history": f"more than one is current, or they overlap ({columns})",
        "accepted": f"{one} has a value that is not accepted",
        "references": f"{one} refers to nothing",
        "sql": "given by its SQL",
    }
    return said[expectation.kind]


def _result(
    expectation: Expectation, status: Status, value: str | None, sentence: str, **more: Any
) -> ExpectationResult:
    return ExpectationResult(
        name=expectation.name,
        kind=expectation.kind,
        severity=expectation.severity,
        status=status,
        value=value,
        sentence=sentence,
        **more,
    )
