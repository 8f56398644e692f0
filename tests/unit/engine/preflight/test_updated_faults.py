"""Which values are compared before the commit."""

from __future__ import annotations

import pytest
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DayTimeIntervalType,
    IntegerType,
    MapType,
    StringType,
    StructField,
    StructType,
    VariantType,
)

from engine.preflight.updated_faults import comparable

INT = IntegerType()


@pytest.mark.parametrize(
    ("type_", "is_comparable"),
    [
        (INT, True),
        (ArrayType(INT), True),
        (MapType(INT, INT), False),
        (ArrayType(VariantType()), False),
        (StringType("UTF8_LCASE"), False),
        (DayTimeIntervalType(), False),
    ],
)
def test_a_struct_is_compared_by_what_its_fields_hold_and_not_by_their_names(
    type_: DataType, is_comparable: bool
) -> None:
    names = ("map", "variant", "interval", "collate", "geometry")
    assert comparable(StructType([StructField(name, type_) for name in names])) is is_comparable
