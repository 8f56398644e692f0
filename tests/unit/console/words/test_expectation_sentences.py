"""What an expectation came to, in sentences."""

from __future__ import annotations

import pytest

from console.words.expectation_sentences import rows
from engine.model.expectation import ExpectationResult


@pytest.mark.parametrize(
    ("kept", "value", "more"),
    [
        (10, "1250", ["and 1,247 more"]),
        (10, "10", ["and 7 more"]),
        (3, "3", []),
        (0, "40", []),
        (4, None, ["and 1 more"]),
    ],
)
def test_more_are_counted_of_all_that_fail_and_not_of_those_that_were_kept(
    kept: int, value: str, more: list[str]
) -> None:
    given = tuple({"id": str(at)} for at in range(kept))
    found = ExpectationResult(name="n", kind="not_null", status="fail", value=value, sentence="…", rows=given)
    assert rows(found)[3:] == more
