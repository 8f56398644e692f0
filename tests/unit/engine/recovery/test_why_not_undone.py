"""Why an operation cannot be taken back: one rule for the undo and for the places that offer it."""

from __future__ import annotations

from typing import get_args

import pytest

from engine.model.errors import EngineError
from engine.model.operation import Operation, OperationStatus
from engine.model.plans import OperationDetail
from engine.recovery.undo import plan_undo
from engine.recovery.why_not_undone import why_not_undone


def operation(**values: object) -> Operation:
    row: dict[str, object] = {"op_id": "op1", "plan_id": "p1", "kind": "merge", "table": "db.t", "sql": "MERGE"}
    row |= {"status": "applied", "version": 3, "started_at": "2026-11-20T12:00:00Z"}
    return Operation.model_validate(row | values)


@pytest.mark.parametrize("kind", ["merge", "create_table", "restore", "drop"])
@pytest.mark.parametrize("status", get_args(OperationStatus))
@pytest.mark.parametrize("version", [None, 0, 3])
def test_what_the_rule_refuses_the_undo_refuses_in_the_same_words(kind: str, status: str, version: int | None) -> None:
    one = operation(kind=kind, status=status, version=version)
    refused = why_not_undone(one)
    if refused is None:
        assert (kind, status) in (("merge", "applied"), ("create_table", "applied"))
        return
    with pytest.raises(EngineError) as raised:
        plan_undo(None, OperationDetail(operation=one, plan=None))  # type: ignore[arg-type]
    assert (raised.value.condition, raised.value.message) == (refused.condition, refused.message)


@pytest.mark.parametrize(
    ("values", "condition", "message"),
    [
        ({"status": "undone"}, "ALREADY_UNDONE", "Operation op1 is taken back already."),
        ({"status": "overwritten"}, "ALREADY_UNDONE", "Operation op1 is gone already"),
        ({"status": "running"}, "NOT_APPLIED", "It is not known yet what operation op1 committed."),
        ({"kind": "drop", "version": None}, "NOT_APPLIED", "Operation op1 is an undo itself."),
        ({"status": "not_committed"}, "NOT_APPLIED", "Operation op1 committed nothing (not committed)"),
        ({"version": None}, "NOT_APPLIED", "Operation op1 committed nothing (no commit was needed)"),
        ({"version": 0}, "FIRST_VERSION", "v0 of db.t has no version before it"),
    ],
)
def test_each_reason_is_said(values: dict[str, object], condition: str, message: str) -> None:
    refused = why_not_undone(operation(**values))
    assert refused is not None
    assert refused.condition == condition
    assert refused.message.startswith(message)


def test_the_first_version_of_a_table_that_was_made_can_be_taken_back() -> None:
    assert why_not_undone(operation(kind="create_table", version=0)) is None


def test_what_can_be_done_of_an_undo_is_said_where_no_command_here_restores_a_version() -> None:
    dropped, restored = why_not_undone(operation(kind="drop", version=None)), why_not_undone(operation(kind="restore"))
    assert dropped is not None
    assert dropped.hint == "Plan the statement that it took back again."
    assert restored is not None
    shell = "Or run in Spark SQL, outside this program: RESTORE TABLE db.t TO VERSION AS OF 2."
    assert restored.hint == f"{dropped.hint} {shell}"
