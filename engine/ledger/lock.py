"""The ledger's lock: one process at a time opens its file.

DuckDB lets one process at a time open a file for writing. Several consoles and CI jobs share this one, so each reads
and writes inside one ``flock`` on ``<path>.lock``. The lock file stays when all are done: removing it would let two
processes hold "the" lock on two different files.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.files import LockTimeoutError, locked
from engine.model.errors import EngineError


def lock_of(path: Path) -> Path:
    """The lock file of the ledger at ``path``."""
    return path.with_name(f"{path.name}.lock")


@contextmanager
def ledger_lock(path: Path, wait_seconds: float) -> Iterator[None]:
    """Hold the lock of the ledger at ``path`` in the body. LEDGER_LOCKED if others hold it for too long."""
    try:
        with locked(lock_of(path), wait_seconds):
            yield
    except LockTimeoutError as error:
        raise locked_error(path, wait_seconds) from error


def locked_error(path: Path, wait_seconds: float) -> EngineError:
    return EngineError(
        "LEDGER_LOCKED",
        f"The history {path} has been in use by another program for {wait_seconds:g} s.",
        "Close the program that holds it open (a DuckDB shell?) and try again; nothing was lost.",
    )
