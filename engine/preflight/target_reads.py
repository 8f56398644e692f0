"""What the log says of the target, read while the MERGE is analyzed.

A new version's state takes Delta about as long to load as Spark takes to analyze the statement and freeze its source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from engine.merge.analyze import AnalyzedMerge
from engine.merge.derive_conjuncts import bounded_by_texts
from engine.merge.explain_merge import ExplainedMerge
from engine.merge.plan_writes import TableTraits
from engine.preflight.assignments import ClauseAssignments, assignments
from engine.preflight.target_rules import TargetRules, target_rules
from engine.spark.confs import is_on
from engine.spark.spark_errors import raise_if_all_ends
from engine.table.delta_log import files_of_log, list_files
from engine.table.log_file import LogFile
from engine.table.logged_schema import LoggedColumn, logged_schema, logical_names
from engine.table.table_features import feeds_changes
from engine.table.version_times import detail_with_time

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class DescribedTarget:
    """The target at the version that was analyzed. ``detail`` is the row of DESCRIBE DETAIL."""

    detail: Any
    columns: tuple[LoggedColumn, ...]
    rules: TargetRules
    assigned: tuple[ClauseAssignments, ...]

    @property
    def partition_columns(self) -> tuple[str, ...]:
        return tuple(self.detail["partitionColumns"] or ())

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(self.detail["tableFeatures"] or ())

    @property
    def properties(self) -> dict[str, str]:
        return dict(self.detail["properties"] or {})

    @property
    def traits(self) -> TableTraits:
        properties = self.properties
        vectors = is_on(properties, "delta.enableDeletionVectors", "false")
        return TableTraits(
            deletion_vectors=vectors and "deletionVectors" in self.features,
            change_data_feed=feeds_changes(properties),
            partitioned=bool(self.partition_columns),
        )


def describe_detail(spark: SparkSession, table: str) -> Any:
    """The row of DESCRIBE DETAIL, and the time of the newest version."""
    return detail_with_time(spark, table).collect()[0]


def target_detail(spark: SparkSession, explained: ExplainedMerge, typed: Future[Any]) -> Any:
    """The target's DESCRIBE DETAIL: ``typed``, or the table's own if a view or IDENTIFIER(…) was typed."""
    try:
        return typed.result()
    except Exception as error:
        raise_if_all_ends(error)
        return describe_detail(spark, explained.target_name)


def target_files(
    spark: SparkSession,
    explained: ExplainedMerge,
    analyzed: Future[AnalyzedMerge],
    columns: Future[tuple[LoggedColumn, ...]],
) -> tuple[LogFile, ...]:
    """Lists the log, and reads it when the MERGE is ``analyzed``: with the statistics where what is derived of keys
    depends on them."""
    with files_of_log(spark, explained.path, explained.version) as files:
        return logical_names(files(bool(bounded_by_texts(analyzed.result()))), columns.result())


def doubtful_files(
    spark: SparkSession, merge: AnalyzedMerge, detail: Any, columns: tuple[LoggedColumn, ...]
) -> tuple[LogFile, ...]:
    """Those files where a read may stumble over their partition values or bounds (merge_reads); () elsewhere."""
    with_stats = bool(bounded_by_texts(merge))
    if not (detail["partitionColumns"] or with_stats):
        return ()
    return logical_names(list_files(spark, merge.path, merge.version, with_stats=with_stats), columns)


def describe_target(
    spark: SparkSession, merge: AnalyzedMerge, detail: Any, columns: tuple[LoggedColumn, ...]
) -> DescribedTarget:
    """Reads the log, no data. Sets no conf: the caller's thread does."""
    rules = target_rules(spark, merge, columns, detail)
    return DescribedTarget(
        detail=detail,
        columns=columns,
        rules=rules,
        assigned=assignments(spark, merge, rules),
    )


def target_columns(spark: SparkSession, path: str, version: int, detail: Any) -> tuple[LoggedColumn, ...]:
    """The log's columns of a table that maps or generates some; () for others, whose schema a query gives."""
    features = {"columnMapping", "generatedColumns", "identityColumns"}.intersection(detail["tableFeatures"] or ())
    return logged_schema(spark, path, version) if features else ()


@contextmanager
def beside() -> Iterator[Callable[[Callable[[], Answer]], Future[Answer]]]:
    """A thread for Spark work beside the caller's, one piece after the other.

    What was submitted goes on when the body has ended. It is untagged, so that cancelling never hits this thread
    instead of the main query.
    """
    pool = ThreadPoolExecutor(1, "describe-target")
    try:
        yield pool.submit
    finally:
        pool.shutdown(wait=False)
