"""Files that other processes use too: a lock, and writing that nobody sees half done. Standard library only."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.processes import start_time

# The end of the name of a file that is being written; before it stands the pid of the writer.
_HALF = ".deltamerge-half"


class LockTimeoutError(Exception):
    """Others held the lock for as long as the caller would wait."""


@contextlib.contextmanager
def locked(path: Path, seconds: float | None = None, *, on_wait: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Hold the exclusive ``flock`` on ``path`` (created 0600 when missing) for the length of a with block.

    Calls ``on_wait`` if another process holds it. The kernel releases it when the process dies. Raises
    LockTimeoutError after ``seconds`` (None: wait for ever), and OSError when the file cannot be opened.
    """
    handle = open_lock(path)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            _wait(handle, seconds)
        yield
    finally:
        os.close(handle)


def try_lock(path: Path) -> int | None:
    """Take the ``flock`` on ``path``: what ``os.close`` releases, or None while another has it. Raises OSError."""
    handle = open_lock(path)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if isinstance(error, BlockingIOError):
            return None
        raise
    return handle


def open_lock(path: Path) -> int:
    """The file of a lock, made 0600 if it is missing. Raises OSError."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _wait(handle: int, seconds: float | None) -> None:
    """A blocking ``flock`` is fair (the kernel queues the waiting processes; asking again and again starved some for
    5 s beside seven others) but has no time-out, so a thread waits in it. If that is too late, it releases at once.
    """
    if seconds is None:
        fcntl.flock(handle, fcntl.LOCK_EX)
        return
    if seconds <= 0:
        raise LockTimeoutError
    # the same open file, so the lock is held until both are closed
    twin = os.dup(handle)
    failures: list[OSError] = []
    done = threading.Event()

    def wait() -> None:
        try:
            fcntl.flock(twin, fcntl.LOCK_EX)
        except OSError as error:
            failures.append(error)
        finally:
            os.close(twin)
            done.set()

    threading.Thread(target=wait, name="file-lock", daemon=True).start()
    if not done.wait(seconds):
        raise LockTimeoutError
    if failures:
        raise failures[0]


def write_private(path: Path, content: str | bytes, *, durable: bool = False) -> None:
    """Write a file that only this user can read (0600): others see the old one or the new one, never half of it.

    ``durable``: it survives a power failure too. Raises OSError; then the old file is as it was.
    """
    remove_half_files(path.parent)
    # in the same folder, so that the rename is atomic; mkstemp makes it 0600
    prefix, suffix = f".{path.name[:60]}.", f".{os.getpid()}{_HALF}"
    handle, half = tempfile.mkstemp(prefix=prefix, suffix=suffix, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            # a terminal may have put lone surrogates into what was typed
            file.write(content if isinstance(content, bytes) else content.encode(errors="surrogatepass"))
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(half, path)
    except BaseException:
        Path(half).unlink(missing_ok=True)
        raise


def remove_half_files(folder: Path) -> None:
    """Remove half files of processes that were killed while they wrote."""
    for left in folder.glob(f".*{_HALF}"):
        pid = left.name.removesuffix(_HALF).rpartition(".")[2]
        if pid.isdigit() and not start_time(int(pid)):
            with contextlib.suppress(OSError):
                left.unlink()
