"""The files that a MERGE keeps, rule by rule: what the plan says is what Delta's own MERGE counts while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.model.scan import Scan
from engine.plan_merge import plan
from tests.conftest import own_schema
from tests.engine.some import every_nth

AFTER_SKIPPING = (
    "number of target files after skipping",
    "number of target bytes after skipping",
    "number of target partitions after skipping",
)
REMOVED_FROM = "number of target partitions from which files were removed"
NOTHING_MATCHES = "(SELECT id - 1000 AS id, 0 AS b, CAST(NULL AS TIMESTAMP) AS at FROM range(3))"
DELETE = "WHEN MATCHED THEN DELETE"

# (name, ON, clauses): each keeps some of ten files, and changes nothing
CASES = [
    ("key-alone", "t.id = s.id", DELETE),
    ("literal", "t.id = s.id AND t.id >= 90", DELETE),
    ("literal-of-another-type", "t.id = s.id AND t.id >= '90'", DELETE),
    ("arithmetic-on-the-literal", "t.id = s.id AND t.id >= 80 + 10", DELETE),
    ("not", "t.id = s.id AND NOT (t.id < 90)", DELETE),
    ("between", "t.id = s.id AND t.id BETWEEN 15 AND 25", DELETE),
    ("in-list", "t.id = s.id AND t.id IN (5, 95)", DELETE),
    ("prefix", "t.id = s.id AND t.name LIKE 'n9%'", DELETE),
    ("function-of-a-column", "t.id = s.id AND abs(t.id) >= 90", DELETE),
    ("is-null", "t.id = s.id AND t.m IS NULL", DELETE),
    ("is-not-null", "t.id = s.id AND t.m IS NOT NULL", DELETE),
    ("timestamp", "t.id = s.id AND t.at < TIMESTAMP'2024-01-02 00:00:00'", DELETE),
    ("without-statistics", "t.id = s.id AND t.late >= 90", DELETE),
    ("partition", "t.id = s.id AND t.p = '4'", DELETE),
    ("partition-and-statistics", "t.id = s.id AND t.p IN (3, 4) AND t.id >= 40", DELETE),
    ("constant-false", "t.id = s.id AND 1 = 2", DELETE),
    ("two-columns", "t.id = s.id AND t.id = t.m", DELETE),
    ("two-columns-and-a-literal", "t.id = s.id AND t.id = t.m AND t.id = 15", DELETE),
    ("common-factor", "t.id = s.id AND ((t.p = 1 AND s.b = 2) OR (t.p = 1 AND s.b = 3))", DELETE),
    ("negated-or", "t.id = s.id AND NOT (t.id < 90 OR s.b > 3)", DELETE),
    ("or-over-both-tables", "t.id = s.id AND ((t.p = 1 AND s.b = 2) OR (t.p = 2 AND s.b = 3))", DELETE),
    ("zero-of-the-source", "t.id = s.id AND t.id >= s.id * 0 + 90", DELETE),
    ("case-with-one-outcome", "t.id = s.id AND CASE WHEN s.b = 1 THEN t.p = 1 ELSE t.p = 1 END", DELETE),
    ("null-beside-a-bound", "t.id = s.id AND (t.id > 50 AND CAST(NULL AS BOOLEAN))", DELETE),
    ("clause-of-a-matched-only-merge", "t.id = s.id", "WHEN MATCHED AND t.id >= 90 AND s.b = 1 THEN DELETE"),
    (
        "either-clause-of-a-matched-only-merge",
        "t.id = s.id",
        "WHEN MATCHED AND t.id >= 90 THEN DELETE WHEN MATCHED AND t.id < 10 THEN UPDATE SET name = 'x'",
    ),
    (
        "a-clause-without-condition-limits-nothing",
        "t.id = s.id",
        "WHEN MATCHED AND t.id >= 90 THEN DELETE WHEN MATCHED THEN UPDATE SET name = 'x'",
    ),
    (
        "clause-hidden-in-a-negation",
        "t.id = s.id",
        "WHEN MATCHED AND NOT (t.id < 90 OR s.b > 3) THEN DELETE",
    ),
    (
        "an-insert-clause-frees-the-other-clauses",
        "t.id = s.id",
        "WHEN MATCHED AND t.id >= 90 THEN DELETE WHEN NOT MATCHED AND s.id > 0 THEN INSERT (id) VALUES (s.id)",
    ),
]


def build(spark: Any, table: str) -> None:
    """Ids 0 to 99 in ten files, each its own partition ``p``; ``m`` is the id but NULL in the first file;
    the column ``late`` has no statistics; ``at`` is an hour for each id."""
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, m BIGINT, name STRING, at TIMESTAMP, late BIGINT, p INT) USING delta "
        "PARTITIONED BY (p) TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '4')"
    )
    spark.sql(
        f"INSERT INTO {table} SELECT /*+ REPARTITION(1) */ id, CASE WHEN id >= 10 THEN id END, concat('n', id), "
        "timestamp_millis(1704067200000 + id * 3600000), id, CAST(id DIV 10 AS INT) FROM range(0, 100, 1, 1)"
    )


@pytest.fixture(scope="module")
def oracle(classic: Any) -> Iterator[Any]:
    """A classic session, whose SQL metrics say what a MERGE kept (DESCRIBE HISTORY does not)."""
    with own_schema(classic):
        build(classic, "tgt")
        yield classic


def newest_execution(classic: Any) -> int:
    classic._jsc.sc().listenerBus().waitUntilEmpty()
    executions = classic._jsparkSession.sharedState().statusStore().executionsList()
    return max((int(executions.apply(i).executionId()) for i in range(executions.size())), default=-1)


def sql_metrics(classic: Any, merge: str) -> dict[str, int]:
    """Run ``merge`` and read the SQL metrics of its execution, of which DESCRIBE HISTORY has only some."""
    store = classic._jsparkSession.sharedState().statusStore()
    # by their ids: the store forgets the oldest of many
    before = newest_execution(classic)
    classic.sql(merge).collect()
    classic._jsc.sc().listenerBus().waitUntilEmpty()
    executions = store.executionsList()
    for index in range(executions.size()):
        execution = executions.apply(index)
        if execution.executionId() <= before:
            continue
        metrics = execution.metrics()
        values = store.executionMetrics(execution.executionId())
        found = {}
        for at in range(metrics.size()):
            metric = metrics.apply(at)
            value = values.get(metric.accumulatorId())
            if value.isDefined() and metric.name() in (*AFTER_SKIPPING, REMOVED_FROM):
                found[metric.name()] = int(str(value.get()).replace(",", ""))
        if AFTER_SKIPPING[0] in found:
            return found
    raise AssertionError(f"no execution of {merge} has the metrics")


def agree(scan: Scan, metrics: dict[str, int]) -> None:
    promised = (scan.files_after, scan.bytes_after, scan.partitions_after)
    assert promised == tuple(metrics[name] for name in AFTER_SKIPPING)
    assert scan.accuracy == "exact"


@pytest.mark.parametrize(("on", "clauses"), every_nth({case[0]: case[1:] for case in CASES}, 2))
def test_the_promised_files_are_those_that_the_merge_keeps(oracle: Any, on: str, clauses: str) -> None:
    merge = f"MERGE INTO tgt t USING {NOTHING_MATCHES} s ON {on} {clauses}"
    scan = plan(oracle, merge, rows=0, prune=False).scan
    assert scan.files_before == 10
    agree(scan, sql_metrics(oracle, merge))


def test_with_statistics_off_a_merge_prunes_partitions_alone(oracle: Any) -> None:
    merge = f"MERGE INTO tgt t USING {NOTHING_MATCHES} s ON t.id = s.id AND t.id >= 40 AND t.p < 6 {DELETE}"
    oracle.conf.set("spark.databricks.delta.stats.skipping", "false")
    try:
        scan = plan(oracle, merge, rows=0, prune=False).scan
        assert scan.predicates == ("t.p < 6",)
        assert "stats.skipping is false" in scan.why
        assert scan.files_after == 6
        agree(scan, sql_metrics(oracle, merge))
    finally:
        oracle.conf.unset("spark.databricks.delta.stats.skipping")


def test_not_matched_by_source_keeps_every_file_and_partitions_are_counted_as_they_lose_files(oracle: Any) -> None:
    build(oracle, "whole")
    clauses = "WHEN NOT MATCHED BY SOURCE AND t.id = 5 THEN DELETE"
    merge = f"MERGE INTO whole t USING {NOTHING_MATCHES} s ON t.id = s.id AND t.p = 3 {clauses}"
    looked = plan(oracle, merge, rows=0, prune=False)
    assert (looked.scan.files_after, looked.scan.predicates) == (10, ())
    metrics = sql_metrics(oracle, merge)
    agree(looked.scan, metrics)
    assert looked.find_touched_files.partitions_removed_from == metrics[REMOVED_FROM]
