"""Sample values, taken in the statement that counts: a second statement would cost as much as the first."""

from __future__ import annotations

SOME = 5
"""The most values that are taken."""


def some_values(expression: str) -> str:
    """An array of up to SOME values that are not NULL, each of an aggregate that holds one value alone."""
    order = f"CASE WHEN {expression} IS NOT NULL THEN xxhash64({expression}) END"
    first = f"min({expression}), max({expression}), any_value({expression}, true)"
    hashed = f"min_by({expression}, {order}), max_by({expression}, {order})"
    return f"array_distinct(array_compact(`array`({first}, {hashed})))"
