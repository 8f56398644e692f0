"""Python's full garbage collections look at every object there is: beside 100,000 files, a third of a second each time
in which no key is answered."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MANY: Final = 10_000
"""From this many values on, a user feels a full collection."""
SELDOM: Final = 200
"""Full collections run this many times later than Python would run them (after 10 of the middle generation)."""
DUE: Final = 10


@contextmanager
def put_off() -> Iterator[None]:
    """No collection while many values are made: none of them is garbage yet."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def stays(values: int) -> None:
    """So many values were made, and stay: collections look past them from now on. They go when nobody refers to them;
    what is in a circle at this moment stays for good, so a few values are not worth it."""
    if values >= MANY:
        gc.freeze()


def by_hand() -> None:
    """Full collections are left to ``collect_if_due``, for when nobody waits; Python's own are for those who never
    rest."""
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, SELDOM)


def collect_if_due() -> None:
    """What Python would have collected by itself by now."""
    if gc.get_count()[2] >= DUE:
        gc.collect()
