"""Schemas that a MERGE may not leave (MergeIntoCommandBase.run, OptimisticTransaction.updateMetadata).

Delta looks before it reads anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.model.plan import Refused
from engine.preflight.target_reads import DescribedTarget
from engine.preflight.target_rules import UNENFORCED
from engine.spark.confs import is_on
from engine.table.column_rules import CDC_COLUMNS, INVALID_CHARACTERS, UNSUPPORTED_TYPES
from engine.table.mapping_mode import mode_of
from engine.table.nested_types import has_unenforceable, holds_void

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

Path = tuple[str, ...]
NESTED = ("struct", "array", "map")
PARTS = ("elementType", "keyType", "valueType")
ICEBERG_COMPAT = "delta.enableIcebergCompatV{}"
NOT_OF_ICEBERG = {1: ("array", "map", "void"), 2: ("void", "variant"), 3: ("void",)}
"""By version the types that it forbids."""
INTEGRAL = {"byte", "short", "integer", "long"}


def void_column(after: StructType, target: DescribedTarget) -> Refused | None:
    """The error for a NULL without a type, where Delta takes none in a schema: it finds an old one, too, but none in an
    array or a map (SchemaUtils.findNullTypeColumn)."""
    name = None if target.rules.takes_void else next(_voids((), after), None)
    if name is None:
        return None
    return _refused(
        "DELTA_MERGE_ADD_VOID_COLUMN",
        f"The column {name} is a NULL without a type, which this Spark cannot read from a table.",
        "Cast it in the source, or leave it out; drop one that the table has.",
    )


def _voids(path: Path, struct: DataType) -> Iterator[str]:
    for field in getattr(struct, "fields", ()):
        if field.dataType.typeName() == "void":
            yield ".".join((*path, field.name))
        yield from _voids((*path, field.name), field.dataType)


def unenforceable(before: StructType, after: StructType, target: DescribedTarget) -> Refused | None:
    """The error for a NOT NULL inside of an array or a map, as other writers leave it, where the schema changes."""
    return not_null_inside(after, target) if next(_changed((), before, after), None) else None


def not_null_inside(after: StructType, target: DescribedTarget) -> Refused | None:
    """SchemaUtils.removeUnenforceableNotNullConstraints, of a schema that changes."""
    name = next((field.name for field in after.fields if has_unenforceable(field.dataType)), None)
    if name is None or target.rules.takes_unenforced:
        return None
    return _refused(
        "DELTA_NESTED_NOT_NULL_CONSTRAINT",
        f"{name} has a NOT NULL inside of an array or a map, with which Delta lets no schema change: no column that is "
        "added, and no identity that counts on.",
        f"Merge without schema evolution, or set {UNENFORCED} to true: it takes that NOT NULL away.",
    )


def new_columns(before: StructType, after: StructType, target: DescribedTarget) -> Refused | None:
    """The error for a column, or a field of one, that ``after`` has new or in another type; None if Delta takes
    them all."""
    mapped = mode_of(target.properties) != "none"
    feed = target.traits.change_data_feed
    for path, was, type_ in _changed((), before, after):
        name = ".".join(path)
        if not mapped and INVALID_CHARACTERS.search(path[-1]):
            return _refused(
                "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES",
                f"The {'new column' if was is None else 'column'} {name!r} has a sign in its name that this table "
                "takes none of: ' ,;{}()\\n\\t='.",
                "Rename it in the source, or set the table's delta.columnMapping.mode to name.",
            )
        if refused := _type_error(name, was, type_, target) or _not_of_iceberg(name, was, type_, target):
            return refused
        if feed and len(path) == 1 and name in CDC_COLUMNS:
            return _refused(
                "RESERVED_CDC_COLUMNS_ON_WRITE",
                f"The change data feed needs the name {name} for itself.",
                "Leave that column out of the source, or rename it.",
            )
    return None


def _is(name: str, was: DataType | None) -> str:
    """How a sentence begins that says of which type a column is, or would be."""
    return f"The new column {name} is" if was is None else f"The column {name} would become"


def _type_error(name: str, was: DataType | None, type_: DataType, target: DescribedTarget) -> Refused | None:
    """The error for a column of that type. A struct, an array or a map is judged by itself here; the types inside it
    come by themselves."""
    kind = type_.typeName()
    plain = type_.simpleString() if kind not in NESTED else ""
    if UNSUPPORTED_TYPES.match(plain):
        return _refused(
            "DELTA_UNSUPPORTED_DATA_TYPES",
            f"Delta stores no {plain}. {_is(name, was)} one.",
            "Cast it in the source: numbers or timestamps for an interval or a time, a plain STRING for a collation.",
        )
    if plain == "timestamp_ntz" and "timestampNtz" not in target.features:
        other = "TIMESTAMP" if was is None else was.simpleString().upper()
        return _refused(
            "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",
            f"{_is(name, was)} a TIMESTAMP_NTZ, and the table has not the feature for it.",
            f"Cast it to {other} in the source, or set the table's delta.feature.timestampNtz to supported.",
        )
    if kind in ("array", "map") and holds_void(type_):
        return _refused(
            "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE",
            f"{_is(name, was)} a {kind.upper()} that holds a NULL without a type.",
            "Cast it in the source, for instance CAST(array() AS ARRAY<STRING>).",
        )
    if kind == "struct" and all(inner.typeName() == "void" for _, _, inner in _inside(type_)):
        return _refused(
            "DELTA_CANNOT_WRITE_EMPTY_SCHEMA",
            f"{_is(name, was)} a STRUCT whose fields are all NULL without a type.",
            "Cast a field in the source, or leave the column out.",
        )
    return None


def _not_of_iceberg(name: str, was: DataType | None, type_: DataType, target: DescribedTarget) -> Refused | None:
    """IcebergCompat: the types that a version of it forbids (CheckNoListMapNullType, CheckTypeInV2AllowList), and those
    that Iceberg does not widen (CheckTypeWideningSupported)."""
    enabled = (one for one in NOT_OF_ICEBERG if is_on(target.properties, ICEBERG_COMPAT.format(one), "false"))
    version, kind = next(enabled, None), type_.typeName()
    if version is None:
        return None
    name_of = ICEBERG_COMPAT.format(version)
    hint = f"Leave it out of the source, cast it, or set the table's {name_of} to false."
    if was is not None and kind not in NESTED and not _widened_by_iceberg(was, type_):
        text = f"{name} would become {type_.simpleString()}, and {name_of} lets no {was.simpleString()} become that."
        return _refused("DELTA_ICEBERG_COMPAT_VIOLATION", text, hint)
    if kind in NOT_OF_ICEBERG[version]:
        # Delta's list of what the second version takes comes after another look at the names
        condition = "INVALID_FIELD_NAME" if kind == "variant" else "DELTA_ICEBERG_COMPAT_VIOLATION"
        return _refused(condition, f"{_is(name, was)} a {kind.upper()}, and {name_of} allows none.", hint)
    return None


def _widened_by_iceberg(was: DataType, now: DataType) -> bool:
    """TypeWidening.isTypeChangeSupportedByIceberg, of types that Delta widens."""
    kinds = (was.typeName(), now.typeName())
    if kinds == ("decimal", "decimal"):
        return getattr(was, "scale", 0) == getattr(now, "scale", 0)
    return kinds == ("float", "double") or set(kinds) <= INTEGRAL


def _inside(type_: DataType | None) -> Iterator[tuple[str, Path, DataType]]:
    """The types in a struct, an array or a map: what each is known by, what it adds to the path, and it."""
    for field in getattr(type_, "fields", ()):
        yield field.name.lower(), (field.name,), field.dataType
    for part in PARTS:
        if (inner := getattr(type_, part, None)) is not None:
            yield part, (), inner


def _changed(path: Path, before: DataType | None, after: DataType) -> Iterator[tuple[Path, DataType | None, DataType]]:
    """The fields of ``after`` that are new or have another plain type, each by its path, with the type that it had,
    those inside a new one too."""
    known = {key: type_ for key, _, type_ in _inside(before)}
    for key, step, type_ in _inside(after):
        at, was = (*path, *step), known.get(key)
        if was is None or (type_.typeName() not in NESTED and was != type_):
            yield at, was, type_
        yield from _changed(at, was, type_)


def _refused(condition: str, message: str, hint: str) -> Refused:
    return Refused(condition=condition, message=message, hint=hint)
