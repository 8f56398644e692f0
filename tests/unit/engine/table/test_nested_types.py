"""What is inside of a type, as Delta reads it: NOT NULL, leaves, comments."""

from __future__ import annotations

import pytest
from pyspark.sql.types import ArrayType, DataType, IntegerType, MapType, NullType, StringType, StructField, StructType

from engine.table.nested_types import (
    facts_inside,
    facts_of_schema,
    has_not_null,
    has_unenforceable,
    holds_void,
    leaves_of,
    types_in,
)

INT = IntegerType()


def test_the_types_in_a_type_are_no_names_of_fields() -> None:
    text = StringType("UTF8_LCASE")
    inside = StructType([StructField("variant", text), StructField("map<x", MapType(INT, ArrayType(NullType())))])
    assert types_in(inside) == {"struct", "map", "array", "int", "void", "string collate UTF8_LCASE"}
    assert types_in(StructType([])) == {"struct"}


def struct(type_: DataType = INT, *, nullable: bool = True) -> StructType:
    return StructType([StructField("X", type_, nullable)])


STRICT = struct(nullable=False)


@pytest.mark.parametrize(
    ("type_", "enforced", "unenforceable"),
    [
        (INT, False, False),
        (struct(), False, False),
        (STRICT, True, False),
        (struct(STRICT), True, False),
        (ArrayType(INT), False, False),
        (ArrayType(struct()), False, False),
        (ArrayType(STRICT), False, True),
        (ArrayType(struct(STRICT)), False, True),
        (ArrayType(struct(ArrayType(STRICT))), False, True),
        (MapType(STRICT, INT), False, True),
        (MapType(StringType(), STRICT), False, True),
        (struct(ArrayType(STRICT)), False, True),
        (ArrayType(MapType(StringType(), STRICT)), False, True),
        (ArrayType(ArrayType(STRICT)), False, True),
        (ArrayType(INT, False), False, False),
        (ArrayType(ArrayType(INT, False)), False, True),
        (MapType(INT, MapType(INT, struct(), False)), False, True),
        (MapType(INT, MapType(INT, INT, False)), False, False),
        # typeAsNullable does not look that deep
        (ArrayType(ArrayType(ArrayType(STRICT))), False, False),
        (ArrayType(ArrayType(ArrayType(struct(MapType(INT, STRICT))))), False, True),
    ],
)
def test_where_a_not_null_stands_decides_whether_delta_enforces_or_refuses_it(
    type_: DataType, enforced: bool, unenforceable: bool
) -> None:
    assert (has_not_null(type_), has_unenforceable(type_)) == (enforced, unenforceable)


def test_an_array_is_one_leaf_and_a_struct_has_those_of_its_fields() -> None:
    assert leaves_of("A", ArrayType(struct())) == [("A", "array<struct<X:int>>")]
    assert leaves_of("S", struct(struct())) == [("S.X.X", "int")]


@pytest.mark.parametrize(
    ("type_", "holds"),
    [
        (NullType(), False),
        (struct(NullType()), False),  # Delta drops the field
        (ArrayType(NullType()), True),
        (MapType(StringType(), struct(NullType())), True),
        (struct(ArrayType(NullType())), True),
        (ArrayType(INT), False),
    ],
)
def test_nothing_but_null_inside_of_an_array_or_a_map(type_: DataType, holds: bool) -> None:
    assert holds_void(type_) is holds


FIRST, OTHER = StructField("a", INT, False), StructField("b", INT, True, {"comment": "x"})


def test_they_are_the_nullability_and_the_comments_of_fields_in_any_order() -> None:
    one, other = (facts_inside([("s", StructType(list(fields)))]) for fields in ((FIRST, OTHER), (OTHER, FIRST)))
    assert one == other == {("s.a", False, "{}"), ("s.b", True, '{"comment": "x"}')}


def test_an_array_and_a_map_may_hold_null_or_not() -> None:
    array, map_ = ArrayType(INT, False), MapType(INT, StructType([FIRST]))
    assert facts_of_schema(StructType([StructField("l", array), StructField("m", map_)])) == {
        ("l[elementType]", False, ""),
        ("m[keyType]", False, ""),
        ("m[valueType]", True, ""),
        ("m[valueType].a", False, "{}"),
    }
