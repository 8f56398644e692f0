"""A MERGE is put together again from its parts alone."""

from __future__ import annotations

from dataclasses import replace

from engine.merge.check_reading import from_parts
from engine.sql.parse import parse_merge

MERGE = (
    "WITH q AS (SELECT 1 AS id, 2 AS v) MERGE WITH SCHEMA EVOLUTION INTO nowhere.t AS t USING q AS s "
    "ON t.id = s.id AND t.f <> 'x), deleteaction(Some((' "
    "WHEN MATCHED AND s.v > 1 THEN UPDATE SET v = s.v, end = 'a, assignment(b, 1)' WHEN MATCHED THEN DELETE "
    "WHEN NOT MATCHED THEN INSERT (id, end) VALUES (s.id, s.v) WHEN NOT MATCHED BY SOURCE THEN DELETE"
)


def test_the_statement_is_put_together_from_its_parts_alone() -> None:
    read = parse_merge(MERGE)
    again = parse_merge(from_parts(read))
    assert [c.value() for c in again.clauses] == [
        replace(c, condition=c.condition and f"({c.condition}\n)", action=a.action).value()
        for c, a in zip(read.clauses, again.clauses, strict=True)
    ]
    assert from_parts(replace(read, sql="")) == from_parts(read)
