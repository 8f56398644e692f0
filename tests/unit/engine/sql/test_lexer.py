"""SQL text → tokens, by the rules of Spark's lexer."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.errors import UsageError
from engine.sql.lexer import closing_brackets, tokenize


def texts(sql: str) -> list[str]:
    return [token.text for token in tokenize(sql)]


@pytest.mark.parametrize(
    ("sql", "tokens"),
    [
        ("a-- x\nb", ["a", "b"]),
        ("a-- x\\\ny\nb", ["a", "b"]),
        ("a /* x /* y */ z */ b", ["a", "b"]),
        ("a /**/ b", ["a", "b"]),
        ("a /* x /*+ y */ z", ["a", "z"]),
        ("a /* x /*+ y /* z */ */ b", ["a", "b"]),
        ("SELECT /*+ BROADCAST(t) */ 1", ["SELECT", "/*+", "BROADCAST", "(", "t", ")", "*/", "1"]),
        ("'it''s' \"a\"", ["'it''s'", '"a"']),
        ("r'a\\' b", ["r'a\\'", "b"]),
        ("`a``b`.c", ["`a``b`", ".", "c"]),
        ("1.5e-3d .5 1. 7L 3BD", ["1.5e-3d", ".5", "1.", "7L", "3BD"]),
        ("1a", ["1a"]),
        ("1e-3AND 1e+2dx 1.e-3a", ["1e-3", "AND", "1e+2d", "x", "1", ".", "e", "-", "3a"]),
        ("a<=>b->c::d", ["a", "<=>", "b", "->", "c", "::", "d"]),
        ("file://b/x.y?a=1 s3://b", ["file://b/x.y?a=1", "s3", ":", "/", "/", "b"]),
    ],
)
def test_tokens_end_where_spark_ends_them(sql: str, tokens: list[str]) -> None:
    assert texts(sql) == tokens


@pytest.mark.parametrize(
    ("sql", "numbers"),
    [
        ("1 1. .1 1.5 1L 1s 1Y 1f 1d 1BD 1e1 1e-1 1.e1 .1E+1bd 1e1f 1.5d", 16),
        ("1e1L 1e1S 1e1y 1e 1_a 1LL e1 1a", 0),
    ],
)
def test_a_word_of_digits_is_a_number_only_with_the_letters_of_one(sql: str, numbers: int) -> None:
    tokens = tokenize(sql)
    assert [token.text for token in tokens] == sql.split()
    assert sum(token.is_number for token in tokens) == numbers
    assert all(bool(token.word) != token.is_number for token in tokens)


@pytest.mark.parametrize(
    ("sql", "what", "place"),
    [
        ("a\n 'x", "string", (2, 2)),
        ('"x', "string", (1, 1)),
        ("`x", "back-quoted name", (1, 1)),
        ("a /* /* */", "comment", (1, 3)),
    ],
)
def test_what_is_not_closed_is_refused_with_its_place(sql: str, what: str, place: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match=f"a {what} is not closed") as refused:
        tokenize(sql)
    assert (refused.value.condition, refused.value.counted_in) == ("PARSE_SYNTAX_ERROR", sql)
    assert (refused.value.line, refused.value.column) == place


@given(st.text("ab'\"`-/*()\n\\ 1.:"))
def test_any_text_is_tokens_in_order_or_refused(sql: str) -> None:
    try:
        tokens = tokenize(sql)
    except UsageError:
        return
    assert all(sql[token.start : token.end] == token.text for token in tokens)
    assert all(one.end <= other.start for one, other in pairwise(tokens))


def test_a_bracket_without_its_partner_is_left_out() -> None:
    assert closing_brackets(tokenize("(a [b] {c})")) == {0: 8, 2: 4, 5: 7}
    assert closing_brackets(tokenize("(a] (b)")) == {3: 5}
    assert closing_brackets(tokenize("(a] (b))")) == {3: 5}
    assert closing_brackets(tokenize(") (")) == {}


def test_a_word_is_in_capitals_and_a_name_is_as_it_is_meant() -> None:
    (bare, quoted) = tokenize("Select `a``B`")
    assert (bare.word, bare.name, bare.is_name) == ("SELECT", "Select", True)
    assert (quoted.word, quoted.name, quoted.is_name) == ("", "a`B", True)
