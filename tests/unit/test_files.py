"""``engine.files``: the lock and the writer that processes share."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from engine.files import LockTimeoutError, locked, write_private


def test_a_lock_that_is_held_is_waited_for_and_then_had(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    waits = threading.Event()
    order: list[str] = []

    def second() -> None:
        with locked(path, on_wait=waits.set):
            order.append("second")

    other = threading.Thread(target=second)
    with locked(path):
        other.start()
        assert waits.wait(30)
        order.append("first")
    other.join(30)
    assert order == ["first", "second"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("seconds", [0, 0.05])
def test_a_wait_that_is_too_long_gives_up_and_keeps_nothing(tmp_path: Path, seconds: float) -> None:
    path = tmp_path / ".lock"
    with locked(path), pytest.raises(LockTimeoutError), locked(path, seconds):
        pytest.fail("it is held")
    with locked(path, 30):
        pass


def test_a_timed_wait_has_the_lock_until_it_ends(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    waits, done = threading.Event(), threading.Event()
    order: list[str] = []

    def second() -> None:
        with locked(path, 30, on_wait=waits.set):
            order.append("second")
            with pytest.raises(LockTimeoutError), locked(path, 0):
                pytest.fail("it is held")
        done.set()

    with locked(path):
        threading.Thread(target=second).start()
        assert waits.wait(30)
    assert done.wait(30)
    assert order == ["second"]


def test_a_file_appears_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o644)
    write_private(path, "né\udcff", durable=True)
    assert path.read_bytes() == "né\udcff".encode(errors="surrogatepass")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    write_private(path, b"\x00\n")
    assert path.read_bytes() == b"\x00\n"
    assert os.listdir(tmp_path) == ["a"]


def test_a_failure_keeps_the_old_file_and_leaves_no_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        write_private(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


def test_halves_of_dead_processes_are_removed_and_those_of_living_ones_stay(tmp_path: Path) -> None:
    dead, living = (tmp_path / f".a.x.{pid}.deltamerge-half" for pid in (2**22 + 1, os.getpid()))
    dead.touch()
    living.touch()
    write_private(tmp_path / "a", "")
    assert not dead.exists()
    assert living.exists()
