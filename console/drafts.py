"""Drafts on disk: what was typed survives a crash, a lost driver and a closed terminal.

Each draft is ``<home>/drafts/<name>.sql``, plain text that any editor opens, with the values of its
parameters in ``<name>.params.json`` beside it. Files are private (0600) and written atomically.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from engine.files import write_private


@dataclass(frozen=True)
class Draft:
    """The text of one merge, and what its ``:name`` markers stand for."""

    sql: str = ""
    params: dict[str, str] = field(default_factory=dict)


_MERGE = re.compile(r"merge-(\d+)")


def open_merges(home: Path) -> list[int]:
    """The numbers of the merges that have a draft, and always 1."""
    names = (_MERGE.fullmatch(path.stem) for path in (home / "drafts").glob("merge-*.sql"))
    return sorted({1, *(int(match[1]) for match in names if match)})


class DraftStore:
    """The drafts of one home, or the merges saved in another folder of it.

    Saves may come from several threads: an older one never wins.
    """

    def __init__(self, home: Path, folder: str = "drafts") -> None:
        self._folder = home / folder
        self._lock = Lock()
        self._newest: dict[str, int] = {}

    def names(self) -> list[str]:
        """The names of all that is there, in order."""
        return sorted(path.stem for path in self._folder.glob("*.sql") if not path.name.startswith("."))

    def load(self, name: str) -> Draft:
        """The draft of that name, or an empty one. Raises OSError if it exists and cannot be read."""
        try:
            sql = (self._folder / f"{name}.sql").read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return Draft()
        return Draft(sql=sql, params=self._load_params(name))

    def save(self, name: str, draft: Draft, sequence: int) -> None:
        """Write the draft unless one with a higher ``sequence`` was written before. Raises OSError."""
        with self._lock:
            if sequence <= self._newest.get(name, -1):
                return
            _make_private_folder(self._folder)
            write_private(self._folder / f"{name}.sql", draft.sql, durable=True)
            write_private(self._folder / f"{name}.params.json", json.dumps(draft.params), durable=True)
            self._newest[name] = sequence

    def keep(self, name: str, draft: Draft) -> Path | None:
        """Put a copy aside that later saves leave alone. None if there is nothing to keep."""
        if not draft.sql.strip():
            return None
        with self._lock:
            _make_private_folder(self._folder)
            kept = _free_path(self._folder, name)
            write_private(kept, draft.sql, durable=True)
            return kept

    def discard(self, name: str) -> None:
        """Forget the draft of that name. Raises OSError."""
        with self._lock:
            for path in (self._folder / f"{name}.sql", self._folder / f"{name}.params.json"):
                path.unlink(missing_ok=True)

    def _load_params(self, name: str) -> dict[str, str]:
        try:
            values = json.loads((self._folder / f"{name}.params.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(values, dict):
            return {}
        return {str(key): str(value) for key, value in values.items()}


def _make_private_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _free_path(folder: Path, name: str) -> Path:
    taken = 1
    while (path := folder / f"{name}.before-{taken}.sql").exists():
        taken += 1
    return path
