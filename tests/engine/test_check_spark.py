"""The doctor at a Spark: what is missing there is named, with what to set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.explore import check_spark as checks
from engine.explore.check_spark import check_spark


def by_name(spark: Any, **given: Any) -> dict[str, tuple[str, str, str]]:
    return {one.name: (one.verdict, one.found, one.hint) for one in check_spark(spark, **given)}


def test_a_spark_with_delta_is_well(spark: Any) -> None:
    found = by_name(spark)
    assert list(found) == ["version", "extension", "catalog", "delta", "schemas", "storage", "job", "clock"]
    assert {verdict for verdict, *_ in found.values()} == {"ok"}, found


def test_another_release_of_spark_is_told(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "version", lambda _: "3.5.1")
    verdict, told, hint = by_name(spark)["version"]
    assert (verdict, hint) == ("fail", "Both must be of one release.")
    assert "PySpark 3.5.1 here" in told


def test_a_session_without_delta_is_told_with_what_to_set(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "EXTENSION", "org.example.Extension")
    verdict, _, hint = by_name(spark)["extension"]
    assert (verdict, hint) == ("fail", "Start that Spark with spark.sql.extensions=org.example.Extension.")


def test_storage_that_cannot_be_reached_is_told(spark: Any, schema: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "schema_location", lambda *_: "nofs://nowhere/x")
    verdict, told, hint = by_name(spark)["storage"]
    assert verdict == "fail"
    assert "cannot be reached" in told
    assert "spark.hadoop.fs" in hint


def test_storage_that_holds_tables_of_every_layout_is_well(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one/day=1", "two", "day=1"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x.parquet").write_text("data")
    monkeypatch.setattr(checks, "schema_location", lambda *_: str(tmp_path))
    assert by_name(spark)["storage"][:2] == ("ok", f"{tmp_path} can be reached")


def test_a_job_that_does_not_end_is_given_up(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "JOB", "SELECT count_if(hash(id) = 0) FROM range(0, 1000000000000, 1, 2)")
    verdict, told, hint = by_name(spark, job_seconds=2)["job"]
    assert (verdict, told) == ("fail", "a small job has not ended after 2 s")
    assert "No executor takes it" in hint
