"""Which lists of files are remembered, and for which state of the log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from engine.table import log_cache
from engine.table.log_cache import LogState, Stamp, find, forget, is_large, keep
from engine.table.log_file import LogFile


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(log_cache, "LARGE", 2)
    forget()
    yield
    forget()
    keep("/t", None, ())


def stamp(version: int, modified: int = 1) -> Stamp:
    return Stamp(f"{version:020}.json", 10, modified)


def state(*commits: Stamp, directory: str = "/t", checkpoint: tuple[Stamp, ...] = ()) -> LogState:
    return LogState(directory, True, checkpoint, tuple(one.name for one in commits), frozenset(commits))


def files(count: int, stats: str | None = None) -> tuple[LogFile, ...]:
    return tuple(LogFile(str(at), 10, {}, 5, 0, "", at, stats=stats) for at in range(count))


def test_a_small_table_is_not_kept() -> None:
    keep("/t", state(stamp(0)), files(1))
    assert find(state(stamp(0))) == ((), -1)
    assert not is_large("/t")


def test_a_large_one_is_found_with_the_commits_that_are_known() -> None:
    keep("/t", state(stamp(0), stamp(1)), files(2))
    assert is_large("/t")
    assert find(state(stamp(0), stamp(1), stamp(2))) == (files(2), 2)
    assert find(state(stamp(0), stamp(1))) == (files(2), 2)


@pytest.mark.parametrize(
    "other",
    [
        state(stamp(0), directory="/other"),
        state(stamp(0), checkpoint=(stamp(9),)),
        # the table was dropped and created again
        state(stamp(0, modified=2)),
        replace(state(stamp(0)), with_stats=False),
    ],
)
def test_another_log_is_not_taken_for_it(other: LogState) -> None:
    keep("/t", state(stamp(0)), files(2))
    assert find(other) == ((), -1)


def test_it_may_be_remembered_that_a_table_is_large_and_forgotten_when_it_shrinks() -> None:
    keep("/t", None, files(2))
    assert is_large("/t")
    assert find(state()) == ((), -1)
    keep("/t", state(stamp(0)), files(1))
    assert not is_large("/t")


def test_the_least_recently_used_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    one = 2 * (log_cache.FILE_BYTES + 4)
    monkeypatch.setattr(log_cache, "MOST_BYTES", 2 * one)
    first, second, third = (state(stamp(0), directory=name) for name in ("/a", "/b", "/c"))
    keep("/a", first, files(2, "1234"))
    keep("/b", second, files(2, "1234"))
    assert find(first)[1] == 1, "used"
    keep("/c", third, files(2, "1234"))
    assert [find(one)[1] for one in (first, second, third)] == [1, -1, 1]
