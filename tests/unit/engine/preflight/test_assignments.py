"""Which expressions give values that only the commit knows."""

from __future__ import annotations

import pytest

from engine.preflight.assignments import volatile


@pytest.mark.parametrize(
    ("expression", "parts"),
    [
        ("s.v + 1", ""),
        ("rand()", "rand()"),
        ("current_timestamp", "current_timestamp()"),
        ("monotonically_increasing_id() + 7", "monotonically_increasing_id()"),
        ("reflect('java.util.UUID', 'randomUUID')", "reflect()"),
        ("CAST('now' AS TIMESTAMP)", "'now'"),
        ("CAST(' Today ' AS DATE)", "'today'"),
        ("TIMESTAMP'tomorrow'", "'tomorrow'"),
        ("to_date('yesterday')", "'yesterday'"),
    ],
)
def test_what_changes_each_time_is_named(expression: str, parts: str) -> None:
    assert volatile(expression) == parts


@pytest.mark.parametrize("expression", ["'now'", "upper('today')", "CAST('2024-01-01' AS DATE)", "TIMESTAMP'epoch'"])
def test_a_text_is_no_time_by_itself(expression: str) -> None:
    assert volatile(expression) == ""
