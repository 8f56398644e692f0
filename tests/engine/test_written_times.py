"""What Parquet's settings make of dates and times as a MERGE writes them, beside Delta itself."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from engine.model.plan import Plan
from engine.plan_merge import plan
from engine.preflight.written_times import OUTPUTS, output_type
from engine.spark.confs import OUTPUT, REBASE, confs_set
from tests.engine.fidelity import check_merge, refused_by_delta

MERGE = "MERGE INTO old t USING (SELECT 2 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 2"


@pytest.fixture
def old(spark: Any, schema: str) -> Any:
    """Two rows in one file, the first of a day that the old calendar does not have."""
    spark.sql("CREATE TABLE old (id INT, v INT, d DATE) USING delta")
    spark.sql(
        "INSERT INTO old SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 1, DATE'1582-10-10'), (2, 1, DATE'2024-01-01')"
    )
    return spark


@pytest.mark.parametrize("properties", ["", "TBLPROPERTIES ('delta.parquet.format.version' = '2.12.0')"])
def test_the_type_of_timestamps_in_small_letters_is_refused_where_spark_writes_by_it(
    spark: Any, schema: str, properties: str
) -> None:
    small = {OUTPUT: "timestamp_millis"}
    spark.sql(f"CREATE TABLE t (id INT, v INT) USING delta {properties}")
    spark.sql("INSERT INTO t VALUES (1, 1)")
    detail = dict(spark.sql("DESCRIBE DETAIL t").collect()[0]["properties"])
    fails = output_type(detail, small, spark.version) not in OUTPUTS
    with confs_set(spark, small):
        sql = "MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 2"
        assert check_merge(spark, "t", sql) == ("SPARK_ERROR" if fails else "committed")


def test_days_before_the_calendar_of_today_are_warned_of_where_spark_fails_on_them_or_changes_them(old: Any) -> None:
    with confs_set(old, {REBASE: "EXCEPTION"}):
        assert warned(old) == ["COMMIT_UNKNOWN"]
        assert refused_by_delta(old, MERGE) == "INCONSISTENT_BEHAVIOR_CROSS_VERSION.WRITE_ANCIENT_DATETIME"
    with confs_set(old, {REBASE: "LEGACY"}):
        assert warned(old) == ["OLD_DATES_CHANGE"]
        old.sql(MERGE).collect()
    changed = [tuple(row) for row in old.sql("SELECT id, d FROM old ORDER BY id").collect()]
    assert changed == [(1, datetime.date(1582, 10, 15)), (2, datetime.date(2024, 1, 1))]


def warned(spark: Any) -> list[str]:
    found = plan(spark, MERGE)
    assert isinstance(found, Plan)
    return [one.code for one in found.warnings]
