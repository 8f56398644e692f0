"""The promise is kept: for merges of every kind, each promised metric equals the commit's in DESCRIBE HISTORY."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from engine.apply_plan import apply
from engine.commits import commits
from engine.plan_merge import plan
from engine.values import Plan
from tests.engine.merges import CASES, Case, build_source, build_target

ALWAYS = (
    "numTargetRowsInserted",
    "numTargetRowsUpdated",
    "numTargetRowsDeleted",
    "numTargetRowsCopied",
    "numTargetFilesRemoved",
)


ON_CLASSIC = ("plain-upsert-materialized", "vectors-some-each", "vectors_feed-not-matched-by-source")


@pytest.fixture(scope="module")
def connect_shop(spark: Any) -> Iterator[Any]:
    """The Connect session in a schema that has the source."""
    yield from _shop(spark)


@pytest.fixture(scope="module")
def classic_shop(classic: Any) -> Iterator[Any]:
    yield from _shop(classic)


def _shop(spark: Any) -> Iterator[Any]:
    name = f"fidelity_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE SCHEMA {name}")
    spark.sql(f"USE {name}")
    build_source(spark)
    yield spark
    spark.sql("USE default")
    spark.sql(f"DROP SCHEMA {name} CASCADE")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_promise_equals_describe_history(connect_shop: Any, case: Case) -> None:
    check(connect_shop, case)


@pytest.mark.parametrize("case", [case for case in CASES if case.name in ON_CLASSIC], ids=lambda case: case.name)
def test_promise_equals_describe_history_on_a_classic_session(classic_shop: Any, case: Case) -> None:
    check(classic_shop, case)


def check(spark: Any, case: Case) -> None:
    table = f"tgt_{uuid.uuid4().hex[:8]}"
    build_target(spark, table, case.table)
    if case.name == "insert-only-optimization-off":
        spark.conf.set("spark.databricks.delta.merge.optimizeInsertOnlyMerge.enabled", "false")
    try:
        looked = plan(spark, case.into(table), rows=2 if case.name.startswith("plain-") else 0)
        before = commits(spark, table)[0].version
        rows = spark.sql(f"SELECT count(*) FROM {table}").collect()[0][0]
        outcome = apply(spark, Plan.from_json(looked.to_json()))
    finally:
        spark.conf.unset("spark.databricks.delta.merge.optimizeInsertOnlyMerge.enabled")

    assert set(ALWAYS) <= set(looked.promise)
    newest = commits(spark, table)[0]
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
    assert spark.sql(f"SELECT count(*) FROM {table}").collect()[0][0] == rows + grown
    again = apply(spark, looked)
    assert again.already_applied
    assert commits(spark, table)[0].version == newest.version
