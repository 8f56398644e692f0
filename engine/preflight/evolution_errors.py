"""Columns that schema evolution may not add (OptimisticTransaction.updateMetadata, before anything is read)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.model.plan import Refused
from engine.preflight.target_reads import DescribedTarget
from engine.table.column_rules import CDC_COLUMNS, INVALID_CHARACTERS, UNSUPPORTED_TYPES

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

Path = tuple[str, ...]


def new_columns(before: StructType, after: StructType, target: DescribedTarget) -> Refused | None:
    """The error for a column, or a field of one, that ``after`` has and ``before`` has not; None where Delta takes
    them all."""
    mapped = target.properties.get("delta.columnMapping.mode", "none").lower() != "none"
    feed = target.traits.change_data_feed
    for path, type_ in _added((), before, after):
        name = ".".join(path)
        if not mapped and INVALID_CHARACTERS.search(path[-1]):
            return _refused(
                "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES",
                f"The new column {name!r} has a sign in its name that this table takes none of: ' ,;{{}}()\\n\\t='.",
                "Rename it in the source, or set the table's delta.columnMapping.mode to name.",
            )
        # a struct is named with its fields, which come by themselves
        plain = type_.simpleString() if type_.typeName() not in ("struct", "array", "map") else ""
        if UNSUPPORTED_TYPES.search(plain):
            return _refused(
                "DELTA_UNSUPPORTED_DATA_TYPES",
                f"Delta stores no {plain}: the new column {name}.",
                "Cast it in the source: numbers or timestamps for an interval, a plain STRING for a collation.",
            )
        if plain == "timestamp_ntz" and "timestampNtz" not in target.features:
            return _refused(
                "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",
                f"The new column {name} is a TIMESTAMP_NTZ, and the table has not the feature for it.",
                "Cast it to TIMESTAMP in the source, or set the table's delta.feature.timestampNtz to supported.",
            )
        if feed and len(path) == 1 and name in CDC_COLUMNS:
            return _refused(
                "RESERVED_CDC_COLUMNS_ON_WRITE",
                f"The change data feed needs the name {name} for itself.",
                "Leave that column out of the source, or rename it.",
            )
    return None


def _added(path: Path, before: DataType | None, after: DataType) -> Iterator[tuple[Path, DataType]]:
    """The new fields of ``after``, each by its path, those inside a new one too."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(after, StructType):
        known = {one.name.lower(): one.dataType for one in before.fields} if isinstance(before, StructType) else {}
        for field in after.fields:
            at, was = (*path, field.name), known.get(field.name.lower())
            if was is None:
                yield at, field.dataType
            yield from _added(at, was, field.dataType)
    elif isinstance(after, (ArrayType, MapType)):
        for part in ("elementType", "keyType", "valueType"):
            inner = getattr(after, part, None)
            if inner is not None:
                was = getattr(before, part, None)
                if was is None:
                    yield path, inner
                yield from _added(path, was, inner)


def _refused(condition: str, message: str, hint: str) -> Refused:
    return Refused(condition=condition, message=message, hint=hint)
