"""A cast that Spark puts in for values that are never NULL fails where Delta writes, and is foreseen."""

from __future__ import annotations

from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.plan_merge import plan
from tests.engine.fidelity import refused_by_delta

MATCHED = "t.id = s.id WHEN MATCHED"
ONE = "(SELECT 2 AS id, 7 AS x)"
BOTH = "WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id) WHEN NOT MATCHED BY SOURCE AND t.v = 99 THEN DELETE"
# the source, ON and the clauses, whether it fails
MERGES = {
    "an array of numbers as one of texts": (
        ONE,
        f"{MATCHED} THEN UPDATE SET w = array_join(array(s.x, s.id), '-')",
        True,
    ),
    "of a count": (
        "(SELECT id, count(*) AS n FROM t GROUP BY id)",
        f"{MATCHED} THEN UPDATE SET w = array_join(array(s.n), '-')",
        True,
    ),
    "in a condition": (ONE, f"{MATCHED} AND array_contains(array(s.x), 7L) THEN UPDATE SET v = 1", True),
    "of the target, which may have no match": (
        ONE,
        f"{MATCHED} AND array_contains(array(t.k), 2L) THEN UPDATE SET v = 1 {BOTH}",
        True,
    ),
    "of the target, of which each row is kept": (
        ONE,
        f"{MATCHED} AND array_contains(array(t.k), 2L) THEN UPDATE SET v = 1",
        False,
    ),
    "a struct whose field may not be NULL": (
        "(SELECT 1 AS id, 5 AS x UNION ALL SELECT 3, 3)",
        f"{MATCHED} THEN UPDATE SET t.st = named_struct('a', s.x, 'b', 'z') "
        "WHEN NOT MATCHED THEN INSERT (id, st) VALUES (s.id, named_struct('a', s.x, 'b', 'z'))",
        True,
    ),
    "with a lambda": (
        "(SELECT 2 AS id, 7 AS x, array(1, 2) AS a)",
        f"{MATCHED} THEN UPDATE SET w = array_join(transform(s.a, e -> e * s.x), ',')",
        True,
    ),
    "a cast that is written": (
        ONE,
        f"{MATCHED} THEN UPDATE SET w = array_join(CAST(array(s.x, s.id) AS ARRAY<STRING>), '-')",
        False,
    ),
    "of an operator": (ONE, f"{MATCHED} THEN UPDATE SET w = array_join(array(s.x) || array(s.id), '-')", True),
    "in brackets": (ONE, f"{MATCHED} THEN UPDATE SET w = array_join((array(s.x)), '-')", True),
    "a cast that is written of brackets": (
        ONE,
        f"{MATCHED} THEN UPDATE SET w = array_join(CAST((array(s.x)) AS ARRAY<STRING>), '-')",
        False,
    ),
    "of a CASE": (
        ONE,
        f"{MATCHED} AND array_contains(CASE WHEN s.x > 1 THEN array(s.x) ELSE array(s.id) END, 7L) "
        "THEN UPDATE SET v = 1",
        True,
    ),
    "beside an operator": (ONE, f"{MATCHED} AND array(s.x) = array(7L) THEN UPDATE SET v = 1", True),
    "no cast": (
        ONE,
        f"{MATCHED} THEN UPDATE SET w = array_join(array('a', 'b'), '-'), hist = concat(t.hist, array(s.x))",
        False,
    ),
    "inserts alone": (
        "(SELECT 9 AS id, 7 AS x)",
        "t.id = s.id WHEN NOT MATCHED THEN INSERT (id, k, w, st) "
        "VALUES (s.id, 9, array_join(array(s.x, s.id), '-'), named_struct('a', 1, 'b', 'n'))",
        False,
    ),
}


@pytest.fixture
def shop(spark: Any, schema: str) -> Any:
    columns = "id INT, k INT NOT NULL, v INT, w STRING, hist ARRAY<INT>, st STRUCT<a: INT NOT NULL, b: STRING>"
    spark.sql(f"CREATE TABLE t ({columns}) USING delta")
    spark.sql("INSERT INTO t VALUES (1, 1, 10, 'a', array(1), named_struct('a', 1, 'b', 'x'))")
    spark.sql("INSERT INTO t VALUES (2, 2, 20, 'b', NULL, named_struct('a', 2, 'b', 'y'))")
    return spark


@pytest.mark.parametrize("case", MERGES)
def test_what_delta_cannot_cast_where_it_writes_is_refused(shop: Any, case: str) -> None:
    source, rest, fails = MERGES[case]
    sql = f"MERGE INTO t USING {source} s ON {rest}"
    looked = plan(shop, sql)
    if not fails:
        assert looked.refused is None
        assert apply(shop, looked).kept
        return
    assert looked.refused is not None
    assert looked.refused.condition == refused_by_delta(shop, sql)
    assert "__dm" not in looked.refused.message
