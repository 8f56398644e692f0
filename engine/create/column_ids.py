"""How many ids column mapping gives to a new schema (DeltaColumnMapping.assignColumnIdAndPhysicalName)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.table.nested_types import field_names

if TYPE_CHECKING:
    from pyspark.sql.types import DataType


@dataclass(frozen=True)
class ColumnIds:
    """``fields`` are the columns and the fields of structs, however deep; ``held`` the elements of arrays, the keys and
    the values of maps, which get ids under IcebergCompat from V2 on (rewriteFieldIdsForIceberg)."""

    fields: int = 0
    held: int = 0


NO_IDS = ColumnIds()


def column_ids(schema: DataType) -> ColumnIds:
    return ColumnIds(len(field_names(schema)), _held(schema))


def _held(type_: DataType) -> int:
    parts = [part for name in ("elementType", "keyType", "valueType") if (part := getattr(type_, name, None))]
    fields = [field.dataType for field in getattr(type_, "fields", ())]
    return len(parts) + sum(map(_held, (*parts, *fields)))
