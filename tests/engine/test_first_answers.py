"""What a plan knows before it reads any row is told at once: the decision, and what the target alone skips."""

from __future__ import annotations

from typing import Any

import pytest

from engine import plan
from engine.model.progress import Progress
from engine.preflight.target_reads import beside
from engine.spark.session_state import tagged

FREEZING = "prepare source"
MERGE = """MERGE INTO t USING parquet_source AS s ON t.k = s.k AND {predicate}
WHEN MATCHED THEN UPDATE SET v = s.v {more}"""


def answers(spark: Any, predicate: str, more: str = "") -> tuple[list[Progress], Any]:
    spark.sql(
        "CREATE TABLE t USING delta PARTITIONED BY (p) AS SELECT id AS k, id * 2 AS v, id % 4 AS p FROM range(40)"
    )
    spark.sql("CREATE TABLE parquet_source USING parquet AS SELECT id AS k, id AS v FROM range(0, 40, 3)")
    heard: list[Progress] = []
    looked = plan(spark, MERGE.format(predicate=predicate, more=more), rows=0, prune=False, on_progress=heard.append)
    return heard, looked


def test_the_decision_and_the_first_scan_are_told_before_the_source_is_frozen(spark: Any, schema: str) -> None:
    heard, looked = answers(spark, "t.p = 1")
    frozen_at = next(at for at, one in enumerate(heard) if one.phase == FREEZING)
    before = heard[:frozen_at]
    assert [one.decision for one in before if one.decision] == [looked.decision]
    [scan] = [one.scan for one in before if one.scan]
    assert (scan.files_before, scan.files_after) == (looked.scan.files_before, looked.scan.files_after)
    assert scan.files_after < scan.files_before
    assert scan.accuracy == "estimated", "the keys of the source are not known yet"


@pytest.mark.thorough
def test_not_matched_by_source_leaves_every_file_for_certain(spark: Any, schema: str) -> None:
    heard, looked = answers(spark, "t.p = 1", "WHEN NOT MATCHED BY SOURCE THEN DELETE")
    [scan] = [one.scan for one in heard if one.scan]
    assert (scan.files_after, scan.accuracy) == (looked.scan.files_before, "exact")


def test_an_interrupt_meets_the_query_that_is_waited_for_and_none_beside_it(spark: Any) -> None:
    """Who interrupts a tag ends when something was interrupted."""
    with tagged(spark, "a-plan"), beside() as submit:
        assert spark.getTags() == {"a-plan"}
        assert submit(spark.getTags).result() == set()
