"""Whether a plan may be applied at all: what the policy forbids, and what must be accepted first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.commit.policy import Policy, check_policy
from engine.model.create_values import CreatePlan
from engine.model.errors import RefusedError
from engine.model.expectation import failing
from engine.model.plan import Plan
from engine.preflight.advice import MUST_ACCEPT

if TYPE_CHECKING:
    from engine.ledger.history import History
    from engine.model.expectation import ExpectationResult


def check_allowed(
    plan: Plan | CreatePlan, accept: Sequence[str], policy: Policy | None, history: History | None
) -> None:
    """Raise for a plan that must not run, or that the policy forbids."""
    if policy is not None:
        check_policy(policy, plan, reviewed=history is not None and history.is_reviewed(plan.plan_id))
    refuse(plan, accept)


def refuse(plan: Plan | CreatePlan, accept: Sequence[str]) -> None:
    """Raise for a plan that must not run."""
    if plan.refused:
        raise RefusedError(
            plan.refused.condition,
            f"The plan cannot be applied: {plan.refused.message}",
            plan.refused.hint or "Change the statement or its source, and plan again.",
        )
    if missing := [one for one in to_accept(plan) if one.code not in accept]:
        # with those that were given: the command as a whole is what is typed again
        options = dict.fromkeys(f"--accept {one.code}" for one in to_accept(plan))
        # each, for the options accept all of them
        others = (f"[{one.condition}] {one.sentence}" for one in missing[1:])
        raise RefusedError(
            missing[0].condition,
            " ".join((missing[0].sentence, *others)),
            f"If that is what you want, apply with {' '.join(options)}.",
        )


@dataclass(frozen=True)
class ToAccept:
    """What a plan must not be applied with unless its ``code`` is accepted."""

    code: str
    condition: str
    sentence: str


def sentence_of(one: ExpectationResult) -> str:
    """With its name, which is its own if it was not given another."""
    return one.sentence if one.sentence.startswith(f"{one.name}: ") else f"{one.name}: {one.sentence}"


def to_accept(plan: Plan | CreatePlan) -> Iterator[ToAccept]:
    for warning in plan.warnings:
        if warning.code in MUST_ACCEPT or warning.severity == "error":
            yield ToAccept(warning.code, warning.code, warning.sentence)
    if isinstance(plan, Plan):
        for one in failing(plan.expectations):
            yield ToAccept(one.code, "EXPECTATION_FAILS", sentence_of(one))
