"""Source rows without a match → how many each INSERT clause takes, and which keys they are inserted with.

One statement tells both: to look for the rows without a match costs more than to count what their keys are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.merge.join_sides import INSERT_CLAUSE
from engine.model.value import Cells
from engine.sql.some_values import some_values


@dataclass(frozen=True)
class InsertedKeys:
    """SQL over the keys as ``clauses`` (numbers) write them: ``written`` is a struct of the key columns by
    INSERT_CLAUSE, and stands under the name ``under`` for the others. ``keys`` are what must be equal, ``nulls``
    whether a column that must not be NULL is, ``keyed`` whether no key is, ``shown`` the columns as texts.

    ``of_keys``: ``shown`` is the same for equal ``keys``. ``private`` leaves the values out.
    """

    clauses: tuple[int, ...]
    written: str
    under: str
    keys: str
    nulls: str
    keyed: str
    shown: str
    of_keys: bool
    private: bool


@dataclass(frozen=True)
class KeyCounts:
    """Inserted rows of which a key column is NULL, and those beyond the first of equal keys; some keys of each.
    ``clauses``: the numbers of those whose rows are counted."""

    clauses: tuple[int, ...]
    nulls: int
    repeated: int
    null_keys: tuple[Cells, ...]
    repeated_keys: tuple[Cells, ...]


def inserts_sql(clauses: int, unmatched: str, asked: InsertedKeys | None) -> str:
    """What follows SELECT: one struct, and what it is computed from. ``unmatched`` are the rows, with INSERT_CLAUSE."""
    numbers = range(clauses + 1)
    if asked is None:
        counts = ", ".join(f"count_if({INSERT_CLAUSE} = {n})" for n in numbers)
        return f"struct(array({counts}) AS inserts) FROM {unmatched}"
    counts = ", ".join(f"coalesce(sum(i{n}), 0L)" for n in numbers)
    null_keys, repeated_keys = (
        "NULL" if asked.private else some_values(key)
        for key in ("null_key", "CASE WHEN keyed AND n > 1 THEN a_key END")
    )
    return (
        f"struct(array({counts}) AS inserts, coalesce(sum(nulls), 0L) AS nulls, "
        f"coalesce(sum(CASE WHEN keyed THEN n - 1 END), 0L) AS repeated, "
        f"{null_keys} AS null_keys, {repeated_keys} AS repeated_keys) FROM ({_by_key(numbers, unmatched, asked)})"
    )


def _by_key(numbers: range, unmatched: str, asked: InsertedKeys) -> str:
    counts = ", ".join(f"count_if({INSERT_CLAUSE} = {n}) AS i{n}" for n in numbers)
    inserted = f"({INSERT_CLAUSE} IN ({', '.join(map(str, asked.clauses))}))"
    null_key = f"CASE WHEN {inserted} AND ({asked.nulls}) THEN {asked.shown} END"
    # the least of several structs is found by sorting the rows
    one = "{}" if asked.of_keys else "min({})"
    return (
        f"SELECT {counts}, count(*) AS n, count_if({inserted} AND ({asked.nulls})) AS nulls, "
        f"{inserted} AND ({asked.keyed}) AS keyed, {one.format(asked.shown)} AS a_key, "
        f"{one.format(null_key)} AS null_key "
        f"FROM (SELECT {INSERT_CLAUSE}, {asked.written} AS {asked.under} FROM {unmatched}) "
        f"GROUP BY {inserted}, {asked.keys}"
    )


def counted_inserts(answer: Any, asked: InsertedKeys | None) -> tuple[dict[int, int], KeyCounts | None]:
    """Rows by the number of the clause that takes them, and what is asked of their keys."""
    inserts = {n: int(rows) for n, rows in enumerate(answer["inserts"])}
    if asked is None:
        return inserts, None
    null_keys, repeated_keys = (
        tuple(key.asDict() for key in answer[name] or ()) for name in ("null_keys", "repeated_keys")
    )
    return inserts, KeyCounts(asked.clauses, int(answer["nulls"]), int(answer["repeated"]), null_keys, repeated_keys)
