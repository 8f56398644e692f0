"""Expectations that a statement was held to before and is not now; from the ledger alone, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.commit.fewer_expectations import CODE, with_fewer_expectations
from engine.ledger.history import History
from engine.model.expectation import ExpectationResult
from engine.model.plan import Plan, Refused
from tests.engine.plans import make_outcome, make_plan


@pytest.fixture
def ledger(tmp_path: Path) -> History:
    return History(tmp_path / "home" / "history.duckdb")


def held_to(*names: str, number: int = 0) -> Plan:
    results = tuple(ExpectationResult(name=name, kind="sql", status="pass", sentence="It holds.") for name in names)
    return make_plan(f"plan-{number}-{'-'.join(names)}").model_copy(update={"expectations": results})


def told(ledger: History, plan: Plan) -> list[str]:
    return [one.sentence for one in with_fewer_expectations(ledger, plan).warnings if one.code == CODE]


def test_a_plan_without_the_file_says_what_is_not_checked(ledger: History) -> None:
    assert told(ledger, held_to()) == []
    ledger.record_planned(held_to("few", "no_null"))
    assert told(ledger, held_to("few", "no_null", "more")) == []
    (one,) = told(ledger, held_to("few"))
    assert one == "1 expectation that this statement was held to before is not checked here: no_null."
    # planned again without it, that is no secret
    ledger.record_planned(held_to(number=1))
    (one,) = told(ledger, held_to(number=2))
    assert one.endswith("are not checked here: few, no_null.")


def test_what_was_applied_without_an_expectation_says_that_it_is_given_up(ledger: History) -> None:
    ledger.record_planned(held_to("few"))
    op_id = ledger.begin(held_to(number=1))
    ledger.applied(op_id, make_outcome(op_id))
    assert told(ledger, held_to(number=2)) == []


def test_another_table_and_another_statement_have_their_own(ledger: History) -> None:
    ledger.record_planned(held_to("few"))
    plan = held_to(number=1)
    assert told(ledger, plan.model_copy(update={"target": plan.target.model_copy(update={"table_id": "t-2"})})) == []
    other = plan.statement.model_copy(update={"sql": f"{plan.statement.sql} -- other", "template": ""})
    assert told(ledger, plan.model_copy(update={"statement": other})) == []
    assert told(ledger, plan) != []


def test_a_refused_plan_is_told_of_nothing_more(ledger: History) -> None:
    ledger.record_planned(held_to("few"))
    refused = held_to().model_copy(update={"refused": Refused(condition="X", message="x")})
    assert told(ledger, refused) == []
