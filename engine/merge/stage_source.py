"""``plan --freeze``: the frozen source as a Delta table, for a plan that outlives its session and its source.

Delta writes the table, beside the target, and the MERGE that is applied reads the version that was written then. This
program drops it once the plan is committed or can be no more.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from engine.model.errors import EngineError, UnreachableError
from engine.model.plan import Plan
from engine.spark.checkpoint import out_of_disk
from engine.spark.confs import TIMES_AS_THEY_ARE, confs_set
from engine.spark.schema import schema_of
from engine.spark.session_state import untagged
from engine.spark.spark_errors import translate
from engine.sql.names import names_path, quote, string
from engine.sql.parse import Relation
from engine.table.column_rules import UNSUPPORTED_TYPES
from engine.table.nested_types import types_in
from engine.table.table_state import qualified_name, table_id

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMMENT = "The frozen source of a MERGE that was planned and is not applied yet"


def staged_of(view: str) -> str:
    """The bare name of the table for the source that ``view`` stands for."""
    return view.replace("_source_", "_staged_")


def staged_name(spark: SparkSession, target: Relation, view: str) -> str:
    """The table for the source that ``view`` stands for: in the target's schema, in the current one where the target
    is a path."""
    parts = () if is_nameless(target) else target.parts[:-1]
    return ".".join(quote(part) for part in qualified_name(spark, (*parts, staged_of(view))))


def version_of(num_rows: int) -> int:
    """The version with the rows, from which the MERGE reads: whatever is done to the table afterwards changes nothing.
    Delta commits no INSERT of none."""
    return 1 if num_rows else 0


def is_nameless(target: Relation) -> bool:
    """Whether the target is given by its path or by IDENTIFIER(…), so that no catalog and schema are written."""
    return not target.parts or names_path(target.parts)


def stage_source(spark: SparkSession, query: str, table: str) -> None:
    """Write the rows of ``query`` into ``table``, once, whatever the session's confs make of values that are written.
    Raises ``FREEZE_UNSUPPORTED_TYPE``, or Delta's own error, where it takes no such columns."""
    for field in schema_of(spark, query).fields:
        types = sorted(types_in(field.dataType))
        # a NULL without a type is stored as a column alone
        unsupported = (one for one in types if UNSUPPORTED_TYPES.match(one) or (one == "void" and len(types) > 1))
        if type_ := next(unsupported, None):
            raise EngineError(
                "FREEZE_UNSUPPORTED_TYPE",
                f"--freeze keeps the source in a Delta table, which stores no {type_}: its column {field.name}.",
                "Plan without --freeze, or cast the column in the source.",
            )
    drop_staged(spark, table)  # of an attempt before
    # by name: a column may be called as no file's may; a column that the MERGE adds brings its default; those of a
    # change data feed are no columns of a table that has one, which the session's defaults may give
    features = (
        "'delta.columnMapping.mode' = 'name', 'delta.feature.allowColumnDefaults' = 'supported', "
        "'delta.enableChangeDataFeed' = 'false'"
    )
    properties = f"USING delta COMMENT {string(COMMENT)} TBLPROPERTIES ({features})"
    try:
        # empty first: of a CREATE that is interrupted the files would stay, and no table with which to drop them
        spark.sql(f"CREATE TABLE {table} {properties} AS SELECT * FROM ({query}) LIMIT 0").collect()
        # what the session makes of times that are written is of the MERGE: it would match other rows
        with confs_set(spark, TIMES_AS_THEY_ARE):
            spark.sql(f"INSERT INTO {table} SELECT * FROM ({query})").collect()
    except Exception as error:
        raised = out_of_disk(error) or translate(error)
        if not raised.hint:
            raised.hint = "Plan without --freeze, which keeps the source in a Delta table."
        raise raised from error


def drop_staged(spark: SparkSession, table: str | None, after: BaseException | None = None) -> None:
    """Drop the table, which is not needed any more. This comes last: it never fails, and no cancel reaches it.

    ``after`` is what ended the work: a Spark that is gone drops nothing.
    """
    if table is not None and not (after is not None and isinstance(translate(after), UnreachableError)):
        with contextlib.suppress(Exception), untagged(spark):
            spark.sql(f"DROP TABLE IF EXISTS {table}").collect()


def drop_own(spark: SparkSession, plan: Plan) -> None:
    """Drop the table that keeps the source of ``plan``, and none that only has its name."""
    table = plan.session.staged
    with contextlib.suppress(Exception):
        if table is not None and table_id(spark, table) == plan.source.pinned_id:
            drop_staged(spark, table)


def without_staged(spark: SparkSession, plan: Plan) -> Plan:
    """The plan without the table that keeps its source, which is dropped: nothing will be merged from it."""
    if plan.session.staged is None:
        return plan
    drop_staged(spark, plan.session.staged)
    return plan.model_copy(
        update={
            "source": plan.source.model_copy(update={"pinned_id": None}),
            "session": plan.session.model_copy(update={"staged": None}),
            "splices": tuple(one for one in plan.splices if one.part != "source"),
        }
    )
