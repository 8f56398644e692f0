"""The keys of the source also say in which partitions the matches lie that the target generates from a key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.explore.find_key import find_key
from engine.merge.derive_generated import ZONE_ALONE
from engine.plan_merge import plan
from engine.spark.confs import confs_set
from tests.conftest import own_schema
from tests.engine.some import some

ZONE = "spark.sql.session.timeZone"
# what the partition column is generated as: (type, the key, what ON gets of it)
GENERATED = {
    "CAST(at AS DATE)": ("DATE", "at", "t.`part` >= DATE'2024-01-30' AND t.`part` <= DATE'2024-02-04'"),
    "date_format(at, 'yyyy-MM')": ("STRING", "at", "t.`part` >= '2024-01' AND t.`part` <= '2024-02'"),
    "year(at)": ("INT", "at", "t.`part` = 2024"),
    "month(d)": ("INT", "d", "t.`part` = 2"),
    "d": ("DATE", "d", "t.`part` IN (DATE'2024-02-01', DATE'2024-02-02')"),
    "id % 4": ("BIGINT", "id", "t.`part` IN (0L, 1L)"),
    "substring(name, 1, 2)": ("STRING", "name", "t.`part` = 'n4'"),
}
# (type, key, why not)
NOT_DERIVED = {
    "hour(at)": ("INT", "at", ZONE_ALONE),
    "date_trunc('DAY', at)": ("TIMESTAMP", "at", "timestamp has no order"),
    "concat(name, '-')": ("STRING", "name", "may depend on more"),
    "year(CAST(d AS TIMESTAMP))": ("INT", "d", "may depend on more"),
    "date_format(d, 'yyyy-MM')": ("STRING", "d", "may depend on more"),
}
COLUMNS = (
    "id, timestamp'2024-01-01 10:00:00' + make_interval(0, 0, 0, id - 9) AS at, "
    "date_add(DATE'2024-01-01', CAST(id - 9 AS INT)) AS d, concat('n', id) AS name"
)
UPSERT = (
    "WHEN MATCHED THEN UPDATE SET v = s.v "
    "WHEN NOT MATCHED THEN INSERT (id, at, d, name, v) VALUES (s.id, s.at, s.d, s.name, s.v)"
)


@pytest.fixture
def shop(spark: Any) -> Iterator[Any]:
    """``src`` has ids 40 and 41, two days of February 2024, one row whose keys are NULL, and none that is new."""
    with own_schema(spark):
        spark.sql(
            f"CREATE TABLE src USING delta AS SELECT {COLUMNS}, 'new' AS v FROM range(40, 42) "
            "UNION ALL SELECT NULL, NULL, NULL, NULL, 'none'"
        )
        yield spark


def build(spark: Any, table: str, generated_as: str, type_: str) -> None:
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, at TIMESTAMP, d DATE, name STRING, v STRING, "
        f"part {type_} GENERATED ALWAYS AS ({generated_as})) USING delta PARTITIONED BY (part) "
        # no other column helps to skip
        "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0')"
    )
    spark.sql(f"INSERT INTO {table} (id, at, d, name, v) SELECT {COLUMNS}, 'old' FROM range(0, 120, 6) WHERE id <> 42")
    spark.sql(f"INSERT INTO {table} (id, at, d, name, v) SELECT {COLUMNS}, 'old' FROM range(41, 42)")


def merged(spark: Any, table: str, sql: str, prune: bool) -> tuple[list[str], dict[str, int]]:
    """The rows that the merge leaves in a clone, and its metrics, skipping apart."""
    spark.sql(f"CREATE OR REPLACE TABLE {table}_{prune} SHALLOW CLONE {table}")
    looked = plan(spark, sql.format(table=f"{table}_{prune}"), rows=0, prune=prune)
    outcome = apply(spark, looked)
    assert outcome.kept
    rows = sorted(str(row) for row in spark.sql(f"SELECT * EXCEPT (part) FROM {table}_{prune}").collect())
    return rows, {name: n for name, n in looked.promise.items() if "Copied" not in name}


@pytest.mark.parametrize("generated_as", some(GENERATED, ("CAST(at AS DATE)", "id % 4")))
def test_a_partition_column_is_held_to_what_is_generated_from_the_keys(shop: Any, generated_as: str) -> None:
    type_, key, text = GENERATED[generated_as]
    build(shop, "tgt", generated_as, type_)
    sql = f"MERGE INTO {{table}} t USING src s ON t.{key} = s.{key} {UPSERT}"
    looked = plan(shop, sql.format(table="tgt"), rows=0)
    assert looked.scan.derived[-1].text == text
    assert looked.splices[-1].text.endswith(f" AND {text}")
    assert looked.scan.files_after < looked.scan.files_after_as_typed
    assert merged(shop, "tgt", sql, True) == merged(shop, "tgt", sql, False)


@pytest.mark.parametrize("generated_as", some(NOT_DERIVED, ("hour(at)", "year(CAST(d AS TIMESTAMP))")))
def test_nothing_is_derived_where_the_expression_may_give_another_value(shop: Any, generated_as: str) -> None:
    type_, key, why_not = NOT_DERIVED[generated_as]
    build(shop, "tgt", generated_as, type_)
    looked = plan(shop, f"MERGE INTO tgt t USING src s ON t.{key} = s.{key} {UPSERT}", rows=0)
    assert looked.scan.derived[-1].text == ""
    assert why_not in looked.scan.derived[-1].why_not


@pytest.mark.parametrize("zone", some(("Pacific/Kiritimati", "Etc/GMT+12"), ("Etc/GMT+12",)))
def test_rows_that_were_written_in_another_time_zone_are_matched(shop: Any, zone: str) -> None:
    with confs_set(shop, {ZONE: zone}):
        build(shop, "tgt", "CAST(at AS DATE)", "DATE")
        shop.sql("INSERT INTO tgt (id, at, d, name, v) SELECT id, at, d, name, 'old' FROM src WHERE id = 40")
    sql = f"MERGE INTO {{table}} t USING src s ON t.at = s.at AND t.at >= '2024-02-01 10:00:00' {UPSERT}"
    looked = plan(shop, sql.format(table="tgt"), rows=0)
    assert looked.promise["numTargetRowsUpdated"] == 1
    assert merged(shop, "tgt", sql, True) == merged(shop, "tgt", sql, False)
    assert [one.kind for one in find_key(shop, looked, "t.id = 40").rows] == ["matched"]


def test_a_column_that_is_generated_from_two_is_not_bounded_by_one(shop: Any) -> None:
    build(shop, "tgt", "id + length(name)", "BIGINT")
    looked = plan(shop, f"MERGE INTO tgt t USING src s ON t.id = s.id {UPSERT}", rows=0)
    assert [one.column for one in looked.scan.derived] == ["t.id"]


def test_a_column_may_be_called_as_the_type_and_the_function_of_the_expression(spark: Any) -> None:
    with own_schema(spark):
        spark.sql(
            "CREATE TABLE tgt (date TIMESTAMP, year DATE, a DATE GENERATED ALWAYS AS (CAST(date AS DATE)), "
            "b INT GENERATED ALWAYS AS (year(year))) USING delta PARTITIONED BY (a, b)"
        )
        spark.sql(f"INSERT INTO tgt (date, year) SELECT at, d FROM (SELECT {COLUMNS} FROM range(0, 800, 80))")
        spark.sql(
            f"CREATE TABLE src USING delta AS SELECT at AS date, d AS year FROM (SELECT {COLUMNS} FROM range(80, 81))"
        )
        on = "t.date = s.date AND t.year = s.year"
        looked = plan(spark, f"MERGE INTO tgt t USING src s ON {on} WHEN MATCHED THEN DELETE", rows=0)
        assert [one.text for one in looked.scan.derived[2:]] == [
            "t.`a` >= DATE'2024-03-10' AND t.`a` <= DATE'2024-03-14'",
            "t.`b` = 2024",
        ]
        assert apply(spark, looked).kept
