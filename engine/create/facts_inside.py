"""What the columns of a table have inside beside the types, as SchemaUtils.reportDifferences compares it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

Facts: TypeAlias = frozenset[tuple[str, bool, str]]
"""Of each field of a struct, ``s.x``, and of what an array or a map holds: that name, whether it may be NULL, its
comment and other metadata."""


def facts_inside(columns: Iterable[tuple[str, DataType]]) -> Facts:
    """The facts of columns, by name."""
    return frozenset(fact for name, type_ in columns for fact in _of_one(name, type_))


def facts_of_schema(schema: StructType) -> Facts:
    return facts_inside((field.name, field.dataType) for field in schema.fields)


def _of_one(name: str, type_: DataType) -> set[tuple[str, bool, str]]:
    facts: set[tuple[str, bool, str]] = set()
    for field in getattr(type_, "fields", ()):
        inner = f"{name}.{field.name}"
        facts.add((inner, field.nullable, json.dumps(field.metadata or {}, sort_keys=True)))
        facts |= _of_one(inner, field.dataType)
    for holds, may_be_null in (("elementType", "containsNull"), ("keyType", ""), ("valueType", "valueContainsNull")):
        held = getattr(type_, holds, None)
        if held is not None:
            inner = f"{name}[{holds}]"
            facts.add((inner, bool(getattr(type_, may_be_null, False)), ""))
            facts |= _of_one(inner, held)
    return facts
