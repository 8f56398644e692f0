"""What a statement that is being typed is about."""

from __future__ import annotations

import pytest

from console.places.statement.markers import target_of


@pytest.mark.parametrize(
    ("sql", "target"),
    [
        ("MERGE INTO a.b AS t USING s", "a.b"),
        ("merge with schema evolution into a.b", "a.b"),
        ("/* a; */ MERGE INTO a.b", "a.b"),
        ("MERGE /* x\n */ INTO -- y\n a.b", "a.b"),
        ("MERGE /* not closed INTO a.b", ""),
        ("MERGE INTO", ""),
        ("SELECT 1", ""),
    ],
)
def test_the_target_is_what_stands_behind_into(sql: str, target: str) -> None:
    assert target_of(sql) == target
