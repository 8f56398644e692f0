"""Our reading of a CREATE or REPLACE TABLE, compared with Spark's as engine.merge.check_reading does for a MERGE.

The statement is put together again from our parts alone: names and strings from their values, so that unquoting and
unescaping are compared too, and all clauses in one order, so that none can be cut short unnoticed. Spark explains both,
and the two parsed prints must be equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from engine.merge.check_reading import alike
from engine.model.create_values import Mode
from engine.model.errors import ENDS_ALL, EngineError
from engine.spark.explain import FAILED, WHILE_PLANNING, Explained, explain, parsed_plan
from engine.spark.not_understood import not_understood, read_as, unless_refused
from engine.spark.spark_errors import WITHOUT_CLASS, refused_while_planning
from engine.sql.lexer import tokenize
from engine.sql.names import quote, string
from engine.sql.parse_create import EXTERNAL, ParsedCreate, is_create_table, parse_create
from engine.sql.read_columns import ColumnDefinition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HEADS: Mapping[Mode, str] = {
    "Create": "CREATE TABLE",
    "CreateOrReplace": "CREATE OR REPLACE TABLE",
    "Replace": "REPLACE TABLE",
}
DUPLICATE = "DUPLICATE_CLAUSES"


def read_create(spark: SparkSession, sql: str) -> ParsedCreate:
    """Our reading of a CREATE. What is no SQL is refused in Spark's words."""
    if not is_create_table(sql):
        return parse_create(sql)
    return read_as(spark, sql, parse_create)


def check_analysis(spark: SparkSession, create: ParsedCreate) -> tuple[Explained, EngineError | None]:
    """Have Spark analyze and plan the statement. EXPLAIN takes no CLONE: its parts are asked for one by one.

    An error without a class, or of Spark's own planning, is returned: EXPLAIN takes another way there than the
    statement, which Delta judges.
    """
    nothing = Explained("", "", "", "")
    if create.form == "clone":
        return nothing, None
    try:
        plan = explain(spark, create.sql)
    except EngineError as error:
        if error.outer == WHILE_PLANNING or error.condition in WITHOUT_CLASS:
            return nothing, error
        raise
    physical = plan.physical.strip()
    if FAILED.match(physical):
        refused = refused_while_planning(physical, create.sql)
        if refused.condition not in WITHOUT_CLASS:
            raise refused
    return plan, None


def create_from_parts(create: ParsedCreate) -> str:
    """The statement put together from its parts."""
    if create.form == "like":
        source = f"LIKE {_dotted(create.source_parts)}"
    elif create.form == "clone":
        source = f"SHALLOW CLONE {_dotted(create.source_parts)} {create.source_at}".rstrip()
    else:
        source = _elements(create)
    return "\n".join(line for line in (_head(create), source, *_clauses(create)) if line)


def _head(create: ParsedCreate) -> str:
    unless = " IF NOT EXISTS" if create.if_not_exists else ""
    head = f"CREATE {EXTERNAL} TABLE" if create.external else HEADS[create.mode]
    return f"{head}{unless} {_dotted(create.parts)}"


def _dotted(parts: tuple[str, ...]) -> str:
    return ".".join(map(quote, parts))


def _elements(create: ParsedCreate) -> str:
    entries = (*map(_column, create.columns or ()), *create.constraints)
    return "(\n" + "\n, ".join(entries) + "\n)" if entries else ""


def _column(column: ColumnDefinition) -> str:
    # the default comes last: read too short or too long, it would show in what Spark makes of the rest
    parts = [
        quote(column.name),
        column.type,
        f"COMMENT {string(column.comment)}" if column.commented else "",
        "" if column.nullable else "NOT NULL",
        f"GENERATED ALWAYS AS ({column.generated_as}\n)" if column.generated_as is not None else "",
        column.identity_as,
        *column.constraints,
        f"DEFAULT {column.default}" if column.default is not None else "",
    ]
    return "\n".join(part for part in parts if part)


def _clauses(create: ParsedCreate) -> Iterator[str]:
    """The clauses, in the one order that all forms take: a CLONE has its properties before its location."""
    if create.provider is not None:
        yield f"USING {create.provider}"
    if create.options:
        yield f"OPTIONS ({_pairs(create.options)})"
    if create.partitioned:
        yield f"PARTITIONED BY ({', '.join(create.partitioned)})"
    if create.clustered:
        yield f"CLUSTER BY ({', '.join(create.clustered)})"
    if create.buckets:
        yield create.buckets
    if create.comment is not None:
        yield f"COMMENT {string(create.comment)}"
    if create.properties:
        yield f"TBLPROPERTIES ({_pairs(create.properties)})"
    if create.location is not None:
        yield f"LOCATION {string(create.location)}"
    if create.query is not None:
        yield f"AS ({create.query}\n)"


def _pairs(pairs: Mapping[str, str]) -> str:
    return ", ".join(f"{string(key)} = {string(value)}" for key, value in pairs.items())


def check_parsed_create(spark: SparkSession, create: ParsedCreate, printed: str = "") -> None:
    """Raise where Spark parses our parts to something else than the statement, whose print is ``printed`` if known."""
    if create.form == "clone":
        _check_clone(spark, create)
        return
    _hold(spark, printed or parsed_plan(spark, create.sql), create_from_parts(create))
    if create.layout_end is not None:
        _check_layout(spark, create, create.layout_end)


def _hold(spark: SparkSession, theirs: str, ours: str) -> None:
    again = unless_refused(lambda: parsed_plan(spark, ours))
    if not theirs or alike(theirs, ours) != alike(again, ours):
        raise not_understood(theirs, again)


def _check_layout(spark: SparkSession, create: ParsedCreate, end: int) -> None:
    """CLUSTER BY and PARTITIONED BY print alike: only after the former is another CLUSTER BY a duplicate."""
    try:
        answer = parsed_plan(spark, f"{create.sql[:end]} CLUSTER BY (x){create.sql[end:]}")
    except EngineError as error:
        if error.condition in ENDS_ALL:
            raise
        answer = error.condition
    if (answer == DUPLICATE) != bool(create.clustered):
        read = "CLUSTER BY" if create.clustered else "PARTITIONED BY"
        raise not_understood(f"{answer} where CLUSTER BY is added", f"a statement that has {read}")


def _check_clone(spark: SparkSession, create: ParsedCreate) -> None:
    """Hold a CLONE to Spark as far as can be: EXPLAIN takes none, for Delta alone can parse it.

    So the text around its source is explained as the CREATE of an empty table, and the source as a query.
    """
    begin, end = create.source_span or (0, 0)
    around = f"{create.sql[:begin]} {create.sql[end:]}"
    _hold(spark, parsed_plan(spark, around), "\n".join((_head(create), *_clauses(create))))
    clone = create.sql[begin:end]
    source = clone[tokenize(clone)[1].end :]
    ours = f"SELECT * FROM {_dotted(create.source_parts)} {create.source_at}"
    _hold(spark, parsed_plan(spark, f"SELECT * FROM {source}"), ours)
