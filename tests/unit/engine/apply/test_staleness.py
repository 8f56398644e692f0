"""The rules of staleness that need no Spark."""

from __future__ import annotations

from engine.apply.staleness import some


def test_many_files_are_named_by_the_first_few() -> None:
    assert some(["a", "b"]) == "a, b"
    assert some(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
