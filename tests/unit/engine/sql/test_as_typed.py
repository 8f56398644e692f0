"""A place in the statement that Spark read, as a place in the text as typed."""

from __future__ import annotations

from engine.explore.validate import validate
from engine.model.errors import EngineError
from engine.sql.as_typed import as_typed, in_whole, moved
from engine.sql.positions import Edit

TEXT = "SET a = :one;\nSELECT :one, nosuch FROM t"


def error(counted_in: str, line: int | None, column: int | None) -> EngineError:
    return EngineError("X", "x", line=line, column=column, counted_in=counted_in)


def test_a_place_behind_a_filled_marker_moves_back() -> None:
    found = as_typed(error("SELECT 'long value', nosuch FROM t", 1, 22), TEXT, {"one": "long value"})
    assert (found.line, found.column) == (2, 14)
    assert TEXT.split("\n")[1][13:].startswith("nosuch")
    assert found.counted_in == TEXT


def test_a_place_in_a_query_of_ours_is_dropped() -> None:
    found = as_typed(error("SELECT 1 AS one", 1, 3), TEXT, {"one": "1"})
    assert (found.line, found.column) == (None, None)


def test_a_place_in_a_query_about_a_part_is_one_in_the_whole() -> None:
    whole = "n = 1\n AND nosuch = 2"
    asked = "SELECT * FROM t WHERE nosuch = 2"
    found = in_whole(error(asked, 1, 23), len(asked) - len("nosuch = 2"), whole, whole.index("nosuch"))
    assert (found.line, found.column, found.counted_in) == (2, 6, whole)
    for place in ((1, 3), (None, None)):
        found = in_whole(error(asked, *place), len(asked) - len("nosuch = 2"), whole, whole.index("nosuch"))
        assert (found.line, found.column) == (None, None)


def test_what_cannot_be_read_is_pointed_at_behind_the_setup() -> None:
    """No Spark is asked of it."""
    text = "SET a = :one;\n\nMERGE INTO t USING s ON t.id = :one\nWHEN MATCHED DELETE"
    told = validate(None, text, {"one": "a long value"})  # type: ignore[arg-type]
    assert (told.condition, told.line, told.column) == ("PARSE_SYNTAX_ERROR", 4, 14)


def test_a_value_that_cannot_be_cast_names_the_one_marker_that_stands_for_it() -> None:
    def hint(**values: str) -> str:
        said = EngineError("CAST_INVALID_INPUT", "The value '' of the type \"STRING\" cannot be cast.", "Correct it.")
        return as_typed(said, TEXT, values).hint

    assert hint(one="", two="x") == "It is what :one stands for. Correct it."
    assert hint(one="x") == hint(one="", two="") == "Correct it."


def test_an_error_without_a_place_or_in_the_text_itself_stays() -> None:
    assert as_typed(error("x", None, None), TEXT, {}).line is None
    assert as_typed(error(TEXT, 2, 3), TEXT, {}).column == 3


def test_a_place_in_another_text_than_the_edited_is_dropped() -> None:
    found = moved(error("elsewhere", 1, 2), "abc", [Edit(0, 1, "x")])
    assert (found.line, found.column, found.counted_in) == (None, None, "abc")
