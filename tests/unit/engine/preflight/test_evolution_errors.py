"""Which new columns a table does not take, beside what Delta itself says (tests/engine/test_evolution_errors.py)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
)

from engine.preflight.evolution_errors import new_columns, unenforceable, void_column

MAPPED = {"delta.columnMapping.mode": "name"}
ICEBERG = {**MAPPED, "delta.enableIcebergCompatV1": "true"}
ICEBERG_2 = {**MAPPED, "delta.enableIcebergCompatV2": "true"}
NO_ZONE = TimestampNTZType()


def struct(**fields: DataType) -> StructType:
    return StructType([StructField(name, type_) for name, type_ in fields.items()])


BEFORE = struct(id=LongType(), day=DateType(), s=struct(a=IntegerType()))


def refused(
    after: StructType, properties: dict[str, str] | None = None, *features: str, feed: bool = False
) -> str | None:
    target: Any = SimpleNamespace(
        properties=properties or {}, features=features, traits=SimpleNamespace(change_data_feed=feed)
    )
    found = new_columns(BEFORE, after, target)
    return found.condition if found else None


def evolved(type_: DataType, name: str = "n") -> StructType:
    return StructType([*BEFORE.fields, StructField(name, type_)])


@pytest.mark.parametrize(
    ("type_", "properties", "condition"),
    [
        (IntegerType(), {}, None),
        (NullType(), {}, None),
        (DayTimeIntervalType(), {}, "DELTA_UNSUPPORTED_DATA_TYPES"),
        (ArrayType(DayTimeIntervalType()), {}, "DELTA_UNSUPPORTED_DATA_TYPES"),
        (NO_ZONE, {}, "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"),
        (MapType(StringType(), NO_ZONE), {}, "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"),
        (struct(a=IntegerType(), at=NO_ZONE), {}, "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"),
        (ArrayType(IntegerType()), ICEBERG, "DELTA_ICEBERG_COMPAT_VIOLATION"),
        (NullType(), ICEBERG, "DELTA_ICEBERG_COMPAT_VIOLATION"),
        (ArrayType(IntegerType()), MAPPED, None),
        (ArrayType(IntegerType()), ICEBERG_2, None),
        (struct(a=NullType(), b=IntegerType()), ICEBERG_2, "DELTA_ICEBERG_COMPAT_VIOLATION"),
        (ArrayType(NullType()), {}, "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE"),
        (MapType(StringType(), struct(a=NullType())), {}, "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE"),
        (struct(a=NullType()), {}, "DELTA_CANNOT_WRITE_EMPTY_SCHEMA"),
        (struct(a=NullType(), b=IntegerType()), {}, None),
        # what a field is called says nothing of its type
        (struct(interval=IntegerType()), {}, None),
    ],
)
def test_a_type_that_the_table_does_not_take(
    type_: DataType, properties: dict[str, str], condition: str | None
) -> None:
    assert refused(evolved(type_), properties) == condition


@pytest.mark.parametrize(
    ("was", "now", "is_refused"),
    [
        (IntegerType(), LongType(), False),
        (FloatType(), DoubleType(), False),
        (IntegerType(), DoubleType(), True),
        (DateType(), NO_ZONE, True),
        (DecimalType(4, 2), DecimalType(9, 2), False),
        (DecimalType(4, 2), DecimalType(9, 3), True),
    ],
)
@pytest.mark.parametrize("properties", [ICEBERG, ICEBERG_2, {}])
def test_a_type_is_widened_as_iceberg_does(
    was: DataType, now: DataType, is_refused: bool, properties: dict[str, str]
) -> None:
    target: Any = SimpleNamespace(
        properties=properties, features=("timestampNtz",), traits=SimpleNamespace(change_data_feed=False)
    )
    found = new_columns(struct(n=was), struct(n=now), target)
    assert (found is not None) is (is_refused and bool(properties))
    assert found is None or found.condition == "DELTA_ICEBERG_COMPAT_VIOLATION"


def test_a_feature_lets_the_type_in() -> None:
    assert refused(evolved(NO_ZONE), {}, "timestampNtz") is None


@pytest.mark.parametrize(
    ("properties", "condition"), [({}, "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"), (MAPPED, None)]
)
def test_signs_in_a_name_need_column_mapping(properties: dict[str, str], condition: str | None) -> None:
    assert refused(evolved(IntegerType(), "a b"), properties) == condition
    inside = StructType([StructField("a b", IntegerType())])
    assert refused(evolved(ArrayType(inside)), properties) == condition


def test_the_feed_keeps_its_names_for_itself() -> None:
    assert refused(evolved(StringType(), "_change_type"), feed=True) == "RESERVED_CDC_COLUMNS_ON_WRITE"
    assert refused(evolved(StringType(), "_change_type")) is None
    assert refused(evolved(struct(_change_type=StringType())), feed=True) is None, "a field is none of the table's"


def test_only_what_is_new_or_of_another_type_is_judged() -> None:
    old = struct(id=LongType(), at=NO_ZONE)
    target: Any = SimpleNamespace(properties={}, features=(), traits=SimpleNamespace(change_data_feed=False))
    assert new_columns(old, StructType([*old.fields, StructField("n", IntegerType())]), target) is None
    assert refused(struct(id=LongType(), DAY=DateType(), s=struct(A=IntegerType()))) is None
    widened = struct(id=LongType(), day=NO_ZONE, s=struct(a=IntegerType()))
    assert refused(widened) == "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"
    inside = struct(id=LongType(), day=DateType(), s=struct(a=IntegerType(), b=NO_ZONE))
    assert refused(inside) == "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"


@pytest.mark.parametrize(
    ("properties", "after", "told"),
    [
        ({}, struct(day=NO_ZONE), "The column day would become a TIMESTAMP_NTZ, and the table has not the feature"),
        ({}, struct(at=NO_ZONE), "The new column at is a TIMESTAMP_NTZ, and the table has not the feature"),
        (
            {},
            struct(day=DayTimeIntervalType()),
            "Delta stores no interval day to second. The column day would become one.",
        ),
        ({}, struct(i=DayTimeIntervalType()), "Delta stores no interval day to second. The new column i is one."),
        (ICEBERG, struct(day=NullType()), "day would become void, and delta.enableIcebergCompatV1 lets no date"),
        (ICEBERG, struct(v=NullType()), "The new column v is a VOID, and delta.enableIcebergCompatV1 allows none"),
    ],
)
def test_a_column_that_is_there_is_not_called_new(properties: dict[str, str], after: StructType, told: str) -> None:
    target: Any = SimpleNamespace(properties=properties, features=(), traits=SimpleNamespace(change_data_feed=False))
    found = new_columns(BEFORE, after, target)
    assert found is not None
    assert found.message.startswith(told)
    assert ("new column" in found.message) is (found.message.find("day would") < 0)


def with_rules(**rules: bool) -> Any:
    return SimpleNamespace(rules=SimpleNamespace(**rules))


@pytest.mark.parametrize(
    ("type_", "name"),
    [
        (NullType(), "n"),
        (struct(a=struct(b=NullType())), "n.a.b"),
        (ArrayType(NullType()), None),
        (struct(a=MapType(StringType(), NullType())), None),
        (IntegerType(), None),
    ],
)
def test_a_null_without_a_type_is_found_in_structs(type_: DataType, name: str | None) -> None:
    found = void_column(evolved(type_), with_rules(takes_void=False))
    assert (found is not None) is (name is not None)
    assert found is None or (found.condition, f"column {name} " in found.message) == (
        "DELTA_MERGE_ADD_VOID_COLUMN",
        True,
    )
    assert void_column(evolved(type_), with_rules(takes_void=True)) is None


def test_a_not_null_that_nobody_enforces_lets_no_schema_change() -> None:
    strict = StructType([StructField("x", IntegerType(), False)])
    before = struct(id=LongType(), a=ArrayType(strict))
    after = StructType([*before.fields, StructField("n", IntegerType())])
    refuses, takes = with_rules(takes_unenforced=False), with_rules(takes_unenforced=True)
    found = unenforceable(before, after, refuses)
    assert found is not None
    assert found.condition == "DELTA_NESTED_NOT_NULL_CONSTRAINT"
    assert unenforceable(before, before, refuses) is None, "the schema stays"
    assert unenforceable(before, after, takes) is None
    assert unenforceable(BEFORE, evolved(IntegerType()), refuses) is None
