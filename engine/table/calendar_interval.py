"""The length of an interval in a table property, as DeltaConfigs.parseCalendarInterval reads it."""

from __future__ import annotations

import re

PART = re.compile(
    r"([+-]?)\s*(\d+(?:\.\d{0,9})?|\.\d{1,9})\s+(week|day|hour|minute|second|millisecond|microsecond)s?(?:\s+|$)"
)
MICROSECONDS = {
    "week": 604_800_000_000,
    "day": 86_400_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}


def microseconds(interval: str) -> int | None:
    """``interval 1 week``, or ``1 week``; None for months, years and what is no interval."""
    text = interval.strip().lower().removeprefix("interval ").strip()
    total, at = 0, 0
    while at < len(text):
        part = PART.match(text, at)
        if part is None or ("." in part[2] and part[3] != "second"):
            return None
        whole, _, fraction = part[2].partition(".")
        length = int(whole or 0) * MICROSECONDS[part[3]] + int(fraction[:6].ljust(6, "0"))
        total += -length if part[1] == "-" else length
        at = part.end()
    return total if text else None


def milliseconds(interval: str) -> int | None:
    """The whole ones of :func:`microseconds`."""
    length = microseconds(interval)
    if length is None:
        return None
    return length // 1000 if length >= 0 else -(-length // 1000)
