"""An expectation → one query over ``before``, ``after``, ``changes`` and ``source``. Pure.

Most kinds give the rows that fail. ``rows``, ``sum`` and ``freshness`` give one row of what they measure, which
engine.expect.judge judges.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from engine.expect.expectation import Expectation, HistoryRows, parts_of
from engine.sql.char_types import declared_type, is_char
from engine.sql.names import names_path, quote, string
from engine.sql.store_types import ddl

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

CHANGE: Final = "_change_type"
WRITTEN: Final = f"{CHANGE} IN ('insert', 'update_postimage')"
"""Of ``changes``, the rows that are in the table afterwards."""
TIMES: Final = "number of rows"
Around: TypeAlias = "tuple[str | None, str | None]"
EXACT_NUMBERS: Final = re.compile(r"(?:tinyint|smallint|int|bigint|decimal\(\d+,\s*(\d+)\))$", re.IGNORECASE)


@dataclass(frozen=True)
class Table:
    """The table that is checked: ``parts`` of its full name, its ``columns`` afterwards (lower-case name → (name,
    type as DDL)), and those that it ``had`` (lower-case). ``around``: the current catalog and schema."""

    parts: tuple[str, ...]
    columns: Mapping[str, tuple[str, str]]
    had: frozenset[str]
    around: Around = (None, None)

    def column(self, name: str) -> str:
        """A column quoted; its name must be known."""
        return quote(self.columns[name.lower()][0])


def table_of(parts: tuple[str, ...], before: StructType, after: StructType, around: Around) -> Table:
    """The table of that full name, with its columns before and after."""
    types = ((field, declared_type(field)) for field in after.fields)
    return Table(
        parts=parts,
        columns={
            field.name.lower(): (field.name, declared if is_char(declared) else ddl(field.dataType))
            for field, declared in types
        },
        had=frozenset(name.lower() for name in before.names),
        around=around,
    )


@dataclass(frozen=True)
class Query:
    """``measures``: it gives one row of numbers, and not the rows that fail. ``checked``: see ExpectationResult.
    ``faults``: for a kind that judges each column by itself, the condition by which a row fails for that column."""

    sql: str
    checked: Literal["changes", "table"] = "changes"
    measures: bool = False
    faults: Mapping[str, str] = field(default_factory=dict)


def query_of(expectation: Expectation, table: Table) -> Query:
    """The query. The columns that the expectation names must be in ``table``."""
    builders = {
        "unique": _unique,
        "not_null": _not_null,
        "history": _history,
        "accepted": _accepted,
        "references": _references,
        "rows": _rows,
        "sum": _sum,
        "freshness": _freshness,
        "sql": _sql,
    }
    return builders[expectation.kind](expectation, table)


def unknown_columns(expectation: Expectation, table: Table) -> tuple[str, ...]:
    """The columns that it names and the table does not have."""
    return tuple(name for name in expectation.columns if name.lower() not in table.columns)


def _unique(expectation: Expectation, table: Table) -> Query:
    names = [table.column(name) for name in expectation.unique or ()]
    keys = ", ".join(f"a.{name}" for name in names)
    return Query(
        f"SELECT {keys}, count(*) AS {quote(TIMES)} FROM after AS a {_of_changed_keys(names)} "
        f"GROUP BY {keys} HAVING count(*) > 1"
    )


def _of_changed_keys(names: Sequence[str]) -> str:
    """The join that keeps the rows of ``a`` whose keys are written. A NULL in a key equals nothing."""
    keys = ", ".join(names)
    on = " AND ".join(f"a.{name} = c.{name}" for name in names)
    return f"LEFT SEMI JOIN (SELECT DISTINCT {keys} FROM changes WHERE {WRITTEN}) AS c ON {on}"


def _not_null(expectation: Expectation, table: Table) -> Query:
    bad = {name: f"{table.column(name)} IS NULL" for name in expectation.not_null or ()}
    return Query(f"SELECT * FROM changes WHERE {WRITTEN} AND ({' OR '.join(bad.values())})", faults=bad)


def _history(expectation: Expectation, table: Table) -> Query:
    declared = expectation.history
    assert isinstance(declared, HistoryRows)
    keys = [table.column(name) for name in declared.key]
    current = table.column(declared.current)
    partition = f"PARTITION BY {', '.join(f'a.{key}' for key in keys)}"
    items = [f"a.{key}" for key in keys] + [f"a.{current}"]
    found = [f"count_if(CAST(a.{current} AS BOOLEAN)) OVER ({partition}) AS __dm_current"]
    bad = [f"CAST({current} AS BOOLEAN) AND __dm_current > 1"]
    if declared.since and declared.until:
        since, until = table.column(declared.since), table.column(declared.until)
        items += [f"a.{since}", f"a.{until}"]
        order = f"ORDER BY a.{since} NULLS FIRST, a.{until} NULLS LAST"
        found += [
            f"lead({next_}) OVER ({partition} {order}) AS {name}"
            for next_, name in ((f"a.{since}", "__dm_next"), ("TRUE", "__dm_has_next"))
        ]
        # a NULL at the start is before all, at the end after all
        overlaps = f"{until} IS NULL OR __dm_next IS NULL OR __dm_next < {until}"
        bad += [f"__dm_has_next AND ({overlaps})", f"{until} < {since}"]
    shown = ", ".join(dict.fromkeys(item.removeprefix("a.") for item in items))
    return Query(
        f"SELECT {shown} FROM (SELECT {', '.join(dict.fromkeys(items))}, {', '.join(found)} "
        f"FROM after AS a {_of_changed_keys(keys)}) WHERE {' OR '.join(f'({one})' for one in bad)}"
    )


def _accepted(expectation: Expectation, table: Table) -> Query:
    bad = {}
    for name, values in (expectation.accepted or {}).items():
        column, type_ = table.column(name), table.columns[name.lower()][1]
        if is_char(type_):  # a read fills it up with blanks
            column = f"rtrim({column})"
        allowed = ", ".join(_value(value, type_) for value in values)
        # where a text is no value of the type, IN may be NULL
        bad[name] = f"({column} IS NOT NULL AND NOT coalesce({column} IN ({allowed}), FALSE))"
    return Query(f"SELECT * FROM changes WHERE {WRITTEN} AND ({' OR '.join(bad.values())})", faults=bad)


def _value(text: str, type_: str) -> str:
    """A listed value. A number that the column's type would round is none of its values."""
    if is_char(type_):
        return f"rtrim({string(text)})"
    if (exact := EXACT_NUMBERS.match(type_)) and is_rounded(text, int(exact[1] or 0)):
        return "NULL"
    return f"CAST({string(text)} AS {type_})"


def is_rounded(text: str, scale: int) -> bool:
    """Whether a number has more digits after the point than ``scale``."""
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return False
    _, digits, exponent = number.as_tuple()
    if not number or not isinstance(exponent, int):  # 0, NaN, Infinity
        return False
    zeros = next(at for at, digit in enumerate(reversed(digits)) if digit)
    return exponent + zeros < -scale


def _references(expectation: Expectation, table: Table) -> Query:
    bad, own = [], bool(own_references(expectation, table))
    for name, reference in (expectation.references or {}).items():
        parts = parts_of(reference) or ()
        other = "after" if _is_own(parts, table) else ".".join(quote(part) for part in parts[:-1])
        column = f"c.{table.column(name)}"
        # in a subquery a column of its own goes before an alias around it: c.x would be the field x of a column c
        values = f"(SELECT r.{quote(parts[-1])} AS __dm_value FROM {other} AS r)"
        bad.append(f"({column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {values} WHERE __dm_value = {column}))")
    either = " OR ".join(bad)
    if own:  # a row that is deleted may have been referred to
        return Query(f"SELECT * FROM after AS c WHERE {either}", "table")
    return Query(f"SELECT * FROM changes AS c WHERE {WRITTEN} AND ({either})")


def own_references(expectation: Expectation, table: Table) -> tuple[str, ...]:
    """The columns of the table itself that its own columns refer to."""
    named = (parts_of(reference) or () for reference in (expectation.references or {}).values())
    return tuple(parts[-1] for parts in named if _is_own(parts, table))


def _is_own(parts: Sequence[str], table: Table) -> bool:
    """Whether a column that is named in full is one of the table: the rest of its name is read as Spark reads it."""
    full = full_name(parts[:-1], table.around)
    return len(full) == len(table.parts) and same_table(full, table.parts)


def full_name(parts: Sequence[str], around: Around) -> tuple[str, ...]:
    """The parts of a table's name with the current catalog and schema, as far as they are known, before a shorter
    one that is no path."""
    if names_path(parts):
        return tuple(parts)
    return (*(part for part in around[: max(3 - len(parts), 0)] if part), *parts)


def same_table(parts: Sequence[str], full: Sequence[str]) -> bool:
    """Whether ``parts`` of a name are those that the full name ends in."""
    return bool(parts) and [part.lower() for part in parts] == [part.lower() for part in full[-len(parts) :]]


def _rows(_: Expectation, __: Table) -> Query:
    return Query(
        "SELECT CAST((SELECT count(*) FROM after) AS STRING), CAST((SELECT count(*) FROM before) AS STRING)",
        "table",
        measures=True,
    )


def _sum(expectation: Expectation, table: Table) -> Query:
    after, before = [], []
    for at, name in enumerate(expectation.sum or ()):
        total = f"CAST(sum({table.column(name)}) AS STRING)"
        after.append(f"{total} AS a{at}")
        before.append(f"{total if name.lower() in table.had else 'CAST(NULL AS STRING)'} AS b{at}")
    items = ", ".join(f"a{at}, b{at}" for at in range(len(after)))
    both = f"(SELECT {', '.join(after)} FROM after) CROSS JOIN (SELECT {', '.join(before)} FROM before)"
    return Query(f"SELECT {items} FROM {both}", "table", measures=True)


def _freshness(expectation: Expectation, table: Table) -> Query:
    return Query(f"SELECT {', '.join(_latest(expectation, table))} FROM after", "table", measures=True)


def _latest(expectation: Expectation, table: Table) -> Iterator[str]:
    for name, seconds in (expectation.freshness or {}).items():
        latest = f"max({table.column(name)})"
        oldest = f"timestampadd(SECOND, -{seconds}, current_timestamp())"
        yield f"CAST({latest} AS STRING)"
        yield f"CAST(CAST({latest} AS TIMESTAMP) >= {oldest} AS STRING)"


def _sql(expectation: Expectation, _: Table) -> Query:
    return Query(f"SELECT * FROM {in_brackets(expectation.sql or '')}", "table")


def in_brackets(sql: str) -> str:
    """A query as a relation. Only a query can stand there: for Spark's parser anything that writes is an error."""
    return f"({sql.strip().rstrip(';')}\n)"
