"""SQL that hashes rows so that rows which differ get different hashes, as far as 64 bits go.

xxhash64 takes -0.0 for 0.0 and skips NULL. to_json drops microseconds and NULL unless it is told, prints each byte that
is no UTF-8 alike, and a variant's DATE like its STRING. So each value is made a text or a JSON that shows all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.sql.names import quote

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

JSON_OPTIONS = (
    "`map`('ignoreNullFields', 'false', 'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSSXXX', "
    "'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS', 'timeFormat', 'HH:mm:ss.SSSSSS')"
)


def exact_hash(schema: StructType) -> str:
    """The hash of a row of ``schema``, a BIGINT: of each column whether it is NULL, and its value."""
    items = []
    for field in schema.fields:
        name = quote(field.name)
        items += [f"{name} IS NULL", _column(field.dataType, name)]
    return f"xxhash64({', '.join(items)})"


def _column(of: DataType, name: str) -> str:
    from pyspark.sql.types import ArrayType, DoubleType, FloatType, MapType, StructType, VariantType

    if isinstance(of, (DoubleType, FloatType)):
        return f"CAST({name} AS STRING)"
    if isinstance(of, (ArrayType, MapType, StructType, VariantType)):
        return f"to_json(named_struct('c', {_shown(of, name, 0)}), {JSON_OPTIONS})"
    return name


def _shown(of: DataType, value: str, depth: int) -> str:
    """A value whose JSON differs wherever ``value`` does."""
    from pyspark.sql.types import (
        ArrayType,
        DoubleType,
        FloatType,
        MapType,
        StringType,
        StructType,
        VariantType,
    )

    item = f"__dm_item{depth}"
    if isinstance(of, StringType):
        return f"hex(CAST({value} AS BINARY))"
    if isinstance(of, (DoubleType, FloatType)):
        return f"CAST({value} AS STRING)"
    if isinstance(of, VariantType):
        return f"named_struct('type', schema_of_variant({value}), 'value', to_json({value}, {JSON_OPTIONS}))"
    if isinstance(of, ArrayType):
        return f"transform({value}, {item} -> {_shown(of.elementType, item, depth + 1)})"
    if isinstance(of, MapType):
        key, inner = (
            _shown(one, f"{item}.{name}", depth + 1) for one, name in ((of.keyType, "key"), (of.valueType, "value"))
        )
        return f"transform(map_entries({value}), {item} -> named_struct('key', {key}, 'value', {inner}))"
    # of two fields that differ in case neither can be named
    if isinstance(of, StructType) and 0 < len(of.fields) == len({name.lower() for name in of.names}):
        fields = (
            f"'{at}', {_shown(field.dataType, f'{value}.{quote(field.name)}', depth)}"
            for at, field in enumerate(of.fields)
        )
        return f"IF({value} IS NULL, NULL, named_struct({', '.join(fields)}))"
    return value
