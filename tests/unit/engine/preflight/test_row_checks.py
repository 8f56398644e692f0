"""Which columns Delta may check as they are given, and not as they are stored."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from engine.preflight.row_checks import maybe_as_given


def checked_as_given(kind: str, given: str, *, touched: bool, vectors: bool, feed: bool, inserts: int = 1) -> bool:
    merge: Any = SimpleNamespace(
        source_reference="s",
        source_schema=[SimpleNamespace(name="p"), SimpleNamespace(name="q")],
        statement=SimpleNamespace(not_matched=(None,) * inserts),
    )
    one: Any = SimpleNamespace(
        clause=SimpleNamespace(kind=kind),
        columns=[
            SimpleNamespace(
                given=SimpleNamespace(text=given), column=SimpleNamespace(name="part", is_text_partition=True)
            ),
            SimpleNamespace(given=None, column=SimpleNamespace(name="other", is_text_partition=True)),
        ],
    )
    matches: Any = SimpleNamespace(touched=(None,) if touched else ())
    write: Any = SimpleNamespace(deletion_vectors=vectors, change_data_feed=feed)
    return maybe_as_given(merge, matches, write, one) == {"part"}


@pytest.mark.parametrize("column", ["s.`p`", "s.`q`"])
def test_a_source_column_that_is_written_as_it_is_may_be(column: str) -> None:
    assert checked_as_given("not_matched", column, touched=False, vectors=False, feed=False)
    assert checked_as_given("matched", column, touched=True, vectors=True, feed=False)


def test_what_stands_in_a_case_or_another_expression_is_not() -> None:
    assert not checked_as_given("not_matched", "lower(s.`p`)", touched=False, vectors=False, feed=False)
    assert not checked_as_given("not_matched", "s.`p`", touched=False, vectors=False, feed=False, inserts=2)
    assert not checked_as_given("not_matched", "s.`p`", touched=True, vectors=False, feed=False)
    assert not checked_as_given("matched", "s.`p`", touched=True, vectors=True, feed=True)
