"""Where in a text an error is, before and after edits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.sql.positions import Edit, before_edits, edited, offset_of, place_in, place_of


@given(st.text("ab\n"), st.integers(0, 40))
def test_an_offset_and_its_place_are_the_same(text: str, offset: int) -> None:
    offset = min(offset, len(text))
    assert offset_of(text, *place_of(text, offset)) == offset


@pytest.mark.parametrize(("line", "column"), [(0, 1), (3, 1), (1, 0), (1, 4)])
def test_a_place_outside_the_text_is_none(line: int, column: int) -> None:
    assert offset_of("ab\nc", line, column) is None


def test_edits_are_made_from_the_end() -> None:
    assert edited("(bc,e)f", [Edit(0, 1, "XX("), Edit(4, 6, "")]) == "XX(bc,f"


@pytest.mark.parametrize(("after", "before"), [(0, 0), (2, 0), (3, 1), (5, 3), (6, 6)])
def test_an_offset_goes_back_through_edits(after: int, before: int) -> None:
    # "(bc,e)f" → "XX(bc,f"
    assert before_edits("(bc,e)f", [Edit(0, 1, "XX("), Edit(4, 6, "")], after) == before


@pytest.mark.parametrize(
    ("text", "place", "put", "wanted"),
    [
        ("USING(x)s ON", (5, 9), "v AS s", "USING v AS s ON"),
        ("USING(x)ON", (5, 8), "v", "USING v ON"),
        ("USING/*(*/`s`--)\nON", (10, 13), "v", "USING/*(*/v--)\nON"),
        ("NOT`a`", (3, 6), "t.`a`", "NOT t.`a`"),
        ("NOT`d`.a", (3, 7), "", "NOT a"),
        ("(a)WHEN", (3, 3), " AND b = 7", "(a) AND b = 7 WHEN"),
        ("f(a`b`)", (2, 3), "t.`a`", "f(t.`a` `b`)"),
        ("1-a", (2, 3), "-1", "1- -1"),
        ("THEN:n", (4, 6), "'x'", "THEN 'x'"),
        ("NOT(a)", (3, 6), "(b)", "NOT(b)"),
    ],
)
def test_what_is_put_in_is_no_part_of_the_token_beside_it(
    text: str, place: tuple[int, int], put: str, wanted: str
) -> None:
    edits = [Edit(*place, put)]
    assert edited(text, edits) == wanted
    assert before_edits(text, edits, len(wanted)) == len(text)


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("[X] y\n== SQL (line 2, position 3) ==\n", (2, 3)),
        ("[X] y (line 1, pos 2)\n\n== SQL ==\nabc\n--^^^", (1, 3)),
        ("[X] y (line 1, pos 2)\n\n== SQL ==\nanother text", (None, None)),
        ("[X] y; line 2 pos 0;\n'Project", (2, 1)),
        ("[X] y; line 9 pos 0", (None, None)),
        ("[X] y", (None, None)),
    ],
)
def test_a_place_is_read_from_each_kind_of_message(said: str, place: tuple[int | None, int | None]) -> None:
    assert place_in(said, "abc\ndefg") == place
