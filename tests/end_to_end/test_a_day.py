"""An operator's day by keys alone, on terminals of all kinds: create, fill, merge, clone, find it again, undo."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.ledger.history import History
from tests.end_to_end.terminal import Terminal

CTRL_R, CTRL_T, CTRL_Y, CTRL_Q = "\x12", "\x14", "\x19", "\x11"
ENTER, DOWN, SHIFT_TAB = "\r", "\x1b[B", "\x1b[Z"
INSERT = "WHEN NOT MATCHED THEN INSERT *"
KINDS = {
    "80x24": (80, 24, {"TERM": "xterm-256color"}),
    "screen": (120, 36, {"TERM": "screen-256color"}),
    "C locale": (100, 30, {"TERM": "xterm-256color", "LC_ALL": "C"}),
}


@pytest.fixture(params=[pytest.param(kind, marks=pytest.mark.thorough) for kind in KINDS])
def terminal(request: pytest.FixtureRequest, spark_home: Path, schema: str) -> Iterator[Terminal]:
    columns, lines, environment = KINDS[request.param]
    # of an earlier day
    shutil.rmtree(spark_home / "drafts", ignore_errors=True)
    opened = Terminal("--master", "local[2]", home=spark_home, columns=columns, lines=lines, environment=environment)
    yield opened
    opened.close()


def test_a_day(spark: Any, spark_home: Path, schema: str, terminal: Terminal) -> None:
    terminal.sees("1 Tables")
    terminal.sees("warm")

    terminal.send("4")
    terminal.sees("No columns yet")
    terminal.send(CTRL_T)
    terminal.paste(f"CREATE TABLE {schema}.orders (id BIGINT, status STRING) USING delta")
    terminal.sees("Spark accepts it")
    terminal.send(CTRL_R)
    terminal.sees("creates the table")
    commit(terminal)

    into = f"MERGE INTO {schema}.orders AS t USING"
    terminal.send("2")
    terminal.sees("Type a MERGE")
    terminal.paste(f"{into} (SELECT id, 'placed' AS status FROM range(100)) AS s ON t.id = s.id {INSERT}")
    terminal.sees("Spark accepts it")
    terminal.send(CTRL_R)
    terminal.sees("inserts 100")
    commit(terminal)

    terminal.send("n")
    terminal.sees("Type a MERGE")
    terminal.paste(
        f"{into} (SELECT id + 90 AS id, 'paid' AS status FROM range(15)) AS s ON t.id = s.id\n"
        f"WHEN MATCHED THEN UPDATE SET * {INSERT}"
    )
    terminal.sees("Spark accepts it")
    terminal.send(CTRL_R)
    terminal.sees("updates 10")
    commit(terminal)

    terminal.send("1")
    terminal.sees("/ filter")
    terminal.send("/")
    terminal.sees("F1 help")
    terminal.send(f"{schema}.orders{ENTER}")
    # enter opens what is under the cursor: the table, once its schema is listed
    terminal.sees(f"{schema} (1)")
    terminal.sees("? help")
    terminal.send(ENTER)
    terminal.sees("v2")
    terminal.send("c")
    terminal.sees("SHALLOW CLONE")
    terminal.sees("Spark accepts it")
    terminal.send(CTRL_R)
    terminal.sees("creates the table")
    terminal.send("c")
    terminal.sees("not accepted yet")
    terminal.send(SHIFT_TAB + " ")
    terminal.misses("not accepted yet")
    terminal.sees("ctrl+y  commit")
    terminal.send(CTRL_Y)
    terminal.sees("made v0 of")

    # the clone is the newest, the merge comes after it
    terminal.send("3")
    terminal.sees("applied, kept")
    terminal.send(DOWN)
    terminal.sees("numTargetRowsInserted")
    terminal.send("u")
    terminal.sees("ctrl+y  undo")
    terminal.send(CTRL_Y)
    terminal.sees("made v3 of")
    terminal.send(CTRL_Q)
    assert terminal.ends() == 0

    rows = spark.sql(f"SELECT count(*), count_if(status = 'paid') FROM {schema}.orders").collect()[0]
    assert tuple(rows) == (100, 0)
    told = [(one.kind, one.status) for one in History(spark_home / "history.duckdb").list() if schema in one.table]
    assert sorted(told) == [
        ("create_table", "applied"),
        ("create_table", "applied"),
        ("merge", "applied"),
        ("merge", "undone"),
        ("restore", "applied"),
    ]


def commit(terminal: Terminal) -> None:
    """From the preview to what became of it."""
    terminal.send("c")
    # it serves as soon as the dialog could be read
    terminal.sees("ctrl+y  commit")
    terminal.send(CTRL_Y)
    terminal.sees("kept its promise")
