"""What Delta reads of a column's type where it has fields: NOT NULL inside of it, and the fields with statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructField


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
    inside = [*_held(type_), *(field.dataType for field in _fields(type_))]
    return any(map(_is_void_anywhere, _held(type_))) or any(map(holds_void, inside))


def leaves_of(name: str, type_: DataType) -> list[tuple[str, str]]:
    """(name, type as Spark prints it) of the fields of a column that have no fields of their own, ``s.x``; an
    array or a map is one (StatisticsCollection.truncateSchema)."""
    fields = _fields(type_)
    if not fields:
        return [(name, type_.simpleString())]
    return [leaf for field in fields for leaf in leaves_of(f"{name}.{field.name}", field.dataType)]


def field_names(type_: DataType) -> list[str]:
    """The names of the fields of all structs in ``type_``, however deep."""
    inside = [*_held(type_), *(field.dataType for field in _fields(type_))]
    return [*(field.name for field in _fields(type_)), *(name for part in inside for name in field_names(part))]


def _is_void_anywhere(type_: DataType) -> bool:
    inside = [*_held(type_), *(field.dataType for field in _fields(type_))]
    return type_.typeName() == "void" or any(map(_is_void_anywhere, inside))


def _loses_not_null(type_: DataType) -> bool:
    """Whether SchemaUtils.typeAsNullable changes it: of an array or a map it looks at the structs held directly."""
    return any(_has_not_null_anywhere(part) for part in (type_, *_held(type_)) if _fields(part))


def _has_not_null_anywhere(type_: DataType) -> bool:
    fields = _fields(type_)
    inside = [*_held(type_), *(field.dataType for field in fields)]
    return any(not field.nullable for field in fields) or any(map(_has_not_null_anywhere, inside))


def _fields_below(type_: DataType) -> list[StructField]:
    """The fields of the nearest structs."""
    return [*_fields(type_), *(field for part in _held(type_) for field in _fields_below(part))]


def _fields(type_: DataType) -> Sequence[StructField]:
    return getattr(type_, "fields", ())


def _held(type_: DataType) -> list[DataType]:
    """What an array or a map holds."""
    return [part for name in ("elementType", "keyType", "valueType") if (part := getattr(type_, name, None))]
