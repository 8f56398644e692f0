"""The name by which expectations know the target of a MERGE, and those that are for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.expect.queries import Around, full_name, same_table
from engine.expect.read_expectations import Declared
from engine.model.errors import ENDS_ALL, EngineError
from engine.sql.names import names_path, quote
from engine.table.table_state import catalog_entry, plain
from engine.table.tables import name_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def is_path(name: str) -> bool:
    """Whether a target is named by its path: delta.`/path`."""
    return names_path(name_parts(name))


def target_parts(
    spark: SparkSession | None,
    name: str,
    path: str,
    around: Around,
    declared: Sequence[Declared],
) -> tuple[str, ...]:
    """The parts of the target's full name, as far as it is known; ``around`` are the current catalog and schema.

    A target that is named by its ``path`` has the name of a table in ``declared`` that lies there; without Spark that
    is not known.
    """
    if spark is None or not is_path(name):
        return full_name(name_parts(name), around)
    named = (full_name(one, around) for one in dict.fromkeys(one.table for one in declared))
    return next((one for one in named if _is_at(spark, one, path)), name_parts(name))


def of_table(declared: Sequence[Declared], parts: Sequence[str], path: str) -> tuple[Declared, ...]:
    """The expectations that are for the table of that name, or for the one at that ``path``."""
    return tuple(one for one in declared if same_table(one.table, parts) or _is_path_of(one.table, path))


def is_table_at(spark: SparkSession, parts: Sequence[str], path: str) -> bool:
    """Whether the table of that name lies at that ``path``."""
    return _is_path_of(parts, path) or _is_at(spark, parts, path)


def _is_path_of(parts: Sequence[str], path: str) -> bool:
    return names_path(parts) and plain(parts[1]) == plain(path)


def _is_at(spark: SparkSession, parts: Sequence[str], path: str) -> bool:
    try:
        entry = catalog_entry(spark, ".".join(quote(part) for part in parts))
    except EngineError as error:
        if error.condition in ENDS_ALL:
            raise
        return False  # who may not look at a table merges into another
    return entry is not None and plain(entry.location) == plain(path)
