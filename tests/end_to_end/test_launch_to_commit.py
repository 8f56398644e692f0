"""The whole program on real Spark in a real terminal: launch, compose, preview, commit, find it again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.ledger.history import History
from engine.table.commits import commits
from tests.end_to_end.terminal import Terminal

CTRL_R, CTRL_Y, CTRL_Q, ENTER = "\x12", "\x19", "\x11", "\r"
# What a JVM, its loggers and PySpark's loggers would write on a terminal.
FOREIGN = re.compile(
    rb"\b(WARN|INFO|ERROR) [\w.]+:|SLF4J|log4j|org\.apache\.spark|Exception in thread|\[Stage \d|Traceback"
)


@pytest.fixture
def orders(spark: Any, schema: str) -> str:
    """``orders`` with 100 rows, ``feed`` with 15 of which five are new, as Parquet."""
    spark.sql("CREATE TABLE orders USING delta AS SELECT id, 'placed' AS status FROM range(0, 100, 1, 2)").collect()
    spark.sql("CREATE TABLE feed USING parquet AS SELECT id + 90 AS id, 'paid' AS status FROM range(15)").collect()
    return schema


@pytest.fixture
def terminal(spark_home: Path, orders: str) -> Iterator[Terminal]:
    opened = Terminal("--master", "local[2]", home=spark_home)
    yield opened
    opened.close()


def test_from_launch_to_commit(spark: Any, spark_home: Path, orders: str, terminal: Terminal) -> None:
    terminal.sees("1 Tables")
    terminal.sees(orders)
    terminal.send("2")
    terminal.sees("Preview")
    terminal.paste(
        f"MERGE INTO {orders}.orders AS t USING {orders}.feed AS s ON t.id = s.id\n"
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    terminal.sees("Spark accepts it")
    terminal.send(CTRL_R)
    terminal.sees("updates 10")
    terminal.sees("inserts 5")

    terminal.send("c")
    terminal.sees("Commit plan")
    terminal.send(ENTER)  # the focus is on Cancel
    terminal.misses("Commit plan")
    assert commits(spark, f"{orders}.orders")[0].operation == "CREATE TABLE AS SELECT"

    terminal.send("c")
    # it serves as soon as the dialog could be read
    terminal.sees("ctrl+y  commit")
    terminal.send(CTRL_Y)
    terminal.sees("kept its promise")
    terminal.send("3")
    terminal.sees("applied")
    terminal.send(CTRL_Q)
    assert terminal.ends() == 0

    newest = commits(spark, f"{orders}.orders")[0]
    assert newest.operation == "MERGE"
    assert (newest.metrics["numTargetRowsUpdated"], newest.metrics["numTargetRowsInserted"]) == (10, 5)
    (operation,) = History(spark_home / "history.duckdb").list(f"{orders}.orders")
    assert (operation.status, operation.version, operation.kept) == ("applied", newest.version, True)
    assert operation.plan_id == newest.plan_id

    foreign = FOREIGN.search(terminal.raw)
    assert foreign is None, f"on the terminal: {foreign.group()!r}"
    assert b"nanobind" not in terminal.raw, "DuckDB complains when the interpreter ends"
