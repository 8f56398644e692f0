"""What Delta reads of a column's type where others are inside of it: they themselves, NOT NULL, the fields with
statistics."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructField, StructType

Facts: TypeAlias = frozenset[tuple[str, bool, str]]
"""Of each field of a struct, ``s.x``, and of what an array or a map holds: that name, whether it may be NULL, its
comment and other metadata."""


def has_not_null(type_: DataType) -> bool:
    """Whether a struct inside ``type_`` has a field that may not be NULL; in arrays and maps Delta enforces none."""
    return any(not field.nullable or has_not_null(field.dataType) for field in _fields(type_))


def has_unenforceable(type_: DataType) -> bool:
    """Whether Delta refuses a column of that type for a NOT NULL inside of an array or a map
    (SchemaUtils.removeUnenforceableNotNullConstraints)."""
    fields = _fields_below(type_)
    return any(map(_loses_not_null, _held(type_))) or any(has_unenforceable(field.dataType) for field in fields)


def holds_void(type_: DataType) -> bool:
    """Whether an array or a map holds nothing but NULL (SchemaUtils.dropNullTypeColumns, which raises then)."""
    return any("void" in types_in(part) for part in _held(type_)) or any(map(holds_void, _inside(type_)))


def leaves_of(name: str, type_: DataType) -> list[tuple[str, str]]:
    """(name, type as Spark prints it) of the fields of a column that have no fields of their own, ``s.x``; an
    array or a map is one (StatisticsCollection.truncateSchema)."""
    fields = _fields(type_)
    if not fields:
        return [(name, type_.simpleString())]
    return [leaf for field in fields for leaf in leaves_of(f"{name}.{field.name}", field.dataType)]


def types_in(type_: DataType) -> frozenset[str]:
    """The types in ``type_``, however deep, and itself: plain ones as Spark prints them, others as ``struct``,
    ``array`` and ``map``. Names of fields are none, as they are in the print of the whole."""
    inside = _inside(type_)
    is_plain = not inside and type_.typeName() not in ("struct", "array", "map")
    return frozenset((type_.simpleString() if is_plain else type_.typeName(),)).union(*map(types_in, inside))


def field_names(type_: DataType) -> list[str]:
    """The names of the fields of all structs in ``type_``, however deep."""
    return [*(field.name for field in _fields(type_)), *(name for part in _inside(type_) for name in field_names(part))]


def facts_inside(columns: Iterable[tuple[str, DataType]]) -> Facts:
    """What the columns of a table have inside beside the types, as SchemaUtils.reportDifferences compares it."""
    return frozenset(fact for name, type_ in columns for fact in _facts_of(name, type_))


def facts_of_schema(schema: StructType) -> Facts:
    return facts_inside((field.name, field.dataType) for field in schema.fields)


def _facts_of(name: str, type_: DataType) -> set[tuple[str, bool, str]]:
    facts: set[tuple[str, bool, str]] = set()
    for field in getattr(type_, "fields", ()):
        inner = f"{name}.{field.name}"
        facts.add((inner, field.nullable, json.dumps(field.metadata or {}, sort_keys=True)))
        facts |= _facts_of(inner, field.dataType)
    for holds, may_be_null in (("elementType", "containsNull"), ("keyType", ""), ("valueType", "valueContainsNull")):
        held = getattr(type_, holds, None)
        if held is not None:
            inner = f"{name}[{holds}]"
            facts.add((inner, bool(getattr(type_, may_be_null, False)), ""))
            facts |= _facts_of(inner, held)
    return facts


def _loses_not_null(type_: DataType) -> bool:
    """Whether SchemaUtils.typeAsNullable changes it: of an array or a map it looks at the structs held directly, and
    of a map without any at nothing."""
    holds_null = getattr(type_, "containsNull", True) and (
        getattr(type_, "valueContainsNull", True) or not any(map(_fields, _held(type_)))
    )
    return not holds_null or any(_has_not_null_anywhere(part) for part in (type_, *_held(type_)) if _fields(part))


def _has_not_null_anywhere(type_: DataType) -> bool:
    return any(not field.nullable for field in _fields(type_)) or any(map(_has_not_null_anywhere, _inside(type_)))


def _fields_below(type_: DataType) -> list[StructField]:
    """The fields of the nearest structs."""
    return [*_fields(type_), *(field for part in _held(type_) for field in _fields_below(part))]


def _fields(type_: DataType) -> Sequence[StructField]:
    return getattr(type_, "fields", ())


def _inside(type_: DataType) -> list[DataType]:
    """The types that ``type_`` is made of."""
    return [*_held(type_), *(field.dataType for field in _fields(type_))]


def _held(type_: DataType) -> list[DataType]:
    """What an array or a map holds."""
    return [part for name in ("elementType", "keyType", "valueType") if (part := getattr(type_, name, None))]
