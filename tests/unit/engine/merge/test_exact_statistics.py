"""Whose bounds in the log are to be trusted, and what a key may say against them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.merge.exact_statistics import (
    EXACT_DIGITS,
    has_odd_bound,
    is_odd_partition,
    lower_bound,
    upper_bound,
    why_not_exact,
)


@pytest.mark.parametrize("type_", ["tinyint", "smallint", "int", "bigint", "date", "timestamp", "string", "boolean"])
def test_the_listed_types(type_: str) -> None:
    assert not why_not_exact(type_)


def test_a_double_keeps_a_decimal_of_15_digits() -> None:
    assert not why_not_exact("decimal(15,2)")
    assert "more than 15 digits" in why_not_exact("decimal(16,2)")


@given(st.integers(1, 38))
def test_a_decimal_is_listed_by_its_digits(digits: int) -> None:
    assert bool(why_not_exact(f"decimal({digits},0)")) is (digits > EXACT_DIGITS)


@pytest.mark.parametrize(
    "type_",
    ["float", "double", "binary", "timestamp_ntz", "string collate UTF8_LCASE", "char(3)", "struct<a:int>", "time(6)"],
)
def test_types_off_the_list(type_: str) -> None:
    assert type_ in why_not_exact(type_)


@given(st.text(), st.text(), st.integers(32, 80))
def test_a_text_in_a_file_keeps_it_however_its_bounds_were_cut(low: str, key: str, length: int) -> None:
    """The greatest value of the file, cut and not made greater, still lies above the conjunct's bound."""
    low, key = sorted((low, key), key=lambda text: text.encode("utf-8", "surrogatepass"))
    bound = lower_bound("string", low)
    if bound is not None:
        assert bound[1:-1].encode() <= key[:length].encode("utf-8", "surrogatepass")


@given(st.text(), st.text())
def test_a_text_in_a_file_keeps_it_where_texts_are_ordered_by_utf_16(low: str, key: str) -> None:
    if low.encode("utf-8", "surrogatepass") <= key.encode("utf-8", "surrogatepass"):
        bound = lower_bound("string", low)
        if bound is not None:
            assert bound[1:-1].encode("utf-16-be") <= key.encode("utf-16-be", "surrogatepass")


@pytest.mark.parametrize(
    ("type_", "key"),
    [
        ("date", "1582-10-14"),
        ("date", "+10000-01-01"),
        ("date", "-0001-01-01"),
        ("timestamp", "-2208988800001000"),
        ("timestamp", "-9223372036854775808"),
        ("timestamp", "9223372036854775807"),
        ("string", "a\U0001f600"),
        ("string", "\ufffd"),
        ("string", None),
    ],
)
def test_keys_that_are_compared_with_no_statistics(type_: str, key: str | None) -> None:
    assert lower_bound(type_, key) is None
    assert upper_bound(type_, key) is None


@pytest.mark.parametrize(
    ("type_", "key", "lower", "upper"),
    [
        ("int", "7", "7", "7"),
        ("boolean", "true", "CAST('true' AS BOOLEAN)", "CAST('true' AS BOOLEAN)"),
        # the first days of the new calendar, and of times
        ("date", "1582-10-15", "DATE'1582-10-15'", "DATE'1582-10-15'"),
        (
            "timestamp",
            "-2208988800000000",
            "timestamp_micros(-2208988801000000L)",
            "timestamp_micros(-2208988799000000L)",
        ),
        (
            "timestamp",
            "253402214399999999",
            "timestamp_micros(253402214398999999L)",
            "timestamp_micros(253402214400999999L)",
        ),
        ("timestamp", "253402214400000000", None, None),
        ("string", "", "''", "''"),
        # the greatest text in the log may end after 32 characters or 64 bytes, and never inside of a character
        ("string", "a" * 40, f"'{'a' * 32}'", f"'{'a' * 40}'"),
        ("string", "é" * 40, f"'{'é' * 32}'", None),
        ("string", "€" * 40, f"'{'€' * 21}'", None),
        ("string", "aa" + "€" * 40, f"'aa{'€' * 20}'", None),
        ("string", "é", "'é'", None),
    ],
)
def test_a_key_is_held_against_bounds_that_may_be_cut(
    type_: str, key: str, lower: str | None, upper: str | None
) -> None:
    assert (lower_bound(type_, key), upper_bound(type_, key)) == (lower, upper)


def test_bounds_of_a_time_are_a_second_wider() -> None:
    assert lower_bound("timestamp", "1000000") == "timestamp_micros(0L)"
    assert upper_bound("timestamp", "1000000") == "timestamp_micros(2000000L)"


@pytest.mark.parametrize(
    ("type_", "value", "odd"),
    [
        ("int", "-7", False),
        ("int", None, False),
        ("int", "", True),
        ("bigint", "7.0", True),
        ("date", "2024-01-05", False),
        ("date", "20240105", True),
        ("timestamp", "2024-01-05T10:11:12.123456Z", False),
        ("timestamp_ntz", "2024-01-05 10:11:12", False),
        ("timestamp", "yesterday", True),
        ("decimal(10,2)", "1.50", False),
        ("decimal(10,2)", "1,50", True),
        ("float", "NaN", True),
        ("double", "1.0E-5", False),
        ("double", "one", True),
        ("boolean", "true", False),
        ("boolean", "yes", True),
        ("string", "", False),
    ],
)
def test_partition_values_that_a_predicate_may_fail_with(type_: str, value: str | None, odd: bool) -> None:
    assert is_odd_partition(type_, value) is odd


@pytest.mark.parametrize("bound", ['{"text": "a"}', '["a"]', "7", "7.5", "7.50", "true"])
@pytest.mark.parametrize("end", ["minValues", "maxValues"])
def test_a_bound_that_is_no_text_is_odd(end: str, bound: str) -> None:
    stats = f'{{"numRecords": 2, "{end}": {{"k": {bound}, "other": "a"}}, "nullCount": {{"k": 0}}}}'
    assert has_odd_bound(stats, ["k"])
    assert has_odd_bound(stats, ["other", "k"])
    assert not has_odd_bound(stats, ["other"])


@pytest.mark.parametrize(
    "stats", [None, "{}", "no JSON", '{"minValues": {"k": "a"}, "maxValues": {"k": null}, "nullCount": {"k": 1}}']
)
def test_a_bound_that_is_a_text_or_not_there_is_not_odd(stats: str | None) -> None:
    assert not has_odd_bound(stats, ["k"])
