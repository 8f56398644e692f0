"""Which source rows a key is looked for among. DuckDB runs the query: it has the joins, under other names."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from engine.explore.find_key import _unmatched
from engine.explore.key_question import Question
from engine.sql.parse import parse_merge

DIALECT = {
    r"LEFT ANTI JOIN": "ANTI JOIN",
    r"monotonically_increasing_id\(\)": "(row_number() OVER () - 1)",
    r"xxhash64\(": "hash(",
    r"<=>": "IS NOT DISTINCT FROM",
    r"/\*\+.*?\*/": "",
}
SOURCE: Any = SimpleNamespace(view="a_source_1", is_small=True, joins_small=True, broadcast_bytes=1 << 20)
ONE = "WHEN NOT MATCHED AND s.active THEN INSERT *"
SEVERAL = f"WHEN NOT MATCHED AND s.k = 0 THEN INSERT * {ONE}"


class DuckDB:
    """The frozen source, of which 1 is in the target, and the pairs that the plan has kept of the rows to insert."""

    def __init__(self) -> None:
        self.database = duckdb.connect()
        self.database.execute("CREATE TABLE tgt AS SELECT 1 AS k")
        rows = "(1, false), (7, false), (9, true), (9, true), (9, false), (8, NULL)"
        self.database.execute(f"CREATE TABLE a_source_1 AS SELECT * FROM (VALUES {rows}) AS x(k, active)")
        self.database.execute("CREATE TABLE a_pairs_1 AS SELECT 0 AS __dm_source_row")

    def sql(self, query: str) -> Any:
        for ours, theirs in DIALECT.items():
            query = re.sub(ours, theirs, query)
        found = self.database.execute(query).fetchall()
        return SimpleNamespace(collect=lambda: found)


def looked(clauses: str, key: int, *, all_inserts: bool, where: str = "TRUE") -> list[tuple[int, bool | None, int]]:
    """The source rows without a match, and the clause that takes each, if ``key`` is in question."""
    statement = parse_merge(f"MERGE INTO tgt t USING src s ON t.k = s.k {clauses}")
    merge = SimpleNamespace(statement=statement, source_reference="s", target_sql="tgt", file_path="''", on=())
    spark = DuckDB()
    faults = SimpleNamespace(needs_all_inserts=all_inserts)
    look: Any = SimpleNamespace(spark=spark, merge=merge, source=SOURCE, on="t.k = s.k", faults=faults)
    rows = _unmatched(look, Question(source=(f"s.k <=> {key}",), target=(f"t.k <=> {key}",), by_value=True))
    return list(spark.sql(f"SELECT k, active, __dm_insert FROM {rows} WHERE {where} ORDER BY ALL").collect())


@pytest.mark.parametrize("all_inserts", [False, True])
@pytest.mark.parametrize(("clauses", "taking"), [(ONE, 1), (SEVERAL, 2)])
def test_a_row_that_a_clause_leaves_out_is_in_the_source_whatever_the_plan_warns_of(
    clauses: str, taking: int, all_inserts: bool
) -> None:
    found = {key: looked(clauses, key, all_inserts=all_inserts, where=f"k = {key}") for key in (1, 7, 8, 9)}
    assert found == {
        1: [],
        7: [(7, False, 0)],
        8: [(8, None, 0)],
        9: [(9, False, 0), (9, True, taking), (9, True, taking)],
    }


def test_rows_that_are_inserted_are_beside_the_one_in_question() -> None:
    assert looked(ONE, 7, all_inserts=True) == [(7, False, 0), (9, True, 1), (9, True, 1)]
