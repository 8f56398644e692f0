"""CHAR(n) and VARCHAR(n) at any depth, read from the text that Spark keeps beside a column's type."""

from __future__ import annotations

import pytest
from pyspark.sql import types as t

from engine.sql.char_types import RAW_TYPE, declared_type, fits, lengths, padded, raw_type


def field(known: t.DataType, raw: str | None) -> t.StructField:
    return t.StructField("c", known, True, {RAW_TYPE: raw} if raw else {})


S = t.StringType()
STRUCT = t.StructType([t.StructField("a b", S), t.StructField("n", t.IntegerType()), t.StructField("v", S)])
CASES = [
    (S, "char(3)", "coalesce(length(x) <= 3, TRUE)"),
    (S, "VARCHAR(10)", "coalesce(length(x) <= 10, TRUE)"),
    (t.ArrayType(S), "array<varchar(2)>", "coalesce(forall(x, __dm_c0 -> coalesce(length(__dm_c0) <= 2, TRUE)), TRUE)"),
    (
        t.MapType(S, S),
        "map<char(1),varchar(2)>",
        "coalesce(forall(map_keys(x), __dm_c0 -> coalesce(length(__dm_c0) <= 1, TRUE)), TRUE) AND "
        "coalesce(forall(map_values(x), __dm_c0 -> coalesce(length(__dm_c0) <= 2, TRUE)), TRUE)",
    ),
    (
        t.MapType(t.IntegerType(), S),
        "map<int,varchar(2)>",
        "coalesce(forall(map_values(x), __dm_c0 -> coalesce(length(__dm_c0) <= 2, TRUE)), TRUE)",
    ),
    (
        STRUCT,
        "struct<a b:char(1),n:int,v:varchar(2)>",
        "coalesce(length(x.`a b`) <= 1, TRUE) AND coalesce(length(x.`v`) <= 2, TRUE)",
    ),
    (
        t.ArrayType(t.ArrayType(S)),
        "array<array<char(2)>>",
        "coalesce(forall(x, __dm_c0 -> coalesce(forall(__dm_c0, __dm_c1 -> "
        "coalesce(length(__dm_c1) <= 2, TRUE)), TRUE)), TRUE)",
    ),
    (STRUCT, "struct<a b:string,n:int,v:string>", None),
]


@pytest.mark.parametrize(("known", "raw", "check"), CASES, ids=[raw for _, raw, _ in CASES])
def test_the_lengths_are_checked_wherever_they_stand(known: t.DataType, raw: str, check: str | None) -> None:
    found = raw_type(field(known, raw))
    assert found is not None
    assert found.simpleString() == raw.lower()
    assert fits("x", found) == check


def test_a_column_without_such_a_text_has_none() -> None:
    assert raw_type(field(S, None)) is None
    assert raw_type(t.StructField("c", S)) is None


def test_lengths_are_told_each_once() -> None:
    found = raw_type(field(t.MapType(S, S), "map<char(1),varchar(1)>"))
    assert found is not None
    assert lengths(found) == "1"


PADDED = "(CASE WHEN length({0}) < 3 THEN rpad({0}, 3) ELSE {0} END)"


@pytest.mark.parametrize(
    ("known", "raw", "shown"),
    [
        (S, "char(3)", PADDED.format("x")),
        (S, "varchar(3)", "x"),
        (t.ArrayType(S), "array<char(3)>", f"transform(x, __dm_p0 -> {PADDED.format('__dm_p0')})"),
        (t.ArrayType(S), "array<varchar(3)>", "x"),
        (
            t.MapType(t.IntegerType(), S),
            "map<int,char(3)>",
            f"map_from_arrays(map_keys(x), transform(map_values(x), __dm_p0 -> {PADDED.format('__dm_p0')}))",
        ),
        (t.MapType(S, S), "map<varchar(1),varchar(2)>", "x"),
        (
            STRUCT,
            "struct<a b:char(3),n:int,v:varchar(2)>",
            f"(CASE WHEN x IS NOT NULL THEN named_struct('a b', {PADDED.format('x.`a b`')}, "
            "'n', x.`n`, 'v', x.`v`) END)",
        ),
        (STRUCT, "struct<a b:string,n:int,v:varchar(2)>", "x"),
    ],
)
def test_a_read_fills_each_char_up_with_blanks(known: t.DataType, raw: str, shown: str) -> None:
    found = raw_type(field(known, raw))
    assert found is not None
    assert padded("x", found) == shown


@pytest.mark.parametrize(
    ("known", "raw", "declared"),
    [
        (S, None, "string"),
        (S, "varchar(10)", "varchar(10)"),
        (STRUCT, None, "struct<`a b`:string,n:int,v:string>"),
        (STRUCT, "struct<a b:char(1),n:int,v:varchar(2)>", "struct<`a b`:char(1),n:int,v:varchar(2)>"),
        (t.ArrayType(t.MapType(S, STRUCT)), None, "array<map<string,struct<`a b`:string,n:int,v:string>>>"),
        (t.DecimalType(12, 2), None, "decimal(12,2)"),
    ],
)
def test_a_declared_type_is_one_that_sql_takes(known: t.DataType, raw: str | None, declared: str) -> None:
    assert declared_type(field(known, raw)) == declared
