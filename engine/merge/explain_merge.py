"""MergeStatement → ExplainedMerge: the MERGE as Spark explains it, and which version of which table it is about.

With that, reading the log and comparing the readings begin, while engine.merge.analyze resolves the columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.model.errors import EngineError
from engine.spark.explain import DELTA_AT, Explained, explain
from engine.spark.not_understood import not_understood
from engine.spark.schema import schema_of
from engine.spark.spark_errors import WRAPPERS, collected
from engine.sql.names import quote
from engine.sql.parse import MergeStatement, Relation
from engine.sql.resolve import SOURCE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# before the target's index; Hive's catalog prints the class that reads its rows, too
CATALOG_TABLE = re.compile(r"(?:`(?:[^`]|``)+`\.)+`(?:[^`]|``)+`(?=, (?:[\w.$]+, )?$)")


@dataclass(frozen=True)
class ExplainedMerge:
    """A MERGE that Delta accepts. ``version`` and ``path`` are the target's as the analyzer saw them, ``target_name``
    is SQL for the table behind a view or IDENTIFIER(…)."""

    statement: MergeStatement
    plan: Explained
    version: int
    path: str
    target_name: str


def source_sql(statement: MergeStatement) -> str:
    """The source of a statement as typed, to be read in a FROM, under our name."""
    return aliased(replace(statement.source, alias=SOURCE))


def aliased(relation: Relation) -> str:
    return f"{relation.text}\nAS {relation.alias}" if relation.alias else relation.text


def explain_merge(spark: SparkSession, statement: MergeStatement) -> ExplainedMerge:
    """Ask Spark. What Delta refuses at analysis raises an EngineError with Delta's class and a position."""
    plan = explain(spark, statement.sql)
    return ExplainedMerge(statement, plan, *_target_of(spark, statement, plan.analyzed))


@contextmanager
def with_causes(spark: SparkSession, statement: MergeStatement) -> Iterator[None]:
    """EXPLAIN prints no causes: if an error of the body only says what was under way, the source is analyzed by itself,
    and Spark's error of that is raised."""
    try:
        yield
    except EngineError as error:
        if error.condition.startswith(WRAPPERS):
            schema_of(spark, f"{statement.before_select}SELECT * FROM {aliased(statement.source)}")
        raise


def _target_of(spark: SparkSession, statement: MergeStatement, analyzed: str) -> tuple[int, str, str]:
    """(version, path, name for SQL) of the target that Delta's command is about."""
    table = DELTA_AT.search(analyzed)
    if table is None or "MergeIntoCommand" not in analyzed:
        raise EngineError(
            "DELTA_TABLE_ONLY_OPERATION",
            f"The target {statement.target.text} is not a Delta table.",
            "Only Delta tables can be merged into from here.",
        )
    relations = (statement.target, statement.source)
    if any("Delta[" in part for one in relations for part in (one.alias or "", *one.parts)):
        # a name that looks like what is read from the print
        raise not_understood(analyzed, statement.sql)
    catalog = CATALOG_TABLE.search(analyzed, 0, table.start())
    # not every session prints the catalog's name
    name = catalog.group() if catalog else statement.target.text if statement.target.parts else None
    path = table.group(2)
    if path.startswith("...") or "[" in path:
        # a plan prints the last hundred characters of a longer one (TahoeFileIndex.toString)
        path = str(collected(spark, f"DESCRIBE DETAIL {name or statement.target.text}")[0]["location"])
    return int(table.group(1)), path, name or f"delta.{quote(path)}"
