"""Python's full garbage collections look at every object there is: beside 100,000 files, a third of a second each time
in which no key is answered."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MANY: Final = 10_000
"""So many values make a full collection felt."""


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
