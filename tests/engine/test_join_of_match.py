"""numSourceRows holds where Spark proves that nothing can match: it reads the source not at all, or twice."""

from __future__ import annotations

from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.model.plan import Estimate
from engine.plan_merge import plan
from engine.preflight.advice import FAIL_IF_SOURCE_CHANGED
from engine.spark.confs import confs_set
from tests.engine.fidelity import refused_by_delta

INSERT = "WHEN NOT MATCHED THEN INSERT *"
BY_SOURCE = "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = 1"
UNTOUCHED, TOUCHED = Estimate(low=0, high=4), Estimate(low=2, high=4)
ONE_OR_TWICE = Estimate(low=1, high=2)


@pytest.mark.parametrize(
    ("source", "on", "clauses", "source_rows"),
    [
        ("src", "t.id = s.id", INSERT, 2),
        ("src", "t.id = s.id AND t.v = 'zz'", INSERT, 2),
        ("src", "t.id = s.id AND 1 = 2", INSERT, 2),
        ("src", "t.id = s.id AND t.v NOT IN ('x', NULL)", INSERT, UNTOUCHED),
        ("src", "t.id = s.id AND IF(t.n > 0, NULL, false)", INSERT, UNTOUCHED),
        ("(SELECT 9 AS id, v, n FROM src)", "t.id = s.id AND t.id = 1", INSERT, UNTOUCHED),
        ("src", "t.id = s.id AND t.id = 1 AND s.id = 9", INSERT, UNTOUCHED),
        ("src", "t.id = s.id AND t.v NOT IN ('x', NULL)", f"{INSERT} {BY_SOURCE}", TOUCHED),
        # the files are kept, and whether a row of the target is left to join with shows only as it runs
        ("src", "t.id = s.id AND t.v = 'c'", INSERT, UNTOUCHED),
        ("(SELECT * FROM src WHERE id > 5)", "t.id = s.id", INSERT, 1),
        ("(SELECT id + 3 AS id, v, n FROM src)", "t.id = s.id", INSERT, 2),
        ("(SELECT id + 3 AS id, v, n FROM src)", "t.id = s.id AND s.n = 6", INSERT, UNTOUCHED),
        # a key that is a constant on both sides is joined by loops: seen to be counted twice
        ("(SELECT 1 AS id, v, n FROM src WHERE id = 1)", "t.id = s.id AND t.id = 1", INSERT, ONE_OR_TWICE),
    ],
)
def test_the_rows_of_the_source_are_promised_as_delta_counts_them(
    spark: Any, schema: str, source: str, on: str, clauses: str, source_rows: int | Estimate
) -> None:
    rows = "(1, 'a', 10), (2, 'b', NULL), (NULL, 'n', 30), (9, NULL, 40)"
    spark.sql(f"CREATE TABLE t USING delta AS SELECT /*+ COALESCE(1) */ * FROM VALUES {rows} AS x(id, v, n)")
    spark.sql("CREATE TABLE src USING delta AS SELECT * FROM VALUES (1, 'b', 5), (7, NULL, 6) AS x(id, v, n)")
    merge_plan = plan(spark, f"MERGE INTO t USING {source} s ON {on} WHEN MATCHED THEN UPDATE SET n = s.n {clauses}")
    assert {**merge_plan.promise, **merge_plan.estimates}["numSourceRows"] == source_rows
    assert apply(spark, merge_plan).kept


def test_rows_that_are_counted_twice_are_a_source_that_changed_if_that_fails(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE t USING delta AS SELECT 1 AS n")
    spark.sql("CREATE TABLE src USING delta AS SELECT * FROM VALUES (0, 2), (5, 9) AS x(lo, hi)")
    clauses = "WHEN MATCHED THEN UPDATE SET n = s.lo WHEN NOT MATCHED THEN INSERT (n) VALUES (s.lo)"
    sql = f"MERGE INTO t USING src s ON t.n BETWEEN s.lo AND s.hi {clauses}"
    with confs_set(spark, {FAIL_IF_SOURCE_CHANGED: "true"}):
        assert "COMMIT_UNKNOWN" in {one.code for one in plan(spark, sql).warnings}
        assert refused_by_delta(spark, sql) == "SPARK_ERROR"
