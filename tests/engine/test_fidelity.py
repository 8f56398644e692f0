"""The promise is kept: for merges of every kind, each promised metric equals the commit's in DESCRIBE HISTORY."""

from __future__ import annotations

from typing import Any

import pytest

from engine.apply_plan import apply
from engine.commits import commits
from engine.plan_merge import plan
from engine.values import Plan
from tests.engine.merges import CASES, Case, build

ALWAYS = (
    "numTargetRowsInserted",
    "numTargetRowsUpdated",
    "numTargetRowsDeleted",
    "numTargetRowsCopied",
    "numTargetFilesRemoved",
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_promise_equals_describe_history(spark: Any, schema: str, case: Case) -> None:
    check(spark, case)


@pytest.mark.parametrize("case", CASES[:3] + CASES[11:14] + CASES[26:28], ids=lambda case: case.name)
def test_promise_equals_describe_history_on_a_classic_session(classic: Any, classic_schema: str, case: Case) -> None:
    check(classic, case)


def check(spark: Any, case: Case) -> None:
    build(spark, case.table)
    if case.name == "insert-only-optimization-off":
        spark.conf.set("spark.databricks.delta.merge.optimizeInsertOnlyMerge.enabled", "false")
    try:
        looked = plan(spark, case.sql, rows=0 if case.table else 2)
        before = commits(spark, "tgt")[0].version
        rows = spark.sql("SELECT count(*) FROM tgt").collect()[0][0]
        outcome = apply(spark, Plan.from_json(looked.to_json()))
    finally:
        spark.conf.unset("spark.databricks.delta.merge.optimizeInsertOnlyMerge.enabled")

    assert set(ALWAYS) <= set(looked.promise)
    newest = commits(spark, "tgt")[0]
    if not looked.changes_something:
        assert newest.version == before, "a plan without changes commits nothing"
        assert outcome.version is None
        return
    assert newest.version == before + 1 == outcome.version
    assert newest.read_version == looked.target.version == before
    assert {name: newest.metrics.get(name) for name in looked.promise} == looked.promise
    assert outcome.kept
    assert outcome.deviations == ()
    grown = looked.promise["numTargetRowsInserted"] - looked.promise["numTargetRowsDeleted"]
    assert spark.sql("SELECT count(*) FROM tgt").collect()[0][0] == rows + grown
    again = apply(spark, looked)
    assert again.already_applied
    assert commits(spark, "tgt")[0].version == newest.version
