"""What is said of inserted rows."""

from __future__ import annotations

import pytest

from engine.preflight.inserted_faults import beyond_first


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (100, "100 rows are inserted beyond the first of their key (id, day)."),
        (1, "1 row is inserted beyond the first of its key (id, day)."),
    ],
)
def test_duplicate_inserts_says_that_the_first_row_of_a_key_is_not_counted(rows: int, said: str) -> None:
    assert beyond_first(rows, ("id", "day")) == said
