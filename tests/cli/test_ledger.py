"""``history`` and ``show-op`` on a ledger made by hand."""

from __future__ import annotations

import pytest

from engine.ledger.history import History
from engine.model.operation import Deviation
from tests.cli.running import Shell
from tests.engine.plans import make_outcome, make_plan

KEYS = ["op_id", "plan_id", "kind", "table", "sql", "status", "version", "started_at", "finished_at", "kept", "error"]


@pytest.fixture
def ledger(shell: Shell) -> History:
    return History(shell.home / "history.duckdb")


def test_empty(shell: Shell) -> None:
    assert shell("history", "--json").json == []
    assert shell("history").out == "Nothing was planned or applied yet.\n"


def test_list(shell: Shell, ledger: History) -> None:
    plan = make_plan()
    op_id = ledger.begin(plan)
    ledger.applied(op_id, make_outcome(op_id))
    ledger.record_planned(make_plan("plan-2", table="other.t"))
    failed = ledger.begin(make_plan("plan-3"))
    ledger.failed(failed, "[X] broke \x1b[2J")

    found = shell("history", "--json").json
    assert [list(one) for one in found] == [KEYS] * 3
    assert [one["status"] for one in found] == ["failed", "planned", "applied"]
    assert shell("history", "--json", "--limit", "1").json[0]["op_id"] == failed
    assert [one["plan_id"] for one in shell("history", "--json", "--table", "other.t").json] == ["plan-2"]

    text = shell("history").out
    assert f"{op_id}" in text
    assert "✔ applied" in text
    assert "v8" in text
    assert r"[X] broke \x1b[2J" in text
    assert "\x1b" not in text


def test_show_op(shell: Shell, ledger: History) -> None:
    op_id = ledger.begin(make_plan())
    outcome = make_outcome(op_id).model_copy(
        update={
            "metrics": {"numTargetRowsUpdated": 900, "numTargetRowsCopied": 1},
            "kept": False,
            "deviations": (
                Deviation(metric="numTargetRowsCopied", promised=49_100, actual=1),
                Deviation(metric="readVersion", promised=7, actual=6),
            ),
        }
    )
    ledger.applied(op_id, outcome)
    document = shell("show-op", op_id, "--json").json
    assert list(document) == ["operation", "plan", "outcome"]
    assert document["outcome"]["kept"] is False
    text = shell("show-op", op_id[:6]).out
    rows = [line.split() for line in text.splitlines()]
    assert ["numTargetRowsUpdated", "900", "900", "✔"] in rows
    assert ["numTargetRowsCopied", "49,100", "1", "✖", "deviates"] in rows
    assert ["readVersion", "7", "6", "✖", "deviates"] in rows
    assert "DEVIATED from its promise" in text
    assert "RESTORE TABLE spark_catalog.demo.orders TO VERSION AS OF 7" in text
    assert "MERGE INTO demo.orders" in text


def test_statements_are_there_to_be_copied(shell: Shell, ledger: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    op_id = ledger.begin(make_plan())
    ledger.applied(op_id, make_outcome(op_id))
    lines = shell("show-op", op_id).out.splitlines()
    assert "RESTORE TABLE spark_catalog.demo.orders TO VERSION AS OF 7" in lines
    assert make_plan().statement.sql in lines


def test_show_op_planned(shell: Shell, ledger: History) -> None:
    text = shell("show-op", ledger.record_planned(make_plan())).out
    assert "planned" in text
    assert "49,100" in text


def test_show_op_unknown(shell: Shell) -> None:
    ran = shell("show-op", "beef")
    assert ran.code == 1
    assert ran.err.startswith("[OPERATION_NOT_FOUND] ")


def test_damaged_ledger_is_told(shell: Shell) -> None:
    shell("history")
    (shell.home / "history.duckdb").write_bytes(b"x" * 20_000)
    ran = shell("history", "--json")
    assert ran.code == 0
    assert ran.json == []
    assert "set aside" in ran.err
