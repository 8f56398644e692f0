"""Types and expressions as text: what Spark prints is read back, and what cannot fail is known."""

from __future__ import annotations

import pytest
from pyspark.sql import types as t

from engine.merge.final_schema import final_schema
from engine.model.errors import EngineError
from engine.sql.sql_text import substituted
from engine.sql.store_types import (
    can_cast_nested,
    can_up_cast,
    cast_may_give_null,
    ddl,
    holds_integers,
    holds_structs,
    is_atomic,
    is_same,
    plain,
)

BEFORE = t.StructType([t.StructField("id", t.LongType(), False, {"comment": "the key"})])
PRINTED = (
    "MergeIntoCommand SubqueryAlias s, [Insert [actions: [`id` = id#1L]]], StructType(StructField(id,LongType,false),"
    "StructField(a, b,StructType(StructField(x,DecimalType(4,2),true),StructField(m,MapType(StringType,ArrayType("
    "StructType(StructField(q,DateType,true)),true),false),true)),true),StructField(ts,TimestampNTZType,true)){}, {}"
)


def test_the_schema_after_is_read_from_the_printed_command() -> None:
    after = final_schema(PRINTED.format(", {id, n}", "true"), BEFORE, t.StructType())
    assert [f.name for f in after.fields] == ["id", "a, b", "ts"]
    assert after["id"].metadata == {"comment": "the key"}
    assert not after["id"].nullable
    assert after["a, b"].dataType.simpleString() == "struct<x:decimal(4,2),m:map<string,array<struct<q:date>>>>"


def test_without_evolution_the_schema_stays_what_it_is() -> None:
    assert final_schema(PRINTED.format("", "false"), BEFORE, t.StructType()) is BEFORE


def test_a_command_that_cannot_be_read_is_told() -> None:
    with pytest.raises(EngineError, match="could not be read"):
        final_schema("MergeIntoCommand StructType(StructField(id,NewType(", BEFORE, t.StructType())


def test_field_names_are_quoted_in_a_cast() -> None:
    assert ddl(t.StructType([t.StructField("a`b", t.ArrayType(t.IntegerType()))])) == "struct<`a``b`: array<int>>"


@pytest.mark.parametrize(
    ("given", "wanted", "can"),
    [
        (t.IntegerType(), t.LongType(), True),
        (t.LongType(), t.IntegerType(), False),
        (t.IntegerType(), t.DecimalType(10, 0), True),
        (t.IntegerType(), t.DecimalType(10, 2), False),
        (t.DecimalType(4, 2), t.DecimalType(6, 2), True),
        (t.DecimalType(4, 2), t.DecimalType(6, 1), False),
        (t.DateType(), t.StringType(), True),
        (t.StringType(), t.DateType(), False),
        (t.NullType(), t.DateType(), True),
    ],
)
def test_up_casts_lose_nothing(given: t.DataType, wanted: t.DataType, can: bool) -> None:
    assert can_up_cast(given, wanted) is can


def test_columns_are_replaced_where_they_are_columns() -> None:
    values = {"id": "s.id", "x": "1", "upper": "2"}
    assert substituted("upper(ID) || t.id || exists(a, x -> x > `id`) || 'id'", values) == (
        "upper((s.id\n)) || t.id || exists(a, x -> x > (s.id\n)) || 'id'"
    )


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [("a", True), ("t.`a b`.c", True), ("12", True), ("a + 1", False), ("f(x)", False), ("'x'", False), ("", False)],
)
def test_a_name_or_a_bare_word_is_plain(text: str, is_plain: bool) -> None:
    assert plain(text) is is_plain


def test_types_are_the_same_but_for_nullability_and_case() -> None:
    one = t.StructType([t.StructField("A", t.IntegerType(), False)])
    assert is_same(one, t.StructType([t.StructField("a", t.IntegerType())]))
    assert not is_same(one, t.StructType([t.StructField("a", t.LongType())]))


def test_a_map_is_written_with_both_types() -> None:
    assert ddl(t.MapType(t.StringType(), t.DateType())) == "map<string, date>"


@pytest.mark.parametrize(
    ("type_", "atomic", "integers"),
    [
        (t.IntegerType(), True, True),
        (t.DecimalType(4, 2), True, True),
        (t.DoubleType(), True, False),
        (t.ArrayType(t.LongType()), False, True),
        (t.MapType(t.StringType(), t.ShortType()), False, True),
        (t.MapType(t.ByteType(), t.StringType()), False, True),
        (t.StructType([t.StructField("a", t.StringType())]), False, False),
        (t.VariantType(), False, False),
    ],
)
def test_where_an_integer_or_a_decimal_is_a_cast_can_overflow(type_: t.DataType, atomic: bool, integers: bool) -> None:
    assert is_atomic(type_) is atomic
    assert holds_integers(type_) is integers


@pytest.mark.parametrize(
    ("one", "other", "may_give_null"),
    [
        ("void", "int", False),
        ("variant", "int", True),
        ("string", "int", True),
        ("string", "binary", False),
        ("double", "string", False),
        ("timestamp", "date", False),
        ("timestamp_ntz", "date", True),
        ("timestamp", "bigint", False),
        ("timestamp", "int", True),
        ("date", "timestamp", False),
        ("date", "timestamp_ntz", True),
        ("float", "timestamp", True),
        ("bigint", "int", False),
        ("double", "bigint", True),
        ("decimal(4,2)", "int", True),
        ("int", "boolean", False),
        ("bigint", "decimal(20,0)", False),
        ("bigint", "decimal(19,0)", True),
        ("double", "decimal(38,0)", True),
        ("decimal(5,2)", "decimal(5,1)", False),
        ("decimal(5,2)", "decimal(4,1)", True),
    ],
)
def test_a_cast_that_may_give_null_is_known(one: str, other: str, may_give_null: bool) -> None:
    assert cast_may_give_null(one, other) is may_give_null


def test_a_map_is_cast_as_a_whole_if_no_key_becomes_null() -> None:
    days = t.MapType(t.DateType(), t.StringType())
    assert can_cast_nested(t.MapType(t.TimestampType(), t.LongType()), days)
    assert not can_cast_nested(t.MapType(t.StringType(), t.StringType()), days)
    assert not can_cast_nested(t.ArrayType(t.MapType(t.StringType(), t.StringType())), t.ArrayType(days))
    never_null = t.MapType(t.DateType(), t.StringType(), valueContainsNull=False)
    assert not can_cast_nested(days, never_null)
    pair = t.StructType([t.StructField("a", t.IntegerType()), t.StructField("b", t.IntegerType())])
    assert can_cast_nested(pair, pair)
    assert not can_cast_nested(pair, t.StructType(pair.fields[:1]))
    assert not can_cast_nested(pair, t.StructType([t.StructField("a", t.IntegerType(), False), pair.fields[1]]))


def test_a_null_without_a_type_counts_as_a_struct() -> None:
    assert holds_structs(t.ArrayType(t.MapType(t.StringType(), t.NullType())))
    assert not holds_structs(t.MapType(t.StringType(), t.ArrayType(t.DateType())))
