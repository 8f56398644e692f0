"""Times of values as ones that can be compared. Apart from the values, whose library is slow to import."""

from __future__ import annotations

from datetime import datetime


def instant(time: str) -> datetime:
    """A time of a value, ISO 8601 UTC, as one that can be compared."""
    # Python 3.10 does not read the Z
    return datetime.fromisoformat(time.replace("Z", "+00:00"))
