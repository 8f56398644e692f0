"""What is known about the embedded server: its state file, and the leases of its clients.

``<home>/server.json`` (0600) is written by the watchdog when it has started the server, and removed by it
when the server is gone. ``<home>/leases/<pid>`` says that a process of that pid (and start time) uses the
server; one whose process is dead counts for nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from engine.session import processes

STATE_FILE = "server.json"
LOCK_FILE = "server.lock"


@dataclass(frozen=True)
class ServerInfo:
    """A running (or starting) embedded server.

    ``endpoint`` is ``sc://localhost:<port>`` without the token; ``versions`` maps spark, delta, java and
    deltamerge to theirs; ``started_at`` is ISO 8601 UTC; ``log`` the path of its output;
    ``static_confs`` the user's own settings it was started with, ``effective`` all of them.
    ``process_started`` and ``watchdog_started`` tell a reused pid from the process itself.
    """

    pid: int
    endpoint: str
    token: str = field(repr=False)
    master: str
    versions: Mapping[str, str]
    started_at: str
    log: str
    static_confs: Mapping[str, str] = field(default_factory=dict, repr=False)
    effective: Mapping[str, str] = field(default_factory=dict, repr=False)
    host: str = ""
    port: int = 0
    process_started: str = ""
    watchdog_pid: int = 0
    watchdog_started: str = ""
    idle_seconds: float = 0.0

    def is_running(self) -> bool:
        """Whether its process is there. (It may hang all the same.)"""
        return self.host == socket.gethostname() and processes.is_running(self.pid, self.process_started)


@dataclass(frozen=True)
class ServerStatus:
    """What ``server status --json`` prints; every field but ``running`` is None when it is not running."""

    running: bool
    pid: int | None = None
    endpoint: str | None = None
    master: str | None = None
    versions: Mapping[str, str] | None = None
    started_at: str | None = None
    log: str | None = None


def read_state(home: Path) -> ServerInfo | None:
    """The state file's server, whether alive or not; None when there is no file or it is damaged."""
    try:
        values: dict[str, Any] = json.loads((home / STATE_FILE).read_text(encoding="utf-8"))
        known = {item.name for item in fields(ServerInfo)}
        return ServerInfo(**{name: value for name, value in values.items() if name in known})
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def remove_state(home: Path) -> None:
    """Remove the state file, if there is one."""
    with contextlib.suppress(OSError):
        (home / STATE_FILE).unlink()


_held: dict[Path, int] = {}
_held_lock = threading.Lock()


def take_lease(home: Path) -> None:
    """Tell the watchdog that this process uses the server. Call as often as you like; see drop_lease."""
    with _held_lock:
        _held[home] = _held.get(home, 0) + 1
        pid = os.getpid()
        path = home / "leases" / str(pid)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_text(processes.start_time(pid), encoding="ascii")


def drop_lease(home: Path) -> None:
    """Give back one lease; the last one removes the file."""
    with _held_lock:
        _held[home] = max(0, _held.get(home, 0) - 1)
        if not _held[home]:
            with contextlib.suppress(OSError):
                (home / "leases" / str(os.getpid())).unlink()


def live_leases(home: Path) -> list[int]:
    """The pids of live processes that use the server of ``home``; dead ones' files are removed."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for path in (home / "leases").iterdir():
            with contextlib.suppress(OSError, ValueError):
                pid, started = int(path.name), path.read_text(encoding="ascii")
                if processes.is_running(pid, started):
                    found.append(pid)
                elif started:  # an empty one is being written
                    path.unlink()
    return sorted(found)


def used_by_others(home: Path) -> list[int]:
    """Live leases, less this process's own when it holds no more than one."""
    with _held_lock:
        own = _held.get(home, 0)
    return [pid for pid in live_leases(home) if pid != os.getpid() or own > 1]
