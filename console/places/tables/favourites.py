"""Favourite tables and those opened lately, in ``<home>/tables.json``. A file that cannot be read is an empty one.

Several consoles share it: each reads it anew, and puts its own changes into what the others have written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from engine.files import locked, write_private

RECENT = 8


@dataclass(frozen=True)
class TableMarks:
    """Names of tables as Spark wants them; the newest of ``recent`` first."""

    favourites: tuple[str, ...] = ()
    recent: tuple[str, ...] = ()

    def with_opened(self, name: str) -> TableMarks:
        return replace(self, recent=(name, *(one for one in self.recent if one != name))[:RECENT])

    def with_favourite(self, name: str, wanted: bool) -> TableMarks:
        others = tuple(one for one in self.favourites if one != name)
        if wanted:
            return self if name in self.favourites else replace(self, favourites=(*others, name))
        return replace(self, favourites=others)


Change = Callable[[TableMarks], TableMarks]
"""Made again, it changes nothing more."""


def load_marks(home: Path) -> TableMarks:
    try:
        values = json.loads((home / "tables.json").read_text(encoding="utf-8"))
        return TableMarks(*(tuple(map(str, values.get(key, ()))) for key in ("favourites", "recent")))
    except (OSError, ValueError, AttributeError, TypeError):
        return TableMarks()


def changed(marks: TableMarks, changes: Sequence[Change]) -> TableMarks:
    for change in changes:
        marks = change(marks)
    return marks


def change_marks(home: Path, changes: Sequence[Change]) -> TableMarks:
    """Make the changes in the file. Raises OSError."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(home / "tables.json.lock"):
        marks = changed(load_marks(home), changes)
        write_private(home / "tables.json", json.dumps(asdict(marks), indent=1), durable=True)
    return marks
