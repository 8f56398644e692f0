"""What a plan says of the two sides."""

from __future__ import annotations

from engine.merge.plan_values import plan_id, source_value
from engine.merge.prepare_source import PreparedSource
from engine.model.plan import PlanningState
from tests.engine.plans import make_plan
from tests.unit.explained import Recorded
from tests.unit.explained.cases import one_kind, upsert


def test_the_source_has_the_alias_that_was_typed() -> None:
    frozen = PreparedSource("v", (), 0, "", {}, None, (), None)
    assert source_value(upsert(Recorded("upsert")), frozen).sql == "feed AS s"
    assert source_value(one_kind(Recorded("one_kind")), frozen).sql == "feed"


def test_the_id_of_a_plan_holds_what_it_was_checked_by() -> None:
    def identity(*expectations: dict[str, str]) -> str:
        plan = make_plan()
        return plan_id(plan.statement, plan.target, plan.source, plan.confs, PlanningState(), expectations)

    one, other = {"name": "a", "severity": "error"}, {"name": "b"}
    assert identity() == "879559694e03f19f60970fbb27919437", "that of every version before"
    assert identity(one, other) == identity(other, one)
    assert len({identity(), identity(one), identity(other), identity(one, other)}) == 4
    assert identity(one) != identity({**one, "severity": "warn"})
