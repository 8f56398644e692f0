"""Several processes of one home may have the same session: the one that planned, and those that apply its plan file.

``<home>/leases/<session id>.use`` is locked by all that have it open: the last one closes it. ``….turn`` is locked by
the one that works in it: each work sets confs of the session for its statements, and puts back what it found. The
kernel gives back what a dead process held.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.files import open_lock
from engine.model.errors import EngineError

_USE = ".use"
_TURN = ".turn"
_POLL_SECONDS = 0.1


class Use:
    """One use of a session. Waits while its last user closes it. Raises EngineError ``HOME_NOT_WRITABLE``."""

    def __init__(self, home: Path, session_id: str) -> None:
        self._home, self._session_id = home, session_id
        self._path = home / "leases" / f"{session_id}{_USE}"
        handle = _locked(self._path, fcntl.LOCK_SH)
        assert handle is not None
        self._handle = handle

    @contextlib.contextmanager
    def ended(self) -> Iterator[bool]:
        """End it, at the end of the with block at the latest. Whether it was the last one: then nobody begins another
        one inside of the block."""
        is_last = _is_alone(self._handle)
        try:
            yield is_last
        finally:
            if is_last:
                self._path.unlink(missing_ok=True)
            os.close(self._handle)

    def turn(self, waits: Callable[[], object]) -> contextlib.AbstractContextManager[None]:
        """See the function of that name."""
        return turn(self._home, self._session_id, waits)


def is_used(home: Path, session_id: str) -> bool:
    """Whether a process has that session open."""
    return not _is_free(home / "leases" / f"{session_id}{_USE}")


@contextlib.contextmanager
def turn(home: Path, session_id: str, waits: Callable[[], object]) -> Iterator[None]:
    """Work in the session alone. Calls ``waits`` again and again while another one does; what that raises ends the
    waiting. Raises EngineError ``HOME_NOT_WRITABLE``."""
    path = home / "leases" / f"{session_id}{_TURN}"
    while (handle := _locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB)) is None:
        waits()
        time.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def remove_left(home: Path) -> None:
    """Remove the files of processes that were killed."""
    for path in [*home.glob(f"leases/*{_USE}"), *home.glob(f"leases/*{_TURN}")]:
        _is_free(path)


def _is_free(path: Path) -> bool:
    """Whether nobody holds a lock on it. Then it is removed."""
    handle = _locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
    if handle is None:
        return False
    path.unlink(missing_ok=True)
    os.close(handle)
    return True


def _locked(path: Path, how: int) -> int | None:
    """The open file with the lock on it, or None while another one holds it. Raises EngineError
    ``HOME_NOT_WRITABLE``."""
    while True:
        try:
            handle = open_lock(path)
            try:
                fcntl.flock(handle, how)
                if _is_there(handle, path):
                    return handle
            except BaseException:
                os.close(handle)
                raise
        except BlockingIOError:
            return None
        except OSError as error:
            raise EngineError(
                "HOME_NOT_WRITABLE",
                f"The lock {path} cannot be taken: {error.strerror or error}.",
                "Name a home on a local disk with --home DIR or DELTAMERGE_CONSOLE_HOME.",
            ) from error
        os.close(handle)  # whoever had it removed it: another one may lock a new file of that name


def _is_there(handle: int, path: Path) -> bool:
    """Whether the open file is the one of that name."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _is_alone(handle: int) -> bool:
    """Whether nobody else has the lock; then it is exclusive from now on."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        # Linux has taken the shared one away by now, macOS has not: of two that end at once neither would be the last
        fcntl.flock(handle, fcntl.LOCK_UN)
        return False
    return True
