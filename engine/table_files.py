"""The files of a table, for browsing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.commits import current_version
from engine.delta_log import list_files
from engine.spark_errors import translate
from engine.values import DataFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def table_files(spark: SparkSession, name: str, limit: int = 10_000, version: int | None = None) -> list[DataFile]:
    """Up to ``limit`` data files of ``name`` (SQL text) with their statistics, by path."""
    try:
        location = str(spark.sql(f"DESCRIBE DETAIL {name}").collect()[0]["location"])
    except Exception as error:
        raise translate(error) from error
    at = current_version(spark, name) if version is None else version
    return [file.value() for file in list_files(spark, location, at, with_stats=True)[:limit]]
