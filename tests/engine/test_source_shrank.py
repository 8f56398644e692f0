"""A source that is much smaller than those of the last runs of the same MERGE; from the ledger alone, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.commit.source_shrank import CODE, with_source_shrank
from engine.ledger.history import History
from engine.model.checks import Checks
from engine.model.plan import Plan, Refused
from tests.engine.plans import make_outcome, make_plan


@pytest.fixture
def ledger(tmp_path: Path) -> History:
    return History(tmp_path / "home" / "history.duckdb")


def a_run(number: int, rows: int, template: str = "", **target: str) -> Plan:
    plan = make_plan(f"plan-{number}-{rows}-{template}")
    return plan.model_copy(
        update={
            "source": plan.source.model_copy(update={"num_rows": rows}),
            "statement": plan.statement.model_copy(
                # the text as it ran has the day of the run in it
                update={
                    "template": template,
                    "sql": f"{plan.statement.sql} -- {number}" if template else plan.statement.sql,
                }
            ),
            "target": plan.target.model_copy(update=target),
        }
    )


def applied(ledger: History, *plans: Plan) -> None:
    for plan in plans:
        op_id = ledger.begin(plan)
        ledger.applied(op_id, make_outcome(op_id))


def count(ledger: History, plan: Plan, checks: Checks | None = Checks()) -> int | None:  # noqa: B008  a frozen value
    found = [one for one in with_source_shrank(ledger, plan, checks).warnings if one.code == CODE]
    return found[0].count if found else None


def test_less_than_half_of_the_median_of_the_last_five_runs(ledger: History) -> None:
    applied(ledger, *(a_run(n, rows) for n, rows in enumerate((9_000, 9_000, 100, 120, 80, 1_000, 90))))
    assert count(ledger, a_run(9, 49)) == 49
    assert count(ledger, a_run(9, 50)) is None


@pytest.mark.parametrize("template", ["MERGE … WHERE token = 'abc'", "MERGE … AND sig = 3"])
def test_runs_are_found_of_a_text_in_which_the_ledger_masks_something(ledger: History, template: str) -> None:
    applied(ledger, *(a_run(n, 100, template) for n in range(3)))
    assert count(ledger, a_run(9, 1, template)) == 1


def test_three_runs_are_needed(ledger: History) -> None:
    applied(ledger, a_run(0, 100), a_run(1, 100))
    assert count(ledger, a_run(9, 1)) is None
    applied(ledger, a_run(2, 100))
    assert count(ledger, a_run(9, 1)) == 1


def test_parameters_make_no_other_statement(ledger: History) -> None:
    applied(ledger, *(a_run(n, 100, "MERGE … :day") for n in range(3)))
    assert count(ledger, a_run(9, 1, "MERGE … :day")) == 1
    assert count(ledger, a_run(9, 1, "another MERGE … :day")) is None


def test_a_table_that_was_created_again_begins_anew(ledger: History) -> None:
    applied(ledger, *(a_run(n, 100) for n in range(3)))
    assert count(ledger, a_run(9, 1, table_id="t-2")) is None


def test_runs_that_did_not_commit_do_not_count(ledger: History) -> None:
    applied(ledger, a_run(0, 100), a_run(1, 100))
    ledger.record_planned(a_run(2, 100))
    ledger.failed(ledger.begin(a_run(3, 100)), "it broke")
    assert count(ledger, a_run(9, 1)) is None


def test_it_is_off_with_the_checks_and_an_error_if_the_profile_says_so(ledger: History) -> None:
    applied(ledger, *(a_run(n, 100) for n in range(3)))
    assert count(ledger, a_run(9, 1), None) is None
    assert count(ledger, a_run(9, 1), Checks(off=(CODE,))) is None
    (found,) = (
        one for one in with_source_shrank(ledger, a_run(9, 1), Checks(errors=(CODE,))).warnings if one.code == CODE
    )
    assert found.severity == "error"


def test_what_has_a_warning_or_a_refusal_of_its_own_gets_no_other(ledger: History) -> None:
    applied(ledger, *(a_run(n, 100) for n in range(3)))
    assert count(ledger, a_run(9, 0)) is None
    refused = a_run(9, 1).model_copy(update={"refused": Refused(condition="X", message="x")})
    assert count(ledger, refused) is None
