"""What the columns of a table have inside beside the types."""

from __future__ import annotations

from pyspark.sql.types import ArrayType, LongType, MapType, StructField, StructType

from engine.create.facts_inside import facts_inside, facts_of_schema

A, B = StructField("a", LongType(), False), StructField("b", LongType(), True, {"comment": "x"})


def test_they_are_the_nullability_and_the_comments_of_fields_in_any_order() -> None:
    one, other = (facts_inside([("s", StructType(list(fields)))]) for fields in ((A, B), (B, A)))
    assert one == other == {("s.a", False, "{}"), ("s.b", True, '{"comment": "x"}')}


def test_an_array_and_a_map_may_hold_null_or_not() -> None:
    array, map_ = ArrayType(LongType(), False), MapType(LongType(), StructType([A]))
    assert facts_of_schema(StructType([StructField("l", array), StructField("m", map_)])) == {
        ("l[elementType]", False, ""),
        ("m[keyType]", False, ""),
        ("m[valueType]", True, ""),
        ("m[valueType].a", False, "{}"),
    }
