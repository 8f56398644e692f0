"""What apply compares tells rows apart that differ in anything: NULLs, microseconds, nested values."""

from __future__ import annotations

from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.merge.prepare_source import source_fingerprint
from engine.model.errors import StalePlanError
from engine.plan_merge import plan
from engine.spark.schema import columns_of, schema_of

PAIRS = {
    "microseconds in a struct": (
        "named_struct('a', TIMESTAMP'2024-01-01 00:00:00.123456')",
        "named_struct('a', TIMESTAMP'2024-01-01 00:00:00.123999')",
    ),
    "microseconds in a list, without a zone": (
        "array(TIMESTAMP_NTZ'2024-01-01 00:00:00.123456')",
        "array(TIMESTAMP_NTZ'2024-01-01 00:00:00.123999')",
    ),
    "microseconds in a map": (
        "map('k', TIMESTAMP'2024-01-01 00:00:00.123456')",
        "map('k', TIMESTAMP'2024-01-01 00:00:00.123999')",
    ),
    "microseconds": ("TIMESTAMP'2024-01-01 00:00:00.123456'", "TIMESTAMP'2024-01-01 00:00:00.123999'"),
    "which field is NULL": ("named_struct('a', 1, 'b', NULL)", "named_struct('a', NULL, 'b', 1)"),
    "the order of a list": ("array(1, 2)", "array(2, 1)"),
    "a zero's sign": ("named_struct('a', 0.0D)", "named_struct('a', -0.0D)"),
    "bytes": ("named_struct('a', X'00FF')", "named_struct('a', X'00FE')"),
}


def fingerprint(spark: Any, value: str) -> str:
    query = f"SELECT {value} AS v"
    return source_fingerprint(spark, f"({query})", columns_of(schema_of(spark, query)), "s", ())[1]


@pytest.mark.parametrize("pair", PAIRS)
def test_rows_that_differ_have_other_fingerprints(spark: Any, pair: str) -> None:
    one, other = (fingerprint(spark, value) for value in PAIRS[pair])
    assert one != other
    assert one == fingerprint(spark, PAIRS[pair][0])


def test_a_subquery_that_gives_other_microseconds_is_refused(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE t (id INT, at TIMESTAMP) USING delta")
    spark.sql("INSERT INTO t VALUES (1, TIMESTAMP'2020-01-01 00:00:00')")
    spark.sql("CREATE TABLE o USING delta AS SELECT TIMESTAMP'2024-01-01 00:00:00.123456' AS at")
    sql = (
        "MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET at = (SELECT max(at) FROM o)"
    )
    merge_plan = plan(spark, sql)
    spark.sql("UPDATE o SET at = TIMESTAMP'2024-01-01 00:00:00.123999'")
    with pytest.raises(StalePlanError, match="gives something else than when planned"):
        apply(spark, merge_plan)
