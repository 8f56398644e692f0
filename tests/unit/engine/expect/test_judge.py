"""Numbers before and after, against their bounds."""

from __future__ import annotations

import pytest

from engine.expect.judge import judge
from engine.expect.read_expectations import read_expectations


@pytest.mark.parametrize(
    ("entry", "cells", "status", "value"),
    [
        ("rows: {min: 5}", ["5", "0"], "pass", "5"),
        ("rows: {min: 5}", ["4", "9"], "fail", "4"),
        ("rows: {max: 5}", ["6", "6"], "fail", "6"),
        ("rows: {change: 10%}", ["1100", "1000"], "pass", "1,000 -> 1,100"),
        ("rows: {change: 10%}", ["1101", "1000"], "fail", "1,000 -> 1,101"),
        ("rows: {change: 0.1}", ["899", "1000"], "fail", "1,000 -> 899"),
        ("rows: {change: 10%}", ["7", "0"], "unknown", "0 -> 7"),
        ("rows: {min: 8, change: 10%}", ["7", "0"], "fail", "0 -> 7"),
        ("sum: {a: {change: 5%}}", ["-95.00", "-100.00"], "pass", "-100.00 -> -95.00"),
        ("sum: {a: {change: 5%}}", ["-94.99", "-100.00"], "fail", "-100.00 -> -94.99"),
        ("sum: {a: {max: 1}}", [None, None], "fail", "NULL"),
        ("sum: {a: {max: 1}}", ["NaN", None], "fail", "NaN"),
        ("sum: {a: {change: 5%}}", ["Infinity", "Infinity"], "unknown", "Infinity -> Infinity"),
        ("sum: {a: {change: 5%}}", ["Infinity", "3"], "fail", "3 -> Infinity"),
        ("sum: {a: {change: 5%}}", [None, "3"], "fail", "3 -> NULL"),
        ("sum: {a: {change: 5%}}", [None, None], "unknown", "NULL -> NULL"),
        ("sum: {a: {change: 5%, min: 0}}", [None, None], "fail", "NULL -> NULL"),
        ("sum: {a: {max: 1}, b: {max: 1}}", ["1", None, "2", None], "fail", "1; 2"),
        ("sum: {a: {max: 1}}", ["1E+2", None], "fail", "100"),
        ("freshness: {a: 1d}", ["2026-01-01", "true"], "pass", "2026-01-01"),
        ("freshness: {a: 1d}", ["2026-01-01", "false"], "fail", "2026-01-01"),
        ("freshness: {a: 1d, b: 1d}", ["2026-01-01", "true", None, None], "fail", "2026-01-01; NULL"),
    ],
)
def test_judge(entry: str, cells: list[str | None], status: str, value: str) -> None:
    (one,) = read_expectations(f"t:\n  - {entry}")
    assert judge(one.expectation, cells)[:2] == (status, value)
