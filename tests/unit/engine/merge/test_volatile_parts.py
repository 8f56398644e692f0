"""What in a text gives other values each time, and the texts that a printed plan shows to be the time of now."""

from __future__ import annotations

import pytest

from engine.merge.volatile_parts import clock_parts, volatile_parts


@pytest.mark.parametrize(
    ("sql", "parts"),
    [
        ("s.v + rand()", {"rand"}),
        ("coalesce(s.v, uuid())", {"uuid"}),
        ("current_date", {"current_date"}),
        ("TIMESTAMP'now'", {"'now'"}),
        ("CAST(' Today UTC ' AS TIMESTAMP)", {"'today utc'"}),
        ("DATE'2024-01-01'", set()),
        ("s.v = 'now'", set()),
        ("'rand()'", set()),
        ("unix_timestamp ()", {"unix_timestamp"}),
        ("system.builtin.`Unix_Timestamp`(/* now */)", {"unix_timestamp"}),
        # of a value it is the same each time
        ("unix_timestamp(s.at)", set()),
        ("unix_timestamp(s.at) < unix_timestamp()", {"unix_timestamp"}),
    ],
)
def test_functions_and_typed_literals_give_other_values(sql: str, parts: set[str]) -> None:
    assert volatile_parts(sql) == parts


@pytest.mark.parametrize(
    ("sql", "printed", "parts"),
    [
        ("t.at < 'now'", "(at#1 < cast(now as timestamp))", {"'now'"}),
        ("t.at < 'NOW'", "(at#1 < cast(NOW as timestamp))", {"'now'"}),
        ("t.d > 'today'", "(d#1 > cast(today as date))", {"'today'"}),
        ("t.v < 'now'", "(v#1 < now)", set()),
        # the plan casts the text of another condition
        ("t.v = 'x'", "(at#1 < cast(now as timestamp))", set()),
    ],
)
def test_a_text_that_the_plan_casts_is_the_time_of_now(sql: str, printed: str, parts: set[str]) -> None:
    assert clock_parts(sql, printed) == parts
