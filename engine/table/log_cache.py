"""The files of large tables that this process has listed, so that a later version costs only the commits since.

A version is known by the files of its log as the file system tells of them, name, length and time of each: those of a
table that was dropped and made again in its place differ. (Delta takes a log for the same by its names and by the time
of its newest commit: SnapshotManagement, LogSegment.)
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.table.log_file import LogFile

LARGE = 5_000
"""Fewer files are listed as fast as the file system is asked whether the log is still the same."""
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


_large: set[str] = set()
_lists: dict[LogState, tuple[LogFile, ...]] = {}
_bytes: dict[LogState, int] = {}
_lock = Lock()


def is_large(directory: str) -> bool:
    """Whether the table of this ``_delta_log`` had many files when it was listed last."""
    return directory in _large


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


def keep(directory: str, state: LogState | None, files: tuple[LogFile, ...]) -> None:
    """``state`` as it was before ``files`` were read, None where nobody asked: then only that they are many is kept."""
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
    """Drop all lists: the next of a large table is made anew, and kept."""
    with _lock:
        _lists.clear()
        _bytes.clear()
