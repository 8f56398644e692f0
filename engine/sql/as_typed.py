"""A place in the statement that Spark read, as a place in the text that the operator typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.model.errors import EngineError
from engine.sql.names import string
from engine.sql.params import markers
from engine.sql.positions import Edited, before_edits, edited, offset_of, place_of
from engine.sql.sql_text import statement_spans

CAST_INVALID_INPUT = "CAST_INVALID_INPUT"


def as_typed(error: EngineError, text: str, params: Mapping[str, str]) -> EngineError:
    """``error`` with its place in ``text``, a script whose ``:name`` markers were filled with ``params``.

    A place in anything else, such as a query of ours, is dropped. A value that cannot be cast names its marker.
    """
    if error.condition == CAST_INVALID_INPUT:
        names = [f":{name}" for name, value in params.items() if f"The value {string(value)} of" in error.message]
        error.hint = f"It is what {names[0]} stands for. {error.hint}" if len(names) == 1 else error.hint
    if error.line is None or error.column is None or error.counted_in == text:
        return error
    edits = markers(text, params)
    filled = edited(text, edits)
    for start, end in statement_spans(filled):
        if filled[start:end] == error.counted_in:
            return moved(error, text, edits, start)
    error.line = error.column = None
    return error


def in_whole(error: EngineError, begins: int, whole: str, start: int) -> EngineError:
    """``error`` with its place in ``whole``; it counts in a query of ours, which has from ``begins`` on what ``whole``
    has from ``start`` on."""
    place = None
    if error.line is not None and error.column is not None:
        place = offset_of(error.counted_in, error.line, error.column)
    known = None if place is None or place < begins else place - begins + start
    error.line, error.column = (None, None) if known is None else place_of(whole, known)
    error.counted_in = whole
    return error


def moved(error: EngineError, text: str, edits: Sequence[Edited], start: int = 0) -> EngineError:
    """``error`` with its place in ``text``; it counts in what ``edits`` made of that, from ``start`` on."""
    place = before = None
    if error.line is not None and error.column is not None and edited(text, edits).startswith(error.counted_in, start):
        place = offset_of(error.counted_in, error.line, error.column)
    if place is not None:
        before = before_edits(text, edits, start + place)
    error.line, error.column = (None, None) if before is None else place_of(text, before)
    error.counted_in = text
    return error
