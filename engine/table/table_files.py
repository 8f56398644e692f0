"""The files of a table, for browsing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.model.browse import DataFile
from engine.spark.spark_errors import translate
from engine.table.commits import current_version
from engine.table.delta_log import list_files
from engine.table.log_file import LogFile
from engine.table.logged_schema import logged_schema, logical_names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def table_files(spark: SparkSession, name: str, limit: int = 10_000, version: int | None = None) -> list[DataFile]:
    """Up to ``limit`` data files of ``name`` (SQL text) with their statistics, by path."""
    _, files = logged_files(spark, name, version)
    return [file.value() for file in files[:limit]]


def logged_files(spark: SparkSession, name: str, version: int | None = None) -> tuple[Any, tuple[LogFile, ...]]:
    """The row of DESCRIBE DETAIL, and all files with their statistics, columns by their names of today.

    Raises EngineError.
    """
    try:
        detail = spark.sql(f"DESCRIBE DETAIL {name}").collect()[0]
    except Exception as error:
        raise translate(error) from error
    location = str(detail["location"])
    at = current_version(spark, name) if version is None else version
    files = list_files(spark, location, at, with_stats=True)
    if "columnMapping" in (detail["tableFeatures"] or ()):
        files = logical_names(files, logged_schema(spark, location, at))
    return detail, files
