"""What gives other values each time is known behind views and functions too, and is committed as it was previewed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.plan_statement import plan


@pytest.fixture
def shop(spark: Any, schema: str) -> Iterator[Any]:
    """A target, a source, and a view and a function that ask what time it is."""
    spark.sql("CREATE TABLE t USING delta AS SELECT 1 AS id, TIMESTAMP'2020-01-01' AS at, '' AS v")
    spark.sql("CREATE TABLE src USING delta AS SELECT 1 AS id, 'new' AS v")
    spark.sql("CREATE VIEW timed AS SELECT id, CAST(current_timestamp() AS STRING) AS v FROM src")
    spark.sql("CREATE TEMPORARY FUNCTION time_now() RETURNS STRING RETURN CAST(current_timestamp() AS STRING)")
    yield spark
    spark.sql("DROP TEMPORARY FUNCTION time_now")


def merge(source: str, value: str = "s.v", on: str = "t.id = s.id") -> str:
    return f"MERGE INTO t USING {source} s ON {on} WHEN MATCHED THEN UPDATE SET v = {value}"


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("timed", "current_timestamp"),
        ("(SELECT id, time_now() AS v FROM src)", "current_timestamp"),
        ("(SELECT * FROM src WHERE TIMESTAMP'2020-01-01' < 'now')", "'now'"),
    ],
)
def test_a_source_that_asks_the_time_is_merged_as_it_was_previewed(shop: Any, source: str, part: str) -> None:
    merge_plan = plan(shop, merge(source))
    assert merge_plan.source.volatile == (part,)
    previewed = merge_plan.samples[0].after["v"]
    assert apply(shop, merge_plan).kept
    assert shop.sql("SELECT v FROM t").collect()[0][0] == previewed


@pytest.mark.parametrize(
    ("source", "is_limited"),
    [
        ("(SELECT id, v FROM src LIMIT 1)", True),
        ("(SELECT id, v FROM (SELECT * FROM src OFFSET 0) AS x)", True),
        ("(WITH c AS (SELECT id FROM src LIMIT 5) SELECT id, 'new' AS v FROM c)", True),
        ("(SELECT id, v FROM src SORT BY id LIMIT 1)", True),
        ("(SELECT id, v FROM src ORDER BY upper(v), id LIMIT 1 OFFSET 0)", False),
        ("(SELECT max(id) AS id, 'new' AS v FROM src LIMIT 1)", False),
        ("(SELECT id, max(v) AS v FROM src GROUP BY id LIMIT 1)", True),
        ("(SELECT id, 'LocalLimit 1' AS v FROM src)", False),
    ],
)
def test_rows_that_a_limit_takes_as_they_come_are_merged_as_they_were_previewed(
    shop: Any, source: str, is_limited: bool
) -> None:
    merge_plan = plan(shop, merge(source))
    assert merge_plan.source.volatile == (("LIMIT without ORDER BY",) if is_limited else ())
    is_frozen = merge_plan.session.source_view in "".join(one.text for one in merge_plan.splices)
    assert is_frozen or not is_limited
    assert apply(shop, merge_plan).kept


@pytest.mark.parametrize(
    ("sampled", "is_drawn"),
    [
        ("TABLESAMPLE (30 PERCENT)", True),
        pytest.param("TABLESAMPLE (BUCKET 3 OUT OF 10)", True, marks=pytest.mark.thorough),
        pytest.param("TABLESAMPLE (30 PERCENT) REPEATABLE (7)", False, marks=pytest.mark.thorough),
        pytest.param("TABLESAMPLE (100 PERCENT)", False, marks=pytest.mark.thorough),
    ],
)
def test_rows_that_are_drawn_are_frozen_as_those_of_a_random_source(shop: Any, sampled: str, is_drawn: bool) -> None:
    shop.sql("CREATE OR REPLACE TABLE many USING delta AS SELECT id, 'm' AS v FROM range(300)")
    shop.sql(f"CREATE OR REPLACE VIEW drawn AS SELECT * FROM many {sampled}")
    wanted = ("TABLESAMPLE",) if is_drawn else ()
    inserts = "MERGE INTO t USING drawn s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
    merge_plan = plan(shop, inserts)
    assert merge_plan.source.volatile == wanted
    assert apply(shop, merge_plan).kept
    made = plan(shop, f"CREATE TABLE made USING delta AS SELECT * FROM many {sampled}")
    assert made.source is not None
    assert made.source.volatile == wanted


@pytest.mark.parametrize("value", ["(SELECT max(v) FROM timed)", "(SELECT max(time_now()) FROM src)"])
def test_a_subquery_that_asks_the_time_is_unknown_and_can_be_applied(shop: Any, value: str) -> None:
    merge_plan = plan(shop, merge("src", value))
    assert [one.evidence for one in merge_plan.warnings if one.code == "VALUES_UNKNOWN"] == ["v: current_timestamp"]
    assert merge_plan.samples[0].unknown == ("v",)
    assert apply(shop, merge_plan).kept


def test_a_text_that_spark_casts_to_the_time_of_now_is_told_of(shop: Any) -> None:
    codes = [one.code for one in plan(shop, merge("src", on="t.id = s.id AND t.at < 'now'")).warnings]
    assert codes == ["CLOCK_IN_CONDITION"]
    assert not plan(shop, merge("src", on="t.id = s.id AND t.v < 'now'")).warnings


def test_aes_encrypt_is_random_though_spark_calls_it_deterministic(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE t USING delta AS SELECT id, CAST(NULL AS BINARY) AS b FROM range(3)")
    spark.sql("CREATE TABLE s USING delta AS SELECT id FROM range(2, 4)")
    encrypted = "aes_encrypt('a', '0000111122223333')"
    merge = f"MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET b = {encrypted}"
    looked = plan(spark, merge)
    assert "VALUES_UNKNOWN" in [one.code for one in looked.warnings]
    assert [one.unknown for one in looked.samples] == [("b",)]
    looked = plan(spark, f"MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND t.b = {encrypted} THEN DELETE")
    assert "RANDOM_IN_CONDITION" in [one.code for one in looked.warnings]
    looked = plan(
        spark,
        f"MERGE INTO t USING (SELECT id, {encrypted} AS b FROM s) AS s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET b = s.b",
    )
    assert "VOLATILE_SOURCE" in [one.code for one in looked.warnings]
    assert apply(spark, looked).kept
    assert bytes(spark.sql("SELECT b FROM t WHERE id = 2").collect()[0][0]).hex().upper() == (
        looked.samples[0].after or {}
    )["b"].replace(" ", "")
