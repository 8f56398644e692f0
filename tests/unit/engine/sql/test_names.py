"""Foreign text never becomes syntax."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.errors import EngineError
from engine.sql.lexer import tokenize
from engine.sql.names import check_not_ours, names_path, quote, quoted_if_needed, string, unused, without_ours
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


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        (("delta", "/data/t"), True),
        (("Delta", "s3://b/t"), True),
        (("delta", "file:/data/t"), True),
        (("delta", "t"), False),
        # what is not absolute is the name of a table in a schema called delta
        (("delta", "a/b"), False),
        (("delta", "s3://bucket"), False),
        (("parquet", "/data/t"), False),
        (("a", "delta", "/data/t"), False),
        (("delta",), False),
    ],
)
def test_a_table_may_be_named_by_its_path(parts: tuple[str, ...], path: bool) -> None:
    assert names_path(parts) is path


@pytest.mark.parametrize(
    ("name", "written"),
    [
        *(("_id1", "_id1"), ("Select", "Select"), ("a b", "`a b`"), ("1a", "`1a`"), ("é", "`é`"), ("", "``")),
        # a join or a set operation could begin there
        *((word, f"`{word}`") for word in ("Left", "anti", "cross", "except", "full", "inner", "intersect", "join")),
        *((word, f"`{word}`") for word in ("lateral", "minus", "natural", "on", "right", "semi", "union", "using")),
    ],
)
def test_a_name_is_quoted_only_where_it_must_be(name: str, written: str) -> None:
    assert quoted_if_needed(name) == written


def test_a_name_that_is_taken_in_any_case_gets_underscores() -> None:
    assert unused("Row", ["a"]) == "Row"
    assert unused("Row", ["ROW", "_row"]) == "__Row"


def test_names_of_our_own_queries_are_refused() -> None:
    check_not_ours(["id", "x__dm_y", "__dm_target", "__DM_SOURCE"])
    with pytest.raises(EngineError, match="__DM_source_row") as refused:
        check_not_ours(["id", "__DM_source_row"])
    assert refused.value.condition == "RESERVED_COLUMN_NAME"
