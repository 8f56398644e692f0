"""Numbers beside what they count, as people read them."""

from __future__ import annotations

OF_ONE = {
    "are": "is",
    "were": "was",
    "have": "has",
    "do": "does",
    "get": "gets",
    "keep": "keeps",
    "violate": "violates",
    "differ": "differs",
    "stand": "stands",
}


def number(value: int | None) -> str:
    """``1204`` as ``1,204``; what is not known is ``?``, never 0."""
    return "?" if value is None else f"{value:,}"


def percent(share: float) -> str:
    """0.5 as ``50%``, 0.0004 as ``0.04%``: three digits, and nothing small as 0."""
    return f"{100 * share:.3g}%"


def count(value: int | None, noun: str, plural: str | None = None) -> str:
    """``1 file``, ``2 files``, ``? files``."""
    return f"{number(value)} {noun if value == 1 else plural or noun + 's'}"


def count_and_verb(value: int, noun: str, verb: str) -> str:
    """``1 row has``, ``2 rows have``: ``verb`` is that of several."""
    return f"{count(value, noun)} {verb_of(value, verb)}"


def part_and_verb(part: int, whole: int, noun: str, verb: str) -> str:
    """``1 of 3 files has``, ``2 of 3 files have``."""
    return f"{number(part)} of {count(whole, noun)} {verb_of(part, verb)}"


def verb_of(value: int, verb: str) -> str:
    """``verb``, which is that of several, beside ``value`` of them."""
    return OF_ONE[verb] if value == 1 else verb
