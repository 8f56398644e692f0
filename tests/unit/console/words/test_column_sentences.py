"""Where the value of a column comes from."""

from __future__ import annotations

from typing import Any

import pytest

from console.words.column_sentences import value
from engine.model.browse import Column
from engine.model.identity import Identity


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, ""),
        ({"default": "1 + 6"}, "default 1 + 6"),
        ({"default": "'a\nb'"}, "default 'a\\nb'"),
        ({"generated_as": "year(day)"}, "generated as year(day)"),
        ({"identity": Identity(start=1, step=1, always=True)}, "identity always, start 1, step 1"),
        ({"identity": Identity(start=5, step=-2, always=False)}, "identity by default, start 5, step -2"),
    ],
)
def test_where_a_value_comes_from(given: dict[str, Any], told: str) -> None:
    assert value(Column(name="c", type="int", **given)) == told
