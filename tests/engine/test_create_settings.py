"""What the session's settings, and the state of a clone's source, make of the table that is promised."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import PySparkException

from engine import apply
from engine.create.table_properties import DEFAULTS
from engine.merge.plan_writes import COLLECT_STATISTICS
from engine.model.errors import EngineError
from engine.preflight.target_rules import RESERVED
from engine.spark.confs import OUTPUT, confs_set
from engine.spark.spark_errors import translate
from tests.engine.fidelity import refused_by_delta
from tests.engine.test_plan_create_table import planned


@pytest.mark.parametrize(
    ("name", "value", "sql", "promised"),
    [
        ("enableDeletionVector", "true", "CREATE TABLE t (a INT) USING delta", {}),
        ("EnableChangeDataFeed", "true", "CREATE OR REPLACE TABLE t USING delta AS SELECT 1 AS a", {}),
        ("constraints.x", "a > 0", "CREATE OR REPLACE TABLE t (a INT) USING delta", {}),
        ("feature.allowColumnDefaults", "supported", "CREATE TABLE t (n INT DEFAULT 0) USING delta", {}),
        ("ignoreProtocolDefaults", "true", "CREATE TABLE t (n INT) USING delta", {}),
        ("columnMapping.mode", "name", "CREATE TABLE t (`a b` INT) USING delta", {"delta.columnMapping.mode": "name"}),
    ],
)
def test_the_sessions_defaults_are_those_that_delta_knows(
    spark: Any, schema: str, name: str, value: str, sql: str, promised: dict[str, str]
) -> None:
    with confs_set(spark, {f"{DEFAULTS}{name}": value}):
        found = planned(spark, sql)
        assert found.after is not None
        assert promised.items() <= found.after.properties.items()
        assert bool(promised) == bool(found.after.properties)
        assert apply(spark, found).kept


@pytest.mark.parametrize(
    "sql",
    ["CREATE TABLE t (a INT, v STRING COLLATE UTF8_LCASE) USING delta",
     "CREATE TABLE t USING delta AS SELECT INTERVAL '1' DAY AS d"],
)  # fmt: skip
def test_types_are_not_checked_if_the_session_says_so(spark: Any, schema: str, sql: str) -> None:
    with confs_set(spark, {"spark.databricks.delta.schema.typeCheck.enabled": "false"}):
        assert apply(spark, planned(spark, sql)).kept


@pytest.mark.parametrize("tracked", ["true", "false"])
def test_a_clone_has_columns_for_row_tracking_if_it_is_on(spark: Any, schema: str, tracked: str) -> None:
    source = "CREATE TABLE src (a INT) USING delta TBLPROPERTIES ('delta.enableRowTracking' = 'true')"
    sql = f"CREATE TABLE t SHALLOW CLONE src TBLPROPERTIES ('delta.enableRowTracking' = '{tracked}')"
    found = planned(spark, sql, source)
    assert apply(spark, found).kept
    assert found.after is not None
    assert found.after.properties.keys() == spark.sql("DESCRIBE DETAIL t").collect()[0]["properties"].keys()


@pytest.mark.parametrize(
    ("name", "value", "sql"),
    [
        ("checkpointInterval", "0", "CREATE TABLE t (a INT) USING delta"),
        ("checkpointInterval", "0", "CREATE OR REPLACE TABLE src USING delta AS SELECT 1 AS a"),
        ("columnMapping.maxColumnId", "3", "REPLACE TABLE src (a INT) USING delta"),
        ("feature.nosuch", "supported", "REPLACE TABLE src (a INT) USING delta"),
        ("feature.rowTracking", "on", "REPLACE TABLE src (a INT) USING delta"),
        ("appendOnly", "yes", "CREATE TABLE t SHALLOW CLONE src"),
        ("columnMapping.maxColumnId", "3", "CREATE TABLE t LIKE src"),
        ("feature.nosuch", "supported", "CREATE TABLE t (a INT) USING delta"),
        ("dataSkippingStatsColumns", "a", "CREATE TABLE t (a INT, b INT) USING delta CLUSTER BY (b)"),
    ],
)
def test_a_default_of_the_session_that_delta_refuses(spark: Any, schema: str, name: str, value: str, sql: str) -> None:
    spark.sql("CREATE TABLE src (a INT) USING delta").collect()
    with confs_set(spark, {f"{DEFAULTS}{name}": value}):
        try:
            found = planned(spark, sql)
            told = found.refused.condition if found.refused else ""
        except EngineError as error:
            told = error.condition
        with pytest.raises(PySparkException) as raised:
            spark.sql(sql).collect()
    assert (raised.value.getCondition() or translate(raised.value).condition) == told


def test_a_clone_downgrades_the_protocol_if_the_session_says_so(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE src (a INT) USING delta").collect()
    spark.sql("CREATE TABLE t (b INT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')").collect()
    with confs_set(spark, {"spark.databricks.delta.restore.protocolDowngradeAllowed": "true"}):
        found = planned(spark, "CREATE OR REPLACE TABLE t SHALLOW CLONE src")
        assert apply(spark, found).kept
        assert found.after is not None
        detail = spark.sql("DESCRIBE DETAIL t").collect()[0]
    assert tuple(detail["tableFeatures"]) == found.after.features == ("appendOnly", "invariants")


@pytest.mark.parametrize(
    ("conf", "properties", "condition"),
    [
        ("spark.sql.caseSensitive=true", "'delta.constraints.c' = 'A > 0'", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"),
        ("spark.sql.caseSensitive=true", "'delta.constraints.c' = 'A >= 0 OR nope > 0'", ""),
        (f"{RESERVED}=false", "'delta.constraints.c' = 'current_user > \"\"'", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"),
        (f"{RESERVED}=true", "'delta.constraints.c' = 'current_user > \"\"'", "INTERNAL_ERROR"),
        (f"{COLLECT_STATISTICS}=false", "'delta.enableRowTracking' = 'true'", "DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS"),
        (f"{COLLECT_STATISTICS}=false", "'delta.enableChangeDataFeed' = 'true'", ""),
    ],
)
def test_what_is_written_is_checked_as_delta_checks_it(
    spark: Any, schema: str, conf: str, properties: str, condition: str
) -> None:
    sql = f"CREATE TABLE t USING delta TBLPROPERTIES ({properties}) AS SELECT id AS a FROM range(3)"
    with confs_set(spark, dict([conf.split("=")])):
        found = planned(spark, sql)
        assert (found.refused.condition if found.refused else "") == condition == refused_by_delta(spark, sql)


def test_a_type_of_timestamps_by_which_no_file_is_written_makes_no_table_of_a_query(spark: Any, schema: str) -> None:
    sql = "CREATE TABLE t USING delta AS SELECT 1 AS a"
    with confs_set(spark, {OUTPUT: "int96"}):
        found = planned(spark, sql)
        assert (found.refused.condition if found.refused else "") == refused_by_delta(spark, sql)
