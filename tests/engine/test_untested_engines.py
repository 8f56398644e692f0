"""A plan on a release of Spark that was not tested promises rows alone, and is applied and checked as any other."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pytest

from console.words.plan_summary import rewrite
from engine import apply, plan
from engine.preflight import untested_engines
from engine.preflight.untested_engines import ROWS
from engine.spark.engine_versions import engine_versions


def test_a_session_tells_its_delta(spark: Any) -> None:
    assert engine_versions(spark).delta == version("delta-spark")


def test_rows_are_promised_and_files_are_not(spark: Any, schema: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untested_engines, "TESTED_SPARK", ("3.5",))
    spark.sql("CREATE TABLE t USING delta AS SELECT id, 'a' AS v FROM range(10)")
    spark.sql("CREATE TABLE s USING delta AS SELECT id, 'b' AS v FROM range(5, 15)")
    upsert = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    looked = plan(spark, f"MERGE INTO t USING s ON t.id = s.id {upsert}")
    assert "UNTESTED_SPARK" in [one.code for one in looked.warnings]
    assert set(looked.promise) == set(ROWS)
    assert (looked.promise["numTargetRowsUpdated"], looked.promise["numTargetRowsInserted"]) == (5, 5)
    assert rewrite(looked).startswith("rewrites about ")
    assert apply(spark, looked).kept
    created = plan(spark, "CREATE TABLE made USING delta AS SELECT 1 AS id")
    assert ([one.code for one in created.warnings], created.promise) == (["UNTESTED_SPARK"], {})
    assert apply(spark, created).kept
