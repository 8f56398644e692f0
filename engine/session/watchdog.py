"""The embedded server's keeper: a small process that starts it, watches its clients, and ends it.

``python -m engine.session.watchdog`` reads one JSON document on stdin (so that no secret is in a command
line): ``command``, ``env``, ``state`` (for ``server.json``), ``home``, ``log``, ``scratch``,
``idle_seconds``. It starts the command as its child, writes the state file, and waits. The server ends
when no live process has held a lease for ``idle_seconds``, when the state file is gone or names another
server (the home was removed), or when the watchdog itself is ended; on Linux also when it is killed. It
holds ``WATCH_LOCK`` for as long as it runs, leaves no state file behind and exits with the server's exit code.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

from engine import processes
from engine.files import LockTimeoutError, locked, write_private
from engine.session.leases import live_leases
from engine.session.state import LOCK_FILE, STATE_FILE, WATCH_LOCK, remove_state

_POLL = 1.0  # seconds
_LOCK_SECONDS = 30.0
_GRACE = 15.0  # seconds for the server to stop by itself

_PR_SET_PDEATHSIG = 1


class _Ended(Exception):
    """The watchdog was asked to end."""


def main() -> int:
    """Run one server to its end; the server's exit code."""
    order: dict[str, Any] = json.load(sys.stdin)
    # the one of a client that died may be starting a server: the state file will tell of it
    with locked(Path(order["home"]) / WATCH_LOCK, _LOCK_SECONDS):
        return _run(order)


def _run(order: dict[str, Any]) -> int:
    home = Path(order["home"])
    # Nothing of a terminal or of the client's pipes is kept.
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)

    def ended(_number: int, _frame: FrameType | None) -> None:
        raise _Ended

    signal.signal(signal.SIGTERM, ended)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with open(order["log"], "ab") as log:
        server = subprocess.Popen(
            order["command"],
            env=order["env"],
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # Safe: this process has no other thread.
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509
        )
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    try:
        state = {
            **order["state"],
            "pid": server.pid,
            "process_started": processes.start_time(server.pid),
            "watchdog_pid": os.getpid(),
            "watchdog_started": processes.start_time(os.getpid()),
        }
        write_private(home / STATE_FILE, json.dumps(state, indent=1))
        _watch(home, server, float(order["idle_seconds"]))
    except _Ended:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        code = _end(server)
        if _names(home, server.pid):
            remove_state(home)
        # Its Python workers, if any, are in our process group.
        processes.signal_group(os.getpgid(0), signal.SIGTERM)
        shutil.rmtree(order["scratch"], ignore_errors=True)
    return code if code >= 0 else 128 - code


def _die_with_parent() -> None:
    """In the child: ask Linux for SIGTERM when the watchdog dies, however it dies."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _names(home: Path, pid: int) -> bool | None:
    """Whether the state file names the server of ``pid``; None if it cannot be read now: a home on a network has
    its bad moments."""
    try:
        state: dict[str, Any] = json.loads((home / STATE_FILE).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return None
    return state.get("pid") == pid


def _watch(home: Path, server: subprocess.Popen[bytes], idle_seconds: float) -> None:
    """Return when the server is gone, or should go."""
    last_use = time.monotonic()
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(timeout=min(_POLL, max(0.05, idle_seconds / 4)))
            return
        if _names(home, server.pid) is False:
            return
        if live_leases(home):
            last_use = time.monotonic()
        elif time.monotonic() - last_use > idle_seconds and _end_if_unused(home, server):
            return


def _end_if_unused(home: Path, server: subprocess.Popen[bytes]) -> bool:
    """End the server under the lock that a starting client holds: it cannot pick a dying server."""
    try:
        with locked(home / LOCK_FILE, 0):
            if live_leases(home):
                return False
            _end(server)
            remove_state(home)
            return True
    except LockTimeoutError:
        return False


def _end(server: subprocess.Popen[bytes]) -> int:
    """End the server, gently first (Derby closes its files); its exit code."""
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(timeout=_GRACE)
        except subprocess.TimeoutExpired:
            server.kill()
    return server.wait()


if __name__ == "__main__":
    sys.exit(main())
