"""CHAR(n) and VARCHAR(n): strings to Spark, which keeps the lengths in a text beside the column's type.

They may stand at any depth of structs, arrays and maps. Mirrors CharVarcharConstraint (Delta) for what is written and
CharVarcharUtils.readSidePadding (Spark) for what a read shows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.sql.names import quote, quoted_if_needed, string
from engine.sql.store_types import written

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructField

RAW_TYPE = "__CHAR_VARCHAR_TYPE_STRING"
LENGTH = re.compile(r"(char|varchar)\((\d+)\)", re.IGNORECASE)


def declared_type(field: StructField) -> str:
    """The field's type as it is declared, with its CHAR and VARCHAR."""
    return as_declared(raw_type(field) or field.dataType)


def as_declared(type_: DataType) -> str:
    """A type as Spark prints it, but the names of fields quoted that SQL takes in no other way."""
    return written(type_, quoted_if_needed, "")


def is_char(type_: str) -> bool:
    """Whether a type is CHAR(n)."""
    return type_.lower().startswith("char(")


def compared_type(field: StructField) -> str:
    """The type that a condition compares the field in: a VARCHAR is a string. A CHAR(n) is none: Delta fails on one."""
    declared = declared_type(field)
    return "string" if declared.startswith("varchar") else declared


def raw_type(field: StructField) -> DataType | None:
    """The field's type with its CHAR(n) and VARCHAR(n); None if it has none."""
    text = (field.metadata or {}).get(RAW_TYPE)
    return _read(str(text), 0, field.dataType)[0] if text else None


def _read(text: str, at: int, type_: DataType) -> tuple[DataType, int]:
    """The type printed at ``at``, and where it ends. ``type_`` has the names and all but the lengths."""
    from pyspark.sql.types import ArrayType, CharType, MapType, StructField, StructType, VarcharType

    if isinstance(type_, StructType):
        at += len("struct<")
        fields = []
        for field in type_.fields:
            data_type, end = _read(text, at + len(field.name) + len(":"), field.dataType)
            fields.append(StructField(field.name, data_type, field.nullable))
            at = end + 1  # a comma, or the bracket
        return StructType(fields), at
    if isinstance(type_, ArrayType):
        element, at = _read(text, at + len("array<"), type_.elementType)
        return ArrayType(element, type_.containsNull), at + 1
    if isinstance(type_, MapType):
        key, at = _read(text, at + len("map<"), type_.keyType)
        value, at = _read(text, at + 1, type_.valueType)
        return MapType(key, value, type_.valueContainsNull), at + 1
    if length := LENGTH.match(text, at):
        kind = CharType if length.group(1).lower() == "char" else VarcharType
        return kind(int(length.group(2))), length.end()
    return type_, at + len(type_.simpleString())


def fits(text: str, raw: DataType, depth: int = 0) -> str | None:
    """SQL that is true if ``text`` keeps the lengths of ``raw``; None if there are none."""
    from pyspark.sql.types import ArrayType, CharType, MapType, StructType, VarcharType

    if isinstance(raw, (CharType, VarcharType)):
        return f"coalesce(length({text}) <= {raw.length}, TRUE)"
    if isinstance(raw, StructType):
        parts = [fits(f"{text}.{quote(field.name)}", field.dataType, depth) for field in raw.fields]
        return " AND ".join(part for part in parts if part) or None
    arrays: list[tuple[str, DataType]] = []
    if isinstance(raw, ArrayType):
        arrays = [(text, raw.elementType)]
    elif isinstance(raw, MapType):
        arrays = [(f"map_keys({text})", raw.keyType), (f"map_values({text})", raw.valueType)]
    x = f"__dm_c{depth}"
    checked = [(array, fits(x, element, depth + 1)) for array, element in arrays]
    return " AND ".join(f"coalesce(forall({array}, {x} -> {check}), TRUE)" for array, check in checked if check) or None


def lengths(raw: DataType) -> str:
    """The lengths in ``raw``, in words."""
    return ", ".join(dict.fromkeys(number for _, number in LENGTH.findall(raw.simpleString())))


def padded(text: str, raw: DataType, depth: int = 0) -> str:
    """``text`` as a read shows it: each CHAR(n) filled up with blanks."""
    from pyspark.sql.types import ArrayType, CharType, MapType, StructType

    if isinstance(raw, CharType):
        return f"(CASE WHEN length({text}) < {raw.length} THEN rpad({text}, {raw.length}) ELSE {text} END)"
    if isinstance(raw, StructType):
        fields = [(field.name, f"{text}.{quote(field.name)}", field.dataType) for field in raw.fields]
        parts = [(name, inner, padded(inner, data_type, depth)) for name, inner, data_type in fields]
        if all(inner == value for _, inner, value in parts):
            return text
        struct = f"named_struct({', '.join(f'{string(name)}, {value}' for name, _, value in parts)})"
        return f"(CASE WHEN {text} IS NOT NULL THEN {struct} END)"
    if isinstance(raw, ArrayType):
        return _each(text, raw.elementType, depth)
    if isinstance(raw, MapType):
        keys, values = f"map_keys({text})", f"map_values({text})"
        shown_keys, shown_values = _each(keys, raw.keyType, depth), _each(values, raw.valueType, depth)
        same = shown_keys == keys and shown_values == values
        return text if same else f"map_from_arrays({shown_keys}, {shown_values})"
    return text


def _each(array: str, element: DataType, depth: int) -> str:
    x = f"__dm_p{depth}"
    item = padded(x, element, depth + 1)
    return array if item == x else f"transform({array}, {x} -> {item})"
