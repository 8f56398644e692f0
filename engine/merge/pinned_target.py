"""The target at the version that was analyzed, resolved once: a temporary view of the session while it is planned.

Each statement that names a table asks its store for the table's log again, and one with VERSION AS OF twice as much. A
view that keeps its analyzed plan asks nothing. Through a view there is no ``_metadata``, so it has one column more, the
path of each row's file.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from engine.model.errors import CancelledError, UnreachableError
from engine.spark.confs import confs_set
from engine.spark.spark_errors import ran, translate
from engine.spark.temporary_view import temporary_view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEEPS_PLAN = "spark.sql.legacy.storeAnalyzedPlanForView"
"""Without it a view is resolved anew by each statement: as right, and slower."""
PREFIX = "deltamerge_target_"


def pinned_target(spark: SparkSession) -> AbstractContextManager[str]:
    """A new name for the view of :func:`pin`, which is dropped at the end."""
    return temporary_view(spark, PREFIX)


def pin(spark: SparkSession, table: str, view: str) -> bool:
    """Name ``table`` (SQL text, with its version) ``view``; False if that cannot be done."""
    query = f"SELECT *, {file_path(())} AS {path_column(view)} FROM {table}"
    try:
        with confs_set(spark, {KEEPS_PLAN: "true"}):
            ran(spark, f"CREATE TEMPORARY VIEW {view} AS {query}")
    except Exception as error:
        if isinstance(translate(error), (CancelledError, UnreachableError)):
            raise
        # the table itself is read then, and Spark says of it what it has to say
        return False
    return True


def path_column(view: str) -> str:
    """The column of ``view`` with the path, which no table has."""
    return f"__dm_path_{view.removeprefix(PREFIX)}"


def file_path(columns: Iterable[str]) -> str:
    """The path of a row's file, in a table of these columns. One called _metadata takes that name from Spark's own."""
    names = {name.lower() for name in columns}
    metadata = "_metadata"
    while metadata in names:
        metadata = f"_{metadata}"
    return f"{metadata}.file_path"
