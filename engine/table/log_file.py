"""A data file as the Delta log names it, and its statistics."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from engine.model.browse import DataFile
from engine.model.counted import verb_of
from engine.model.errors import EngineError
from engine.model.value import Cells
from engine.sql.names import statistics_key

FILES_NOT_UNDERSTOOD = "FILES_NOT_UNDERSTOOD"
BY_COLUMN = ("minValues", "maxValues", "nullCount")


class LogFile(NamedTuple):
    """An AddFile of the log. ``path`` is as in the log: relative and URI-encoded, or absolute for a clone.

    ``physical_rows`` counts the rows of the file, with the ``deleted_rows`` that its vector marks; None
    if the log has no statistics. ``file_hash`` is ``xxhash64`` of its ``_metadata.file_path``, ``vector`` the
    unique id of its deletion vector, "" without one. A tuple, because tables have many.
    """

    path: str
    bytes: int
    partition: Cells
    physical_rows: int | None
    deleted_rows: int
    vector: str
    file_hash: int
    modified_at: int = 0
    stats: str | None = None

    @property
    def rows(self) -> int | None:
        """Live rows."""
        return None if self.physical_rows is None else self.physical_rows - self.deleted_rows

    @property
    def has_deletion_vector(self) -> bool:
        return bool(self.vector)

    @property
    def key(self) -> tuple[str, str]:
        """What identifies a logical file in the protocol: one commit may remove a file with its old vector and
        add it with a new one."""
        return self.path, self.vector

    def value(self) -> DataFile:
        stats = statistics_of(self.stats)
        return DataFile(
            path=self.path,
            bytes=self.bytes,
            rows=self.rows,
            deletion_vector_rows=self.deleted_rows,
            partition=self.partition,
            modified_at=_time(self.modified_at),
            min_values=_flat(stats.get("minValues", {})),
            max_values=_flat(stats.get("maxValues", {})),
            null_counts={k: int(v) for k, v in _flat(stats.get("nullCount", {})).items() if v and v.isdecimal()},
        )


def _time(milliseconds: int) -> str | None:
    """None for what is no time: other writers count in another unit."""
    from datetime import datetime, timezone

    try:
        return datetime.fromtimestamp(milliseconds / 1000, timezone.utc).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None


def statistics_of(text: str | None, parse_float: Callable[[str], object] = str) -> dict[str, Any]:
    """The statistics of a file, without those that break the protocol: other writers make mistakes, and Delta treats
    such a file as one without statistics. Numbers with a point come as they are written."""
    try:
        statistics = json.loads(text or "{}", parse_float=parse_float)
    except ValueError:
        return {}
    if not isinstance(statistics, dict):
        return {}
    return {key: value for key, value in statistics.items() if key not in BY_COLUMN or isinstance(value, dict)}


def _flat(values: dict[str, Any], *above: str) -> Cells:
    flat: Cells = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, *above, name)
        else:
            flat[statistics_key(*above, name)] = None if value is None else str(value)
    return flat


def hold_to_log(hashes: Iterable[int], files: Sequence[LogFile]) -> None:
    """Raise an EngineError if Spark read rows of a file that is none of ``files``: its rows would be lost here."""
    unknown = set(hashes) - {file.file_hash for file in files}
    if unknown:
        raise EngineError(
            FILES_NOT_UNDERSTOOD,
            f"{len(unknown):,} of the files that were read {verb_of(len(unknown), 'stand')} under another path in the "
            "table's log.",
            "Nothing is promised. This is a fault of ours: please report it, with the names of files in the log.",
        )
