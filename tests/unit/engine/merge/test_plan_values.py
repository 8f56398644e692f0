"""What a plan says of the two sides."""

from __future__ import annotations

from engine.merge.plan_values import source_value
from engine.merge.prepare_source import PreparedSource
from tests.unit.explained import Recorded
from tests.unit.explained.cases import one_kind, upsert


def test_the_source_has_the_alias_that_was_typed() -> None:
    frozen = PreparedSource("v", (), 0, "", {}, None, (), None)
    assert source_value(upsert(Recorded("upsert")), frozen).sql == "feed AS s"
    assert source_value(one_kind(Recorded("one_kind")), frozen).sql == "feed"
