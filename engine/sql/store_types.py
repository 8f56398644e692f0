"""Spark's types as SQL text, and which casts between them cannot fail."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
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
    return written(data_type, quote, " ")


def written(data_type: DataType, named: Callable[[str], str], gap: str) -> str:
    """A type as SQL: ``named`` writes the name of a field, ``gap`` stands between the parts."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    def inner(one: DataType) -> str:
        return written(one, named, gap)

    if isinstance(data_type, StructType):
        fields = (f"{named(one.name)}:{gap}{inner(one.dataType)}" for one in data_type.fields)
        return f"struct<{f',{gap}'.join(fields)}>"
    if isinstance(data_type, ArrayType):
        return f"array<{inner(data_type.elementType)}>"
    if isinstance(data_type, MapType):
        return f"map<{inner(data_type.keyType)},{gap}{inner(data_type.valueType)}>"
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


def holds_structs(data_type: DataType) -> bool:
    """UpdateExpressionsSupport.containsNestedStruct, which takes a NULL without a type for one."""
    from pyspark.sql.types import ArrayType, MapType, NullType, StructType

    if isinstance(data_type, ArrayType):
        return holds_structs(data_type.elementType)
    if isinstance(data_type, MapType):
        return holds_structs(data_type.keyType) or holds_structs(data_type.valueType)
    return isinstance(data_type, (StructType, NullType))


def can_cast_nested(given: DataType, wanted: DataType) -> bool:
    """Cast.canCast of types whose plain parts can be cast: no NULL comes where there may be none."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(given, StructType) and isinstance(wanted, StructType):
        return len(given.fields) == len(wanted.fields) and all(
            _can_cast_part(one.dataType, one.nullable, other.dataType, other.nullable)
            for one, other in zip(given.fields, wanted.fields, strict=True)
        )
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        return _can_cast_part(given.elementType, given.containsNull, wanted.elementType, wanted.containsNull)
    if isinstance(given, MapType) and isinstance(wanted, MapType):
        return _can_cast_part(given.keyType, False, wanted.keyType, False) and _can_cast_part(
            given.valueType, given.valueContainsNull, wanted.valueType, wanted.valueContainsNull
        )
    return True


def _can_cast_part(given: DataType, may_be_null: bool, wanted: DataType, takes_null: bool) -> bool:
    gives_null = may_be_null or cast_may_give_null(given.simpleString(), wanted.simpleString())
    return can_cast_nested(given, wanted) and (takes_null or not gives_null)


def cast_may_give_null(one: str, other: str) -> bool:
    """Cast.forceNullable of types as Spark prints them: whether a cast that is not ANSI's gives NULL for some value."""
    if one in (other, "void"):
        return False
    if one == "variant":
        return True
    if one.startswith("string"):
        return not other.startswith(("string", "binary"))
    if other.startswith("string"):
        return False
    if one == "timestamp":
        return other in ("tinyint", "smallint", "int") or bool(DECIMAL.fullmatch(other))
    if other == "timestamp":
        return one in ("float", "double")
    if "date" in (one, other):
        return True
    if to_decimal := DECIMAL.fullmatch(other):
        return not _fits_decimal(one, int(to_decimal[1]), int(to_decimal[2]))
    return other in INTEGRAL and (one in ("float", "double") or bool(DECIMAL.fullmatch(one)))


def _fits_decimal(one: str, precision: int, scale: int) -> bool:
    """Cast.canNullSafeCastToDecimal."""
    digits = precision - scale
    if from_decimal := DECIMAL.fullmatch(one):
        other_scale = int(from_decimal[2])
        other_digits = int(from_decimal[1]) - other_scale
        return digits > other_digits or (digits == other_digits and scale >= other_scale)
    # Spark gives a BIGINT 20 digits
    return digits >= {"boolean": 1, **INTEGRAL, "bigint": 20}.get(one, 99)
