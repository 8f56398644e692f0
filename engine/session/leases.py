"""Who uses the embedded server: the leases of its clients, and the sessions that they would leave behind.

``<home>/leases/<pid>`` says that a process of that pid (and start time) uses the server; if that process is dead, it
does not count. ``<home>/leases/<pid>.sessions`` names the sessions that this process made and has not closed, one
in each line: a process that is killed cannot close them, so the next client does.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

from engine import processes
from engine.files import remove_half_files, write_private

_SESSIONS = ".sessions"

_held: dict[Path, int] = {}
_open: dict[Path, list[tuple[str, str]]] = {}
_lock = threading.Lock()


def take_lease(home: Path) -> None:
    """Tell the watchdog that this process uses the server. Call drop_lease as often as this."""
    with _lock:
        _held[home] = _held.get(home, 0) + 1
        _write(home, str(os.getpid()), processes.start_time(os.getpid()))


def drop_lease(home: Path) -> None:
    """Give back one lease; the last one removes the file."""
    with _lock:
        _held[home] = max(0, _held.get(home, 0) - 1)
        if not _held[home]:
            _remove(home / "leases" / str(os.getpid()))


def live_leases(home: Path) -> list[int]:
    """The pids of live processes that use the server of ``home``; dead ones' files are removed."""
    pids: list[int] = []
    with contextlib.suppress(OSError):
        for path in (home / "leases").iterdir():
            with contextlib.suppress(OSError, ValueError):
                pid, started = int(path.name), path.read_text(encoding="ascii")
                if processes.is_running(pid, started):
                    pids.append(pid)
                elif started:  # an empty one is being written
                    path.unlink()
    return sorted(pids)


def used_by_others(home: Path) -> list[int]:
    """Live leases, less this process's own when it holds no more than one."""
    with _lock:
        own = _held.get(home, 0)
    return [pid for pid in live_leases(home) if pid != os.getpid() or own > 1]


def note_session(home: Path, session_id: str, user_id: str) -> None:
    """Note that this process made that session: if it is killed, the next client closes the session."""
    with _lock:
        _open.setdefault(home, []).append((session_id, user_id))
        _write_sessions(home)


def forget_session(home: Path, session_id: str) -> None:
    """That session is closed, or shall outlive this process."""
    with _lock:
        mine = _open.get(home, [])
        _open[home] = [one for one in mine if one[0] != session_id]
        if len(_open[home]) < len(mine):
            _write_sessions(home)


def left_sessions(home: Path) -> dict[Path, list[tuple[str, str]]]:
    """The (session id, user id) that dead processes left open, by the file that names them: remove it when they
    are closed."""
    sessions: dict[Path, list[tuple[str, str]]] = {}
    remove_half_files(home / "leases")
    with contextlib.suppress(OSError):
        for path in (home / "leases").glob(f"*{_SESSIONS}"):
            with contextlib.suppress(OSError, ValueError):
                started, *lines = path.read_text(encoding="utf-8").splitlines() or [""]
                if started and not processes.is_running(int(path.name.removesuffix(_SESSIONS)), started):
                    sessions[path] = [(one, who) for one, _, who in (line.partition(" ") for line in lines)]
    return sessions


def place_of_session(home: Path, session_id: str) -> Path | None:
    """The folder of the embedded server, among those of ``home``, on which a process left that session open; None if
    no process did."""
    for file in [*home.glob(f"leases/*{_SESSIONS}"), *home.glob(f"servers/*/leases/*{_SESSIONS}")]:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if any(line.startswith(f"{session_id} ") for line in file.read_text(encoding="utf-8").splitlines()):
                return file.parent.parent
    return None


def _write_sessions(home: Path) -> None:
    path = home / "leases" / f"{os.getpid()}{_SESSIONS}"
    mine = _open[home]
    if not mine:
        _remove(path)
        return
    lines = (f"{session_id} {user_id}" for session_id, user_id in mine)
    _write(home, path.name, "\n".join((processes.start_time(os.getpid()), *lines)))


def _write(home: Path, name: str, text: str) -> None:
    path = home / "leases" / name
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_private(path, text)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
