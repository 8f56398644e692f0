"""The statement that apply is about to run, compared with the plan as the plan was with Spark's reading."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.merge.check_reading import alike, from_parts
from engine.merge.final_schema import final_schema, may_evolve
from engine.merge.prepare_delta_scan import normal
from engine.merge.running_statement import running_sql
from engine.model.errors import EngineError
from engine.model.plan import Plan
from engine.spark.explain import DELTA_AT, explain
from engine.spark.not_understood import not_understood, unless_refused
from engine.spark.schema import columns_of, schema_of
from engine.sql.parse import MergeStatement
from engine.sql.sql_text import and_operands

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def check_running(spark: SparkSession, plan: Plan, statement: MergeStatement) -> None:
    """Raise where the statement that is about to run is not the planned one: ON as typed and the derived conjuncts, the
    source in its frozen form, into the table that was planned, and nothing else."""
    source, condition = statement.source, statement.condition
    for splice in plan.splices:
        if splice.part == "source":
            source = replace(source, text=splice.text, alias=None)
        else:
            # Spark makes one balanced tree of all that AND joins
            added = and_operands(f"TRUE{splice.text}")[1:]
            condition = " AND ".join(f"({one}\n)" for one in (*and_operands(condition), *added))
    wanted = from_parts(replace(statement, source=source, condition=condition))
    running = explain(spark, running_sql(plan))
    target = DELTA_AT.search(running.analyzed)
    if target is None or not is_at(target.group(2), plan.target.path):
        where = target.group(2) if target else "no Delta table"
        raise EngineError(
            "OTHER_TARGET",
            f"{statement.target.text} is now the table at {where}, and {plan.target.path} was planned. Nothing ran.",
            "Plan again, in the session that applies.",
        )
    again = unless_refused(lambda: explain(spark, wanted))
    if alike(running.parsed, statement.sql) != alike(again.parsed, statement.sql):
        raise not_understood(running.parsed, again.parsed)
    _check_schema_after(spark, plan, statement, running.analyzed)


def _check_schema_after(spark: SparkSession, plan: Plan, statement: MergeStatement, analyzed: str) -> None:
    """Raise if the table would get other columns than planned: schema evolution reads those of the source that runs."""
    planned = plan.write.schema_after
    if not planned and not may_evolve(analyzed):
        return
    before = schema_of(spark, f"SELECT * FROM {statement.target.text}")
    after = [(column.name, column.type) for column in columns_of(final_schema(analyzed, before, before))]
    wanted = [(column.name, column.type) for column in planned or columns_of(before)]
    if after != wanted:
        raise not_understood(str(after), str(wanted))


def is_at(printed: str, path: str) -> bool:
    """Whether a path, as a plan prints it, is that one: a longer one is cut at its start, one with a bracket at it."""
    known = normal(path)
    end = printed.removeprefix("...").strip()
    if printed.startswith("..."):
        return known.endswith(end)
    return known == normal(end) or known.startswith(f"{normal(end)}]")
