"""Browsing over Connect and classic sessions, with names and data as they come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.errors import EngineError, UsageError
from engine.model.identity import Identity
from engine.table import tables
from engine.table.table_files import table_files


@pytest.mark.parametrize(
    ("name", "sql"),
    [
        ("t", "t"),
        ("db.t", "db.t"),
        (" cat.db.t ", "cat.db.t"),
        ("`db`.`t`", "db.t"),
        ("`my db`.`t.x`", "`my db`.`t.x`"),
        ("db.`a``b`", "db.`a``b`"),
        ("my-db.2024", "`my-db`.`2024`"),
        ("db.left", "db.`left`"),
        ("delta.`/data/t`", "delta.`/data/t`"),
        ("/data/t", "delta.`/data/t`"),
        ("/data/it's", "delta.`/data/it's`"),
        ("s3://bucket/t", "delta.`s3://bucket/t`"),
        ("abfss://c@a.dfs.core.windows.net/t", "delta.`abfss://c@a.dfs.core.windows.net/t`"),
        ("file:/data/t", "delta.`file:/data/t`"),
        ("db.t; DROP TABLE x", "db.`t; DROP TABLE x`"),
    ],
)
def test_names(name: str, sql: str) -> None:
    assert tables.table_sql(name) == sql
    assert tables.table_sql(sql) == sql


def test_relative_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert tables.table_sql("./t") == f"delta.`{tmp_path}/t`"
    assert tables.table_sql("data/t") == f"delta.`{tmp_path}/data/t`"
    assert tables.table_sql("~/t") == f"delta.`{tmp_path}/me/t`"


@pytest.mark.parametrize("name", ["", " ", ".", "a.", ".a", "a..b", "`a", "a`b`", "`a`b", "``"])
def test_names_that_are_none(name: str) -> None:
    if name == ".":
        assert tables.is_path(name)
        return
    with pytest.raises(UsageError) as caught:
        tables.table_sql(name)
    assert caught.value.condition == "BAD_TABLE_NAME"


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=3))
def test_any_parts_survive_quoting(parts: list[str]) -> None:
    sql = ".".join(tables.quote(part) for part in parts)
    assert tables.name_parts(tables.table_sql(sql)) == tuple(parts)


@pytest.fixture(params=["connect", pytest.param("classic", marks=pytest.mark.thorough)])
def either(request: pytest.FixtureRequest) -> tuple[Any, str]:
    """A session of either kind, and a schema of its own."""
    if request.param == "connect":
        return request.getfixturevalue("spark"), request.getfixturevalue("schema")
    return request.getfixturevalue("classic"), request.getfixturevalue("classic_schema")


def test_one_table_from_all_sides(either: tuple[Any, str]) -> None:
    spark, schema = either
    name = f"{schema}.people"
    spark.sql(
        f"""CREATE TABLE {name} (id BIGINT NOT NULL COMMENT 'the key', name VARCHAR(20) COMMENT 'it''s',
        day DATE, `odd ``name` STRING, raw BINARY, tags ARRAY<STRING>, more STRUCT<a: INT, b: STRING>)
        USING delta PARTITIONED BY (day) COMMENT 'who'
        TBLPROPERTIES ('delta.enableDeletionVectors'='true', 'delta.columnMapping.mode'='name')"""
    )
    spark.sql(
        f"""INSERT INTO {name} VALUES
        (1, 'Zoë', DATE'2026-11-20', 'x', X'00FF', array('a', NULL), named_struct('a', 1, 'b', NULL)),
        (2, NULL, DATE'2026-11-21', repeat('y', 3000), unhex(repeat('AB', 3000)), NULL, NULL)"""
    )
    spark.sql(f"DELETE FROM {name} WHERE id = 1")

    detail = tables.table_detail(spark, name)
    assert (detail.name, detail.format, detail.version, detail.description) == (name, "delta", 2, "who")
    assert (detail.num_files, detail.partition_columns) == (1, ("day",))
    assert detail.path.startswith("/")
    assert "deletionVectors" in detail.features
    assert detail.properties["delta.enableDeletionVectors"] == "true"
    assert detail.created_at is not None
    assert detail.created_at.endswith("Z")
    assert [(one.name, one.type, one.nullable, one.comment, one.is_partition) for one in detail.columns] == [
        ("id", "bigint", False, "the key", False),
        ("name", "varchar(20)", True, "it's", False),
        ("day", "date", True, "", True),
        ("odd `name", "string", True, "", False),
        ("raw", "binary", True, "", False),
        ("tags", "array<string>", True, "", False),
        ("more", "struct<a:int,b:string>", True, "", False),
    ]

    (file,) = table_files(spark, name)
    assert (file.rows, file.partition) == (1, {"day": "2026-11-21"}), "mapped columns under the names that people know"
    assert file.min_values["id"] == file.max_values["id"] == "2"
    assert {"name": 1, "odd `name": 0, "more.a": 1}.items() <= file.null_counts.items()

    versions = tables.table_versions(spark, name)
    assert [(one.version, one.operation) for one in versions] == [
        (2, "DELETE"),
        (1, "WRITE"),
        (0, "CREATE TABLE"),
    ]
    assert versions[1].metrics["numOutputRows"] == "2"
    assert versions[0].read_version == 1
    assert versions[0].timestamp <= detail.last_modified  # type: ignore[operator]
    assert len(tables.table_versions(spark, name, limit=1)) == 1

    page = tables.table_rows(spark, name)
    assert not page.more
    ((key, text, day, odd, raw, tags, more),) = page.rows
    assert (key, text, day, tags, more) == ("2", None, "2026-11-21", None, None)
    assert odd == "y" * 2000 + "… (+1000)"
    assert raw == "0x" + "AB" * 1000 + "… (+2000)"
    assert page.cut == 2000

    old = tables.table_rows(spark, name, version=1, limit=1)
    assert (len(old.rows), old.more) == (1, True)
    every = {row[0]: row for row in tables.table_rows(spark, name, version=1).rows}
    assert every["1"][3:] == ("x", "0x00FF", "[a, null]", "{1, null}")
    assert {row[0] for row in tables.table_rows(spark, name, version=1, percent=100).rows} == set(every)
    assert tables.table_rows(spark, name, percent=0).rows == ()

    described = tables.describe_table(spark, name)
    assert described[0][:2] == ("id", "bigint")
    assert "# Detailed Table Information" in [line[0] for line in described]
    assert tables.describe_table(spark, detail.path)[0] == described[0]

    assert tables.table_rows(spark, detail.path).rows == page.rows
    assert tables.table_detail(spark, f"delta.`{detail.path}`").table_id == detail.table_id


def test_where_the_values_of_a_column_come_from_is_told(either: tuple[Any, str]) -> None:
    spark, schema = either
    name = f"{schema}.counted"
    spark.sql(
        f"""CREATE TABLE {name} (id BIGINT GENERATED BY DEFAULT AS IDENTITY (START WITH 5 INCREMENT BY -2), day DATE,
        year INT GENERATED ALWAYS AS (year(day)), n INT DEFAULT 1 + 6, last STRING) USING delta
        TBLPROPERTIES ('delta.feature.allowColumnDefaults'='supported')"""
    )
    spark.sql(f"CREATE TABLE {name}2 (id BIGINT GENERATED ALWAYS AS IDENTITY) USING delta")
    columns = {one.name: one for one in tables.table_detail(spark, name).columns}
    assert {key: one.default for key, one in columns.items() if one.default} == {"n": "1 + 6"}
    assert {key: one.generated_as for key, one in columns.items() if one.generated_as} == {"year": "year(day)"}
    assert columns["id"].identity == Identity(start=5, step=-2, always=False)
    assert [key for key, one in columns.items() if one.identity] == ["id"]
    (always,) = tables.table_detail(spark, f"{name}2").columns
    assert always.identity == Identity(start=1, step=1, always=True)


def test_listing(either: tuple[Any, str]) -> None:
    spark, schema = either
    spark.sql(f"CREATE TABLE {schema}.b (a INT) USING delta")
    spark.sql(f"CREATE TABLE {schema}.a (a INT) USING parquet")
    spark.sql(f"CREATE TABLE {schema}.`order` (a INT) USING delta")
    spark.sql(f"CREATE VIEW {schema}.v AS SELECT 1 AS a")
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW temporary_one AS SELECT 1 AS a")
    assert schema in tables.list_schemas(spark)
    found = tables.list_tables(spark, schema)
    assert [(one.name, one.table, one.is_delta) for one in found] == [
        (f"{schema}.a", "a", False),
        (f"{schema}.b", "b", True),
        (f"{schema}.order", "order", True),
    ]
    assert {one.schema_name for one in found} == {schema}
    other = tables.table_detail(spark, f"{schema}.a")
    assert (other.version, other.num_files, other.table_id, other.format.lower()) == (None, None, "", "parquet")


def test_the_columns_of_a_query_in_brackets(spark: Any, schema: str) -> None:
    name = f"{schema}.q"
    spark.sql(f"CREATE TABLE {name} (id BIGINT NOT NULL, v STRING, w INT) USING delta")
    found = tables.table_columns(spark, f"(SELECT id, upper(v) AS `a b` -- )\n FROM {name} WHERE w > 1)")
    assert [(one.name, one.type) for one in found] == [("id", "bigint"), ("a b", "string")]
    with pytest.raises(EngineError, match="nope"):
        tables.table_columns(spark, f"(SELECT nope FROM {name})")
    with pytest.raises(UsageError, match="credentials"):
        tables.table_columns(spark, "(SELECT * FROM parquet.`s3://key:secret@bucket/x`)")


def test_a_page_is_bounded(spark: Any, schema: str) -> None:
    spark.sql(f"CREATE TABLE {schema}.many USING delta AS SELECT id, repeat('x', 5000) AS t FROM range(3000)")
    page = tables.table_rows(spark, f"{schema}.many", limit=2500)
    assert (len(page.rows), page.more) == (2500, True)
    assert max(len(str(row[1])) for row in page.rows) < 2000, "cells shrink as pages grow"
    assert tables.table_rows(spark, f"{schema}.many", limit=0).rows == ()


def test_what_is_not_there(spark: Any, schema: str, tmp_path: Path) -> None:
    for call in (tables.table_detail, tables.table_versions, tables.table_rows):
        with pytest.raises(EngineError) as caught:
            call(spark, f"{schema}.nothing")
        assert "NOT_FOUND" in caught.value.condition
        assert "\n" not in caught.value.message
        with pytest.raises(EngineError) as caught:
            call(spark, str(tmp_path))
    with pytest.raises(EngineError) as caught:
        tables.list_tables(spark, "no_such_schema")
    assert "SCHEMA_NOT_FOUND" in caught.value.condition


def test_tables_in_directories(tmp_path: Path) -> None:
    for place in (
        "a/_delta_log",
        "b/c/_delta_log",
        "b/c/day=1",
        ".hidden/d/_delta_log",
        "a/nested/_delta_log",
        "e",
    ):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
    found = tables.find_tables(None, str(tmp_path))  # type: ignore[arg-type]
    assert [one.path for one in found] == [str(tmp_path / "a"), str(tmp_path / "b" / "c")]
    assert found[1].name == f"delta.`{tmp_path}/b/c`"
    assert tables.find_tables(None, f"file://{tmp_path}/a")[0].table == "a"  # type: ignore[arg-type]
    deep = tmp_path / "e" / "1/2/3/4/5/6/7" / "_delta_log"
    deep.mkdir(parents=True)
    assert len(tables.find_tables(None, str(tmp_path))) == 2  # type: ignore[arg-type]
    for bad, condition in (
        ("s3://bucket/x", "DIRECTORY_NOT_LOCAL"),
        (str(tmp_path / "x"), "DIRECTORY_NOT_FOUND"),
    ):
        with pytest.raises(EngineError) as caught:
            tables.find_tables(None, bad)  # type: ignore[arg-type]
        assert caught.value.condition == condition
        assert caught.value.hint
