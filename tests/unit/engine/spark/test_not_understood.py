"""The refusal of a statement that this program reads in another way than Spark."""

from __future__ import annotations

import pytest

from engine.model.errors import CancelledError, EngineError, UnreachableError, UsageError
from engine.spark.not_understood import NOT_UNDERSTOOD, not_understood, read_as, unless_refused
from tests.unit.engine.spark.test_explain import WHOLE
from tests.unit.explained import Prints


def raising(error: EngineError) -> object:
    raise error


def test_both_readings_are_shown_from_where_they_part() -> None:
    found = not_understood(f"{'x' * 100} theirs {'y' * 400}", f"{'x' * 100} ours\n  {'z' * 400}")
    assert found.condition == NOT_UNDERSTOOD
    assert "x theirs y" in found.message
    assert "x ours z" in found.message
    assert len(found.message) < 700


def test_a_refusal_of_what_was_put_together_is_one_of_our_reading() -> None:
    with pytest.raises(EngineError) as refused:
        unless_refused(lambda: raising(EngineError("X", "no")))
    assert refused.value.condition == NOT_UNDERSTOOD
    assert unless_refused(lambda: 7) == 7


@pytest.mark.parametrize("error", [CancelledError("C", "c"), UnreachableError("U", "u")])
def test_what_says_nothing_of_the_statement_stays(error: EngineError) -> None:
    with pytest.raises(type(error)) as raised:
        unless_refused(lambda: raising(error))
    assert raised.value is error


def test_what_spark_alone_can_read_is_refused_in_our_words() -> None:
    ours = UsageError("PARSE_SYNTAX_ERROR", "not read", line=2, column=3)
    with pytest.raises(EngineError, match="this program does not: not read") as refused:
        read_as(Prints(WHOLE), "SELECT 1", lambda _: raising(ours))  # type: ignore[arg-type]
    assert (refused.value.condition, refused.value.line, refused.value.column) == (NOT_UNDERSTOOD, 2, 3)


def test_what_is_no_sql_is_refused_in_sparks_words() -> None:
    text = "Error occurred during query planning: \norg.apache.spark.SparkException: [THEIRS] Theirs."
    with pytest.raises(EngineError) as refused:
        read_as(Prints(text), "SELECT", lambda _: raising(UsageError("OURS", "ours")))  # type: ignore[arg-type]
    assert refused.value.condition == "THEIRS"


def test_what_is_read_is_given_back() -> None:
    assert read_as(Prints(""), "sql", lambda sql: sql.upper()) == "SQL"  # type: ignore[arg-type]
