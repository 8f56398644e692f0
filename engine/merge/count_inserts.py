"""Source rows without a match → how many each INSERT clause takes, and which keys they are inserted with.

One statement tells both: to look for the rows without a match costs more than to count what their keys are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from engine.merge.join_sides import INSERT_CLAUSE
from engine.model.value import Cells
from engine.sql.some_values import some_values


@dataclass(frozen=True)
class InsertedKeys:
    """What to count of the rows that ``clauses`` (numbers) insert, as SQL.

    ``written``: a struct of the key columns, as the clause of a row writes them. It has the name ``under`` in the other
    texts. ``keys``: what is equal in a repeated row, NULL for a row that is not inserted, for which it may fail.
    ``never_null``: which of them (from 0) no later MERGE finds if they are NULL. ``shown``: a struct of the columns as
    texts. ``private`` leaves the values out.
    """

    clauses: tuple[int, ...]
    written: str
    under: str
    keys: tuple[str, ...]
    never_null: tuple[int, ...]
    shown: str
    private: bool

    @property
    def inserted(self) -> str:
        return is_inserted(self.clauses)


@dataclass(frozen=True)
class KeyCounts:
    """Inserted rows of which a key is NULL, and those beyond the first of equal keys; some keys of each.
    ``clauses``: the numbers of those whose rows are counted."""

    clauses: tuple[int, ...]
    nulls: int
    repeated: int
    null_keys: tuple[Cells, ...]
    repeated_keys: tuple[Cells, ...]


def is_inserted(clauses: Iterable[int]) -> str:
    """Whether one of these clauses takes a source row."""
    return f"({INSERT_CLAUSE} IN ({', '.join(map(str, clauses))}))"


def inserts_sql(clauses: int, unmatched: str, asked: InsertedKeys | None) -> str:
    """What follows SELECT: one struct, and what it is computed from. ``unmatched`` are the rows, with INSERT_CLAUSE."""
    numbers = range(clauses + 1)
    if asked is None:
        counts = ", ".join(f"count_if({INSERT_CLAUSE} = {n})" for n in numbers)
        return f"named_struct('inserts', `array`({counts})) FROM {unmatched}"
    counts = ", ".join(f"coalesce(sum(i{n}), 0L)" for n in numbers)
    null_keys, repeated_keys = (
        "NULL" if asked.private else some_values(key)
        for key in ("CASE WHEN is_in AND NOT keyed THEN a_key END", "CASE WHEN keyed AND n > 1 THEN a_key END")
    )
    return (
        f"named_struct('inserts', `array`({counts}), "
        "'nulls', coalesce(sum(CASE WHEN is_in AND NOT keyed THEN n END), 0L), "
        "'repeated', coalesce(sum(CASE WHEN keyed THEN n - 1 END), 0L), "
        f"'null_keys', {null_keys}, 'repeated_keys', {repeated_keys}) FROM ({_by_key(numbers, unmatched, asked)})"
    )


def _by_key(numbers: range, unmatched: str, asked: InsertedKeys) -> str:
    """One row for each key that is inserted, and one for the rows that are not."""
    items = [
        f"{asked.inserted} AS is_in",
        f"{asked.shown} AS shown",
        *(f"{key} AS k{n}" for n, key in enumerate(asked.keys)),
    ]
    counts = ", ".join(f"count_if({INSERT_CLAUSE} = {n}) AS i{n}" for n in numbers)
    keyed = " AND ".join(["is_in", *(f"k{n} IS NOT NULL" for n in asked.never_null)])
    keys = "".join(f", k{n}" for n in range(len(asked.keys)))
    return (
        f"SELECT {counts}, count(*) AS n, is_in, {keyed} AS keyed, min(shown) AS a_key "
        f"FROM (SELECT {INSERT_CLAUSE}, {', '.join(items)} "
        f"FROM (SELECT {INSERT_CLAUSE}, {asked.written} AS {asked.under} FROM {unmatched})) GROUP BY is_in{keys}"
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
