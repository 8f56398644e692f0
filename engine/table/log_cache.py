"""The files of large tables that this process has listed, so that a later version costs only the commits since.

A version is known by name, length and time of each file of its log: they differ if the table was dropped and created
again. (Delta compares the names, and the time of the newest commit: SnapshotManagement, LogSegment.)
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.table.log_file import LogFile

LARGE = 5_000
"""A table with fewer files is not kept: listing it is as fast as checking that its log is the same."""
MOST_BYTES = 300 << 20
"""About the most that all lists together take; the least recently used goes first."""
FILE_BYTES = 600
"""About what one file takes, without the text of its statistics."""


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


_large: set[str] = set()
_lists: dict[LogState, tuple[LogFile, ...]] = {}
_bytes: dict[LogState, int] = {}
_lock = Lock()


def is_large(directory: str) -> bool:
    """Whether the table of this ``_delta_log`` had many files when it was listed last."""
    return directory in _large


def find(state: LogState) -> tuple[tuple[LogFile, ...], int]:
    """The files after the commits of ``state`` that are known, and how many those are: ``((), -1)`` if not even
    the checkpoint is known."""
    with _lock:
        for commits in range(len(state.commits), -1, -1):
            start = LogState(state.directory, state.with_stats, state.checkpoint, state.commits[:commits])
            if start in _lists:
                # the newest are last
                _lists[start] = files = _lists.pop(start)
                return files, commits
    return (), -1


def keep(directory: str, state: LogState | None, files: tuple[LogFile, ...]) -> None:
    """``state`` from before ``files`` were read. None: only remember that the table is large."""
    with _lock:
        if len(files) < LARGE:
            _large.discard(directory)
            return
        _large.add(directory)
        if state is None:
            return
        _lists.pop(state, None)
        _lists[state] = files
        _bytes[state] = sum(FILE_BYTES + len(file.stats or "") for file in files)
        while sum(_bytes.values()) > MOST_BYTES:
            oldest = next(iter(_lists))
            del _lists[oldest], _bytes[oldest]


def forget() -> None:
    """Drop all lists."""
    with _lock:
        _lists.clear()
        _bytes.clear()
