"""The files that a MERGE keeps, rule by rule: what the plan says is what Delta's own MERGE counts while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.plan_merge import plan

AFTER_SKIPPING = "number of target files after skipping"
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


def build(spark: Any) -> None:
    """``tgt``: ids 0 to 99 in ten files, each its own partition ``p``; ``m`` is the id but NULL in the first file;
    the column ``late`` has no statistics; ``at`` is an hour for each id."""
    spark.sql(
        "CREATE TABLE tgt (id BIGINT, m BIGINT, name STRING, at TIMESTAMP, late BIGINT, p INT) USING delta "
        "PARTITIONED BY (p) TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '4')"
    )
    spark.sql(
        "INSERT INTO tgt SELECT /*+ REPARTITION(1) */ id, CASE WHEN id >= 10 THEN id END, concat('n', id), "
        "timestamp_millis(1704067200000 + id * 3600000), id, CAST(id DIV 10 AS INT) FROM range(0, 100, 1, 1)"
    )


@pytest.fixture(scope="module")
def oracle(classic: Any) -> Iterator[Any]:
    """A classic session, whose SQL metrics say what a MERGE kept (DESCRIBE HISTORY does not)."""
    classic.sql("CREATE SCHEMA scan_oracle")
    classic.sql("USE scan_oracle")
    build(classic)
    yield classic
    classic.sql("USE default")
    classic.sql("DROP SCHEMA scan_oracle CASCADE")


def files_after_skipping(classic: Any, merge: str) -> int:
    """Run ``merge`` and read the SQL metric numTargetFilesAfterSkipping of its execution."""
    store = classic._jsparkSession.sharedState().statusStore()
    before = store.executionsCount()
    classic.sql(merge).collect()
    classic._jsc.sc().listenerBus().waitUntilEmpty()
    executions = store.executionsList()
    for index in range(before, executions.size()):
        execution = executions.apply(index)
        metrics = execution.metrics()
        values = store.executionMetrics(execution.executionId())
        for at in range(metrics.size()):
            metric = metrics.apply(at)
            found = values.get(metric.accumulatorId()) if metric.name() == AFTER_SKIPPING else None
            if found is not None and found.isDefined():
                return int(str(found.get()).replace(",", ""))
    raise AssertionError(f"no execution of {merge} has the metric")


@pytest.mark.parametrize(("on", "clauses"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_promised_files_are_those_that_the_merge_keeps(oracle: Any, on: str, clauses: str) -> None:
    merge = f"MERGE INTO tgt t USING {NOTHING_MATCHES} s ON {on} {clauses}"
    scan = plan(oracle, merge, rows=0).scan
    assert (scan.files_before, scan.accuracy) == (10, "exact")
    assert scan.files_after == files_after_skipping(oracle, merge)


def test_with_statistics_off_a_merge_prunes_partitions_alone(oracle: Any) -> None:
    merge = f"MERGE INTO tgt t USING {NOTHING_MATCHES} s ON t.id = s.id AND t.id >= 40 AND t.p < 6 {DELETE}"
    oracle.conf.set("spark.databricks.delta.stats.skipping", "false")
    try:
        scan = plan(oracle, merge, rows=0).scan
        assert scan.predicates == ("t.p < 6",)
        assert (scan.files_after, scan.accuracy) == (6, "exact")
        assert "stats.skipping is false" in scan.why
        assert scan.files_after == files_after_skipping(oracle, merge)
    finally:
        oracle.conf.unset("spark.databricks.delta.stats.skipping")
