"""CREATE or REPLACE TABLE AS SELECT as a write of a DataFrame: the one that can carry the option overwriteSchema.

DataFrameWriterV2 and the statement become the same CreateDeltaTableCommand, which replaces the metadata of a table that
is there, and refuses to replace it with ``overwriteSchema`` off (replaceMetadataIfNecessary).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.model.errors import UsageError
from engine.model.plan import Refused
from engine.sql.names import quote
from engine.sql.parse_create import ParsedCreate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OPTION = "overwriteSchema"


def check_can_be_written(create: ParsedCreate) -> None:
    """Raise UsageError for a statement that no DataFrame write is equal to."""
    if create.form != "as_select" or create.if_not_exists:
        raise UsageError(
            "NOT_A_DATAFRAME_WRITE",
            f"{OPTION} is an option of a write: it goes with AS SELECT, and not with IF NOT EXISTS.",
            "Leave overwrite_schema out.",
        )
    if create.transforms or create.location or create.comment is not None:
        raise UsageError(
            "NOT_A_DATAFRAME_WRITE",
            f"{OPTION} needs a write of a DataFrame, which takes no LOCATION, COMMENT or partition transform.",
            "Leave them out, or leave overwrite_schema out.",
        )


def replace_metadata_if_necessary(create: ParsedCreate, overwrite_schema: bool | None) -> Refused | None:
    """The error that Delta raises instead of replacing the metadata, whether or not the table is there."""
    if overwrite_schema is not False or create.mode == "Create":
        return None
    return Refused(
        condition="DELTA_ILLEGAL_USAGE",
        message=f"The usage of {OPTION} is not allowed when replacing a Delta table: a replace gives it a new schema.",
        hint="Leave overwrite_schema out, or INSERT OVERWRITE the table to keep its schema.",
    )


def write_data_frame(spark: SparkSession, create: ParsedCreate, overwrite_schema: bool) -> None:
    """Run it."""
    writer = spark.sql(create.query or "").writeTo(create.name).using("delta")
    for key, value in create.options.items():
        writer = writer.option(key, value)
    for key, value in create.properties.items():
        writer = writer.tableProperty(key, value)
    if create.partition_by:
        # Spark parses the name of the column once more
        writer = writer.partitionedBy(*[quote(quote(name)) for name in create.partition_by])
    if create.cluster_by:
        writer = writer.clusterBy(*[quote(name) for name in create.cluster_by])
    writer = writer.option(OPTION, str(overwrite_schema).lower())
    {"Create": writer.create, "Replace": writer.replace, "CreateOrReplace": writer.createOrReplace}[create.mode]()
