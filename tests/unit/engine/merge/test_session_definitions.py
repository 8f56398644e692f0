"""A view is the same view however often Spark prints it."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from engine.merge import session_definitions
from engine.merge.session_definitions import view_definition, without_drawn


def test_what_two_prints_have_otherwise_was_drawn_for_each() -> None:
    one = without_drawn(
        "rand(4085139145850761150), uniform(1, 5, -54), rand(7)", "rand(-28), uniform(1, 5, 9), rand(7)"
    )
    assert one == "rand(?), uniform(1, 5, ?), rand(7)"


def test_prints_of_two_definitions_are_not_mixed() -> None:
    assert without_drawn("rand(1)", "randn(2)") == "rand(1)"
    assert without_drawn("rand(1)", "rand(2), rand(3)") == "rand(1)"


@pytest.fixture
def definition(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The definition of a temporary view, of which Spark gives ``prints`` one after the other."""

    def of(*prints: str) -> str | None:
        left = iter(prints)
        described = json.dumps({"type": "VIEW", "catalog_name": "system"})
        monkeypatch.setattr(session_definitions, "ask_rows", lambda *_: [[described]])
        monkeypatch.setattr(session_definitions, "explain_view", lambda *_: SimpleNamespace(analyzed=next(left)))
        return view_definition(SimpleNamespace(), "seen")  # type: ignore[arg-type]

    return of


def test_a_drawn_seed_is_no_part_of_a_definition_and_a_typed_one_is(definition: Any) -> None:
    assert definition("rand(12)", "rand(34)") == definition("rand(56)", "rand(-78)")
    assert definition("rand(7)", "rand(7)") != definition("rand(8)", "rand(8)")
    assert definition("rand(7)", "rand(7)") != definition("rand(7)", "rand(8)")


def test_the_number_of_a_recursive_with_is_no_part_of_a_definition(definition: Any) -> None:
    """That of a DataFrame's view stays the same in a session, and is another in the next."""
    printed = "CTERelationDef {n}, false\nUnionLoop {n}\nUnionLoopRef {n}, [x], false\nCTERelationRef {n}, true"
    one, other = printed.format(n=1), printed.format(n=367)
    assert definition(one, one) == definition(other, other)
