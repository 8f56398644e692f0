"""What the subqueries in SET and VALUES give. They stay live in the statement that runs: a plan keeps what they gave.

Delta takes subqueries that refer to neither side, so each can be asked by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from engine.merge.exact_hash import exact_hash
from engine.merge.session_definitions import digest
from engine.merge.volatile_parts import volatile_subquery
from engine.model.errors import CancelledError, EngineError, UnreachableError
from engine.spark.schema import schema_of
from engine.spark.spark_errors import collected
from engine.sql.expressions import read_expression
from engine.sql.parse import MergeStatement
from engine.sql.sql_text import text_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType


def subqueries(statement: MergeStatement) -> Iterator[str]:
    """The queries in brackets that the assigned expressions hold, in order."""
    for clause in statement.clauses:
        for _, value in clause.assignments:
            yield from subqueries_of(value)


def subqueries_of(expression: str) -> Iterator[str]:
    """The queries in brackets that an expression holds, in order."""
    tokens, root = read_expression(expression)
    for node in root.walk():
        if node.kind == "subquery":
            begin = node.start + (node.name == "EXISTS")
            yield text_of(expression, tokens[begin : node.end])


def subquery_values(spark: SparkSession, statement: MergeStatement) -> tuple[str, ...]:
    """A digest of the rows that each gives now; "" for one that gives others each time. Raises EngineError."""
    values = []
    for text in subqueries(statement):
        if volatile_subquery(spark, statement.before_select, text):
            values.append("")
            continue
        columns = schema_of(spark, f"{statement.before_select}SELECT * FROM {text}")
        names = [f"c{at}" for at in range(len(columns.fields))]
        row_hash = exact_hash(renamed(columns, names))
        rows = collected(
            spark,
            f"{statement.before_select}SELECT count(*), sum(CAST({row_hash} AS DECIMAL(38, 0))) "
            f"FROM {text} AS q({', '.join(names)})",
        )
        values.append(digest(str(tuple(rows[0]))))
    return tuple(values)


def renamed(columns: StructType, names: Sequence[str]) -> StructType:
    """A subquery may have two columns of one name."""
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(name, field.dataType) for name, field in zip(names, columns.fields, strict=True)])


def subquery_changes(spark: SparkSession, statement: MergeStatement, planned: Sequence[str]) -> tuple[str, ...]:
    """A clause for each subquery that gives something else than ``planned``."""
    if not any(planned):
        return ()
    try:
        now = subquery_values(spark, statement)
    except (CancelledError, UnreachableError):
        raise
    except EngineError as error:
        return (f"a subquery cannot be read any more ({error.condition})",)
    texts = [" ".join(text.split()) for text in subqueries(statement)]
    if len(now) != len(planned):
        return ("its subqueries are others",)
    return tuple(
        f"the subquery {text} gives something else than when planned"
        for text, then, current in zip(texts, planned, now, strict=True)
        if then and then != current
    )
