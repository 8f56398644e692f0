"""What Delta refuses of the source of a CLONE that is no Delta table (DeltaAnalysis, CloneParquetSource)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.model.errors import EngineError
from engine.model.plan import Refused
from engine.spark.schema import schema_of
from engine.sql.names import quote
from engine.sql.parse_create import ParsedCreate
from engine.table.table_state import CatalogEntry

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def check_format(spark: SparkSession, create: ParsedCreate, entry: CatalogEntry | None) -> None:
    """Raise EngineError for a source that is not Parquet, or not as it is now; ``entry`` is the catalog's of it."""
    name = create.source or ""
    format_ = entry.provider or "no file format" if entry else create.source_parts[0].lower()
    if format_ != "parquet" or create.source_at:
        # what is not there is refused in Spark's words
        schema_of(spark, f"SELECT * FROM {name}")
    if create.source_at:
        raise EngineError(
            "TABLE_OR_VIEW_NOT_FOUND",
            f"{name} is of {format_}: Delta finds no older version of it to clone.",
            f"Leave {create.source_at} out.",
        )
    if format_ != "parquet":
        raise EngineError(
            "DELTA_CLONE_UNSUPPORTED_SOURCE",
            f"Delta clones Delta and Parquet tables: {name} is of {format_}.",
            f"Write CREATE TABLE … USING delta AS SELECT * FROM {name}.",
        )


def no_partition(spark: SparkSession, name: str) -> Refused | None:
    """CatalogFileManifest: the files are those of the partitions that the catalog has, wherever they lie."""
    if spark.sql(f"SHOW PARTITIONS {name}").collect():
        return None
    return Refused(
        condition="DELTA_CONVERSION_NO_PARTITION_FOUND",
        message=f"The catalog has no partition of {name}: there is nothing to clone.",
        hint="MSCK REPAIR TABLE it first.",
    )


def directories(spark: SparkSession, place: str) -> Refused | None:
    """ConvertUtils.createAddFile, to which a path has no partitions."""
    of_files = ("path", "modificationTime", "length", "content")
    names = schema_of(spark, f"SELECT * FROM binaryFile.{quote(place)}").names
    partition = next((name for name in names if name not in of_files), None)
    if partition is None:
        return None
    return Refused(
        condition="DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME",
        message=f"The files lie in directories of {partition}, which Delta takes from the catalog alone.",
        hint="CREATE TABLE … USING parquet over it first, and clone that.",
    )
