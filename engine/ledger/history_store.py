"""The ledger's file: its format, and what happens if it is broken. Each open–work–close runs inside of its lock."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from engine.ledger.lock import ledger_lock, lock_of, locked_error
from engine.model.errors import EngineError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: What brings a ledger from format n-1 to format n, in order; index 0 makes format 1.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE format (version INTEGER NOT NULL, changed_at VARCHAR NOT NULL)",
        # No primary key: DuckDB's index checks refuse some updates of the row they guard, and the ids
        # are random. seq orders the rows; it is taken under the file lock.
        """CREATE TABLE operation (
            seq BIGINT NOT NULL, op_id VARCHAR NOT NULL, plan_id VARCHAR NOT NULL, kind VARCHAR NOT NULL,
            table_name VARCHAR NOT NULL, table_path VARCHAR NOT NULL, table_id VARCHAR NOT NULL,
            sql VARCHAR NOT NULL, status VARCHAR NOT NULL, version BIGINT, started_at VARCHAR NOT NULL,
            finished_at VARCHAR, kept BOOLEAN, error VARCHAR, host VARCHAR, pid BIGINT, process VARCHAR)""",
        # The plans and outcomes, JSON packed with zlib; apart, so that a new status rewrites none of it.
        "CREATE TABLE document (op_id VARCHAR NOT NULL, kind VARCHAR NOT NULL, body BLOB NOT NULL)",
        """CREATE TABLE table_version (
            table_key VARCHAR NOT NULL, version BIGINT NOT NULL, body VARCHAR NOT NULL)""",
        """CREATE TABLE table_list (
            endpoint VARCHAR NOT NULL, seen_at VARCHAR NOT NULL, body VARCHAR NOT NULL)""",
    ),
    (
        # Where an operation runs, to ask there after a crash; the version of the table that apply checked; for a
        # restore, the operation that it takes back.
        "ALTER TABLE operation ADD COLUMN endpoint VARCHAR",
        "ALTER TABLE operation ADD COLUMN session_id VARCHAR",
        "ALTER TABLE operation ADD COLUMN user_id VARCHAR",
        "ALTER TABLE operation ADD COLUMN checked BIGINT",
        "ALTER TABLE operation ADD COLUMN undoes VARCHAR",
        # Who looked at which plan: a policy may require it.
        "CREATE TABLE review (plan_id VARCHAR NOT NULL, reviewed_at VARCHAR NOT NULL, reviewed_by VARCHAR NOT NULL)",
        # Damaged ledgers: their operations are read again from the tables' logs.
        "CREATE TABLE set_aside (file VARCHAR NOT NULL, seen_at VARCHAR NOT NULL, rebuilt BOOLEAN NOT NULL)",
    ),
)

#: DuckDB's storage format of the file: the newest that every supported DuckDB reads.
STORAGE_VERSION = "v1.2.0"

log = logging.getLogger(__name__)

Result = TypeVar("Result")
Work = Callable[["DuckDBPyConnection"], Result]

_aliases = itertools.count()
# One in-memory DuckDB for each process, to which the file is attached and from which it is detached:
# 1 ms, where a DuckDB of its own costs 20 ms each time. Keyed by pid: a fork must not share it.
_engines: dict[int, DuckDBPyConnection] = {}
_engines_lock = threading.Lock()


_PASSING = ("cannot open file", "could not read from file", "could not write", "could not seek", "failed to get stats")
"""What DuckDB says where a disk or a network fails for a moment: it does not know then what the file holds."""


class DamagedError(Exception):
    """The file is there and is no ledger."""


class OldFormatError(Exception):
    """The ledger must be migrated before it can be read."""


def changed_file(path: Path) -> Path:
    """It grows by a byte whenever the ledger at ``path`` is written, but for what is remembered of tables: the times of
    files are coarse on some disks."""
    return path.with_name(f"{path.name}.changed")


class Store:
    """The DuckDB file at ``path``: created if missing, 0600; a new folder is 0700.

    ``wait_seconds`` bounds how long one call waits for others. ``on_notice`` gets the one-line notices
    that a person should see (a damaged ledger was set aside); they go to the log too.
    """

    def __init__(self, path: Path, *, wait_seconds: float, on_notice: Callable[[str], None] | None) -> None:
        self.path = path
        self.wait_seconds = wait_seconds
        self._on_notice = on_notice

    def run(self, work: Work[Result], *, reading: bool = False, tells: bool = True) -> Result:
        """Open, run ``work`` in one transaction, close; all under the lock. ``reading``: it only reads. ``tells``: who
        watches the ledger is to see that it changed.

        Raises EngineError: ``LEDGER_LOCKED``, ``LEDGER_NEWER``, ``LEDGER_NOT_WRITABLE``,
        ``LEDGER_DISK_FULL``, ``LEDGER_FAILED``.
        """
        deadline = time.monotonic() + self.wait_seconds
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with ledger_lock(self.path, self.wait_seconds):
                changes = tells and not reading
                try:
                    result = self._once(work, reading, deadline)
                except OldFormatError:
                    result, changes = self._once(work, False, deadline), True
                except DamagedError as damage:
                    aside = self._set_aside(damage)
                    note = "INSERT INTO set_aside VALUES (?, ?, false)"
                    self._once(lambda db: db.execute(note, [aside, now()]), False, deadline)
                    result, changes = self._once(work, reading, deadline), True
                if changes:
                    self._tell()
                return result
        except (OSError, DamagedError) as error:
            raise self._failure(error) from error

    def look(self, work: Work[Result]) -> Result:
        """Run ``work``, which reads, on the file as it is, and change nothing: neither it nor what lies beside it.

        Raises EngineError as ``run`` does; OldFormatError or DamagedError for what ``run`` would mend.
        """
        lock = lock_of(self.path)
        try:
            # without one nobody has opened the ledger
            with ledger_lock(self.path, self.wait_seconds) if lock.exists() else contextlib.nullcontext():
                # a log that a crash left is read with it, and stays
                return self._in_transaction(work, True, True, time.monotonic() + self.wait_seconds)
        except OSError as error:
            raise self._failure(error) from error

    def _tell(self) -> None:
        with contextlib.suppress(OSError):
            handle = os.open(changed_file(self.path), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(handle, b".")
            finally:
                os.close(handle)

    def _once(self, work: Work[Result], reading: bool, deadline: float) -> Result:
        if not self.path.exists():
            self._create()
        wal = self.path.with_name(self.path.name + ".wal")
        # A log that a crash left must be replayed, so then a reader writes too.
        left_over = wal.exists() and wal.stat().st_size > 0
        return self._in_transaction(work, reading, reading and not left_over, deadline)

    def _in_transaction(self, work: Work[Result], reading: bool, read_only: bool, deadline: float) -> Result:
        import duckdb

        try:
            with self._attached(self.path, read_only, deadline) as connection:
                self._migrate(connection, reading)
                connection.begin()
                try:
                    result = work(connection)
                    connection.commit()
                except BaseException:
                    with contextlib.suppress(duckdb.Error):
                        connection.rollback()
                    raise
                return result
        except duckdb.Error as error:
            if _says_damage(str(error)):
                raise DamagedError(str(error)) from error
            raise self._failure(error) from error

    @contextlib.contextmanager
    def _attached(self, path: Path, read_only: bool, deadline: float) -> Iterator[DuckDBPyConnection]:
        """A connection whose current database is the file; always detached at the end."""
        import duckdb

        connection = _engine().cursor()
        alias = f"ledger_{next(_aliases)}"
        try:
            self._attach(connection, alias, path, read_only, deadline)
            connection.execute(f"USE {alias}")
            yield connection
        finally:
            try:
                connection.execute("USE memory")
                connection.execute(f"DETACH DATABASE IF EXISTS {alias}")
                connection.close()
            except duckdb.Error as error:
                with contextlib.suppress(duckdb.Error):
                    connection.close()
                # It broke, or does not release the file: end it, the next call makes another.
                log.warning("the ledger's DuckDB is given up: %s", error)
                _drop_engine()

    def _attach(self, connection: DuckDBPyConnection, alias: str, path: Path, read_only: bool, deadline: float) -> None:
        import duckdb

        if read_only:
            options = "(READ_ONLY)"
        else:
            options = f"(STORAGE_VERSION '{STORAGE_VERSION}')"
            wal = path.with_name(path.name + ".wal")
            with contextlib.suppress(OSError):
                # DuckDB would make its log readable by all; an empty one of ours it takes as it is.
                os.close(os.open(wal, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        name = str(path).replace("'", "''")
        while True:
            try:
                connection.execute(f"ATTACH '{name}' AS {alias} {options}")
                return
            except duckdb.Error as error:
                text = str(error)
                if "Could not set lock" in text or "Conflicting lock" in text:
                    # Someone opened it without our lock: a DuckDB shell.
                    if time.monotonic() >= deadline:
                        raise locked_error(self.path, self.wait_seconds) from error
                    time.sleep(0.02)
                    continue
                if _says_newer(text):
                    raise self._newer_error("with a newer DuckDB") from error
                if _failure_kind(text):
                    raise self._failure(error) from error
                raise DamagedError(text) from error

    def _create(self) -> None:
        """Make an empty ledger under another name and rename it: never half a ledger."""
        import duckdb

        scratch = self.path.with_name(f"{self.path.name}.new-{os.getpid()}")
        stale_wal = self.path.with_name(self.path.name + ".wal")
        for left in self.path.parent.glob(f"{self.path.name}.new-*"):
            _remove(left)  # we hold the lock: its writer is gone
        if stale_wal.exists():
            # A log without its file belongs to a ledger that is gone; it must not be replayed here.
            os.replace(stale_wal, stale_wal.with_name(f"{stale_wal.name}.damaged-{_stamp()}"))
        try:
            with self._attached(scratch, False, time.monotonic()) as connection:
                self._migrate(connection, False)
            os.chmod(scratch, 0o600)
            os.replace(scratch, self.path)
        except duckdb.Error as error:
            raise self._failure(error) from error
        finally:
            _remove(scratch)

    def _migrate(self, connection: DuckDBPyConnection, reading: bool) -> None:
        """Bring the ledger to this program's format, one transaction for each step."""
        tables = connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database()"
        ).fetchall()
        have = 0
        if tables:
            if ("format",) not in tables:
                raise DamagedError("it is a DuckDB file, but no ledger")
            row = connection.execute("SELECT max(version) FROM format").fetchone()
            if row is None or row[0] is None:
                raise DamagedError("its format is not recorded")
            have = int(row[0])
        newest = len(MIGRATIONS)
        if have > newest:
            raise self._newer_error(f"in format {have}; this program knows format {newest}")
        if have < newest and reading:
            raise OldFormatError
        for version in range(have + 1, newest + 1):
            connection.begin()
            for statement in MIGRATIONS[version - 1]:
                connection.execute(statement)
            connection.execute("INSERT INTO format VALUES (?, ?)", [version, now()])
            connection.commit()
            if have:
                self._notice(f"The history {self.path} was brought forward to format {version}.")

    # What can go wrong

    def _set_aside(self, damage: DamagedError) -> str:
        """Rename the damaged file, and return its new name."""
        aside = self.path.with_name(f"{self.path.name}.damaged-{_stamp()}")
        wal = self.path.with_name(self.path.name + ".wal")
        os.replace(self.path, aside)
        with contextlib.suppress(FileNotFoundError):
            if wal.stat().st_size > 0:
                os.replace(wal, aside.with_name(aside.name + ".wal"))
            else:
                wal.unlink()
        log.error("damaged ledger %s: %s", self.path, damage)
        self._notice(f"The history {self.path} is damaged; it was set aside as {aside.name} and a fresh one begun.")
        return aside.name

    def _notice(self, text: str) -> None:
        log.warning(text)
        if self._on_notice is not None:
            self._on_notice(text)

    def _newer_error(self, how: str) -> EngineError:
        return EngineError(
            "LEDGER_NEWER",
            f"The history {self.path} was written by a newer deltamerge-console, {how}.",
            "Upgrade deltamerge-console, or use another home with --home DIR. The file was not touched.",
        )

    def _failure(self, error: BaseException) -> EngineError:
        text = str(error)
        kind = _failure_kind(text)
        if kind == "full":
            return EngineError(
                "LEDGER_DISK_FULL",
                f"The history {self.path} cannot be written: the disk is full.",
                "Make room there, or use another home with --home DIR.",
            )
        if kind == "denied":
            return EngineError(
                "LEDGER_NOT_WRITABLE",
                f"The history {self.path} cannot be opened for writing.",
                "Check the folder's permissions, or name a writable home with --home DIR.",
            )
        first = text.splitlines()[0] if text else type(error).__name__
        return EngineError("LEDGER_FAILED", f"The history {self.path} failed: {first}", "The log has more; try again.")


def now() -> str:
    """The time, ISO 8601 UTC with milliseconds: ``2026-11-21T10:00:00.123Z``."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _engine() -> DuckDBPyConnection:
    import duckdb

    pid = os.getpid()
    with _engines_lock:
        if pid not in _engines:
            _engines[pid] = duckdb.connect(
                ":memory:",
                config={
                    # Small work: more threads only cost. Never fetch an extension.
                    "threads": 1,
                    "memory_limit": "512MB",
                    "autoinstall_known_extensions": False,
                    "autoload_known_extensions": False,
                },
            )
        return _engines[pid]


def _drop_engine() -> None:
    import duckdb

    with _engines_lock:
        engine = _engines.pop(os.getpid(), None)
    if engine is not None:
        with contextlib.suppress(duckdb.Error):
            engine.close()


def _stamp() -> str:
    return datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S%fZ")


def _remove(path: Path) -> None:
    for name in (path.name, path.name + ".wal"):
        with contextlib.suppress(OSError):
            os.unlink(path.with_name(name))


def _failure_kind(text: str) -> str:
    """ "full", "denied", "other" or "": what the machine, not the file, is to blame for."""
    lower = text.lower()
    if any(sign in lower for sign in ("no space left", "file too large", "disk quota", "out of disk")):
        return "full"
    denied = ("permission denied", "read-only file", " a directory", "no such file", "file exists")
    if any(sign in lower for sign in denied):
        return "denied"
    others = ("out of memory", "too many open files", *_PASSING)
    return "other" if any(sign in lower for sign in others) and not _says_damage(text) else ""


def _says_newer(text: str) -> bool:
    lower = text.lower()
    return "can only read version" in lower or "newer version of duckdb" in lower


def _says_damage(text: str) -> bool:
    lower = text.lower()
    signs = ("corrupt", "checksum", "not a valid duckdb", "not read enough bytes", "failed to deserialize")
    return any(sign in lower for sign in signs)
