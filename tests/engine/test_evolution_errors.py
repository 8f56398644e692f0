"""Columns that schema evolution may not add are refused by the plan as Delta refuses them."""

from __future__ import annotations

from typing import Any

import pytest

from engine.plan_merge import plan
from engine.spark.spark_errors import translate

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
    looked = plan(spark, text)
    assert (looked.refused.condition if looked.refused else "") == condition
    try:
        spark.sql(text).collect()
        raised = ""
    except Exception as error:
        raised = translate(error).condition
    assert raised.partition(".")[0] == condition
