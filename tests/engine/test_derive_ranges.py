"""A source whose keys lie apart: the gaps between them are skipped as well, and nothing else changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.commit.check_plan import check_plan
from engine.model.plan import Plan
from engine.plan_merge import plan
from tests.conftest import own_schema
from tests.engine.some import some

LATE = "(SELECT * FROM src WHERE id < 3 OR id > 93)"
UPSERT = "WHEN MATCHED THEN UPDATE SET v = 'new' WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, 'new')"


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[Any]:
    """``tgt`` has ids 0 to 99 in ten files, ``src`` the same ids and a row without keys."""
    columns = (
        "id, CAST(id AS INT) AS i, CAST(id / 4 AS DECIMAL(10, 2)) AS dec, timestamp_micros(id * 1000001) AS at, "
        "date_add(DATE'2024-01-01', CAST(id AS INT)) AS d, lpad(id, 3, '0') AS name"
    )
    with own_schema(spark):
        spark.sql("CREATE TABLE tgt (id BIGINT, i INT, dec DECIMAL(10, 2), at TIMESTAMP, d DATE, name STRING, v STRING)"
                  " USING delta")  # fmt: skip
        spark.sql(
            f"INSERT INTO tgt SELECT /*+ REPARTITION_BY_RANGE(10, id) */ {columns}, 'old' FROM range(0, 100) "
            "WHERE id % 10 < 8"
        )
        spark.sql(f"CREATE TABLE src USING delta AS SELECT {columns} FROM range(0, 100) UNION ALL "
                  "SELECT NULL, NULL, NULL, NULL, NULL, NULL")  # fmt: skip
        yield spark


def merge(on: str, source: str = LATE, table: str = "tgt") -> str:
    return f"MERGE INTO {table} t USING {source} s ON {on} {UPSERT}"


KEYS = {
    "id": "(t.id >= 0L AND t.id <= 2L OR t.id >= 94L AND t.id <= 99L)",
    "i": "(t.i >= 0 AND t.i <= 2 OR t.i >= 94 AND t.i <= 99)",
    "dec": "(t.dec >= CAST('0.00' AS DECIMAL(10,2)) AND t.dec <= CAST('0.50' AS DECIMAL(10,2)) OR "
    "t.dec >= CAST('23.50' AS DECIMAL(10,2)) AND t.dec <= CAST('24.75' AS DECIMAL(10,2)))",
    "at": "(t.at >= timestamp_micros(-1000000L) AND t.at <= timestamp_micros(3000002L) OR "
    "t.at >= timestamp_micros(93000094L) AND t.at <= timestamp_micros(100000099L))",
    "d": "(t.d >= DATE'2024-01-01' AND t.d <= DATE'2024-01-03' OR t.d >= DATE'2024-04-04' AND t.d <= DATE'2024-04-09')",
}


@pytest.mark.parametrize("key", some(KEYS, ("d",)))
def test_the_gap_between_old_and_new_keys_is_skipped(shop: Any, key: str) -> None:
    looked = plan(shop, merge(f"t.{key} = s.{key}"), rows=0)
    assert [one.text for one in looked.scan.derived] == [KEYS[key]]
    assert (looked.scan.files_before, looked.scan.files_after_as_typed, looked.scan.files_after) == (10, 10, 2)
    check_plan(looked)


def test_strings_have_no_gaps(shop: Any) -> None:
    (one,) = plan(shop, merge("t.name = s.name"), rows=0).scan.derived
    assert one.text == "t.name >= '000' AND t.name <= '099'"


def test_keys_that_lie_all_over_are_one_range(shop: Any) -> None:
    (one,) = plan(shop, merge("t.id = s.id", "(SELECT * FROM src WHERE id % 3 <> 1)"), rows=0).scan.derived
    assert one.text == "t.id >= 0L AND t.id <= 99L"


def test_the_merge_makes_the_same_rows_with_and_without_it(shop: Any) -> None:
    made = []
    for prune in (True, False):
        table = f"tgt_{prune}"
        shop.sql(f"CREATE TABLE {table} SHALLOW CLONE tgt")
        looked = plan(shop, merge("t.id = s.id", table=table), rows=0, prune=prune)
        assert apply(shop, looked).kept
        made.append((shop.sql(f"SELECT * FROM {table} ORDER BY id").collect(), dict(looked.promise)))
    assert made[0] == made[1]


def test_a_plan_of_elsewhere_may_leave_out_the_gaps_of_its_own_source(session: Any, shop: Any) -> None:
    shop.sql("CREATE TABLE of_elsewhere SHALLOW CLONE tgt")
    looked = plan(shop, merge("t.id = s.id", table="of_elsewhere"), rows=0)
    assert KEYS["id"] in looked.splices[-1].text
    with session.new_session() as other:
        other.spark.sql(f"USE {shop.sql('SELECT current_schema()').collect()[0][0]}")
        assert apply(other.spark, Plan.from_json(looked.to_json())).kept
