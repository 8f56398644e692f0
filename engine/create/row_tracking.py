"""Row tracking: each file that comes without a first row id gets one, by the number of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.create.provided_metadata import Provided
from engine.create.situation import refusal
from engine.merge.plan_writes import COLLECT_STATISTICS
from engine.model.create_values import TableState
from engine.model.plan import Refused
from engine.preflight.commit_errors import uncounted_files
from engine.spark.confs import is_on, read_confs
from engine.spark.spark_errors import collected
from engine.sql.parse_create import ParsedCreate
from engine.table.delta_log import list_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def assign_fresh_row_ids(
    spark: SparkSession, create: ParsedCreate, provided: Provided, after: TableState
) -> Refused | None:
    """RowId.assignFreshRowIds, which a file without statistics stops. Reads the log of the source of a clone where
    ``after`` has row tracking."""
    if create.form == "as_select":
        # an empty file is written, too, unless the table is partitioned
        writes = not after.partition_columns or (provided.source and provided.source.num_rows)
        refused = uncounted_files(after.features, after.properties) if writes else None
        return None if refused and is_on(read_confs(spark, (COLLECT_STATISTICS,)), COLLECT_STATISTICS) else refused
    if create.form != "clone" or "rowTracking" not in after.features or provided.num_files == 0:
        return None
    if not _lacks_numbers(spark, provided):
        return None
    return refusal(
        "DELTA_CLONE_WITH_ROW_TRACKING_WITHOUT_STATS",
        f"The clone has row tracking, and files of {create.source} do not tell how many rows they hold.",
        "Leave row tracking off, or write CREATE TABLE … AS SELECT.",
    )


def _lacks_numbers(spark: SparkSession, provided: Provided) -> bool:
    if provided.protocol is None or provided.source is None:
        return True  # Delta makes no statistics of Parquet that it clones
    [(name, version)] = provided.source.pinned_versions.items()
    location = str(collected(spark, f"DESCRIBE DETAIL {name}")[0]["location"])
    return any(file.physical_rows is None for file in list_files(spark, location, version))
