"""A table as it is → a first file of expectations: a proposal to be looked at, not a truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from engine.model.counted import count
from engine.preflight.updated_faults import comparable
from engine.spark.confs import AS_WRITTEN, confs_set
from engine.spark.schema import schema_of
from engine.spark.spark_errors import collected
from engine.sql.names import quote
from engine.table.tables import table_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_VALUES: Final = 12
"""Up to how many values a text column may have to be proposed as ``accepted``."""
ROWS_A_VALUE: Final = 5
"""How many rows each of them must have on average."""


@dataclass(frozen=True)
class ColumnProfile:
    """What one column holds: the number of NULLs and of different values (an estimate), and the ``values`` of a text
    column that has few."""

    name: str
    nulls: int
    distinct: int
    is_unique: bool = False
    values: tuple[str, ...] = ()


def propose_expectations(spark: SparkSession, name: str, *, private: bool = False) -> str:
    """YAML with what holds of the table now. Reads each column once, and those that may be a key once more.

    ``private`` leaves out the values of text columns. Raises EngineError for a table that is not there.
    """
    table = table_sql(name)
    with confs_set(spark, AS_WRITTEN):
        rows, profiles = profile(spark, table, private=private)
    return "\n".join(file_lines(table, rows, profiles)) + "\n"


def profile(spark: SparkSession, table: str, *, private: bool) -> tuple[int, tuple[ColumnProfile, ...]]:
    """(Rows, what the columns hold): those whose values can be compared."""
    fields = [field for field in schema_of(spark, f"SELECT * FROM {table}").fields if comparable(field.dataType)]
    names = [quote(field.name) for field in fields]
    items = "".join(f", count({name}), approx_count_distinct({name})" for name in names)
    rows, *numbers = (int(cell) for cell in collected(spark, f"SELECT count(*){items} FROM {table}")[0])
    found = [
        ColumnProfile(field.name, rows - known, distinct)
        for field, known, distinct in zip(fields, numbers[::2], numbers[1::2], strict=True)
    ]
    # an estimate is off by some hundredths
    likely = [one for one in found if rows and not one.nulls and one.distinct > 0.9 * rows]
    texts = [
        one
        for one, field in zip(found, fields, strict=True)
        if not private and field.dataType.simpleString() == "string" and _has_few(one, rows)
    ]
    cells = _exact(spark, table, likely, texts)
    unique = {one.name for one, count in zip(likely, cells, strict=False) if int(count) == rows}
    values = {one.name: tuple(sorted(each)) for one, each in zip(texts, cells[len(likely) :], strict=True)}
    return rows, tuple(
        ColumnProfile(one.name, one.nulls, one.distinct, one.name in unique, values.get(one.name, ())) for one in found
    )


def _has_few(one: ColumnProfile, rows: int) -> bool:
    return 1 < one.distinct <= MOST_VALUES and rows >= ROWS_A_VALUE * one.distinct


def _exact(
    spark: SparkSession, table: str, keys: Sequence[ColumnProfile], texts: Sequence[ColumnProfile]
) -> tuple[Any, ...]:
    items = [f"count(DISTINCT {quote(one.name)})" for one in keys]
    items += [f"collect_set({quote(one.name)})" for one in texts]
    return tuple(collected(spark, f"SELECT {', '.join(items)} FROM {table}")[0]) if items else ()


def file_lines(table: str, rows: int, profiles: Sequence[ColumnProfile]) -> Iterator[str]:
    """The lines of the file. Pure."""
    now = f"# What holds of its {count(rows, 'row')} now."
    yield f"{now} Look at each line: keep what must hold, leave out what only happens."
    yield f"{_flow(table)}:"
    key = next((one for one in profiles if one.is_unique), None)
    if key is not None:
        yield f"  - unique: {_flow([key.name])}"
    full = [one.name for one in profiles if rows and not one.nulls]
    if full:
        yield f"  - not_null: {_flow(full)}"
    for one in profiles:
        if one.values:
            yield f"  - accepted: {_flow({one.name: list(one.values)})}"
            yield "    severity: warn"
    yield "  - rows: {min: 1, change: 50%}"
    yield "    severity: warn"


def _flow(value: Any) -> str:
    """On one line of YAML, quoted where it must be."""
    import yaml

    text = yaml.safe_dump(value, default_flow_style=True, width=1 << 30, allow_unicode=True)
    return str(text.removesuffix("\n").removesuffix("\n...").strip())
