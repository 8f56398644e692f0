"""The rows after the MERGE and its change feed, computed without committing, equal what Delta writes."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from engine.analyze import analyze
from engine.assignments import assignments
from engine.parse import parse_merge
from engine.plan_merge import target_columns
from engine.prepare_source import prepare_source
from engine.rows_after import change_feed, rows_after
from engine.should_materialize_source import should_materialize_source
from engine.target_rules import target_rules
from tests.conftest import own_schema
from tests.engine.merges import CASES, Case, build_source, build_target

QUICK = (
    "vectors_feed-some-each",
    "feed-delete-with-duplicates",
    "feed-not-matched-by-source",
    "vectors_feed-by-source-delete-empty-source",
    "plain-insert-only",
    "vectors_feed-insert-two-clauses",
    "insert-clause-rewrites-all-matches",
)
NOT_ROWS = ("_commit_version", "_commit_timestamp")


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[Any]:
    with own_schema(spark):
        build_source(spark)
        yield spark


@pytest.mark.parametrize("case", [c for c in CASES if c.name in QUICK], ids=lambda case: case.name)
def test_rows_and_changes_equal_what_delta_writes(shop: Any, case: Case) -> None:
    table = f"tgt_{uuid.uuid4().hex[:8]}"
    build_target(shop, table, case.table)
    check(shop, table, case.into(table))


def check(spark: Any, table: str, sql: str) -> dict[str, list[Any]]:
    """Compute, run the plain MERGE, compare row for row."""
    merge = analyze(spark, parse_merge(sql))
    detail = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]
    rules = target_rules(spark, merge, target_columns(spark, merge, detail), detail)
    source = prepare_source(spark, merge, should_materialize_source(spark, merge))
    assigned = assignments(spark, merge, rules)
    rows = rows_after(spark, merge, source, rules, assigned)
    names = rows.columns
    computed = Counter(map(str, rows.collect()))
    changes = change_feed(spark, merge, source, rules, assigned)
    fed = Counter(map(str, changes.collect()))

    spark.sql(sql).collect()
    written = spark.sql(f"SELECT * FROM {table}")
    assert names == written.columns
    assert computed == Counter(map(str, written.collect()))
    if dict(detail["properties"]).get("delta.enableChangeDataFeed") == "true":
        version = spark.sql(f"DESCRIBE HISTORY {table} LIMIT 1").collect()[0]["version"]
        if version > merge.version:
            feed = spark.sql(f"SELECT * FROM table_changes('{table}', {version}, {version})").drop(*NOT_ROWS)
            assert changes.columns == feed.columns
            assert fed == Counter(map(str, feed.collect()))
        else:
            assert not fed
    return {name: [row[name] for row in written.collect()] for name in names}
