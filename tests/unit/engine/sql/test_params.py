"""``:name`` markers are filled with literals: what is given as a value never becomes syntax."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.errors import UsageError
from engine.sql.lexer import tokenize
from engine.sql.params import bare_or_quoted, fill, markers


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("1", "1"),
        ("-1.5", "-1.5"),
        ("+7", "+7"),
        ("true", "true"),
        ("False", "False"),
        ("NULL", "NULL"),
        ("0", "0"),
        ("-0.50", "-0.50"),
        ("007", "'007'"),
        ("00", "'00'"),
        ("1e3", "'1e3'"),
        (".5", "'.5'"),
        ("1.", "'1.'"),
        ("1\n", "'1\n'"),
        ("", "''"),
        ("NULLS", "'NULLS'"),
        ("x' OR 1=1", "'x\\' OR 1=1'"),
        ("a\\", "'a\\\\'"),
        ("2026-01-01", "'2026-01-01'"),
        # capitals and digits of other scripts are no SQL
        ("fal\u017fe", "'fal\u017fe'"),
        ("\u0663", "'\u0663'"),
    ],
)
def test_numbers_booleans_and_null_stand_bare_all_else_is_a_string(value: str, written: str) -> None:
    assert bare_or_quoted(value) == written


@given(st.text())
def test_a_value_is_a_number_a_word_or_one_string(value: str) -> None:
    written = bare_or_quoted(value)
    if written == value:
        assert re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?|true|false|null", value, re.IGNORECASE | re.ASCII)
    else:
        (token,) = tokenize(written)
        assert token.is_string


def test_each_marker_outside_quotes_is_filled() -> None:
    sql = "SELECT :a, ':a', `:a`, x::int, v:a, :b /* :a */ + :a"
    assert fill(sql, {"a": "1", "b": "it's"}) == "SELECT 1, ':a', `:a`, x::int, v:a, 'it\\'s' /* :a */ + 1"


@pytest.mark.parametrize("before", ["-", "- ", "+", "~", "*", "/", "<", "->", "||", "(", "THEN", "date ", "THEN "])
@pytest.mark.parametrize("value", ["-5", "+5", "5", "true", "text"])
def test_a_value_stays_apart_from_what_stands_before_its_marker(before: str, value: str) -> None:
    filled = fill(f"SELECT a {before}:n\n, b", {"n": value})
    apart = f"SELECT a {before} {bare_or_quoted(value)}\n, b"
    assert [token.text for token in tokenize(filled)] == [token.text for token in tokenize(apart)]


def test_a_statement_without_markers_stays() -> None:
    assert fill("SELECT 1", {}) == "SELECT 1"


def test_markers_say_where_they_stand() -> None:
    (edit,) = markers("WHERE x = :day", {"day": "1"})
    assert (edit.start, edit.end, edit.text) == (10, 14, "1")


def test_a_name_without_a_value_is_refused() -> None:
    with pytest.raises(UsageError, match=":b has no value") as refused:
        fill("SELECT :a + :b", {"a": "1"})
    assert refused.value.condition == "UNBOUND_SQL_PARAMETER"
    assert refused.value.hint == "Give it with --param b=VALUE."
    with pytest.raises(UsageError, match="The parameters :b, :c have no value") as refused:
        fill("SELECT :a + :b + :c + :b", {"a": "1"})
    assert refused.value.hint == "Give them with --param b=VALUE --param c=VALUE."


def test_a_value_without_a_name_is_refused() -> None:
    with pytest.raises(UsageError, match="has no parameter :b") as refused:
        fill("SELECT :a", {"a": "1", "b": "2"})
    assert refused.value.condition == "UNUSED_SQL_PARAMETER"
    assert "leave the value of b out" in refused.value.hint


@pytest.mark.parametrize("value", [5, None, True, 1.5])
def test_a_value_that_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(UsageError, match=f"type {type(value).__name__}, not a text") as refused:
        fill("SELECT :a", {"a": value})  # type: ignore[dict-item] # what a notebook gives
    assert refused.value.condition == "SQL_PARAMETER_NOT_TEXT"
