"""The Create place and the explorer on a real Spark: a table is made, cloned and explored by keys alone."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from console.app import DeltaMergeApp
from console.spark_backend import SparkBackend
from engine.ledger.history import History
from engine.session.home import ledger_path
from tests.conftest import TEST_CONFS, own_schema
from tests.console import drive
from tests.console.drive import Clock, Operator


@pytest.mark.thorough
async def test_a_table_is_created_cloned_and_explored(
    spark: Any, spark_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "PATIENCE_SECONDS", 120.0)
    with own_schema(spark) as schema:
        spark.sql(
            f"CREATE TABLE {schema}.days (k INT NOT NULL COMMENT 'it''s', ts TIMESTAMP, d DATE GENERATED ALWAYS AS "
            "(CAST(ts AS DATE))) USING delta PARTITIONED BY (d) TBLPROPERTIES ('delta.appendOnly' = 'true')"
        ).collect()
        backend = SparkBackend("local[2]", spark_home, TEST_CONFS)
        app = DeltaMergeApp(backend, home=spark_home)
        app.clock = Clock()
        async with app.run_test(size=(140, 50), notifications=True) as pilot:
            operator = Operator(pilot, app)
            await operator.warm()
            tables: Any = app.screen_stack[0]
            tables.open_table(f"{schema}.days")
            await operator.sees("v0")

            # like it: created from the form
            await operator.press("n")
            await operator.sees(f"{schema}.days_like", "Spark accepts it", "AS CAST(ts AS DATE)")
            operator.create.form_pane._text("comment").focus()
            await operator.press(*"made here")
            await operator.press("ctrl+r")
            await operator.sees("creates the table", "history will say CREATE TABLE")
            await operator.press("c")
            await operator.sees("new → v0", f"undo: DROP TABLE spark_catalog.{schema}.days_like")
            await operator.press("ctrl+y")
            await operator.sees("kept its promise", "made v0 of")

            for day in (1, 2, 3):
                insert = f"INSERT INTO {schema}.days_like (k, ts) VALUES ({day}, timestamp'2024-01-0{day} 12:00:00')"
                await asyncio.to_thread(lambda sql=insert: spark.sql(sql).collect())

            # cloned, at its version
            await operator.press("1")
            tables.open_table(f"{schema}.days_like")
            await operator.sees("days_like · v3 · 3 files", "by d")
            await operator.press("c")
            await operator.sees(f"SHALLOW CLONE {schema}.days_like VERSION AS OF 3", "Spark accepts it")
            await operator.press("ctrl+r")
            await operator.sees("creates the table")
            await operator.press("c")
            # a clone reads the files of another table: that is to be accepted
            await operator.sees("FILES_BELONG_TO_THE_SOURCE", "not accepted yet")
            await operator.press("shift+tab", "space")
            await operator.misses("not accepted yet")
            await operator.press("ctrl+y")
            await operator.sees("kept its promise", f"made v0 of {schema}.days_like_rehearsal", "numCopiedFiles")

            # explored: the day is derived from the time
            await operator.press("1")
            tables.open_table(f"{schema}.days_like_rehearsal")
            await operator.sees("days_like_rehearsal · v0 · 3 files")
            await operator.press("e", *"ts >= '2024-01-02 13:00:00' AND k < 9", "enter")
            await operator.sees("3 files", "derived filter", "2024-01-02", "g derived filter", "s statistics")
            assert operator.screen.count("k kept") == 1

            # and the history has both
            await operator.press("3")
            await operator.sees(
                "applied, kept", "days_like_rehearsal", "u takes it back while nothing else is committed: DROP TABLE"
            )
        await asyncio.to_thread(backend.close)
        made = [one for one in History(ledger_path(spark_home)).list() if schema in one.table]
        assert [(one.kind, one.status, one.kept) for one in made] == [("create_table", "applied", True)] * 2
