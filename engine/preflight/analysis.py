"""The MERGE is analyzed; meanwhile its log is read, its source planned, and our reading of it held to Spark's.

A store answers one question after the other: what need not wait for another answer is asked at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.merge.analyze import AnalyzedMerge, analyze_explained
from engine.merge.check_reading import check_analyzed, check_parsed
from engine.merge.explain_merge import explain_merge, source_sql, with_causes
from engine.merge.join_of_match import Join, join_of_match
from engine.merge.plan_writes import runs_insert_only
from engine.merge.planning_state import Surroundings, surroundings
from engine.merge.prepare_delta_scan import TargetLog
from engine.merge.source_plan import SourcePlan, query_plan
from engine.merge.target_view import check_target_view
from engine.preflight.target_reads import (
    DescribedTarget,
    beside,
    describe_detail,
    describe_target,
    target_columns,
    target_detail,
    target_files,
)
from engine.spark.clock import Clock
from engine.spark.confs import STATS_SKIPPING, is_on
from engine.sql.parse import MergeStatement
from engine.table.log_file import LogFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Analysis:
    """The analyzed MERGE, and what other threads find meanwhile: whether Spark reads it as we do, the session around
    it, its target. ``confs`` are what the session had."""

    merge: AnalyzedMerge
    confs: dict[str, str]
    source: Future[SourcePlan]
    reading: Future[None]
    surroundings: Future[Surroundings]
    detail: Future[Any]
    listing: Future[tuple[LogFile, ...]]
    target: Future[DescribedTarget]
    join: Future[Join]

    def target_log(self) -> TargetLog:
        detail = self.detail.result()
        return TargetLog(
            listing=self.listing,
            partition_columns=tuple(detail["partitionColumns"] or ()),
            features=tuple(detail["tableFeatures"] or ()),
            statistics=is_on(self.confs, STATS_SKIPPING),
        )


def analyze_merge(
    spark: SparkSession,
    statement: MergeStatement,
    others: Mapping[str, str],
    confs: dict[str, str],
    clock: Clock,
    view: str,
) -> Analysis:
    """Analyze the MERGE, and have the log read meanwhile. ``others`` and ``confs`` are the session's, ``view`` names
    the target."""
    analyzed: Future[AnalyzedMerge] = Future()
    with beside() as describe, beside() as judge, beside() as read:
        typed = describe(lambda: describe_detail(spark, statement.target.text))
        source = judge(lambda: query_plan(spark, statement.before_select, source_sql(statement)))
        around = judge(lambda: surroundings(spark, others))
        try:
            with clock.phase("analyze"), with_causes(spark, statement):
                explained = explain_merge(spark, statement)
                parsed = judge(lambda: check_parsed(spark, statement, explained.plan.parsed))
                detail = describe(lambda: target_detail(spark, explained, typed))
                columns = describe(lambda: target_columns(spark, explained.path, explained.version, detail.result()))
                listing = read(lambda: target_files(spark, explained, analyzed, columns))
                merge = analyze_explained(spark, explained, view)
                analyzed.set_result(merge)
        except BaseException as error:
            analyzed.set_exception(error)
            raise
        # inserting alone, a MERGE reads its source once, however it is joined
        join = judge(lambda: "by key" if runs_insert_only(statement, confs) else join_of_match(spark, merge))
        return Analysis(
            merge=merge,
            confs=confs,
            source=source,
            reading=judge(lambda: judge_reading(spark, merge, typed, parsed)),
            surroundings=around,
            detail=detail,
            listing=listing,
            target=describe(lambda: describe_target(spark, merge, detail.result(), columns.result())),
            join=join,
        )


def judge_reading(spark: SparkSession, merge: AnalyzedMerge, typed: Future[Any], parsed: Future[None]) -> None:
    """Raise if this is not the MERGE that Spark reads. ``typed`` fails for a target that is no table by its name,
    ``parsed`` where Spark parses it otherwise."""
    if typed.exception() is not None:
        check_target_view(spark, merge)
    parsed.result()
    check_analyzed(spark, merge)
