"""A MERGE behind a WITH RECURSIVE is refused where Delta fails with it, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import PySparkException

from engine import plan
from engine.model.errors import EngineError

RECURSIVE = "WITH RECURSIVE r(id) AS (SELECT 1 UNION ALL SELECT id + 3 FROM r WHERE id < 9)"
DECLARED = "WITH RECURSIVE r(id) AS (SELECT id FROM s)"
INSERT = "WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)"
SET = "WHEN MATCHED THEN UPDATE SET n = (SELECT max(id) FROM r)"
FAILS = [
    (RECURSIVE, "r", INSERT),
    (RECURSIVE, "r", "WHEN MATCHED THEN UPDATE SET n = 1"),
    (DECLARED, "r", INSERT),
    (DECLARED, "(SELECT * FROM s WHERE id IN (SELECT id FROM r))", INSERT),
    (f"{RECURSIVE}, k AS (SELECT 1 AS id)", "k", INSERT),
    (RECURSIVE, "(WITH k AS (SELECT id FROM s) SELECT * FROM k)", SET),
    ("WITH k AS (SELECT 1 AS id)", f"({RECURSIVE} SELECT r.id FROM r JOIN k ON r.id = k.id)", INSERT),
]
RUNS = [
    (DECLARED, "s", INSERT),
    (RECURSIVE, "s", SET),
    (RECURSIVE, "seen", SET),
    (f"WITH k AS ({DECLARED} SELECT * FROM r)", "k", INSERT),
    ("", f"({RECURSIVE} SELECT * FROM r)", INSERT),
]


@pytest.fixture
def tables(spark: Any, schema: str) -> Any:
    spark.sql("CREATE TABLE t (id INT, n INT) USING delta")
    spark.sql("CREATE TABLE s USING delta AS SELECT CAST(id AS INT) AS id FROM range(3, 6)")
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW seen AS {RECURSIVE} SELECT * FROM r")
    yield spark
    spark.sql("DROP VIEW seen")


def merge(prefix: str, source: str, clause: str) -> str:
    return f"{prefix} MERGE INTO t USING {source} s ON t.id = s.id {clause}"


def test_a_source_that_delta_would_not_find_is_refused(tables: Any) -> None:
    for parts in FAILS:
        sql = merge(*parts)
        with pytest.raises(PySparkException, match="key not found"):
            tables.sql(sql).collect()
        with pytest.raises(EngineError) as refused:
            plan(tables, sql, rows=0)
        assert refused.value.condition == "WITH_RECURSIVE_BEFORE_MERGE", sql


def test_what_delta_finds_is_planned(tables: Any) -> None:
    for parts in RUNS:
        sql = merge(*parts)
        found = plan(tables, sql, rows=0)
        assert not found.refused, sql
        tables.sql(sql).collect()
