"""The refusal of a statement that this program reads differently than Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from engine.model.errors import CancelledError, EngineError, UnreachableError, UsageError
from engine.spark.explain import explain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Answer = TypeVar("Answer")

NOT_UNDERSTOOD = "STATEMENT_NOT_UNDERSTOOD"
LONGEST = 300
HINT = "Nothing is promised of it. Write it in another way, with qualified and quoted names."


def not_understood(theirs: str, ours: str) -> EngineError:
    """The refusal, with both readings from where they differ."""
    at = next((i for i, (one, other) in enumerate(zip(theirs, ours, strict=False)) if one != other), 0)
    begin = max(0, at - 60)
    excerpts = [" ".join(text[begin : begin + LONGEST].split()) for text in (theirs, ours)]
    return EngineError(
        NOT_UNDERSTOOD,
        f"Spark reads the statement as …{excerpts[0]}… and this program as …{excerpts[1]}…",
        HINT,
    )


def unless_refused(ask: Callable[[], Answer]) -> Answer:
    """Spark's answer about a statement that we built; if Spark refuses it, our reading is wrong."""
    try:
        return ask()
    except (CancelledError, UnreachableError):
        raise
    except EngineError as error:
        raise EngineError(NOT_UNDERSTOOD, f"Spark refuses the statement as it was read here: {error}", HINT) from error


def read_as(spark: SparkSession, sql: str, parse: Callable[[str], Answer]) -> Answer:
    """Our reading of ``sql``. What is no SQL is refused in Spark's words, what Spark alone can read in ours."""
    try:
        return parse(sql)
    except UsageError as error:
        try:
            explain(spark, sql)
        except EngineError as theirs:
            if theirs.line is None:
                theirs.line, theirs.column, theirs.counted_in = error.line, error.column, error.counted_in
            raise
        raise EngineError(
            NOT_UNDERSTOOD,
            f"Spark reads the statement, this program does not: {error.message}",
            HINT,
            line=error.line,
            column=error.column,
            counted_in=error.counted_in,
        ) from error
