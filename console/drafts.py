"""Drafts on disk: what was typed survives a crash, a lost driver and a closed terminal.

Each draft is ``<home>/drafts/<name>.sql``, plain text that any editor opens, with the values of its
parameters in ``<name>.params.json`` beside it. Files are private (0600) and written atomically.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from engine.files import try_lock, write_private

FILE = "file:"
"""What stands before the file among the values: no parameter is called so."""


@dataclass(frozen=True)
class Draft:
    """The text of one merge, what its ``:name`` markers stand for, and the file that it was opened from, if any."""

    sql: str = ""
    params: dict[str, str] = field(default_factory=dict)
    file: str = ""

    @property
    def beside_text(self) -> dict[str, str]:
        """What is written beside the text."""
        return {**self.params, FILE: self.file} if self.file else self.params

    def holds(self, typed: Draft) -> bool:
        """Whether nothing of ``typed`` is lost if this is there."""
        return self.sql == typed.sql and all(
            self.params.get(name) == value for name, value in typed.params.items() if value
        )


MAX_BYTES = 16 * 1024 * 1024


def read_sql(path: Path) -> str:
    """The text of a file. Raises UsageError with why it cannot be read."""
    from engine.model.errors import UsageError

    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError("FILE_TOO_BIG", f"{path} is too big for a file of SQL.", "Name a file with one MERGE.")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(
            "FILE_NOT_READ", f"{path} cannot be read: {error.strerror or error}.", "Check the path and its permissions."
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError("NOT_UTF8", f"{path} is not UTF-8.", "Save it as UTF-8 and try again.") from error


_NO_LOCK = -1


class OwnDrafts:
    """The drafts of this console, such as ``merge-2``: one that another console has open is neither shown nor written.

    A lock says whose a draft is, for as long as the console runs. Where a folder takes no lock, each is ours.
    """

    def __init__(self, home: Path) -> None:
        self._folder = home / "drafts"
        self._locks: dict[str, int] = {}

    def left_open(self, kind: str) -> Iterator[int]:
        """The numbers of the drafts that hold a text and that no other console has. Each is ours once it is given."""
        return (number for number in self.written(kind) if self._take(f"{kind}-{number}"))

    def free(self, kind: str, least: int = 1) -> int:
        """The first number from ``least`` on without a text that no other console has. It is ours from now on."""
        written = self.written(kind)
        return next(n for n in itertools.count(least) if n not in written and self._take(f"{kind}-{n}"))

    def not_ours(self, kind: str) -> list[str]:
        """The files that hold a text of that kind and are not shown here."""
        return [f"drafts/{kind}-{n}.sql" for n in self.written(kind) if f"{kind}-{n}" not in self._locks]

    def release(self) -> None:
        """Leave all to whoever comes next."""
        while self._locks:
            if (lock := self._locks.popitem()[1]) != _NO_LOCK:
                os.close(lock)

    def written(self, kind: str) -> list[int]:
        """The numbers of the drafts that hold a text, whoever has them."""
        numbers = []
        for path in self._folder.glob(f"{kind}-*.sql"):
            # another console may have discarded it by now
            with suppress(OSError):
                if path.stat().st_size and (found := re.fullmatch(rf"{kind}-(\d+)", path.stem)):
                    numbers.append(int(found[1]))
        return sorted(numbers)

    def _take(self, name: str) -> bool:
        if name in self._locks:
            return True
        try:
            _make_private_folder(self._folder)
            lock = try_lock(self._folder / f".{name}.lock")
        except OSError:
            lock = _NO_LOCK
        if lock is not None:
            self._locks[name] = lock
        return lock is not None


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

    def has(self, name: str) -> bool:
        """Whether saving under that name would replace something. Some disks take ``Orders`` for ``orders``."""
        return os.path.lexists(self._folder / f"{name}.sql")

    def open(self, name: str) -> Draft:
        """What was saved under that name. Raises UsageError if it cannot be read."""
        values = self._load_params(name)
        file = values.pop(FILE, "")
        return Draft(read_sql(self._folder / f"{name}.sql"), values, file)

    def load(self, name: str) -> Draft:
        """The draft of that name, or an empty one. Raises UsageError if it exists and cannot be read."""
        return self.open(name) if self.has(name) else Draft()

    def save(self, name: str, draft: Draft, sequence: int) -> None:
        """Write the draft unless one with a higher ``sequence`` was written before. Raises OSError."""
        with self._lock:
            if sequence <= self._newest.get(name, -1):
                return
            _make_private_folder(self._folder)
            write_private(self._folder / f"{name}.sql", draft.sql, durable=True)
            write_private(self._folder / f"{name}.params.json", json.dumps(draft.beside_text), durable=True)
            self._newest[name] = sequence

    def keep(self, name: str, draft: Draft) -> Path | None:
        """Put a copy aside that later saves leave alone. None if there is nothing to keep."""
        if not draft.sql.strip():
            return None
        with self._lock:
            _make_private_folder(self._folder)
            kept = _free_path(self._folder, name)
            write_private(kept, draft.sql, durable=True)
            if draft.beside_text:
                write_private(kept.with_suffix(".params.json"), json.dumps(draft.beside_text), durable=True)
            return kept

    def glimpse(self, name: str) -> str:
        """The text of a draft as far as it can be read, to be named by and not to be edited."""
        with suppress(OSError):
            return (self._folder / f"{name}.sql").read_text(encoding="utf-8", errors="replace")
        return ""

    def restored(self, name: str) -> tuple[Draft, str]:
        """The draft, and what to say of one that cannot be read: it is put aside, for a save would replace it."""
        from engine.model.errors import UsageError

        try:
            return self.load(name), ""
        except UsageError as error:
            try:
                return Draft(), f"{error.message} It is kept: drafts/{self.put_aside(name, name).name}."
            except OSError as refused:
                return Draft(), f"{error.message} It cannot be put aside: {refused.strerror}."

    def put_aside(self, name: str, written: str) -> Path:
        """Move the file ``written``, to the byte, to where saves of ``name`` leave it alone. Raises OSError."""
        with self._lock:
            kept = _free_path(self._folder, name)
            (self._folder / f"{written}.sql").rename(kept)
            with suppress(FileNotFoundError):
                (self._folder / f"{written}.params.json").rename(kept.with_suffix(".params.json"))
            return kept

    def discard(self, name: str, sequence: int) -> None:
        """Forget the draft of that name, and what was saved of it before ``sequence``. Raises OSError."""
        with self._lock:
            for path in (self._folder / f"{name}.sql", self._folder / f"{name}.params.json"):
                path.unlink(missing_ok=True)
            self._newest[name] = sequence

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
