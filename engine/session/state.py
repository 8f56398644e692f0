"""What is known about the embedded server: its state file.

``<home>/server.json`` (0600) is written by the watchdog when it has started the server, and removed by it
when the server is gone.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from engine import processes
from engine.files import LockTimeoutError, locked
from engine.model.errors import EngineError

STATE_FILE = "server.json"
LOCK_FILE = "server.lock"
WATCH_LOCK = "watchdog.lock"
"""Held by the watchdog for as long as it runs. Processes of another container or machine are not seen here: that a
server of theirs lives is seen by this."""
_END_SECONDS = 20.0  # for a watchdog that is ending its server


@dataclass(frozen=True)
class ServerInfo:
    """A running (or starting) embedded server.

    ``endpoint`` is ``sc://localhost:<port>`` without the token; ``versions`` maps spark, delta, java and
    deltamerge to theirs; ``started_at`` is ISO 8601 UTC; ``log`` the path of its output;
    ``static_confs`` the user's own settings it was started with, ``effective`` all of them (of secrets only digests);
    ``store`` the object store it reaches, ``credentials`` a digest of the environment that it reads for that.
    ``host`` is for people: a machine may change its name while the server runs.
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
        return processes.is_running(self.pid, self.process_started)


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


def read_live_state(home: Path) -> ServerInfo | None:
    """The state file's server if its process is there; it may be starting, or hang."""
    info = read_state(home.expanduser().absolute())
    return info if info is not None and info.is_running() else None


def remove_stale_state(home: Path, *, on_wait: Callable[[], object]) -> None:
    """Remove the state file of a server whose process is not seen here, once no watchdog keeps it any more.

    Raises EngineError ``SERVER_IN_USE`` if one goes on keeping it: without its file that server would end.
    """
    try:
        with locked(home / WATCH_LOCK, _END_SECONDS, on_wait=on_wait):
            remove_state(home)
    except LockTimeoutError as error:
        left = read_state(home) or ServerInfo()
        if processes.is_running(left.watchdog_pid, left.watchdog_started):
            message = "The last embedded Spark server of this home is still ending."
            raise EngineError("SERVER_IN_USE", message, "Try again in a moment, or name another --home.") from error
        where = f"on {left.host}" if left.host else "elsewhere"
        message = f"The embedded Spark server of this home runs {where}, in another container or on another machine."
        raise EngineError("SERVER_IN_USE", message, "Close that first, or name another --home.") from error


def remove_state(home: Path) -> None:
    """Remove the state file, if there is one."""
    with contextlib.suppress(OSError):
        (home / STATE_FILE).unlink()
