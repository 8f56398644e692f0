"""Foreign text never becomes syntax."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.sql.lexer import tokenize
from engine.sql.names import quote, string, without_ours
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


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Did you mean one of the following? [`id`, `v`].", "Did you mean one of the following? [`id`, `v`]."),
        (
            "x. Did you mean one of the following? [`s`.`__dm_source_row`, `id`].",
            "x. Did you mean one of the following? [`id`].",
        ),
        ("x cannot be resolved. Did you mean one of the following? [`__dm_a`, `t`.`__DM_b`].", "x cannot be resolved."),
        (
            "ambiguous, could be: [`t`.`id`, `__dm_source`.`id`].",
            "ambiguous, could be: [`t`.`id`, `__dm_source`.`id`].",
        ),
        ("a [`b``c`] d [e]", "a [`b``c`] d [e]"),
    ],
)
def test_no_column_of_ours_is_suggested(said: str, shown: str) -> None:
    assert without_ours(said) == shown
