"""What the version before wrote is read as it was: plan files of format 2 and a ledger."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from engine.ledger.history import History
from engine.model.plan_file import read_plan
from tests.engine.plans import make_rehearsal

BEFORE = Path(__file__).parent / "before"
"""Written by the last version whose engine had no folders."""


@pytest.mark.parametrize("name", ["merge_format_2.json", "create_format_2.json"])
def test_a_plan_file_is_read_and_written_to_the_letter(name: str) -> None:
    text = (BEFORE / name).read_text(encoding="utf-8")
    assert read_plan(text).to_json() == text


@pytest.fixture
def history(tmp_path: Path) -> History:
    path = tmp_path / "history.duckdb"
    path.write_bytes(gzip.decompress((BEFORE / "ledger.duckdb.gz").read_bytes()))
    return History(path)


def test_a_ledger_has_the_operations_that_it_had(history: History) -> None:
    assert [(one.kind, one.status, one.version, one.kept) for one in history.list()] == [
        ("restore", "applied", 42, True),
        ("merge", "refused", None, None),
        ("create_table", "planned", None, None),
        ("merge", "undone", 42, True),
    ]


def test_a_ledger_has_the_plans_and_outcomes_that_it_had(history: History) -> None:
    undone = history.get(history.list()[-1].op_id)
    assert undone.plan is not None
    assert undone.plan.to_json() == (BEFORE / "merge_format_2.json").read_text(encoding="utf-8")
    assert undone.outcome is not None
    assert undone.outcome.kept
    assert undone.outcome.metrics["numTargetRowsUpdated"] == undone.plan.promise["numTargetRowsUpdated"]


def test_a_ledger_takes_rehearsals_of_its_plans(history: History) -> None:
    """No format changed: the version before reads the same ledger on."""
    old = history.list()[-1]
    assert (old.rehearsed, history.get(old.op_id).rehearsals) == (None, ())
    plan = history.get(old.op_id).plan
    assert plan is not None
    history.rehearsed(plan, make_rehearsal(plan_id=plan.plan_id))
    assert history.get(old.op_id).operation.rehearsed is True
    assert len(history.list()) == 4


def test_a_ledger_takes_new_operations(history: History) -> None:
    plan = read_plan((BEFORE / "create_format_2.json").read_text(encoding="utf-8"))
    history.record_planned(plan.model_copy(update={"plan_id": "another"}))
    assert (history.list()[0].plan_id, history.list()[0].status) == ("another", "planned")
    assert len(history.list()) == 5
