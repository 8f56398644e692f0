"""Layout advice rests on the table's own files and on the merges that the ledger remembers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.explore.layout_advice import advise_layout
from engine.ledger.history import History
from engine.plan_merge import plan

MERGE = (
    "MERGE INTO tgt AS t USING (SELECT id FROM range({low}, {high})) AS s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET v = 'new'"
)


@pytest.mark.parametrize(
    "columns",
    [
        "(id BIGINT, v STRING) USING delta",
        "(v STRING, id BIGINT) USING delta TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '1')",
    ],
    ids=["with statistics", "without"],
)
def test_the_key_of_past_merges_is_advised_where_it_would_have_let_them_skip(
    spark: Any, schema: str, tmp_path: Path, columns: str
) -> None:
    # scattered: each of the eight files has ids from end to end
    spark.sql(f"CREATE TABLE tgt {columns}")
    spark.sql("INSERT INTO tgt (id, v) SELECT /*+ REPARTITION(8) */ id, 'old' FROM range(8000)")
    history = History(tmp_path / "history.duckdb")
    for low in (0, 4000):
        looked = plan(spark, MERGE.format(low=low, high=low + 100), rows=0)
        history.record_planned(looked)
        assert apply(spark, looked, history=history).kept
    advice = {one.code: one for one in advise_layout(spark, f"{schema}.tgt", history)}
    found = advice["CLUSTER_BY_KEY"]
    assert "Laid out by id" in found.sentence
    assert found.evidence.startswith("2 merges of the ledger keyed by it looked at")
    written = advice["REWRITE_AMPLIFICATION"]
    assert written.evidence == "2 merges of the ledger wrote 15,800 unchanged rows again to change 200"
    for statement in (*found.command.split("; "), written.command):
        spark.sql(statement)
    left = {one.code for one in advise_layout(spark, f"{schema}.tgt", history)}
    assert left.isdisjoint({"CLUSTER_BY_KEY", "REWRITE_AMPLIFICATION"})


def test_a_key_in_other_capitals_is_the_column_with_its_statistics(spark: Any, schema: str, tmp_path: Path) -> None:
    mapped = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    spark.sql(f"CREATE TABLE tgt (id BIGINT, v STRING, gone INT) USING delta {mapped}")
    spark.sql("INSERT INTO tgt SELECT id, 'old', 1 FROM range(100)")
    history = History(tmp_path / "history.duckdb")
    looked = plan(spark, MERGE.format(low=0, high=10).replace("t.id", "T.ID"), rows=0)
    history.record_planned(looked)
    assert apply(spark, looked, history=history).kept
    spark.sql("ALTER TABLE tgt DROP COLUMN gone")
    assert "NO_STATISTICS" not in {one.code for one in advise_layout(spark, f"{schema}.tgt", history)}


def test_past_merges_are_asked_for_by_the_name_that_they_had(spark: Any, schema: str, tmp_path: Path) -> None:
    """A target without an alias; and a key that has another type since, so that its old bounds are compared no more."""
    spark.sql("CREATE TABLE tgt (id INT, k INT) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    spark.sql("INSERT INTO tgt SELECT /*+ REPARTITION(8) */ CAST(id AS INT), CAST(id AS INT) FROM range(8000)")
    history = History(tmp_path / "history.duckdb")
    for key in ("id", "k"):
        merge = (
            f"MERGE INTO {schema}.tgt USING (SELECT explode(sequence(5, 90)) AS n) AS s ON {schema}.tgt.{key} = s.n "
            f"WHEN MATCHED THEN UPDATE SET {'k' if key == 'id' else 'id'} = s.n"
        )
        looked = plan(spark, merge, rows=0)
        history.record_planned(looked)
        assert apply(spark, looked, history=history).kept
    spark.sql("ALTER TABLE tgt RENAME COLUMN k TO was")
    spark.sql("ALTER TABLE tgt ADD COLUMN k STRING")
    spark.sql("INSERT INTO tgt SELECT id, was, 'abc' FROM tgt")
    found = {one.code: one for one in advise_layout(spark, "tgt", history)}["CLUSTER_BY_KEY"]
    assert "Laid out by id" in found.sentence
    assert found.evidence.startswith("1 merge of the ledger")


def test_without_merges_in_the_ledger_no_key_is_advised(spark: Any, schema: str, tmp_path: Path) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT id FROM range(0, 100, 1, 4)")
    assert advise_layout(spark, f"{schema}.tgt", History(tmp_path / "history.duckdb")) == ()
