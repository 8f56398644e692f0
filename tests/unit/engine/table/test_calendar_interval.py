"""The length of an interval in a table property."""

from __future__ import annotations

import pytest

from engine.table.calendar_interval import milliseconds
from engine.table.undo_possible import DAY, HOUR


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("interval 1 week", 7 * DAY),
        ("1 week", 7 * DAY),
        ("  INTERVAL 5 WEEKS", 35 * DAY),
        ("interval 1 week 2 days 3 hours", 9 * DAY + 3 * HOUR),
        ("interval 7 day 5 day", 12 * DAY),
        ("interval 1.5 seconds", 1500),
        ("interval +3 days", 3 * DAY),
        ("0 seconds", 0),
        ("interval 1500 microseconds", 1),
        (".5 second", 500),
        ("1. second", 1000),
        ("- 1 day", -DAY),
        ("-0.001500999 seconds", -1),
        ("interval 1.5 days", None),
        ("1.0000000001 seconds", None),
        ("interval 1 month", None),
        ("7days", None),
        ("interval 1 1 days", None),
        ("", None),
    ],
)
def test_an_interval_is_read_as_delta_reads_it(text: str, expected: int | None) -> None:
    assert milliseconds(text) == expected
