"""When the watchdog ends its server."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from engine.session import watchdog
from engine.session.state import STATE_FILE

PID = 77
IDLE = 3.0
READ = Path.read_text


class Server:
    """A server that runs for ever: waiting for its end moves the clock on."""

    pid = PID

    def __init__(self, at: dict[int, Any]) -> None:
        self.looks = 0
        self.now = 0.0
        self.is_ended = False
        self._at = at

    def wait(self, timeout: float | None = None) -> int:
        if self.is_ended:
            return 0
        assert timeout is not None
        self.now += timeout
        self.looks += 1
        self._at.get(self.looks, lambda: None)()
        raise subprocess.TimeoutExpired("server", timeout)

    def poll(self) -> int | None:
        return 0 if self.is_ended else None

    def terminate(self) -> None:
        self.is_ended = True


@pytest.fixture
def leases(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """The processes that use the server."""
    users = [1]
    monkeypatch.setattr(watchdog, "live_leases", lambda _: users)
    (tmp_path / STATE_FILE).write_text(json.dumps({"pid": PID}))
    return users


def watched(monkeypatch: pytest.MonkeyPatch, home: Path, at: dict[int, Any]) -> Server:
    server: Any = Server(at)
    monkeypatch.setattr(watchdog.time, "monotonic", lambda: server.now)
    watchdog._watch(home, server, IDLE)
    return server


def test_a_server_in_use_is_not_idle(leases: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    server = watched(monkeypatch, tmp_path, {40: leases.clear})
    assert server.is_ended
    assert server.looks == 40 + 4, "three seconds after the last use, and not before"
    assert not (tmp_path / STATE_FILE).exists()


def test_a_client_that_comes_at_the_last_moment_keeps_it(
    leases: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    looks: list[int] = []

    def late(_: Path) -> list[int]:
        looks.append(1)
        return [1] if len(looks) == 6 else []  # the look under the lock

    monkeypatch.setattr(watchdog, "live_leases", late)
    server = watched(monkeypatch, tmp_path, {})
    assert server.is_ended
    assert len(looks) == 6 + 2, "it is not ended at that look, but at the next"


def test_a_server_that_the_state_file_no_longer_names_is_given_up(
    leases: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def other() -> None:
        (tmp_path / STATE_FILE).write_text(json.dumps({"pid": PID + 1}))

    server = watched(monkeypatch, tmp_path, {2: other})
    assert (server.looks, server.is_ended) == (2, False)


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.ENFILE])
def test_a_state_file_that_cannot_be_read_for_a_moment_ends_nothing(
    leases: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int
) -> None:
    def fails(*_: Any, **__: Any) -> str:
        raise OSError(number, os.strerror(number))

    at = {
        2: lambda: monkeypatch.setattr(Path, "read_text", fails),
        4: lambda: monkeypatch.setattr(Path, "read_text", READ),
        6: (tmp_path / STATE_FILE).unlink,
    }
    assert watched(monkeypatch, tmp_path, at).looks == 6, "it is ended when the home is removed"
