"""Values of the source as SQL literals; what is better not written is None."""

from __future__ import annotations

import pytest

from engine.sql.literals import MAX_LENGTH, MAX_VALUES, few_literals, literal, one_of, printed, within


@pytest.mark.parametrize(
    ("type_", "value", "written"),
    [
        ("tinyint", "1", "1Y"),
        ("smallint", "-1", "-1S"),
        ("int", "7", "7"),
        ("bigint", "7", "7L"),
        ("timestamp", "1700000000000000", "timestamp_micros(1700000000000000L)"),
        ("date", "2026-01-31", "DATE'2026-01-31'"),
        ("date", "12026-01-31", None),
        ("date", "-0044-03-15", None),
        ("string", "a b", "'a b'"),
        ("string", "", "''"),
        ("string", "it's", None),
        ("string", 'say "x"', None),
        ("string", "a\\b", None),
        ("string", "${x}", None),
        ("string", "a\nb", None),
        ("string", "x" * MAX_LENGTH, f"'{'x' * MAX_LENGTH}'"),
        ("string", "x" * (MAX_LENGTH + 1), None),
        ("decimal(10,2)", "1.50", "CAST('1.50' AS DECIMAL(10,2))"),
        ("boolean", "true", "CAST('true' AS BOOLEAN)"),
        ("int", None, None),
    ],
)
def test_a_value_is_written_by_its_type(type_: str, value: str | None, written: str | None) -> None:
    assert literal(type_, value) == written


def test_a_value_is_printed_as_literal_takes_it() -> None:
    assert printed("timestamp", "s.at") == "CAST(unix_micros(s.at) AS STRING)"
    assert printed("int", "s.id") == "CAST(s.id AS STRING)"
    # bytes that are no UTF-8 would come as other characters
    assert printed("string", "s.n") == "try_validate_utf8(CAST(s.n AS STRING))"


def test_few_values_are_all_written_or_none() -> None:
    assert few_literals("int", ["1", "2"]) == ("1", "2")
    assert few_literals("int", ["1", None]) == ()
    assert few_literals("int", ["1"] * MAX_VALUES) == ("1",) * MAX_VALUES
    assert few_literals("int", ["1"] * (MAX_VALUES + 1)) == ()


def test_a_range_of_one_value_is_an_equality() -> None:
    assert within("t.a", "1", "1") == "t.a = 1"
    assert within("t.a", "1", "2") == "t.a >= 1 AND t.a <= 2"


def test_a_list_of_one_value_is_an_equality_and_others_are_ordered() -> None:
    assert one_of("t.a", ["2"]) == "t.a = 2"
    assert one_of("t.a", ["2", "1"]) == "t.a IN (1, 2)"
