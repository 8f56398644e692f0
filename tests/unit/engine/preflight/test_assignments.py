"""Which expressions give values that only the commit knows."""

from __future__ import annotations

import pytest
from pyspark.sql.types import DataType, IntegerType, StringType

from engine.preflight.assignments import Assignment, volatile
from engine.preflight.target_rules import TargetColumn


@pytest.mark.parametrize(
    ("expression", "parts"),
    [
        ("s.v + 1", ""),
        ("rand()", "rand()"),
        ("current_timestamp", "current_timestamp()"),
        ("monotonically_increasing_id() + 7", "monotonically_increasing_id()"),
        ("reflect('java.util.UUID', 'randomUUID')", "reflect()"),
        ("CAST('now' AS TIMESTAMP)", "'now'"),
        ("CAST(' Today ' AS DATE)", "'today'"),
        ("TIMESTAMP'tomorrow'", "'tomorrow'"),
        ("to_date('yesterday')", "'yesterday'"),
    ],
)
def test_what_changes_each_time_is_named(expression: str, parts: str) -> None:
    assert volatile(expression) == parts


@pytest.mark.parametrize("expression", ["'now'", "upper('today')", "CAST('2024-01-01' AS DATE)", "TIMESTAMP'epoch'"])
def test_a_text_is_no_time_by_itself(expression: str) -> None:
    assert volatile(expression) == ""


def column(data_type: DataType, *, partition: bool) -> TargetColumn:
    return TargetColumn("p", data_type, data_type, True, None, False, None, None, False, partition=partition)


def test_a_text_that_names_no_partition_comes_back_as_null() -> None:
    written = Assignment(column(StringType(), partition=True), "s.p", "given")
    assert written.read_value == "CASE WHEN s.p NOT IN ('', '__HIVE_DEFAULT_PARTITION__') THEN s.p END"


@pytest.mark.parametrize(("data_type", "partition"), [(StringType(), False), (IntegerType(), True)])
def test_any_other_value_comes_back_as_it_is(data_type: DataType, partition: bool) -> None:
    assert Assignment(column(data_type, partition=partition), "s.p", "given").read_value == "s.p"
