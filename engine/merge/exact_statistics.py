"""The types whose bounds in the log can be trusted, from any writer, and what a key may say against such bounds.

A conjunct that is derived from a key makes Delta skip files that it would otherwise read, so a bound in the log that is
narrower than its file loses matches: their source rows are inserted a second time. delta-rs writes decimals as doubles,
and those without digits after the point as 64-bit integers; doubles leave NaN out; others cut texts and times off. A
bound may also be of another type than Delta's: an object for a text reads as the text of its JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime, timezone

from engine.sql.literals import DECIMAL, INTEGERS, literal
from engine.table.log_file import statistics_of

EXACT_STATISTICS = (*INTEGERS, "date", "timestamp", "string", "boolean")
"""Beside these, decimals of at most EXACT_DIGITS."""
EXACT_DIGITS = 15
"""A double holds every decimal of so many digits, and prints it again."""
# Files of the old calendar are read by a conf, and statistics are not. These are the limits that Spark has for it.
FIRST_DATE = "1582-10-15"
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
FIRST_MICROS = (datetime(1900, 1, 1, tzinfo=timezone.utc) - EPOCH).days * 86_400_000_000
LAST_MICROS = (date(9999, 12, 31) - EPOCH.date()).days * 86_400_000_000
# Delta writes times in milliseconds, and adds one to a maximum; others may write seconds
ROUNDED_MICROS = 1_000_000
# Delta cuts texts at 32 characters, Parquet at 64 bytes, and not everyone makes a maximum greater that was cut
CUT_CHARACTERS, CUT_BYTES = 32, 64
# below it texts have one order in UTF-8, as Spark has it, and in UTF-16, as Java's strings have it
FIRST_SURROGATE = "\ud800"

TEXTS_IN_LOG = ("string", "timestamp")
"""The types whose bounds are texts in the log, and which Delta reads from what is no text, too: a number is seconds."""

# how partition values are written that every cast reads; the first that matches the type
PARTITION_TEXTS = (
    (re.compile("(tiny|small|big)?int"), re.compile(r"-?\d{1,19}")),
    (re.compile("date"), re.compile(r"\d{4}-\d\d-\d\d")),
    (re.compile("timestamp"), re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{1,6})?Z?")),
    (re.compile("boolean"), re.compile("true|false")),
    (re.compile("decimal|float|double"), re.compile(r"-?\d+(\.\d+)?(E-?\d+)?")),
)


def is_odd_partition(type_: str, value: str | None) -> bool:
    """Whether a predicate on a partition column may fail with this value of it. A read of the column gives NULL."""
    text = next((text for named, text in PARTITION_TEXTS if named.match(type_)), None)
    return value is not None and text is not None and not text.fullmatch(value)


def why_not_exact(type_: str) -> str:
    """Why the log's bounds of a type are not to be trusted, in words, or ""."""
    if type_ in EXACT_STATISTICS:
        return ""
    if (decimal := DECIMAL.match(type_)) is None:
        return f"{type_} is not among the types whose statistics every writer keeps exactly"
    if int(decimal[1]) > EXACT_DIGITS:
        return f"{type_} has more than {EXACT_DIGITS} digits, and some writers keep its statistics as doubles"
    return ""


def has_odd_bound(stats: str | None, columns: Iterable[str]) -> bool:
    """Whether a file has a bound of one of ``columns``, whose types are among TEXTS_IN_LOG, that is no text."""
    if stats is None:
        return False
    statistics = statistics_of(stats, float)
    ends = [statistics.get(end, {}) for end in ("minValues", "maxValues")]
    bounds = (end.get(column) for column in columns for end in ends)
    return any(bound is not None and not isinstance(bound, str) for bound in bounds)


def lower_bound(type_: str, key: str | None) -> str | None:
    """A literal that is at most ``key``, for a column whose greatest value in a file the log may have rounded or cut.

    None for what is better not compared with statistics. ``key`` comes as :func:`engine.sql.literals.literal` takes it.
    """
    if key is None or not _is_comparable(type_, key):
        return None
    if type_ == "timestamp":
        return literal(type_, str(int(key) - ROUNDED_MICROS))
    return literal(type_, _beginning(key) if type_ == "string" else key)


def upper_bound(type_: str, key: str | None) -> str | None:
    """A literal that is at least ``key``, for a column whose least value in a file the log may have rounded or cut."""
    # bytes that are no UTF-8 stand in the log as U+FFFD, which is greater than most of what begins with such bytes
    if key is None or not _is_comparable(type_, key) or (type_ == "string" and not key.isascii()):
        return None
    # a text that was cut is less than the text
    return literal(type_, str(int(key) + ROUNDED_MICROS) if type_ == "timestamp" else key)


def _is_comparable(type_: str, key: str) -> bool:
    if type_ == "date":
        return re.match(r"\d{4}-", key) is not None and key >= FIRST_DATE
    if type_ == "timestamp":
        return FIRST_MICROS <= int(key) < LAST_MICROS
    return type_ != "string" or max(key, default="") < FIRST_SURROGATE


def _beginning(text: str) -> str:
    """What is left of a text wherever a writer cuts it."""
    return text[:CUT_CHARACTERS].encode()[:CUT_BYTES].decode(errors="ignore")
