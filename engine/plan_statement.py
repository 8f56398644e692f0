"""The entry: plans a MERGE, or a CREATE or REPLACE TABLE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from engine.create.plan_create_table import plan_create_table
from engine.model.checks import Checks
from engine.model.errors import EngineError, UsageError
from engine.plan_merge import plan_script
from engine.preflight.options import Options
from engine.sql.as_typed import as_typed
from engine.sql.parse import filled_script, parse_merge
from engine.sql.parse_create import is_create_table, parse_create

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.expect.read_expectations import Declared
    from engine.model.create_values import CreatePlan
    from engine.model.plan import Plan
    from engine.model.progress import OnProgress


def plan(
    spark: SparkSession,
    sql: str,
    *,
    params: Mapping[str, str] | None = None,
    rows: int = 5,
    freeze: bool = False,
    prune: bool = True,
    tag: str | None = None,
    on_progress: OnProgress | None = None,
    private: bool = False,
    checks: Checks | None = Checks(),  # noqa: B008  a frozen value
    changes: bool = False,
    expectations: Sequence[Declared] = (),
    overwrite_schema: bool | None = None,
) -> Plan | CreatePlan:
    """Plan a statement: what it would do, exactly, without doing it.

    ``sql`` may hold SET, USE, CACHE and temporary views before it. A MERGE gives a Plan, see
    :func:`engine.plan_merge.plan` for ``rows``, ``freeze``, ``prune``, ``private``, ``checks``, ``changes`` and
    ``expectations``. A CREATE or REPLACE TABLE gives a CreatePlan, see
    :func:`engine.create.plan_create_table.plan_create_table` for ``overwrite_schema``. ``tag`` marks the Spark work, so
    that ``spark.interruptTag(tag)`` from another thread cancels it. Errors point into ``sql``.
    """
    values = dict(params or {})
    try:
        script = filled_script(sql, values)
        if not is_create_table(script.statement):
            options = Options(rows, freeze, prune, private, checks, changes, tuple(expectations))
            return plan_script(spark, script, values, options, tag=tag, on_progress=on_progress)
        if freeze:
            raise UsageError("NOTHING_TO_FREEZE", "Only the source of a MERGE is frozen.", "Plan it without --freeze.")
        return plan_create_table(
            spark, script, params=values, overwrite_schema=overwrite_schema, tag=tag, on_progress=on_progress
        )
    except EngineError as error:
        as_typed(error, sql, values)
        raise


def check_statement(statement: str) -> None:
    """Raise a UsageError for a statement that cannot be planned, before Spark is asked."""
    if is_create_table(statement):
        parse_create(statement)
    else:
        # errors inside its parts are found by Spark
        parse_merge(statement, typing=True)
