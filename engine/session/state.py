"""What is known about the embedded server: its state file.

``<home>/server.json`` (0600) is written by the watchdog when it has started the server, and removed by it
when the server is gone.
"""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from engine import processes

STATE_FILE = "server.json"
LOCK_FILE = "server.lock"


@dataclass(frozen=True)
class ServerInfo:
    """A running (or starting) embedded server.

    ``endpoint`` is ``sc://localhost:<port>`` without the token; ``versions`` maps spark, delta, java and
    deltamerge to theirs; ``started_at`` is ISO 8601 UTC; ``log`` the path of its output;
    ``static_confs`` the user's own settings it was started with, ``effective`` all of them (of secrets only digests);
    ``store`` the object store it reaches, ``credentials`` a digest of the environment that it reads for that.
    ``process_started`` and ``watchdog_started`` distinguish the process from a later one with the same pid.
    """

    pid: int = 0
    endpoint: str = ""
    token: str = field(default="", repr=False)
    master: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    started_at: str = ""
    log: str = ""
    static_confs: Mapping[str, str] = field(default_factory=dict, repr=False)
    effective: Mapping[str, str] = field(default_factory=dict, repr=False)
    store: str = ""
    credentials: str = field(default="", repr=False)
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
    """What ``server status --json`` prints; every field but ``running`` is None when it is not running.

    ``answers``: a process that runs may hang, or be starting still.
    """

    running: bool
    answers: bool | None = None
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
        names = {item.name for item in fields(ServerInfo)}
        return ServerInfo(**{name: value for name, value in values.items() if name in names})
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def remove_state(home: Path) -> None:
    """Remove the state file, if there is one."""
    with contextlib.suppress(OSError):
        (home / STATE_FILE).unlink()
