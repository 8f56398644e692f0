"""Whose column a name is, by Spark's rules."""

from __future__ import annotations

from engine.sql.parse import MergeStatement, parse_merge
from engine.sql.resolve import resolve_merge, sides_of
from tests.engine.random_columns import columns_of, random_merge


def texts_of(statement: MergeStatement) -> tuple[str, ...]:
    """ON, then each clause's condition and values."""
    found = [statement.condition]
    for clause in statement.clauses:
        found += [clause.condition or "", *(value for _, value in clause.assignments)]
    return tuple(found)


def test_names_are_resolved_to_the_sides_that_are_meant() -> None:
    for seed in range(500):
        merge = random_merge(seed, "db.target_table", "db.source_table")
        statement = parse_merge(merge.sql)
        sides = sides_of(statement, columns_of("source"), columns_of("target"), case_sensitive=False)
        assert texts_of(resolve_merge(statement, *sides)) == merge.meant, merge.sql
