"""Why a plan is not applied, in words."""

from __future__ import annotations

from engine.commit.apply_plan import stale
from engine.commit.staleness import Staleness
from tests.engine.plans import make_plan


def test_a_table_that_is_another_did_not_move_from_one_version_to_the_same() -> None:
    plan = make_plan()
    other = "it was replaced, or dropped and created again, so it is another table"
    told = stale(plan, Staleness("stale", plan.target.version, (), other)).message
    assert told == f"{plan.target.name} is not as it was planned: {other}."
    moved = stale(plan, Staleness("stale", 8, ("v8 WRITE",), "files changed")).message
    assert moved == f"{plan.target.name} moved from v7 to v8 since the plan (v8 WRITE): files changed."
