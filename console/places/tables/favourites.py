"""Favourite tables and those opened lately, in ``<home>/tables.json``. A file that cannot be read is an empty one."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from engine.files import write_private

RECENT = 8


@dataclass(frozen=True)
class TableMarks:
    """Names of tables as Spark wants them; the newest of ``recent`` first."""

    favourites: tuple[str, ...] = ()
    recent: tuple[str, ...] = ()

    def with_opened(self, name: str) -> TableMarks:
        return replace(self, recent=(name, *(one for one in self.recent if one != name))[:RECENT])

    def with_toggled(self, name: str) -> TableMarks:
        if name in self.favourites:
            return replace(self, favourites=tuple(one for one in self.favourites if one != name))
        return replace(self, favourites=(*self.favourites, name))


def load_marks(home: Path) -> TableMarks:
    try:
        values = json.loads((home / "tables.json").read_text(encoding="utf-8"))
        return TableMarks(*(tuple(map(str, values.get(key, ()))) for key in ("favourites", "recent")))
    except (OSError, ValueError, AttributeError, TypeError):
        return TableMarks()


def save_marks(home: Path, marks: TableMarks) -> None:
    """Raises OSError."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(home / "tables.json", json.dumps(asdict(marks), indent=1), durable=True)
