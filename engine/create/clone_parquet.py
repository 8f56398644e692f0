"""What Delta refuses of the source of a CLONE that is no Delta table (DeltaAnalysis, CloneParquetSource)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import unquote

from engine.model.errors import EngineError
from engine.model.plan import Refused
from engine.spark.schema import schema_of
from engine.spark.spark_errors import SPARK_ERROR
from engine.sql.names import quote
from engine.sql.parse_create import ParsedCreate
from engine.table.table_state import CatalogEntry

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ENCODED = re.compile(r"[\s%\"<>\\^`{|}\[\]#?]")
"""What java.net.URI writes otherwise in a path."""


def check_format(spark: SparkSession, create: ParsedCreate, entry: CatalogEntry | None) -> None:
    """Raise EngineError for a source that Delta does not take or does not find; ``entry`` is the catalog's of it."""
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
    if entry is not None and ENCODED.search(entry.location):
        raise EngineError(
            SPARK_ERROR,
            f"Delta looks for {name} at its location as an address writes it, where nothing is: {entry.location}",
            f"Write CREATE TABLE … USING delta AS SELECT * FROM {name}.",
        )


def partitions_fault(spark: SparkSession, name: str, location: str, files: Iterable[str]) -> Refused | None:
    """CatalogFileManifest: there must be partitions, and their ``files`` below the ``location`` of the table."""
    if not spark.sql(f"SHOW PARTITIONS {name}").collect():
        return Refused(
            condition="DELTA_CONVERSION_NO_PARTITION_FOUND",
            message=f"The catalog has no partition of {name}: there is nothing to clone.",
            hint="MSCK REPAIR TABLE it first.",
        )
    below = f"{unquote(location)}/"
    outside = next((file for file in files if not unquote(file).startswith(below)), None)
    if outside is None:
        return None
    return Refused(
        condition=SPARK_ERROR,  # an assertion of Delta's
        message=f"A file of a partition of {name} lies outside of its location: {outside}",
        hint=f"Write CREATE TABLE … USING delta AS SELECT * FROM {name}.",
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
