"""The schema of a query, and the columns that a schema has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.model.browse import Column
from engine.spark.spark_errors import translate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType


def schema_of(spark: SparkSession, query: str) -> StructType:
    """The schema of a query, without running it."""
    try:
        return spark.sql(query).schema
    except Exception as error:
        raise translate(error) from error


def columns_of(schema: StructType) -> tuple[Column, ...]:
    """The columns of a schema, types as Spark prints them in DDL."""
    return tuple(
        Column(name=field.name, type=field.dataType.simpleString(), nullable=field.nullable) for field in schema.fields
    )
