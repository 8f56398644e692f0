"""Which plans must not run, and what must be accepted first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from engine.commit.check_allowed import check_allowed, refuse
from engine.commit.policy import Policy
from engine.model.errors import RefusedError
from engine.model.expectation import ExpectationResult
from engine.model.plan import Refused, Remark
from tests.engine.plans import make_create_plan, make_plan


def refused(plan: Any, *accept: str) -> str:
    with pytest.raises(RefusedError) as caught:
        refuse(plan, accept)
    return caught.value.condition


def test_what_delta_would_refuse_does_not_run() -> None:
    of_delta = Refused(condition="DELTA_X", message="Delta refuses it.")
    assert refused(make_plan(refused=of_delta)) == "DELTA_X"
    assert refused(make_create_plan(refused=of_delta)) == "DELTA_X"
    assert refused(make_plan(refused=of_delta), "DELTA_X") == "DELTA_X", "there is nothing to accept"


@pytest.mark.parametrize(
    ("code", "severity", "must"),
    [
        ("SOURCE_MOVES", "warning", False),
        ("SOURCE_MOVES", "error", True),
        ("NULL_CONDITION_WRONG_RESULT", "warning", True),
        ("FEED_LOSES_INSERTED_ROWS", "warning", True),
    ],
)
def test_an_error_and_a_wrong_result_must_be_accepted(code: str, severity: Any, must: bool) -> None:
    plan = make_plan(warnings=(Remark(code=code, sentence="…", severity=severity),))
    refuse(plan, [code])
    if must:
        assert refused(plan) == code
    else:
        refuse(plan, [])


@pytest.mark.parametrize(
    ("status", "severity", "must"),
    [
        ("fail", "error", True),
        ("error", "error", True),
        ("fail", "warn", False),
        ("pass", "error", False),
        ("unknown", "error", False),
    ],
)
def test_an_expectation_that_fails_must_be_accepted(status: Any, severity: Any, must: bool) -> None:
    result = ExpectationResult(name="keys", kind="unique", status=status, severity=severity, sentence="…")
    plan = make_plan(expectations=(result,))
    refuse(plan, ["expect:keys"])
    if must:
        assert refused(plan) == "EXPECTATION_FAILS"
    else:
        refuse(plan, [])


def test_the_advice_repeats_what_was_accepted_already() -> None:
    few, keys = (
        ExpectationResult(name=name, kind="rows", status="fail", severity="error", sentence="…")
        for name in ("few", "keys")
    )
    with pytest.raises(RefusedError) as caught:
        refuse(make_plan(warnings=(), expectations=(few, keys)), ["expect:few"])
    assert "--accept expect:few --accept expect:keys" in caught.value.hint


def test_all_that_the_options_accept_is_said() -> None:
    few, keys = (
        ExpectationResult(name=name, kind="rows", status="fail", severity="error", sentence=f"It is about {name}.")
        for name in ("few", "keys")
    )
    moves = Remark(code="SOURCE_MOVES", sentence="The source moves.", severity="error")
    with pytest.raises(RefusedError) as caught:
        refuse(make_plan(warnings=(moves,), expectations=(few, keys)), ["expect:few"])
    assert caught.value.condition == "SOURCE_MOVES"
    assert caught.value.message == "The source moves. [EXPECTATION_FAILS] keys: It is about keys."


@pytest.mark.parametrize(
    ("name", "said"), [("few", "few: rows: 64 is above the most, 60."), ("rows", "rows: 64 is above the most, 60.")]
)
def test_an_expectation_that_has_the_name_of_its_kind_is_named_once(name: str, said: str) -> None:
    sentence = "rows: 64 is above the most, 60."
    result = ExpectationResult(name=name, kind="rows", status="fail", severity="error", sentence=sentence)
    with pytest.raises(RefusedError) as caught:
        refuse(make_plan(warnings=(), expectations=(result,)), ())
    assert caught.value.message == said


def test_a_policy_is_asked_first_and_knows_what_was_reviewed() -> None:
    plan = make_plan(warnings=())
    history: Any = SimpleNamespace(is_reviewed=lambda plan_id: plan_id == "plan-1")
    policy = Policy(reviewed_plans=True)
    check_allowed(plan, (), policy, history)
    check_allowed(plan, (), None, None)
    for other, ledger in ((make_plan("plan-2", warnings=()), history), (plan, None)):
        with pytest.raises(RefusedError, match="reviewed"):
            check_allowed(other, (), policy, ledger)
