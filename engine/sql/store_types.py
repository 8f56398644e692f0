"""Spark's types as SQL text, and which casts between them cannot fail."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from engine.sql.names import quote

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

PLAIN = re.compile(r"(`(?:[^`]|``)+`|\w+)(\.(`(?:[^`]|``)+`|\w+))*")
INTEGRAL = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
NUMERIC = ("tinyint", "smallint", "int", "bigint", "float", "double")
DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")


def plain(text: str) -> bool:
    """Whether ``text`` is the name of a column or field, or a bare word or number."""
    return bool(PLAIN.fullmatch(text))


def ddl(data_type: DataType) -> str:
    """A type as it is written in a CAST, field names quoted."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(data_type, StructType):
        return f"struct<{', '.join(f'{quote(f.name)}: {ddl(f.dataType)}' for f in data_type.fields)}>"
    if isinstance(data_type, ArrayType):
        return f"array<{ddl(data_type.elementType)}>"
    if isinstance(data_type, MapType):
        return f"map<{ddl(data_type.keyType)}, {ddl(data_type.valueType)}>"
    return data_type.simpleString()


def null_row(types: Iterable[tuple[str, DataType]], alias: str) -> str:
    """A relation of one row, all NULL, with columns of these names and types: to ask Spark for types without data."""
    columns = ", ".join(f"CAST(NULL AS {ddl(data_type)}) AS {quote(name)}" for name, data_type in types)
    return f"(SELECT {columns}) AS {alias}"


def is_same(one: DataType, other: DataType) -> bool:
    """Equal but for nullability and the case of field names."""
    return one.simpleString().lower() == other.simpleString().lower()


def can_up_cast(from_type: DataType, to_type: DataType) -> bool:
    """Cast.canUpCast for atomic types: no value is lost or refused. False where unsure."""
    return can_up_cast_names(from_type.simpleString(), to_type.simpleString())


def can_up_cast_names(one: str, other: str) -> bool:
    """The same of types as Spark prints them."""
    if one in (other, "void"):
        return True
    if one in NUMERIC and other in NUMERIC:
        return NUMERIC.index(one) <= NUMERIC.index(other)
    to_decimal, from_decimal = DECIMAL.fullmatch(other), DECIMAL.fullmatch(one)
    if to_decimal and one in INTEGRAL:
        return int(to_decimal[1]) - int(to_decimal[2]) >= INTEGRAL[one]
    if to_decimal and from_decimal:
        precision, scale = int(to_decimal[1]), int(to_decimal[2])
        return precision - scale >= int(from_decimal[1]) - int(from_decimal[2]) and scale >= int(from_decimal[2])
    if other == "string" and not one.startswith(("struct", "array", "map", "variant")):
        return True
    return (one, other) in (("date", "timestamp"), ("date", "timestamp_ntz"), ("timestamp_ntz", "timestamp"))


def is_atomic(data_type: DataType) -> bool:
    """Neither struct, array, map nor variant."""
    return not data_type.simpleString().startswith(("struct", "array", "map", "variant"))


def holds_integers(data_type: DataType) -> bool:
    """UpdateExpressionsSupport.containsIntegralOrDecimalType: whether a cast to it can overflow."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(data_type, StructType):
        return any(holds_integers(field.dataType) for field in data_type.fields)
    if isinstance(data_type, ArrayType):
        return holds_integers(data_type.elementType)
    if isinstance(data_type, MapType):
        return holds_integers(data_type.keyType) or holds_integers(data_type.valueType)
    name = data_type.simpleString()
    return name in INTEGRAL or bool(DECIMAL.fullmatch(name))
