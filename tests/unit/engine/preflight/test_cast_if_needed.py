"""What is cast of an expression that is assigned: it, or what it is made of."""

from __future__ import annotations

import pytest
from pyspark.sql.types import ArrayType, DataType, DoubleType, IntegerType, StructField, StructType

from engine.preflight.cast_if_needed import Given, array_call, cast_if_needed, with_operands
from engine.preflight.target_rules import StoreCast


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("array_distinct(s.a)", ("array_distinct", ("s.a",))),
        ("((ARRAY_UNION(s.a, f(t.a))))", ("array_union", ("s.a", "f(t.a)"))),
        ("system.builtin.array_remove(s.a, 1 + 2)", ("array_remove", ("s.a", "1 + 2"))),
        ("array_distinct(s.a)[0]", ("", ())),
        ("array_compact(s.a)", ("", ())),
        ("mine.array_distinct(s.a)", ("", ())),
        ("array_distinct(s.a, 1)", ("", ())),
        ("s.a", ("", ())),
    ],
)
def test_a_call_is_the_whole_expression(text: str, call: tuple[str, tuple[str, ...]]) -> None:
    assert array_call(text) == call


def test_operands_are_found_below_each_other() -> None:
    text = "array_except(array_union(t.a, s.a), s.b)"
    assert list(with_operands(text)) == [text, "array_union(t.a, s.a)", "t.a", "s.a", "s.b"]


def items(of: DataType) -> ArrayType:
    return ArrayType(StructType([StructField("n", of)]))


def given(text: str, of: DataType, *operands: Given) -> Given:
    return Given(text, of, nullable=True, of_target=False, operands=operands)


DOUBLES, INTS = items(DoubleType()), items(IntegerType())
BY_PLACE = StoreCast("CAST", can_fail=True, by_name=False)
DISTINCT = given("array_distinct(s.a)", DOUBLES, given("s.a", DOUBLES))


def test_of_a_function_over_arrays_of_structs_the_operands_are_cast() -> None:
    item = "transform((s.a\n), __dm_x0 -> CAST((__dm_x0\n) AS struct<`n`: int>))"
    assert cast_if_needed(DISTINCT, INTS, BY_PLACE) == f"array_distinct({item})"
    inner = given("array_union(t.a, array_distinct(s.a))", DOUBLES, given("t.a", INTS), DISTINCT)
    cast = cast_if_needed(inner, INTS, BY_PLACE)
    assert cast.startswith("array_union(transform((CAST((t.a\n) AS array<struct<`n`: double>>)\n)")
    assert cast.endswith(f", array_distinct({item}))")
    removes = given("array_remove(s.a, s.x)", DOUBLES, given("s.a", DOUBLES), given("s.x", DOUBLES.elementType))
    assert cast_if_needed(removes, INTS, BY_PLACE).endswith(", CAST((s.x\n) AS struct<`n`: int>))")


def test_it_is_cast_itself_where_its_items_are_none() -> None:
    numbers = given("array_distinct(s.a)", ArrayType(DoubleType()), given("s.a", ArrayType(DoubleType())))
    assert cast_if_needed(numbers, ArrayType(IntegerType()), BY_PLACE) == (
        "CAST((array_distinct(s.a)\n) AS array<int>)"
    )
    assert cast_if_needed(DISTINCT, DOUBLES, BY_PLACE) == "(array_distinct(s.a)\n)"
