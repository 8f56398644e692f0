"""Nothing in text that is not ours can move, hide or reorder what is on screen."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.words.visible import cell, is_visible, table_name, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Straße 日本 é", "Straße 日本 é"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\u202egnp", "\\u202egnp"),
        ("a\u200bb", "a\\u200bb"),
        ("a\u3164b", "a\\u3164b"),
        ("a\ufe0f\u180b", "a\\ufe0f\\u180b"),
        ("a\U000e0101", "a\\U000e0101"),
        ("a\u00a0b\n", "a\u00a0b\\n"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
    ],
)
def test_characters_that_draw_nothing_are_written_as_escapes(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert is_visible(text) is (text == shown)


def test_lines_stay_lines_where_they_are_wanted() -> None:
    assert visible("a\r\n\tb\x07\n", lines=True) == "a\n    b\\x07\n"
    assert visible("\tx\n", lines=True, tab_size=2) == "  x\n"


@given(st.text())
def test_nothing_but_what_draws_is_left(text: str) -> None:
    assert all(one.isprintable() or unicodedata.category(one) == "Zs" for one in visible(text))
    assert is_visible(visible(text))


def test_a_text_that_reads_null_is_told_from_null() -> None:
    assert [cell(value) for value in (None, "NULL", "null", "a\n")] == ["NULL", "'NULL'", "null", "a\\n"]
    assert cell("'NULL'") == "''NULL''"


def test_a_table_has_one_name_whether_the_catalog_of_the_session_was_written_or_not() -> None:
    assert table_name("spark_catalog.demo.t") == table_name("demo.t") == "demo.t"
    assert table_name("other.demo.t\x1b") == "other.demo.t\\x1b"
