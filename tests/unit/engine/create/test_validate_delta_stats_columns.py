"""What ``delta.dataSkippingStatsColumns`` may name."""

from __future__ import annotations

import pytest

from engine.create.provided_metadata import Provided
from engine.create.situation import Situation
from engine.create.validate_delta_stats_columns import INDEXED_NAMES, named_columns, validate_delta_stats_columns
from engine.model.create_values import StateColumn
from engine.sql.parse_create import parse_create

AROUND = Situation(None, "/w/t", True, None, False, False)
LEAVES = {"a": "int", "S.x": "int", "S.b": "boolean", "l": "array<int>", "p": "date", "odd.name": "int"}
COLUMNS = tuple(
    StateColumn(name=name, type=type_)
    for name, type_ in (("a", "int"), ("S", "struct<x:int,b:boolean>"), ("l", "array<int>"), ("p", "date"))
)
CREATE = parse_create("CREATE TABLE t (a INT) USING delta")


def test_a_list_is_read_as_spark_writes_names() -> None:
    assert named_columns(" A, `s`.X,`a``b` ") == ["A", "s.X", "a`b"]
    assert named_columns("a b") is None
    assert named_columns("") is None


@pytest.mark.parametrize(
    ("names", "condition"),
    [
        ("a, S", None),
        ("s.b", None),  # inside of a struct an unsupported type passes
        ("p", "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN"),
        ("nope", "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"),
        ("L", "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE"),
        ("A, a, A", "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS"),
        ("a, A, s, s.X", None),
        ("s, s.x", "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS"),
        ("a b", None),
    ],
)
def test_what_it_may_not_name(names: str, condition: str | None) -> None:
    provided = Provided(COLUMNS, ("p",), configuration={INDEXED_NAMES: names}, leaves=LEAVES)
    found = next(validate_delta_stats_columns(CREATE, AROUND, provided), None)
    assert (found.condition if found else None) == condition


def test_without_the_property_there_is_nothing_to_refuse() -> None:
    assert not [*validate_delta_stats_columns(CREATE, AROUND, Provided(COLUMNS, (), leaves=LEAVES))]


def test_a_table_that_is_copied_brings_a_list_that_is_good() -> None:
    for sql in ("CREATE TABLE t LIKE s USING delta", "CREATE TABLE t SHALLOW CLONE s"):
        provided = Provided(COLUMNS, (), configuration={INDEXED_NAMES: "a"})
        assert not [*validate_delta_stats_columns(parse_create(sql), AROUND, provided)]
