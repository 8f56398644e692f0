"""A session that several processes have open. ``flock`` is of an open file: two in one process are as two processes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from engine.model.errors import EngineError
from engine.session.sharing import Use, is_used, remove_left, turn


class AskedToStop(Exception):
    pass


def stop() -> None:
    raise AskedToStop


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "leases").mkdir()
    return tmp_path


def test_the_last_who_leaves_a_session_is_told_so(home: Path) -> None:
    first, second, of_another = Use(home, "a"), Use(home, "a"), Use(home, "b")
    with first.ended() as is_last:
        assert not is_last
    assert is_used(home, "a")
    with second.ended() as is_last:
        assert is_last
    assert not is_used(home, "a")
    assert is_used(home, "b")
    with of_another.ended() as is_last:
        assert is_last
    assert not list((home / "leases").iterdir())


def test_nobody_opens_a_session_while_its_last_user_closes_it(home: Path) -> None:
    use, opened = Use(home, "a"), threading.Event()
    closed: list[bool] = []

    def open_it() -> None:
        with Use(home, "a").ended() as is_last:
            closed.append(is_last)
            opened.set()

    with use.ended():
        thread = threading.Thread(target=open_it)
        thread.start()
        assert not opened.wait(0.2)
    thread.join(10)
    assert closed == [True]
    assert not list((home / "leases").iterdir())


def test_one_at_a_time_works_in_a_session(home: Path) -> None:
    with turn(home, "a", stop):
        with pytest.raises(AskedToStop), turn(home, "a", stop):
            pass
        with turn(home, "b", stop):
            pass
    with turn(home, "a", stop):
        pass
    assert not list((home / "leases").iterdir())


def test_who_waits_for_a_turn_gets_it(home: Path) -> None:
    """Each removes the file that it had: no two may hold files of one name."""
    inside, most, done = 0, 0, 0
    counts = threading.Lock()

    def work() -> None:
        nonlocal inside, most, done
        for _ in range(20):
            with turn(home, "a", lambda: None):
                with counts:
                    inside += 1
                    most = max(most, inside)
                with counts:
                    inside -= 1
                    done += 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (most, done) == (1, 80)


def test_of_two_that_leave_a_session_at_once_one_closes_it(home: Path) -> None:
    first, second = Use(home, "a"), Use(home, "a")
    with first.ended() as one, second.ended() as other:
        assert (one, other) == (False, True)


def test_a_folder_where_nothing_can_be_locked_is_told(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as raised:
        Use(tmp_path / "nowhere", "a")
    assert raised.value.condition == "HOME_NOT_WRITABLE"


def test_what_killed_processes_left_goes_and_what_is_used_stays(home: Path) -> None:
    for name in ("dead.use", "dead.turn"):
        (home / "leases" / name).touch()
    use = Use(home, "alive")
    with turn(home, "alive", stop):
        remove_left(home)
        assert {path.name for path in (home / "leases").iterdir()} == {"alive.use", "alive.turn"}
    with use.ended() as is_last:
        assert is_last
