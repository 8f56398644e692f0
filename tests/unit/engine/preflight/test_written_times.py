"""What Parquet's settings make of dates and times as they are written."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql.types import ArrayType, DataType, DateType, IntegerType, TimestampNTZType, TimestampType

from engine.model.plan import Estimate
from engine.preflight.written_times import (
    FORMAT,
    output_type,
    time_warnings,
    unknown_output,
    unwritten_times,
)
from engine.spark.confs import OUTPUT, OUTPUT_OF_V2, REBASE, REBASE_INT96
from engine.sql.parse import parse_merge

DATES, TIMES, NUMBERS, LOCAL = ArrayType(DateType()), ArrayType(TimestampType()), IntegerType(), TimestampNTZType()
ICEBERG = {"delta.enableIcebergCompatV2": "true"}


def target(type_: DataType = NUMBERS, properties: dict[str, str] | None = None, *, partition: bool = False) -> Any:
    return SimpleNamespace(
        properties=properties or {},
        partition_columns=("p",) if partition else (),
        rules=SimpleNamespace(columns=[SimpleNamespace(name="c", type=type_, partition=partition)]),
    )


def warned(confs: dict[str, str], table: Any, files: Any = Estimate(low=1, high=2)) -> list[str]:  # noqa: B008
    basis = SimpleNamespace(target=table, state=SimpleNamespace(confs=confs))
    findings: Any = SimpleNamespace(
        basis=basis, promise=SimpleNamespace(estimates={"numTargetFilesAdded": files} if files is not None else {})
    )
    return [one.code for one in time_warnings(findings, "4.2.0")]


@pytest.mark.parametrize(
    ("properties", "confs", "version", "output"),
    [
        ({}, {}, "4.2.0", "INT96"),
        ({}, {OUTPUT: "TIMESTAMP_MILLIS"}, "4.2.0", "TIMESTAMP_MILLIS"),
        # ParquetUtils.prepareWrite of Spark 4.2 keeps what it finds, earlier ones set it anew
        ({}, {OUTPUT: "timestamp_millis"}, "4.2.0", "timestamp_millis"),
        ({}, {OUTPUT: "timestamp_millis"}, "4.1.1", "TIMESTAMP_MILLIS"),
        ({OUTPUT: "TIMESTAMP_MILLIS"}, {OUTPUT: "int96"}, "4.2.0", "TIMESTAMP_MILLIS"),
        ({OUTPUT: "TIMESTAMP_MILLIS"}, {}, "4.1.1", "INT96"),
        (ICEBERG, {OUTPUT: "timestamp_millis"}, "4.2.0", "TIMESTAMP_MICROS"),
        ({FORMAT: "2.12.0"}, {OUTPUT: "timestamp_millis"}, "4.2.0", "TIMESTAMP_MICROS"),
        ({FORMAT: "2.12.0"}, {OUTPUT_OF_V2: "TIMESTAMP_MILLIS"}, "4.2.0", "TIMESTAMP_MILLIS"),
        ({FORMAT: "1.0.0"}, {OUTPUT: "TIMESTAMP_MILLIS"}, "4.2.0", "TIMESTAMP_MILLIS"),
    ],
)
def test_how_a_timestamp_is_written(
    properties: dict[str, str], confs: dict[str, str], version: str, output: str
) -> None:
    assert output_type(properties, confs, version) == output


def test_a_setting_that_no_writer_knows_is_refused() -> None:
    refused = unknown_output({}, {OUTPUT: "Timestamp_Micros"}, "4.2.0")
    assert refused is not None
    assert refused.condition == "SPARK_ERROR"
    assert unknown_output({}, {OUTPUT: "TIMESTAMP_MICROS"}, "4.2.0") is None


@pytest.mark.parametrize(
    ("clauses", "touched", "files", "partition", "is_refused"),
    [
        ("WHEN MATCHED THEN DELETE", True, Estimate(low=1, high=2), False, True),
        # Spark's first task opens a file for no rows, too
        ("WHEN MATCHED THEN DELETE", True, 0, False, True),
        ("WHEN NOT MATCHED THEN INSERT *", False, 0, False, True),
        ("WHEN NOT MATCHED THEN INSERT *", False, 0, True, False),
        ("WHEN MATCHED THEN DELETE", False, 0, False, False),
    ],
)
def test_it_is_refused_where_a_file_is_opened(
    clauses: str, touched: bool, files: Any, partition: bool, is_refused: bool
) -> None:
    refused = unwritten_times(
        parse_merge(f"MERGE INTO t USING s ON t.id = s.id {clauses}"),
        SimpleNamespace(touched=("f",) if touched else ()),  # type: ignore[arg-type]
        target(partition=partition),
        SimpleNamespace(estimates={"numTargetFilesAdded": files}),  # type: ignore[arg-type]
        {OUTPUT: "int96"},
        "4.2.0",
    )
    assert (refused is not None) == is_refused


def test_times_that_are_written_without_their_microseconds_are_warned_of() -> None:
    cut = {OUTPUT: "TIMESTAMP_MILLIS"}
    assert warned(cut, target(TIMES)) == warned(cut, target(TIMES), None) == ["TIMESTAMPS_ARE_CUT"]
    assert warned({}, target(TIMES)) == warned(cut, target()) == []
    # a TIMESTAMP_NTZ is written in microseconds, and what names a partition is read from the log
    assert warned(cut, target(LOCAL)) == warned(cut, target(TIMES, partition=True)) == []
    assert warned(cut, target(TIMES, ICEBERG)) == warned(cut, target(TIMES), 0) == []


@pytest.mark.parametrize(("mode", "code"), [("legacy", "OLD_DATES_CHANGE"), ("EXCEPTION", "COMMIT_UNKNOWN")])
def test_days_of_the_old_calendar_are_warned_of(mode: str, code: str) -> None:
    dates, int96 = {REBASE: mode}, {REBASE_INT96: mode}
    assert warned(dates, target(DATES)) == warned(int96, target(TIMES)) == [code]
    assert warned(int96, target(DATES)) == warned(dates, target(TIMES)) == warned(dates, target(LOCAL)) == []
    micros = {OUTPUT: "TIMESTAMP_MICROS"}
    assert (warned(dates | micros, target(TIMES)), warned(int96 | micros, target(TIMES))) == ([code], [])
    # the log has what names a partition as it is, and Delta writes it into the files as well
    assert warned(dates, target(DATES, partition=True)) == [code] * (mode == "EXCEPTION")
    assert warned(dates | int96, target()) == warned({REBASE: "CORRECTED"}, target(DATES)) == []
