"""What may be done at a place is told, and nothing is left there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.explore import check_place as checks
from engine.explore.check_place import PROBE, check_place, place_of_schema
from engine.model.errors import EngineError


def by_name(spark: Any, place: object, *, writes: bool = False) -> dict[str, tuple[str, str, str]]:
    return {one.name: (one.verdict, one.found, one.hint) for one in check_place(spark, str(place), writes=writes)}


def probes(spark: Any) -> list[str]:
    """The schemas that are left of a try; other tests make and drop theirs meanwhile."""
    return [row[0] for row in spark.sql(f"SHOW SCHEMAS LIKE '{PROBE}*'").collect()]


def test_a_table_is_read_and_nothing_is_written_unasked(spark: Any, tmp_path: Path) -> None:
    assert by_name(spark, tmp_path)["read"][1] == "no Delta table is there: nothing was read"
    assert not [*tmp_path.iterdir()]
    spark.sql(f"CREATE TABLE delta.`{tmp_path}/t` USING delta AS SELECT 1 AS x")
    found = by_name(spark, tmp_path / "t")
    assert list(found) == ["list", "read", "log store"]
    assert found["read"][:2] == ("ok", "the Delta table there can be read")
    for file in (tmp_path / "t").glob("*.parquet"):
        file.unlink()
    assert by_name(spark, tmp_path / "t")["read"][0] == "fail"


def test_what_is_written_to_try_is_deleted_again(spark: Any, tmp_path: Path) -> None:
    assert by_name(spark, tmp_path, writes=True)["write"][:2] == (
        "ok",
        "two commits were written, read and deleted again",
    )
    assert not [*tmp_path.rglob("*.*")]
    assert probes(spark) == []


def test_a_store_whose_clock_differs_is_told(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_written_at", lambda *_: 0.0)
    verdict, told, hint = by_name(spark, tmp_path, writes=True)["write"]
    assert verdict == "warn"
    assert "s off Spark's" in told
    assert "time server" in hint


def test_a_place_that_cannot_be_reached_or_written_is_told(spark: Any, tmp_path: Path) -> None:
    found = by_name(spark, "nofs://nowhere/x", writes=True)
    assert {found[name][0] for name in ("list", "read", "write")} == {"fail"}
    (tmp_path / "file").write_text("no folder")
    assert by_name(spark, tmp_path / "file", writes=True)["write"][0] == "fail"
    assert probes(spark) == []


def test_the_place_of_a_schema_is_that_of_its_tables(spark: Any, schema: str) -> None:
    assert place_of_schema(spark, schema).endswith(f"{schema}.db")
    with pytest.raises(EngineError) as raised:
        place_of_schema(spark, "no_such_schema")
    assert raised.value.condition == "SCHEMA_NOT_FOUND"


def test_a_folder_that_is_not_there_is_told_and_not_made(spark: Any, tmp_path: Path) -> None:
    place = tmp_path / "nope" / "deeper"
    found = by_name(spark, place, writes=True)
    assert found["list"][:2] == ("warn", f"{place} is not there")
    assert found["write"][:2] == ("warn", f"nothing was written: {place} is not there")
    assert not [*tmp_path.iterdir()]
    place.mkdir(parents=True)
    found = by_name(spark, place, writes=True)
    assert {found[name][0] for name in ("list", "write")} == {"ok"}
    assert not [*place.iterdir()]
    assert probes(spark) == []
