"""The files of the tables that this process has listed, so that a later version costs only the commits since.

A version is known by the files of its log as the file system tells of them, name, length and time of each: those of a
table that was dropped and made again in its place differ. (Delta takes a log for the same by its names and by the time
of its newest commit: SnapshotManagement, LogSegment.)
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.delta_log import LogFile

MOST_BYTES = 300 << 20
"""Of all lists together, about; what was not asked for the longest goes first."""
FILE_BYTES = 600
"""What a file takes beside the text of its statistics, about."""


@dataclass(frozen=True)
class Stamp:
    """A file of a log. ``modified`` is in microseconds since 1970."""

    name: str
    length: int
    modified: int


@dataclass(frozen=True)
class LogState:
    """A checkpoint, if any, and the commits after it, of one ``_delta_log``."""

    directory: str
    with_stats: bool
    checkpoint: tuple[Stamp, ...]
    commits: tuple[Stamp, ...]


_lists: dict[LogState, tuple[LogFile, ...]] = {}
_bytes: dict[LogState, int] = {}
_lock = Lock()


def find(state: LogState) -> tuple[tuple[LogFile, ...], int]:
    """The files after as many commits of ``state`` as are known, and how many those are: ``((), -1)`` where not even
    the checkpoint is."""
    with _lock:
        for commits in range(len(state.commits), -1, -1):
            known = LogState(state.directory, state.with_stats, state.checkpoint, state.commits[:commits])
            if known in _lists:
                # the newest are last
                _lists[known] = files = _lists.pop(known)
                return files, commits
    return (), -1


def keep(state: LogState, files: tuple[LogFile, ...]) -> None:
    size = sum(FILE_BYTES + len(file.stats or "") for file in files)
    with _lock:
        _lists.pop(state, None)
        _lists[state], _bytes[state] = files, size
        while sum(_bytes.values()) > MOST_BYTES:
            oldest = next(iter(_lists))
            del _lists[oldest], _bytes[oldest]


def forget() -> None:
    """Drop all lists."""
    with _lock:
        _lists.clear()
        _bytes.clear()
