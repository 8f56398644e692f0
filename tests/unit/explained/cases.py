"""The questions whose answers are recorded: each is put to a real Spark once, and to what it answered ever after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.merge.analyze import analyze
from engine.merge.check_reading import check_reading, read_merge
from engine.merge.derive_ranges import key_ranges
from engine.merge.source_plan import delta_tables, is_delta, is_deterministic, leaves, query_plan
from engine.model.errors import EngineError
from engine.spark.explain import explain

SETUP = (
    "CREATE SCHEMA IF NOT EXISTS shop",
    "USE shop",
    "CREATE OR REPLACE TABLE orders (id BIGINT, status STRING, day DATE) USING delta",
    "CREATE OR REPLACE TABLE feed (id BIGINT, status STRING, day DATE, note STRING) USING delta",
    "INSERT INTO feed SELECT id, 'new', DATE'2026-01-01', NULL FROM range(10) UNION ALL "
    "SELECT id, 'late', DATE'2026-01-01', NULL FROM range(990, 1000)",
    "DROP TABLE IF EXISTS plain",
    "CREATE TABLE plain (id BIGINT, status STRING) USING parquet",
)
UPSERT = (
    "MERGE INTO orders AS t USING feed AS s ON t.id = s.id AND t.day = s.day "
    "WHEN MATCHED AND s.status <> 'x), deleteaction(Some((' THEN UPDATE SET status = upper(s.status) "
    "WHEN NOT MATCHED THEN INSERT (id, status) VALUES (s.id, s.status)"
)
EVOLVING = (
    "MERGE WITH SCHEMA EVOLUTION INTO orders t USING (SELECT *, struct(id AS a) AS more FROM feed) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
)
ONE_KIND = "MERGE INTO orders USING feed ON orders.id = feed.id WHEN MATCHED THEN DELETE"
BEHIND_CONDITION = f"{UPSERT} WHEN NOT MATCHED BY SOURCE AND t.status = 'gone' THEN DELETE"
SOURCES = {
    "table": ("", "feed AS s"),
    "query": ("", "(SELECT f.id, p.status FROM feed f JOIN plain p ON f.id = p.id) AS s"),
    "with": ("WITH q AS (SELECT id FROM feed), unused AS (SELECT 1 AS one) ", "(SELECT * FROM q) AS s"),
    "subquery": ("", "(SELECT * FROM plain WHERE id IN (SELECT id FROM feed)) AS s"),
    "hint": ("", "(SELECT /*+ BROADCAST(feed) */ upper(status) AS status FROM feed) AS s"),
    "random": ("", "(SELECT rand() AS x FROM feed) AS s"),
}


def upsert(spark: Any) -> Any:
    statement = read_merge(spark, UPSERT)
    merge = analyze(spark, statement)
    check_reading(spark, merge)
    return merge


def evolving(spark: Any) -> Any:
    merge = analyze(spark, read_merge(spark, EVOLVING))
    check_reading(spark, merge)
    return merge


def one_kind(spark: Any) -> Any:
    merge = analyze(spark, read_merge(spark, ONE_KIND))
    check_reading(spark, merge)
    return merge


def sources(spark: Any) -> dict[str, Any]:
    found = {}
    for name, (before, source) in SOURCES.items():
        plan = query_plan(spark, before, source)
        tables = delta_tables(spark, plan)
        delta = [is_delta(spark, plan, leaf, parent) for leaf, parent in leaves(plan.root)] if plan.root else []
        found[name] = (plan, is_deterministic(spark, plan), tables, delta)
    return found


def refusals(spark: Any) -> dict[str, EngineError]:
    """What Spark prints in place of a plan."""
    found = {}
    for name, sql in {
        "column": "SELECT nosuch\nFROM feed",
        "table": "SELECT * FROM nowhere",
        "syntax": "SELECT 1 +/",
    }.items():
        try:
            explain(spark, sql)
        except EngineError as error:
            found[name] = error
    return found


def ranges(spark: Any) -> tuple[Any, ...]:
    return (
        key_ranges(spark, "feed", "s", "s.id", "bigint", "0L", "999L"),
        key_ranges(spark, "feed", "s", "s.day", "date", "DATE'2026-01-01'", "DATE'2026-01-01'"),
        key_ranges(spark, "feed", "s", "s.status", "string", "'late'", "'new'"),
    )


CASES: dict[str, Callable[[Any], Any]] = {
    "upsert": upsert,
    "evolving": evolving,
    "one_kind": one_kind,
    "sources": sources,
    "refusals": refusals,
    "ranges": ranges,
}
