"""How files are told apart on a map: by their size, and by what a merge does to them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from console.widgets.page import MapMode

if TYPE_CHECKING:
    from engine.model.scan import TouchedFile

MEGABYTE = 1_000_000
SIZES = (
    ("t", "under 1 MB", MEGABYTE),
    ("s", "under 16 MB", 16 * MEGABYTE),
    ("m", "under 128 MB", 128 * MEGABYTE),
    ("l", "under 1 GB", 1000 * MEGABYTE),
    ("x", "1 GB and more", None),
)
LIMITS = [most for _, _, most in SIZES if most is not None]
TOUCHES = (("u", "updated"), ("d", "deleted"), ("b", "both"))
SHARES = (
    ("1", "under 1 % of rows", 0.01),
    ("2", "under 10 %", 0.1),
    ("5", "under half", 0.5),
    ("9", "half and more", 2),
)


def by_size(sizes: Sequence[int]) -> MapMode:
    classes = [bisect_right(LIMITS, size) for size in sizes]
    return MapMode("size", [(letter, text) for letter, text, _ in SIZES], classes.__getitem__)


def by_touch(files: Sequence[TouchedFile], *, vectors: bool) -> MapMode:
    """What changes in each file. With deletion vectors, one in which nothing changes is not copied."""
    rest = ("r", "only read") if vectors else ("c", "only copied")
    return MapMode("touch", (*TOUCHES, rest), lambda at: _touch(files[at]))


def _touch(file: TouchedFile) -> int:
    if file.updated and file.deleted:
        return 2
    return 0 if file.updated else 1 if file.deleted else 3


def by_share(files: Sequence[TouchedFile]) -> MapMode:
    """How much of each file changes: a file of which little changes is mostly copied."""
    return MapMode("change", [(letter, text) for letter, text, _ in SHARES], lambda at: _share(files[at]))


def _share(file: TouchedFile) -> int:
    changed = ((file.updated or 0) + (file.deleted or 0)) / max(file.rows or 0, 1)
    return next(kind for kind, (_, _, most) in enumerate(SHARES) if changed < most or kind == len(SHARES) - 1)
