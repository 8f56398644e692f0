"""Layout advice rests on the table's own files and on the merges that the ledger remembers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.commit.apply_plan import apply
from engine.explore.layout_advice import GOOD_FILE, advise_layout, no_statistics, partition_skew, small_files
from engine.ledger.history import History
from engine.plan_merge import plan
from engine.table.log_file import LogFile

MERGE = (
    "MERGE INTO tgt AS t USING (SELECT id FROM range({low}, {high})) AS s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET v = 'new'"
)


def a_file(size: int, stats: dict[str, Any] | None = None, **partition: str | None) -> LogFile:
    text = None if stats is None else json.dumps(stats)
    return LogFile("f", size, dict(partition), 1, 0, "", 0, stats=text)


def test_the_key_of_past_merges_is_advised_where_it_would_have_let_them_skip(
    spark: Any, schema: str, tmp_path: Path
) -> None:
    # scattered: each of the eight files has ids from end to end
    spark.sql("CREATE TABLE tgt (id BIGINT, v STRING) USING delta")
    spark.sql("INSERT INTO tgt SELECT /*+ REPARTITION(8) */ id, 'old' FROM range(8000)")
    history = History(tmp_path / "history.duckdb")
    for low in (0, 4000):
        looked = plan(spark, MERGE.format(low=low, high=low + 100), rows=0)
        history.record_planned(looked)
        assert apply(spark, looked, history=history).kept
    advice = {one.code: one for one in advise_layout(spark, f"{schema}.tgt", history)}
    found = advice["CLUSTER_BY_KEY"]
    assert "Laid out by id" in found.sentence
    assert found.evidence.startswith("2 merges of the ledger keyed by it looked at")
    for statement in found.command.split("; "):
        spark.sql(statement)
    assert "CLUSTER_BY_KEY" not in {one.code for one in advise_layout(spark, f"{schema}.tgt", history)}


def test_without_merges_in_the_ledger_no_key_is_advised(spark: Any, schema: str, tmp_path: Path) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT id FROM range(0, 100, 1, 4)")
    assert advise_layout(spark, f"{schema}.tgt", History(tmp_path / "history.duckdb")) == ()


def test_small_files_are_counted_by_partition_for_optimize_never_mixes_them() -> None:
    (found,) = small_files("t", [a_file(1000, p="a") for _ in range(12)])
    assert found.command == "OPTIMIZE t"
    assert "12 of 12 files" in found.evidence
    assert "; 11 fewer" in found.evidence
    assert not list(small_files("t", [a_file(1000, p=str(at)) for at in range(12)]))
    assert not list(small_files("t", [a_file(GOOD_FILE) for _ in range(12)]))


def test_a_partition_many_times_as_large_as_most_is_named() -> None:
    even = [a_file(GOOD_FILE // 4, p=str(at)) for at in range(6)]
    assert not list(partition_skew(even))
    (found,) = partition_skew([*even, a_file(10 * GOOD_FILE, p="it's")])
    assert found.sentence == "One partition is 40 times as large as most: p = 'it\\'s'."


def test_files_without_bounds_of_a_key_are_named_and_the_others_keep_theirs() -> None:
    known = {"numRecords": 1, "minValues": {"id": 1}, "nullCount": {"id": 0, "late": 1}}
    assert not list(no_statistics("t", [a_file(1, known)], ["id"]))
    # all NULL: no bounds, and none are needed
    assert not list(no_statistics("t", [a_file(1, known)], ["late"]))
    (found,) = no_statistics("t", [a_file(1, known), a_file(1)], ["key"])
    assert found.evidence == "2 of 2 files have no bounds of it, nor are they all NULL"
    assert found.command.endswith("('delta.dataSkippingStatsColumns' = '`id`, `key`')")
    # a partition column needs none
    assert not list(no_statistics("t", [a_file(1, None, key="x")], ["key"]))
