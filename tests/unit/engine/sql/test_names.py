"""Foreign text never becomes syntax."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.sql.lexer import tokenize
from engine.sql.names import quote, string
from engine.sql.sql_text import quoted_values


@given(st.text(min_size=1))
def test_a_name_is_one_token_and_comes_back(name: str) -> None:
    (token,) = tokenize(quote(name))
    assert token.name == name


@given(st.text().filter(lambda text: "\\" not in text))
def test_a_string_is_one_token_and_comes_back(value: str) -> None:
    assert quoted_values(string(value)) == (value,)


def test_a_backslash_is_doubled() -> None:
    assert string("a\\'b") == "'a\\\\\\'b'"
