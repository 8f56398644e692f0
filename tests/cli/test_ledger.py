"""``history`` and ``show-op`` on a ledger made by hand."""

from __future__ import annotations

import re

import pytest

from engine.ledger.history import History
from engine.model.errors import RefusedError
from engine.model.expectation import ExpectationResult
from engine.model.operation import Deviation
from engine.model.plan import RaisedProperty, Refused, Undo
from tests.cli.running import Shell
from tests.console.samples import a_restore, an_undo
from tests.engine.plans import make_create_plan, make_outcome, make_plan, make_rehearsal

KEYS = [
    "op_id",
    "plan_id",
    "kind",
    "table",
    "sql",
    "status",
    "version",
    "started_at",
    "finished_at",
    "kept",
    "error",
    "rehearsed",
]


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
    assert "✔ applied, kept" in text
    assert "v8" in text
    assert r"[X] broke \x1b[2J" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("columns", ["80", "120"])
def test_the_list_says_what_each_is_and_how_many_rows_it_changed(
    shell: Shell, ledger: History, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    statements = {
        "create": "CREATE TABLE demo.orders (k INT) USING delta",
        "replace": "CREATE OR REPLACE TABLE demo.orders AS SELECT 1 AS k",
        "clone": "CREATE TABLE demo.orders SHALLOW CLONE demo.other",
    }
    merged = ledger.begin(make_plan())
    metrics = {"numTargetRowsInserted": 9000, "numTargetRowsUpdated": 6064, "numTargetRowsDeleted": 0}
    ledger.applied(merged, make_outcome(merged).model_copy(update={"metrics": metrics}))
    for plan_id, sql in statements.items():
        plan = make_create_plan(plan_id=plan_id)
        made = ledger.begin(plan.model_copy(update={"statement": plan.statement.model_copy(update={"sql": sql})}))
        ledger.applied(made, make_outcome(made, plan_id).model_copy(update={"metrics": {"numOutputRows": 12}}))
    target = make_plan().target
    looked = an_undo(merged).model_copy(update={"table": target.name, "path": target.path})
    restored = ledger.begin_undo(looked)
    ledger.undone(restored, a_restore(looked).model_copy(update={"op_id": restored}))
    ledger.record_planned(make_plan("refused", refused=Refused(condition="X", message="No.", hint="")))

    for options in ((), ("--table", target.name)):
        lines = [line.split() for line in shell("history", *options).out.splitlines()]
        kinds = [line[3] for line in lines if len(line) > 3 and ":" in line[2]]
        assert kinds == ["merge", "restore", "clone", "replace", "create", "merge"]
        told = [" ".join(line) for line in lines]
        changed = [word for line in lines for word in line if word[0] in "+~-"]
        assert changed == ["+12", "+12", "+12", "+9,000", "~6,064"]
        assert [line.rpartition("back to ")[2] for line in told if "back to" in line] == [f"v{looked.to_version}"]
        assert [status for line in told for status in ("refused", "undone") if status in line] == ["refused", "undone"]


def test_a_refused_plan_says_why_once(shell: Shell, ledger: History) -> None:
    op_id = ledger.record_planned(make_plan(refused=Refused(condition="X", message="Several rows\nmatch.", hint="")))
    merge = shell("show-op", op_id).out
    ledger.record_planned(make_create_plan(plan_id="c", refused=Refused(condition="Y", message="It exists.", hint="")))
    listed = shell("history").out
    assert (merge.count("Several rows"), listed.count("[X] Several rows"), listed.count("[Y] It exists.")) == (1, 1, 1)
    assert listed.count("✖ refused") == 2


def test_a_plan_that_promises_no_number_has_no_heading_of_them(shell: Shell, ledger: History) -> None:
    assert "Promise" not in shell("show-op", ledger.record_planned(make_plan(promise={}))).out


def test_show_op(shell: Shell, ledger: History) -> None:
    op_id = ledger.begin(make_plan())
    outcome = make_outcome(op_id).model_copy(
        update={
            "metrics": {"numTargetRowsUpdated": 900, "numTargetRowsCopied": 1},
            "kept": False,
            "moved_by": ("v8 WRITE now",),
            "deviations": (
                Deviation(metric="numTargetRowsCopied", promised=49_100, actual=1),
                Deviation(metric="readVersion", promised=7, actual=6),
            ),
        }
    )
    ledger.applied(op_id, outcome)
    document = shell("show-op", op_id, "--json").json
    assert list(document) == ["operation", "plan", "outcome", "rehearsals"]
    assert document["outcome"]["kept"] is False
    text = shell("show-op", op_id[:6]).out
    rows = [line.split() for line in text.splitlines()]
    assert ["numTargetRowsUpdated", "900", "900", "✔"] in rows
    assert ["numTargetRowsCopied", "49,100", "1", "✖", "deviates"] in rows
    assert ["readVersion", "7", "6", "✖", "deviates"] in rows
    assert ["meanwhile", "v8", "WRITE", "now"] in rows
    assert "DEVIATED from its promise" in text
    assert "RESTORE TABLE spark_catalog.demo.orders TO VERSION AS OF 7" in text
    assert "MERGE INTO demo.orders" in text


def test_an_apply_that_committed_nothing_is_told_as_no_commit(shell: Shell, ledger: History) -> None:
    op_id = ledger.begin(make_plan(promise={}))
    ledger.applied(op_id, make_outcome(op_id).model_copy(update={"version": None, "metrics": {}}))
    (listed,) = shell("history", "--json").json
    assert (list(listed), listed["status"], listed["version"]) == (KEYS, "applied", None), "as it was for programs"
    for text in (shell("history").out, shell("show-op", op_id).out):
        assert "○ no commit" in text
        assert "applied" not in text
    assert "nothing to commit: it changes nothing." in shell("show-op", op_id).out


def test_a_table_that_is_only_entered_into_the_catalog_is_told_as_registered(shell: Shell, ledger: History) -> None:
    nothing, by_path = "○ no commit", {"effect": "adopt", "by_path": True}
    for changes, told in (({"effect": "adopt"}, "✔ registered"), ({"effect": "nothing"}, nothing), (by_path, nothing)):
        op_id = ledger.begin(make_create_plan(plan_id=str(changes), operation=None, promise={}, **changes))
        ledger.applied(op_id, make_outcome(op_id).model_copy(update={"version": None, "metrics": {}}))
        listed = shell("history").out.splitlines()
        assert told in next(line for line in listed if op_id in line)
        assert told in shell("show-op", op_id).out
    newest, _, oldest = shell("history", "--json").json
    assert (list(newest), list(oldest)) == (KEYS, [*KEYS, "registered"])
    assert "is in the catalog; nothing was committed." in shell("show-op", oldest["op_id"]).out


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


def test_a_rehearsal_is_told_with_its_plan(shell: Shell, ledger: History) -> None:
    differs = Deviation(metric="numTargetRowsUpdated", promised=900, actual=899)
    ledger.rehearsed(make_plan(), make_rehearsal(kept=False, deviations=(differs,)))
    ledger.rehearsed(make_plan(), make_rehearsal(started_at="2026-11-21T11:00:00.000Z"))
    (one,) = shell("history", "--json").json
    assert (one["status"], one["rehearsed"]) == ("planned", True)
    assert "rehearsed as promised" in shell("history").out
    assert [found["kept"] for found in shell("show-op", one["op_id"], "--json").json["rehearsals"]] == [True, False]
    text = " ".join(shell("show-op", one["op_id"]).out.split())
    assert "measured: 12.3 s on a clone, all 3 metrics as promised, and every row" in text
    assert "DEVIATED in 1 number: numTargetRowsUpdated 899 for 900" in text


def test_a_rehearsal_whose_expectation_fails_says_so(shell: Shell, ledger: History) -> None:
    fails = ExpectationResult(name="rows", kind="rows", status="fail", sentence="Too many.")
    ledger.rehearsed(make_plan(), make_rehearsal(expectations=(fails,)))
    assert shell("history", "--json").json[0]["rehearsal_fails"] is True
    assert "rehearsed as promised, an expectation fails" in " ".join(shell("history").out.split())
    ran = shell("show-op", shell("history", "--json").json[0]["op_id"])
    assert "✖ rehearsed " in ran.out
    assert "as promised, and every row; 1 of 1 expectation fails: rows" in " ".join(ran.out.split())


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


def test_an_operation_whose_program_is_gone_says_so(
    shell: Shell, ledger: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    op_id = ledger.begin(make_plan())
    assert "its program is gone" not in shell("history").out
    assert "program_gone" not in shell("history", "--json").json[0]
    monkeypatch.setattr("engine.processes.is_running", lambda *_: False)
    assert "its program is gone, or lost Spark; what became of it is found out" in " ".join(
        shell("history").out.split()
    )
    assert "its program is gone" in shell("show-op", op_id).out
    assert shell("history", "--json").json[0]["program_gone"] is True


@pytest.mark.parametrize("typed", ["t", "demo.t", "spark_catalog.demo.t", "`spark_catalog`.`demo`.`t`"])
def test_a_table_is_found_with_its_catalog_and_without(shell: Shell, ledger: History, typed: str) -> None:
    for number, table in enumerate(("demo.t", "spark_catalog.demo.t", "demo.tt", "other.t2")):
        ledger.record_planned(make_plan(f"plan-{number}", table=table))
    assert len(shell("history", "--json", "--table", typed).json) == 2


def test_a_commit_tells_the_command_that_takes_it_back_and_the_statement(shell: Shell, ledger: History) -> None:
    op_id = ledger.begin(make_plan())
    ledger.applied(op_id, make_outcome(op_id))
    lines = [line.strip() for line in shell("show-op", op_id).out.splitlines()]
    at = lines.index("to take it back, and all that comes after it:")
    assert lines[at + 1].startswith("deltamerge-console ")
    assert lines[at + 1].endswith(f" undo {op_id}")
    assert lines[at + 2] == "or by hand:"
    assert lines[at + 3].startswith("RESTORE TABLE ")


def test_what_was_overwritten_says_by_which_restore(shell: Shell, ledger: History) -> None:
    wrong, later = ledger.begin(make_plan("p1")), ledger.begin(make_plan("p2"))
    for op_id, version in ((wrong, 8), (later, 9)):
        ledger.applied(op_id, make_outcome(op_id).model_copy(update={"version": version}))
    path = make_plan().target.path
    restore = ledger.begin_undo(an_undo(wrong).model_copy(update={"path": path, "to_version": 7}))
    ledger.undone(restore, make_outcome(restore).model_copy(update={"version": 10}))
    told = " ".join(shell("show-op", later).out.split())
    assert "overwritten" in told
    assert f"with the RESTORE to v7 of operation {restore}, as v10" in told


def test_an_undo_that_was_found_not_possible_is_not_offered(shell: Shell, ledger: History) -> None:
    op_id = ledger.begin(make_plan())
    ledger.applied(op_id, make_outcome(op_id))
    assert f" undo {op_id}" in shell("show-op", op_id).out
    ledger.undo_refused(op_id, RefusedError("UNDO_NOT_POSSIBLE", "v7 cannot be restored: 1 of its files is deleted."))
    out = " ".join(shell("show-op", op_id).out.split())
    assert "undo is NOT possible, as was found " in out
    assert "v7 cannot be restored" in out
    assert f" undo {op_id}" not in out
    assert shell("show-op", op_id, "--json").json["undo_refused"]["why"].startswith("v7 cannot be restored")


def test_a_statement_that_delta_refuses_is_not_given_to_be_copied(shell: Shell, ledger: History) -> None:
    raised = (RaisedProperty(name="delta.deletedFileRetentionDuration", before=None, after="interval 9 days"),)
    op_id = ledger.begin(make_plan(undo=Undo(possible=True, why="It is too old.", raise_retention=raised)))
    ledger.applied(op_id, make_outcome(op_id))
    out = shell("show-op", op_id).out
    assert f" undo {op_id}\n" in out
    assert "refused by retention: `undo` raises delta.deletedFileRetentionDuration first" in out
    assert "RESTORE" not in out


@pytest.mark.parametrize("columns", ["20", "50"])
def test_a_narrow_terminal_has_every_column(
    shell: Shell, ledger: History, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    plan = make_plan()
    op_id = ledger.begin(plan)
    ledger.applied(op_id, make_outcome(op_id))
    words = " ".join(shell("history").out.split())
    assert f"id {op_id}" in words
    assert "status ✔ applied" in words
    assert words.replace(" ", "").count("demo.orders") == 1
    assert "version v8" in words
    shown = "".join(shell("show-op", op_id).out.split())
    assert re.search(r"numTargetRowsUpdated(promised)?900(actual)?900", shown)


def test_what_goes_on_below_a_row_is_no_row_of_its_own(
    shell: Shell, ledger: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    ledger.failed(ledger.begin(make_plan()), "[X] broke")
    assert "\n  [X] broke\n" in shell("history").out


@pytest.mark.parametrize("columns", ["80", "120"])
def test_what_goes_on_below_a_row_has_the_whole_width(
    shell: Shell, ledger: History, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    error = " ".join(["[STALE_PLAN]", *["demo.orders moved from v2 to v3 since the plan"] * 4])
    ledger.record_planned(make_plan("plan-1"))
    ledger.failed(ledger.begin(make_plan("plan-2")), error)
    ledger.record_planned(make_plan("plan-3"))
    header, *lines = shell("history").out.splitlines()
    below = [line for line in lines if line.startswith("  ")]
    assert " ".join(line.strip() for line in below) == error
    assert all(int(columns) - len("[STALE_PLAN]") < len(line) <= int(columns) for line in below[:-1])
    rows = [line for line in lines if line not in below]
    assert [line[header.index("status") :].split()[1:3] for line in rows] == [
        ["planned", "demo.orders"],
        ["failed", "demo.orders"],
        ["planned", "demo.orders"],
    ]
    assert {line.index("demo.orders") for line in rows} == {header.index("table")}


def test_names_that_do_not_fit_stand_below_and_are_not_folded(
    shell: Shell, ledger: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    op_id = ledger.begin(make_plan(table="lake.bronze.customer_orders_daily"))
    ledger.applied(op_id, make_outcome(op_id))
    header, row, below = shell("history").out.splitlines()
    assert header.split() == ["id", "started", "kind", "status", "version"]
    assert row.split()[-3:] == ["applied,", "kept", "v8"]
    assert below == "  lake.bronze.customer_orders_daily  ~900"


def test_a_create_is_not_told_to_be_taken_back_once_its_table_was_committed_to(shell: Shell, ledger: History) -> None:
    created = ledger.begin(make_create_plan(effect="create"))
    ledger.applied(created, make_outcome(created).model_copy(update={"version": 0}))
    assert "DROP TABLE" in shell("show-op", created).out
    merged = ledger.begin(make_plan())
    ledger.applied(merged, make_outcome(merged).model_copy(update={"version": 1}))
    text = shell("show-op", created).out
    assert "DROP TABLE" not in text
    assert f"undo {created}" not in text
    assert "v1 of " in text
    assert "does not drop the table any more" in text
