"""The files of large tables, and of those with a long log, that this process has listed, so that a later version costs
only the commits since.

A version is known by the names of the files of its log, and by length and time of its checkpoint and its newest commit:
they differ if the table was dropped and created again. (So it is in Delta: SnapshotManagement, LogSegment.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.table.log_file import LogFile

LARGE = 5_000
"""A table with fewer files is not kept: listing it is as fast as checking that its log is the same."""
MANY_COMMITS = 100
"""Of fewer commits after the checkpoint the same is true. Delta makes one of every ten, unless it is told otherwise."""
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
    """A checkpoint, if any, and the names of the commits after it, of one ``_delta_log``. ``ends``: those of these that
    were looked at, the newest and where known lists end."""

    directory: str
    with_stats: bool
    checkpoint: tuple[Stamp, ...]
    commits: tuple[str, ...]
    ends: frozenset[Stamp]


_large: set[str] = set()
_lists: dict[LogState, tuple[LogFile, ...]] = {}
_bytes: dict[LogState, int] = {}
_lock = Lock()


def is_large(directory: str) -> bool:
    """Whether the table of this ``_delta_log`` had many files when it was listed last."""
    return directory in _large


def ends_in(directory: str, commits: tuple[str, ...]) -> set[str]:
    """The commits that a state is to look at: the newest, and those at which a known list of this log ends."""
    with _lock:
        known = {one.commits[-1] for one in _lists if one.directory == directory and one.commits}
    return {*commits[-1:], *known.intersection(commits)}


def find(state: LogState) -> tuple[tuple[LogFile, ...], int]:
    """The files after the commits of ``state`` that are known, and how many those are: ``((), -1)`` if not even
    the checkpoint is known."""

    def is_before(known: LogState) -> bool:
        same = (known.directory, known.with_stats, known.checkpoint)
        if same != (state.directory, state.with_stats, state.checkpoint):
            return False
        return known.commits == state.commits[: len(known.commits)] and known.ends <= state.ends

    with _lock:
        start = max(filter(is_before, _lists), key=lambda known: len(known.commits), default=None)
        if start is None:
            return (), -1
        # the newest are last
        _lists[start] = files = _lists.pop(start)
        return files, len(start.commits)


def keep(directory: str, state: LogState | None, files: tuple[LogFile, ...]) -> None:
    """``state`` from before ``files`` were read. None: only remember that the table is large."""
    with _lock:
        if len(files) >= LARGE:
            _large.add(directory)
        else:
            _large.discard(directory)
        if state is None or (len(files) < LARGE and len(state.commits) < MANY_COMMITS):
            return
        state = replace(state, ends=frozenset(one for one in state.ends if one.name == state.commits[-1]))
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
