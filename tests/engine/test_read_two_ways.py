"""A table that a MERGE reads in two ways is refused, for Spark takes one for the other; in one way it is as it is."""

from __future__ import annotations

from typing import Any

import pytest

from engine import apply, plan
from engine.model.errors import EngineError

FEED = "table_changes('o', 1, 1)"
BY_OPTION = "o WITH ('readChangeFeed' = 'true', 'startingVersion' = '1', 'endingVersion' = '1')"
NULLS = "o_csv WITH ('nullValue' = '10')"
TWO_WAYS = {
    "of the target": ("(SELECT id, v FROM table_changes('t', 1, 1))", "s.v"),
    "of the target, in a view": ("feed_of_t", "s.v"),
    "of the target, in a subquery": ("o", "(SELECT max(v) FROM table_changes('t', 1, 1))"),
    "in the source, and the table in a subquery": (
        f"(SELECT id, v FROM {FEED})",
        "concat(s.v, (SELECT max(v) FROM o))",
    ),
    "in a subquery, and the table as the source": ("o", f"(SELECT max(v) FROM {FEED})"),
    "by an option": ("o", f"(SELECT max(v) FROM {BY_OPTION})"),
    "with its schema": ("o", "(SELECT max(v) FROM table_changes('{schema}.o', 1, 1))"),
    "and the table in a view": (f"(SELECT id, v FROM {FEED})", "concat(s.v, (SELECT max(v) FROM rows_of_o))"),
    "a file with options and without": (f"(SELECT id, v FROM {NULLS})", "(SELECT max(v) FROM o_csv)"),
    "a file in two ways of the source": (f"(SELECT a.id, b.v FROM {NULLS} a JOIN o_csv b ON a.id = b.id)", "s.v"),
    "a view with options": ("csv_with_nulls", "(SELECT max(v) FROM o_csv)"),
    "options and a view without": (f"(SELECT id, v FROM {NULLS})", "(SELECT max(v) FROM rows_of_csv)"),
    "two views": ("csv_with_nulls", "(SELECT max(v) FROM rows_of_csv)"),
    "another part of it": (f"(SELECT id, v FROM {FEED})", "(SELECT max(v) FROM table_changes('o', 2, 2))"),
}
ONE_WAY = {
    "in the source": (f"(SELECT id, v FROM {FEED})", "s.v"),
    "in a view": ("feed_of_o", "s.v"),
    "in a view that calls it as its table": ("aliased_feed", "s.v"),
    "in a view with options": ("csv_with_nulls", "coalesce(s.v, 'none')"),
    "a text that looks like one": ("o", "concat(s.v, 'table_changes(\\'o\\', 1, 1)')"),
    "a file with options": (f"(SELECT id, coalesce(v, 'none') AS v FROM {NULLS})", "s.v"),
    "of a view without a text": ("(SELECT f.id, o.v FROM feed_in_a_frame f JOIN o ON f.id = o.id)", "s.v"),
    "a version": ("(SELECT id, v FROM o VERSION AS OF 1)", "concat(s.v, (SELECT max(v) FROM o))"),
    "a version, by an option": (
        "(SELECT id, v FROM o WITH ('versionAsOf' = '1'))",
        "concat(s.v, (SELECT max(v) FROM o))",
    ),
    "twice": (f"(SELECT id, v FROM {FEED})", f"concat(s.v, (SELECT max(v) FROM {FEED}))"),
    "of the target, by its path": ("(SELECT id, v FROM table_changes_by_path('{path}', 1, 1))", "s.v"),
}


@pytest.fixture
def shop(spark: Any, schema: str) -> Any:
    for name in ("t", "u", "o"):
        spark.sql(
            f"CREATE TABLE {name} (id INT, v STRING) USING delta TBLPROPERTIES (delta.enableChangeDataFeed = true)"
        )
        spark.sql(f"INSERT INTO {name} SELECT CAST(id AS INT), '{name}' FROM range(0, 9, 1, 1)")
        spark.sql(f"UPDATE {name} SET v = concat(v, id)")
    feed = spark.read.option("readChangeFeed", "true").option("startingVersion", 1).option("endingVersion", 1)
    feed.table("o").createOrReplaceTempView("feed_in_a_frame")
    spark.sql("CREATE TABLE o_csv (id INT, v STRING) USING csv")
    spark.sql("INSERT INTO o_csv VALUES (1, '10'), (2, '20'), (4, '40')")
    spark.sql("CREATE VIEW feed_of_t AS SELECT id, v FROM table_changes('t', 1, 1)")
    spark.sql("CREATE VIEW aliased_feed AS SELECT o.id, o.v FROM table_changes('o', 1, 1) AS o")
    spark.sql("CREATE TEMPORARY VIEW feed_of_o AS SELECT id, v FROM table_changes('o', 1, 1)")
    spark.sql("CREATE VIEW rows_of_o AS SELECT * FROM o")
    spark.sql("CREATE VIEW rows_of_csv AS SELECT * FROM o_csv")
    spark.sql(f"CREATE VIEW csv_with_nulls AS SELECT id, v FROM {NULLS}")
    yield spark
    for view in ("feed_of_o", "feed_in_a_frame"):
        spark.sql(f"DROP VIEW {view}")


def merge(shop: Any, schema: str, target: str, source: str, value: str) -> str:
    path = shop.sql(f"DESCRIBE DETAIL {target}").collect()[0]["location"].removeprefix("file:")
    source, value = (text.replace("{schema}", schema).replace("{path}", path) for text in (source, value))
    return f"MERGE INTO {target} t USING {source} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = {value}"


@pytest.mark.parametrize("name", TWO_WAYS)
def test_a_table_that_is_read_in_two_ways_is_refused(shop: Any, schema: str, name: str) -> None:
    with pytest.raises(EngineError) as raised:
        plan(shop, merge(shop, schema, "t", *TWO_WAYS[name]))
    assert raised.value.condition == "TABLE_READ_TWO_WAYS"


@pytest.mark.parametrize("name", ONE_WAY)
def test_what_is_read_in_one_way_is_what_the_merge_reads(shop: Any, schema: str, name: str) -> None:
    merge_plan = plan(shop, merge(shop, schema, "t", *ONE_WAY[name]))
    assert apply(shop, merge_plan).kept
    shop.sql(merge(shop, schema, "u", *ONE_WAY[name])).collect()
    rows = [sorted(tuple(row) for row in shop.sql(f"SELECT id, v FROM {table}").collect()) for table in ("t", "u")]
    # by its path, each reads its own feed
    assert [(id, v.replace("u", "t")) for id, v in rows[1]] == rows[0]
