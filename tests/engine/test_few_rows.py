"""What Spark does not know of a checkpoint: how small it is. The engine has counted, and says so in its own queries."""

from __future__ import annotations

from typing import Any

import pytest

from engine.merge.analyze import AnalyzedMerge, analyze
from engine.merge.find_touched_files import find_touched_files, pairs_sql
from engine.merge.join_sides import SeenRows, unmatched_source
from engine.merge.prepare_delta_scan import DeltaScan
from engine.merge.prepare_source import BROADCAST_THRESHOLD, PreparedSource, pairs_view, prepare_source
from engine.merge.should_materialize_source import should_materialize_source
from engine.plan_merge import plan
from engine.spark.confs import confs_set
from engine.sql.parse import parse_merge
from engine.table.delta_log import list_files

UPSERT = (
    "MERGE INTO tgt t USING wide s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
)
CONDITION = UPSERT.replace("WHEN MATCHED", "WHEN MATCHED AND s.v > 'a'")
JOINED_ROW, WIDE_ROW = 8 + 8 + 16, 1000
ROWS = 20


@pytest.fixture
def shop(spark: Any, schema: str) -> Any:
    """``tgt``: keys 0 to 9; ``wide``: 5 to 24, each with a thousand characters."""
    spark.sql("CREATE TABLE tgt USING delta AS SELECT id, 'old' AS v FROM range(0, 10, 1, 1)")
    spark.sql(f"CREATE TABLE wide USING delta AS SELECT id + 5 AS id, repeat('x', {WIDE_ROW}) AS v FROM range({ROWS})")
    return spark


def prepared(spark: Any, text: str, threshold: int) -> tuple[AnalyzedMerge, PreparedSource]:
    merge = analyze(spark, parse_merge(text))
    with confs_set(spark, {BROADCAST_THRESHOLD: str(threshold)}):
        return merge, prepare_source(spark, merge, should_materialize_source(spark, merge))


@pytest.mark.parametrize(
    ("text", "threshold", "ours", "is_hinted"),
    [
        (UPSERT, 1, ROWS * JOINED_ROW, True),
        (UPSERT, 1, ROWS * JOINED_ROW - 1, False),
        (UPSERT, ROWS * JOINED_ROW, 1, True),
        (UPSERT, -1, ROWS * JOINED_ROW, False),
        (CONDITION, 1, ROWS * WIDE_ROW, False),
        (UPSERT.replace("t.id = s.id", "t.id < s.id"), 1, ROWS * JOINED_ROW, False),
    ],
    ids=[
        "small",
        "too large",
        "the session allows more",
        "the session broadcasts nothing",
        "a condition needs the large column",
        "no key to join by",
    ],
)
def test_what_the_join_needs_of_the_source_is_broadcast_where_that_is_small(
    shop: Any, monkeypatch: pytest.MonkeyPatch, text: str, threshold: int, ours: int, is_hinted: bool
) -> None:
    monkeypatch.setattr("engine.merge.prepare_source.JOINED_BYTES", ours)
    merge, source = prepared(shop, text, threshold)
    assert source.joins_small is is_hinted
    assert not source.is_small
    assert ("BROADCAST" in pairs_sql(merge, source, {})) is is_hinted


@pytest.mark.parametrize(("rows", "is_hinted"), [(20, True), (21, False)])
def test_rows_that_have_a_match_are_broadcast_where_they_are_few(shop: Any, rows: int, is_hinted: bool) -> None:
    merge, source = prepared(shop, UPSERT, 20 * 16)
    files = list_files(shop, merge.path, merge.version)
    find_touched_files(shop, merge, source, DeltaScan((), files, files))
    seen = SeenRows(pairs_view(source.view), rows)
    query = f"SELECT {merge.source_reference}.* FROM {unmatched_source(merge, source, seen)}"
    assert sorted(row["id"] for row in shop.sql(query).collect()) == list(range(10, 25))
    with confs_set(shop, {BROADCAST_THRESHOLD: "-1"}):
        (explained,) = shop.sql(f"EXPLAIN {query}").collect()
    assert ("BroadcastHashJoin" in str(explained[0])) is is_hinted


def test_the_same_is_planned_whether_spark_broadcasts_or_not(shop: Any) -> None:
    found = []
    for threshold in ("-1", "10m"):
        with confs_set(shop, {BROADCAST_THRESHOLD: threshold}):
            made = plan(shop, UPSERT, rows=2)
        found.append((made.promise, made.find_touched_files, made.source.fingerprint, len(made.samples)))
    assert found[0] == found[1]
    assert found[0][0]["numTargetRowsUpdated"] == 5
    assert found[0][0]["numTargetRowsInserted"] == 15
