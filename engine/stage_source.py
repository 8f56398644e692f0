"""``plan --freeze``: the frozen source as a Delta table, for a plan that outlives its session and its source.

Delta writes the table, beside the target, and the MERGE that is applied reads its first version. This program drops it
once the plan is committed or can be no more.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from engine.checkpoint import out_of_disk
from engine.names import quote, string
from engine.parse import Relation
from engine.session_state import untagged
from engine.spark_errors import translate
from engine.table_state import qualified_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMMENT = "The frozen source of a MERGE that was planned and is not applied yet"
VERSION = 0
"""The one version that is merged from: whatever is done to the table afterwards changes nothing."""


def staged_of(view: str) -> str:
    """The bare name of the table for the source that ``view`` stands for."""
    return view.replace("_source_", "_staged_")


def staged_name(spark: SparkSession, target: Relation, view: str) -> str:
    """The table for the source that ``view`` stands for: in the target's schema, in the current one where the target
    is a path."""
    parts, name = target.parts, staged_of(view)
    by_path = not parts or (len(parts) == 2 and parts[0].lower() == "delta" and "/" in parts[1])
    return ".".join(quote(part) for part in qualified_name(spark, (name,) if by_path else (*parts[:-1], name)))


def stage_source(spark: SparkSession, query: str, table: str) -> None:
    """Write the rows of ``query`` into ``table``, once. Raises Delta's error where it takes no such columns."""
    drop_staged(spark, table)  # of an attempt before
    try:
        # by name: a column may be called as no file's may
        spark.sql(
            f"CREATE TABLE {table} USING delta COMMENT {string(COMMENT)} "
            f"TBLPROPERTIES ('delta.columnMapping.mode' = 'name') AS {query}"
        ).collect()
    except Exception as error:
        raise out_of_disk(error) or translate(error) from error


def drop_staged(spark: SparkSession, table: str | None) -> None:
    """Nobody needs it any more. It comes after all else: it never fails, and no cancel reaches it."""
    if table is not None:
        with contextlib.suppress(Exception), untagged(spark):
            spark.sql(f"DROP TABLE IF EXISTS {table}").collect()
