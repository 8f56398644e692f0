"""Tables of other, newer writers: what this Delta cannot write is refused by the plan, as Delta refuses it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine import plan
from engine.model.errors import EngineError
from engine.spark.spark_errors import translate

UPDATE = "MERGE INTO {t} t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v"
STATEMENTS = (
    UPDATE,
    UPDATE.replace("ON", "ON s.v > 100 AND"),
    "MERGE INTO {t} t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *",
)
UNSUPPORTED = "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"
VERSION = "DELTA_INVALID_PROTOCOL_VERSION"


def writers(*features: str) -> dict[str, Any]:
    return {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["appendOnly", "invariants", *features]}


def readers(*features: str, writer: int = 7) -> dict[str, Any]:
    names = list(features)
    return {"minReaderVersion": 3, "minWriterVersion": writer, "readerFeatures": names, "writerFeatures": names}


PROTOCOLS = {
    "writer's feature": (writers("collations-preview"), UNSUPPORTED),
    "one of tests": (writers("redirectWriterOnly-preview"), UNSUPPORTED),
    "writer's version": (readers(writer=99), VERSION),
    "reader's feature": (readers("nosuch-dev"), "DELTA_UNSUPPORTED_FEATURES_FOR_READ"),
    "reader's version": ({**readers(), "minReaderVersion": 4}, VERSION),
    "known": (writers("checkpointProtection", "domainMetadata"), None),
    "known, other case": (writers("CheckpointProtection"), UNSUPPORTED),
    "preview": (readers("geospatial"), None),
}


@pytest.fixture
def tables(spark: Any, schema: str) -> Any:
    spark.sql("CREATE TABLE s (id INT, v INT) USING delta")
    spark.sql("INSERT INTO s VALUES (1, 5), (2, 6)")
    return spark


def table(spark: Any, path: Path, protocol: dict[str, Any]) -> str:
    """A table whose second commit, by hand, upgrades its protocol."""
    name = f"delta.`{path}`"
    spark.sql(f"CREATE TABLE {name} (id INT, v INT) USING delta")
    spark.sql(f"INSERT INTO {name} VALUES (1, 1)")
    (path / "_delta_log" / "00000000000000000002.json").write_text(json.dumps({"protocol": protocol}) + "\n")
    return name


def says(spark: Any, sql: str) -> str | None:
    try:
        spark.sql(sql).collect()
    except Exception as error:
        return str(translate(error).condition)
    return None


def foreseen(spark: Any, sql: str) -> str | None:
    try:
        found = plan(spark, sql)
    except EngineError as error:
        return error.condition
    return found.refused.condition if found.refused else None


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_protocol_that_this_delta_cannot_write_is_foreseen(tables: Any, tmp_path: Path, name: str) -> None:
    protocol, condition = PROTOCOLS[name]
    target = table(tables, tmp_path / "t", protocol)
    for statement in STATEMENTS:
        sql = statement.format(t=target)
        assert foreseen(tables, sql) == condition
    for statement in reversed(STATEMENTS):
        assert says(tables, statement.format(t=target)) == condition


def test_the_features_are_named_with_what_to_do(tables: Any, tmp_path: Path) -> None:
    target = table(tables, tmp_path / "t", writers("zz-dev", "collations-preview"))
    refused = plan(tables, UPDATE.format(t=target)).refused
    assert refused is not None
    assert refused.message.endswith("does not have: collations-preview, zz-dev.")
    assert "DROP FEATURE" in refused.hint


def test_such_a_table_cannot_be_replaced_and_its_copies_leave_the_feature_out(tables: Any, tmp_path: Path) -> None:
    target = table(tables, tmp_path / "t", writers("collations-preview"))
    tables.sql(f"CREATE TABLE w USING delta LOCATION '{tmp_path / 't'}'")
    for replace in ("CREATE OR REPLACE TABLE w (id INT) USING delta", "REPLACE TABLE w USING delta AS SELECT 1 AS id"):
        assert foreseen(tables, replace) == says(tables, replace) == UNSUPPORTED
    for copy in (f"CREATE TABLE c SHALLOW CLONE {target}", "CREATE TABLE l LIKE w"):
        after = plan(tables, copy).after
        tables.sql(copy)
        detail = tables.sql(f"DESCRIBE DETAIL {copy.split()[2]}").collect()[0]
        assert after is not None
        assert (after.min_writer_version, after.features) == (
            detail["minWriterVersion"],
            tuple(sorted(detail["tableFeatures"])),
        )
