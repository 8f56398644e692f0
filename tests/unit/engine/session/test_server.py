"""Whether a server runs, as its state file and the lock of its watchdog say. No server is started."""

from __future__ import annotations

import io
import json
import os
import socket
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from engine import processes
from engine.files import locked, try_lock
from engine.model.errors import EngineError
from engine.session import server, state, watchdog
from engine.session.state import STATE_FILE, WATCH_LOCK, ServerInfo, read_state

LIVE = ServerInfo(pid=os.getpid(), process_started=processes.start_time(os.getpid()), host="laptop", port=1)
UNSEEN = ServerInfo(pid=os.getpid(), process_started="in another container", host="a-container", port=1)


def silent(_: str) -> None:
    """Progress that nobody hears."""


def write(home: Path, info: ServerInfo) -> None:
    (home / STATE_FILE).write_text(json.dumps(asdict(info)))


def test_a_server_runs_on_though_the_machine_has_another_name_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, LIVE)
    monkeypatch.setattr(socket, "gethostname", lambda: "laptop.vpn.example")
    assert server._running(tmp_path, silent) == LIVE
    assert server.server_status(tmp_path).running


def test_a_server_that_this_process_cannot_see_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "_END_SECONDS", 0.05)
    write(tmp_path, UNSEEN)
    with locked(tmp_path / WATCH_LOCK):
        with pytest.raises(EngineError, match="runs on a-container") as raised:
            server._running(tmp_path, silent)
        assert not server.stop_server(tmp_path)
    assert raised.value.condition == "SERVER_IN_USE"
    assert read_state(tmp_path) == UNSEEN


def test_a_server_is_stopped_alone_or_with_those_of_profiles_and_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "servers" / "prod").mkdir(parents=True)
    ended: list[str] = []
    monkeypatch.setattr(server, "_stop_one", lambda place, _: bool(ended.append(place.name)))
    server.stop_server(tmp_path, alone=True)
    assert ended == [tmp_path.name]
    server.stop_server(tmp_path)
    assert ended == [tmp_path.name, tmp_path.name, "prod"]


def test_a_server_that_somebody_has_started_since_is_not_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost, started_since = ServerInfo(pid=1, token="lost"), ServerInfo(pid=2, token="new")
    ended: list[ServerInfo] = []
    monkeypatch.setattr(server, "_stop", lambda _, info: ended.append(info))
    for running in (started_since, lost, None):
        monkeypatch.setattr(server, "read_live_state", lambda _, found=running: found)
        server.stop_server(tmp_path, alone=True, only=lost)
    assert ended == [lost]


def test_the_file_of_a_server_that_nobody_watches_is_removed_wherever_it_ran(tmp_path: Path) -> None:
    write(tmp_path, UNSEEN)
    assert server._running(tmp_path, silent) is None
    assert read_state(tmp_path) is None


def test_the_watchdog_holds_its_lock_for_as_long_as_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(order: dict[str, Any]) -> int:
        assert try_lock(Path(order["home"]) / WATCH_LOCK) is None
        return 7

    monkeypatch.setattr(watchdog, "_run", run)
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({"home": str(tmp_path)})))
    assert watchdog.main() == 7
    handle = try_lock(tmp_path / WATCH_LOCK)
    assert handle is not None
    os.close(handle)
