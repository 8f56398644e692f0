"""Columns that schema evolution may not add are refused by the plan as Delta refuses them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine import apply
from engine.plan_merge import plan
from engine.spark.confs import confs_set
from tests.engine.fidelity import refused_by_delta

EVOLVE = "MERGE WITH SCHEMA EVOLUTION INTO tgt t USING (SELECT 1L AS id, {}) s ON t.id = s.id {}"
INSERT = "WHEN NOT MATCHED THEN INSERT *"
ICEBERG = "'delta.columnMapping.mode' = 'name', 'delta.enableIcebergCompatV{}' = 'true'"
FEED = "'delta.enableChangeDataFeed' = 'true'"
CASES = {
    "a blank": ("2 AS `order total`", "", "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"),
    "a blank in a new struct": ("named_struct('a b', 1) AS n", "", "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"),
    "a blank, mapped": ("2 AS `order total`", "'delta.columnMapping.mode' = 'name'", ""),
    "no zone": ("TIMESTAMP_NTZ'2024-01-01 00:00:00' AS at", "", "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"),
    "no zone, in an array": (
        "array(TIMESTAMP_NTZ'2024-01-01 00:00:00') AS at",
        "",
        "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",
    ),
    "no zone, supported": (
        "TIMESTAMP_NTZ'2024-01-01 00:00:00' AS at",
        "'delta.feature.timestampNtz' = 'supported'",
        "",
    ),
    "a name of the feed": ("'x' AS _change_type", FEED, "RESERVED_CDC_COLUMNS_ON_WRITE"),
    "a name of the feed, which has its older name": (
        "'x' AS _change_type",
        "'delta.enableChangeDataCapture' = 'true'",
        "RESERVED_CDC_COLUMNS_ON_WRITE",
    ),
    "such a name without a feed": ("'x' AS _change_type", "", ""),
    "a time": ("TIME'10:00:00' AS i", "", "DELTA_UNSUPPORTED_DATA_TYPES"),
    "a field that is called interval": ("named_struct('interval', 1, 'collate', 2) AS n", "", ""),
    "a type that is widened": (
        "TIMESTAMP_NTZ'2024-01-01 00:00:00' AS day",
        "'delta.enableTypeWidening' = 'true'",
        "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",
    ),
    "a list without a type": ("array() AS z", "", "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE"),
    "a map without a type, in a struct": (
        "named_struct('a', 1, 'b', map('k', NULL)) AS z",
        "",
        "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE",
    ),
    "a struct without a type": ("named_struct('a', NULL) AS z", "", "DELTA_CANNOT_WRITE_EMPTY_SCHEMA"),
    "a struct with a field without a type": ("named_struct('a', NULL, 'b', 1) AS z", "", ""),
    "a NULL without a type": ("NULL AS z", "", ""),
    "a map, compatible with Iceberg": ("map('a', 1) AS z", ICEBERG.format(1), "DELTA_ICEBERG_COMPAT_VIOLATION"),
    "a map, compatible with Iceberg 2": ("map('a', 1) AS z", ICEBERG.format(2), ""),
    "a NULL, compatible with Iceberg 2": ("NULL AS z", ICEBERG.format(2), "DELTA_ICEBERG_COMPAT_VIOLATION"),
    "a variant, compatible with Iceberg 2": ("parse_json('1') AS z", ICEBERG.format(2), "INVALID_FIELD_NAME"),
    "widened otherwise than in Iceberg": (
        "TIMESTAMP_NTZ'2024-01-01 00:00:00' AS day",
        f"'delta.enableTypeWidening' = 'true', 'delta.feature.timestampNtz' = 'supported', {ICEBERG.format(2)}",
        "DELTA_ICEBERG_COMPAT_VIOLATION",
    ),
    "an interval": ("INTERVAL '1' DAY AS i", "", "DELTA_UNSUPPORTED_DATA_TYPES"),
    "a plain one": ("named_struct('a', array(1)) AS n", "", ""),
}


@pytest.mark.parametrize("case", CASES)
def test_a_new_column_is_refused_as_delta_refuses_it(spark: Any, schema: str, case: str) -> None:
    columns, properties, condition = CASES[case]
    given = f"TBLPROPERTIES ({properties})" if properties else ""
    spark.sql(f"CREATE TABLE tgt (id BIGINT, day DATE) USING delta {given}")
    text = EVOLVE.format(columns, INSERT)
    assert refused(spark, text) == condition


def refused(spark: Any, text: str) -> str:
    """The class of the error that the plan foresees and Delta raises, "" for none."""
    looked = plan(spark, text)
    condition = looked.refused.condition if looked.refused else ""
    assert refused_by_delta(spark, text).partition(".")[0] == condition
    return condition


@pytest.mark.parametrize(
    ("columns", "condition"),
    [
        ("NULL AS z, 1L AS n", "DELTA_MERGE_ADD_VOID_COLUMN"),
        ("named_struct('a', NULL, 'b', 1) AS z", "DELTA_MERGE_ADD_VOID_COLUMN"),
        ("array() AS z", "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE"),
    ],
)
def test_a_null_without_a_type_is_refused_before_all_where_delta_reads_none(
    spark: Any, schema: str, columns: str, condition: str
) -> None:
    """Which is so by default on Spark 4.0."""
    spark.sql(
        "CREATE TABLE tgt (id BIGINT, day DATE, n INT) USING delta "
        "TBLPROPERTIES ('delta.enableTypeWidening' = 'true', 'delta.constraints.c' = 'n > 0')"
    )
    with confs_set(spark, {"spark.databricks.delta.createDataFrame.dropNullColumns": "true"}):
        assert refused(spark, EVOLVE.format(columns, INSERT)) == condition


def test_the_schema_is_changed_before_a_condition_is_computed(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE tgt (id BIGINT, day DATE) USING delta")
    text = EVOLVE.format("array() AS z", f"WHEN MATCHED AND 1 THEN DELETE {INSERT}")
    assert refused(spark, text) == "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE"


def with_a_not_null_in_an_array(spark: Any, path: Path, columns: str) -> None:
    """``tgt`` as other writers may leave it."""
    spark.sql(f"CREATE TABLE made ({columns}, a ARRAY<STRUCT<x: INT>>, day DATE) USING delta LOCATION '{path}/t'")
    log = path / "t" / "_delta_log" / f"{0:020}.json"
    of_others = path / "others" / "_delta_log"
    of_others.mkdir(parents=True)
    nullable, strict = (rf"\"name\":\"x\",\"type\":\"integer\",\"nullable\":{one}" for one in ("true", "false"))
    (of_others / log.name).write_text(log.read_text().replace(nullable, strict))
    spark.sql(f"CREATE TABLE tgt USING delta LOCATION '{of_others.parent}'")
    assert "false" in spark.table("tgt").schema["a"].json()


@pytest.mark.parametrize(
    ("columns", "condition"), [("2 AS z", "DELTA_NESTED_NOT_NULL_CONSTRAINT"), ("NULL AS day", "")]
)
def test_a_not_null_in_an_array_lets_no_schema_change(
    spark: Any, schema: str, tmp_path: Path, columns: str, condition: str
) -> None:
    with_a_not_null_in_an_array(spark, tmp_path, "id BIGINT")
    assert refused(spark, EVOLVE.format(columns, INSERT)) == condition


def test_nor_does_it_let_an_identity_count_on(spark: Any, schema: str, tmp_path: Path) -> None:
    with_a_not_null_in_an_array(spark, tmp_path, "key BIGINT GENERATED BY DEFAULT AS IDENTITY, id BIGINT")
    merge = "MERGE INTO tgt t USING (SELECT 1L AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT {}"
    assert refused(spark, merge.format("(id) VALUES (s.id)")) == "DELTA_NESTED_NOT_NULL_CONSTRAINT"
    assert refused(spark, merge.format("(key, id) VALUES (1, s.id)")) == ""


WRITES = "The source has {} that * does not write, because the table does not have {}."


@pytest.mark.parametrize(
    ("evolves", "clause", "told"),
    [
        ("", "WHEN MATCHED THEN UPDATE SET *", WRITES.format("columns", "them: b, x")),
        ("", f"WHEN MATCHED AND s.x = 1 THEN DELETE {INSERT}", WRITES.format("a column", "it: b")),
        ("", "WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)", ""),
        ("WITH SCHEMA EVOLUTION", INSERT, ""),
    ],
)
def test_the_plan_tells_what_a_star_leaves_out(spark: Any, schema: str, evolves: str, clause: str, told: str) -> None:
    """Delta writes no column of the source that the table does not have, and raises no error."""
    spark.sql("CREATE TABLE tgt (id BIGINT, day DATE) USING delta")
    spark.sql("INSERT INTO tgt VALUES (2, NULL)")
    source = "(SELECT id, DATE'2024-01-01' AS DAY, 7 AS b, 0 AS x FROM range(2, 4))"
    looked = plan(spark, f"MERGE {evolves} INTO tgt t USING {source} s ON t.id = s.id {clause}")
    advice = [one.sentence for one in looked.advice if one.code == "STAR_LEAVES_OUT_COLUMNS"]
    assert advice == ([told] if told else [])
    assert apply(spark, looked).kept
    assert spark.table("tgt").columns == ["id", "day", *(["b", "x"] if evolves else [])]


@pytest.mark.thorough
def test_a_session_that_evolves_schemas_leaves_out_nothing(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE tgt (id BIGINT) USING delta")
    with confs_set(spark, {"spark.databricks.delta.schema.autoMerge.enabled": "true"}):
        looked = plan(spark, f"MERGE INTO tgt t USING (SELECT 1L AS id, 7 AS b) s ON t.id = s.id {INSERT}")
    assert "STAR_LEAVES_OUT_COLUMNS" not in [one.code for one in looked.advice]
