"""Names are found by what one remembers of them."""

from __future__ import annotations

import pytest

from console.fuzzy import best_matches, match


def found(words: str, *names: str) -> list[str]:
    return best_matches(words, names, lambda name: name)


def test_with_nothing_typed_all_stay_as_they_are() -> None:
    assert found("  ", "b", "a") == ["b", "a"]


def test_case_does_not_matter() -> None:
    assert found("ORDERS", "sales.Orders") == ["sales.Orders"]


def test_every_word_must_fit() -> None:
    assert found("sales items", "sales.orders", "sales.order_items") == ["sales.order_items"]


def test_a_whole_word_goes_before_letters_in_order() -> None:
    assert found("ord", "o_r_d", "my.ord") == ["my.ord", "o_r_d"]


def test_a_name_that_begins_with_the_word_goes_before_one_that_holds_it() -> None:
    assert found("ord", "reorder", "orders", "a.orders") == ["orders", "a.orders", "reorder"]


def test_letters_close_together_go_before_letters_far_apart() -> None:
    assert found("odl", "o___d___l", "o_d_l") == ["o_d_l", "o___d___l"]


def test_equals_keep_their_order() -> None:
    assert found("t", "t2", "t1") == ["t2", "t1"]


@pytest.mark.parametrize(
    ("word", "text", "score"),
    [
        ("ordl", "order_lines", (1, 3)),
        ("dro", "order", None),
        ("x", "order", None),
        ("oz", "order", None),
        ("", "", (0, 0)),
    ],
)
def test_letters_must_come_in_order(word: str, text: str, score: tuple[int, int] | None) -> None:
    assert match([word], text) == score
