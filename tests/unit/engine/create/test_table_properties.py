"""What Delta refuses of the value of a table property."""

from __future__ import annotations

import pytest

from engine.create.table_properties import PROPERTIES, takes

FAILED = "EXPRESSION_FAILED"


@pytest.mark.parametrize(
    ("key", "value", "condition"),
    [
        ("delta.appendOnly", "TRUE", None),
        ("delta.appendOnly", "yes", FAILED),
        ("delta.appendOnly", "", FAILED),
        ("delta.autoOptimize.autoCompact", "auto", FAILED),
        ("delta.checkpointInterval", "10", None),
        ("delta.checkpointInterval", "0", FAILED),
        ("delta.checkpointInterval", "ten", FAILED),
        ("delta.dataSkippingNumIndexedCols", "-1", None),
        ("delta.dataSkippingNumIndexedCols", "-2", FAILED),
        ("delta.dataSkippingStringPrefixLength", "0", None),
        ("delta.logRetentionDuration", "interval 30 days", None),
        ("delta.logRetentionDuration", "2 weeks 1 day", None),
        ("delta.logRetentionDuration", "1 month", FAILED),
        ("delta.logRetentionDuration", "-1 day", FAILED),
        ("delta.logRetentionDuration", "- 1 day", FAILED),
        ("delta.logRetentionDuration", "for ever", "DELTA_INVALID_INTERVAL"),
        ("delta.logRetentionDuration", "1 month x", "DELTA_INVALID_INTERVAL"),
        ("delta.logRetentionDuration", "1.5 days", "DELTA_INVALID_INTERVAL"),
        ("delta.logRetentionDuration", "1 day2 hours", "DELTA_INVALID_INTERVAL"),
        ("delta.logRetentionDuration", ".5 seconds", None),
        ("delta.checkpointInterval", "9999999999", FAILED),
        ("delta.requireCheckpointProtectionBeforeVersion", "100000000000", None),
        ("delta.inCommitTimestampEnablementVersion", "x", FAILED),
        ("delta.logRetentionDuration", " ", "DELTA_INVALID_CALENDAR_INTERVAL_EMPTY"),
        ("delta.checkpointPolicy", "v2", None),
        ("delta.checkpointPolicy", "V2", FAILED),
        ("delta.columnMapping.mode", "Name", None),
        ("delta.columnMapping.mode", "position", "SPARK_ERROR"),
        ("delta.isolationLevel", "serializable", None),
        ("delta.isolationLevel", "WriteSerializable", FAILED),
        ("delta.isolationLevel", "none", "DELTA_INVALID_ISOLATION_LEVEL"),
        ("delta.minReaderVersion", "1", None),
        *(("delta.universalFormat.enabledFormats", one, None) for one in ("", "iceberg", "hudi,iceberg", "hudi,")),
        *(
            ("delta.universalFormat.enabledFormats", one, FAILED)
            for one in ("Iceberg", "delta", "iceberg, hudi", "iceberg,iceberg", ",hudi")
        ),
        *(("delta.parquet.format.version", one, None) for one in ("1.0.0", "2.12.0", "3.0.1")),
        *(("delta.parquet.format.version", one, FAILED) for one in ("0.9.0", "1.0.0-rc1")),
        *(("delta.parquet.format.version", one, "SPARK_ERROR") for one in ("1.0", "v2", "")),
        ("delta.coordinatedCommits.tableConf-preview", '{"a": "b"}', None),
        ("delta.coordinatedCommits.tableConf-preview", "a", "SPARK_ERROR"),
        ("delta.nosuch", "x", None),
        ("appendOnly", "yes", None),
    ],
)
def test_a_value_that_a_property_does_not_take(key: str, value: str, condition: str | None) -> None:
    assert takes(key).refused(value) == condition
    assert takes(key).what


def test_no_property_is_named_twice() -> None:
    assert len({name.lower() for name in PROPERTIES}) == len(PROPERTIES) == 54
