"""A file lock that is fair and does not wait for ever."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections.abc import Iterator
from pathlib import Path


class LockTimeoutError(Exception):
    """Others held the lock for as long as the caller would wait."""


@contextlib.contextmanager
def locked(path: Path, seconds: float) -> Iterator[None]:
    """Hold the exclusive ``flock`` on ``path`` (made 0600 when missing) for the length of a with block.

    The kernel lets it go when the process dies. Raises LockTimeoutError after ``seconds``, and OSError
    when the file cannot be opened.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    _acquire(handle, seconds)
    try:
        yield
    finally:
        os.close(handle)


def _acquire(handle: int, seconds: float) -> None:
    """Take the lock, or close ``handle`` and raise.

    A blocking ``flock`` is fair (the kernel queues those who wait; asking again and again starved some
    for 5 s beside seven others) but knows no time-out, so a thread of its own waits in it. One that
    comes too late lets the lock go at once.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    except BlockingIOError:
        pass
    except OSError:
        os.close(handle)
        raise
    decided = threading.Lock()
    granted = threading.Event()
    outcome: list[OSError | None] = []  # what flock said, once it did
    given_up = False

    def wait() -> None:
        failure: OSError | None = None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            failure = error
        with decided:
            if given_up or failure is not None:
                os.close(handle)
            outcome.append(failure)
            granted.set()

    threading.Thread(target=wait, name="ledger-lock", daemon=True).start()
    try:
        granted.wait(seconds)
    finally:
        # Also on ctrl-c: whoever comes second sees what the first decided.
        with decided:
            given_up = not outcome
    if given_up:
        raise LockTimeoutError
    if outcome[0] is not None:
        raise outcome[0]
