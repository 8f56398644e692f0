"""The ledger: every plan and every apply, what was promised and what happened, in one DuckDB file.

Several consoles and CI jobs share it (see ``engine.history_store`` for how). It also remembers the
tables and table histories it has seen, so that browsing shows something before Spark is up.

Nothing secret is stored: texts go through ``engine.secrets.redact`` on their way in.
Every method may raise EngineError ``LEDGER_LOCKED``, ``LEDGER_NEWER``, ``LEDGER_NOT_WRITABLE``,
``LEDGER_DISK_FULL`` or ``LEDGER_FAILED``; none leaves half a record.
"""

from __future__ import annotations

import json
import os
import socket
import uuid
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter, ValidationError

from engine.errors import EngineError
from engine.history_store import Store, now
from engine.plans import AnyPlan, OperationDetail
from engine.secrets import redact, redact_document
from engine.values import Operation, Outcome, TableRef, TableVersion, Value

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FailedStatus = Literal["failed", "cancelled", "not_committed"]
# ``History.list`` hides the built-in of that name inside the class.
Operations = list[Operation]
Versions = list[TableVersion]
Tables = list[TableRef]

#: Versions of one table that are remembered.
MAX_CACHED_VERSIONS = 5_000

_COLUMNS = "op_id, plan_id, kind, table_name, sql, status, version, started_at, finished_at, kept, error"


class History:
    """The ledger in the file ``path`` (default: ``history.duckdb`` in the home directory).

    Opening costs nothing; the file is made by the first call that needs it. Safe to share between
    threads and processes. A call waits at most ``wait_seconds`` for others. ``on_notice`` gets one-line
    notices for a person (a damaged ledger was set aside).
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        wait_seconds: float = 10.0,
        on_notice: Callable[[str], None] | None = None,
    ) -> None:
        if path is None:
            from engine.session.home import default_home, ledger_path

            path = ledger_path(default_home())
        self.path = Path(path).expanduser().absolute()
        self._store = Store(self.path, wait_seconds=wait_seconds, on_notice=on_notice)

    # Writing

    def record_planned(self, plan: AnyPlan) -> str:
        """Remember ``plan`` as planned and return the new operation's id (12 hex digits).

        A plan that is planned already and was not begun keeps its row: the same id comes back.
        """

        body = _body(plan)  # made before the lock is taken: others are waiting there

        def work(db: DuckDBPyConnection) -> str:
            return _planned_row(db, plan.plan_id) or _insert(db, plan, body, "planned", _new_id())

        return self._store.run(work)

    def begin(self, plan: AnyPlan, op_id: str | None = None) -> str:
        """An apply of ``plan`` starts: status running, started now, owned by this process.

        Takes over the row ``op_id``, or else the latest planned one of this plan id; one that was begun
        before is history and stays, a new row is made. Returns the id of the row in use.
        """

        body = _body(plan)

        def work(db: DuckDBPyConnection) -> str:
            row = _planned_row(db, plan.plan_id, op_id)
            if row is None:
                fresh = op_id if op_id is not None and not _exists(db, op_id) else _new_id()
                return _insert(db, plan, body, "running", fresh)
            db.execute(
                f"""UPDATE operation SET status = 'running', seq = {_NEXT_SEQ}, started_at = ?,
                    host = ?, pid = ?, process = ? WHERE op_id = ?""",
                [now(), *_owner(), row],
            )
            return row

        return self._store.run(work)

    def applied(self, op_id: str, outcome: Outcome) -> None:
        """The operation committed (or was found committed): status applied, with its outcome."""
        body = _body(outcome)

        def work(db: DuckDBPyConnection) -> None:
            _update(
                db,
                op_id,
                "status = 'applied', version = ?, kept = ?, finished_at = ?, error = NULL",
                [outcome.version, outcome.kept, now()],
            )
            _store_document(db, op_id, "outcome", body)

        self._store.run(work)

    def failed(self, op_id: str, error: str, status: FailedStatus = "failed") -> None:
        """The operation did not commit; ``error`` is one line. One that is known as applied stays applied:
        a commit is a fact, whatever failed after it.
        """

        def work(db: DuckDBPyConnection) -> None:
            if _status(db, op_id) not in ("applied", "undone"):
                _update(db, op_id, "status = ?, error = ?, finished_at = ?", [status, redact(error), now()])

        self._store.run(work)

    def undone(self, op_id: str) -> None:
        """An applied operation was taken back. Its version and outcome stay."""
        self._store.run(lambda db: _update(db, op_id, "status = 'undone'", []))

    # Reading

    def list(self, table: str | None = None, limit: int = 100) -> Operations:
        """The newest ``limit`` operations, newest first; of one table if named (name, its end, or path)."""

        def work(db: DuckDBPyConnection) -> Operations:
            where, values = "", []
            if table is not None:
                wanted = table.replace("`", "").lower()
                where = (
                    "WHERE replace(lower(table_name), '`', '') = ? OR lower(table_path) = ?"
                    " OR ends_with(replace(lower(table_name), '`', ''), ?)"
                )
                path = wanted.removeprefix("delta.").removeprefix("file:").rstrip("/")
                values = [wanted, path, "." + wanted]
            return _operations(db, f"{where} ORDER BY seq DESC LIMIT ?", [*values, max(0, limit)])

        return self._store.run(work, reading=True)

    def get(self, op_id: str) -> OperationDetail:
        """One operation in full, by its id or the beginning of it.

        Raises EngineError: ``OPERATION_NOT_FOUND``, ``OPERATION_AMBIGUOUS``.
        """

        def work(db: DuckDBPyConnection) -> OperationDetail:
            wanted = op_id.strip().lower()
            found = _operations(db, "WHERE op_id = ?", [wanted])
            if wanted and not found:
                found = _operations(db, "WHERE starts_with(op_id, ?) ORDER BY seq DESC LIMIT 6", [wanted])
            if not found:
                raise _not_found(op_id)
            if len(found) > 1:
                raise EngineError(
                    "OPERATION_AMBIGUOUS",
                    f"Several operations begin with {op_id}: {', '.join(one.op_id for one in found[:5])}.",
                    "Type more of the id.",
                )
            rows = db.execute("SELECT kind, body FROM document WHERE op_id = ?", [found[0].op_id]).fetchall()
            bodies = dict(rows)
            return OperationDetail(
                operation=found[0],
                plan=_read_plan(_unpack(bodies.get("plan"))),
                outcome=_read(Outcome, _unpack(bodies.get("outcome"))),
            )

        return self._store.run(work, reading=True)

    def find_by_plan(self, plan_id: str) -> Operations:
        """The operations of one plan, newest first."""
        return self._select("WHERE plan_id = ? ORDER BY seq DESC", [plan_id])

    def running(self) -> Operations:
        """The operations that were begun and not finished, newest first, whoever runs them."""
        return self._select("WHERE status = 'running' ORDER BY seq DESC", [])

    def _select(self, rest: str, values: Sequence[object]) -> Operations:
        return self._store.run(lambda db: _operations(db, rest, values), reading=True)

    def abandoned(self) -> Operations:
        """Those of :meth:`running` that were begun on this machine by a process that is gone."""
        from engine.session.processes import is_running

        def work(db: DuckDBPyConnection) -> Operations:
            rows = db.execute(
                "SELECT op_id, pid, process FROM operation WHERE status = 'running' AND host = ?",
                [socket.gethostname()],
            ).fetchall()
            gone = {op for op, pid, process in rows if not is_running(int(pid), process)}
            running = _operations(db, "WHERE status = 'running' ORDER BY seq DESC", [])
            return [one for one in running if one.op_id in gone]

        return self._store.run(work, reading=True)

    # What browsing shows before Spark is up

    def cache_versions(self, table_key: str, versions: Iterable[TableVersion]) -> None:
        """Remember versions of a table (its id, or whatever names it for good). Known ones are replaced."""
        bodies = {one.version: _text(one) for one in versions}
        if not bodies:
            return
        numbers = list(bodies)

        def work(db: DuckDBPyConnection) -> None:
            db.execute(
                "DELETE FROM table_version WHERE table_key = ? AND list_contains(?, version)",
                [table_key, numbers],
            )
            db.execute(
                "INSERT INTO table_version SELECT ?, unnest(?::BIGINT[]), unnest(?::VARCHAR[])",
                [table_key, numbers, list(bodies.values())],
            )
            db.execute(
                "DELETE FROM table_version WHERE table_key = ? AND version <= (SELECT max(version) FROM"
                " table_version WHERE table_key = ?) - ?",
                [table_key, table_key, MAX_CACHED_VERSIONS],
            )

        self._store.run(work)

    def cached_versions(self, table_key: str) -> Versions:
        """The versions remembered of a table, newest first; empty when it was never seen."""

        def work(db: DuckDBPyConnection) -> Any:
            return db.execute(
                "SELECT body FROM table_version WHERE table_key = ? ORDER BY version DESC", [table_key]
            ).fetchall()

        found = (_read(TableVersion, body) for (body,) in self._store.run(work, reading=True))
        return [version for version in found if version is not None]

    def cache_tables(self, endpoint: str, tables: Sequence[TableRef]) -> None:
        """Remember the tables seen at ``endpoint``, in place of those remembered before."""
        body = json.dumps([one.model_dump(mode="json") for one in tables], ensure_ascii=False)

        def work(db: DuckDBPyConnection) -> None:
            db.execute("DELETE FROM table_list WHERE endpoint = ?", [redact(endpoint)])
            db.execute("INSERT INTO table_list VALUES (?, ?, ?)", [redact(endpoint), now(), body])

        self._store.run(work)

    def cached_tables(self, endpoint: str) -> Tables:
        """The tables seen last time at ``endpoint``; empty when there was none."""

        def work(db: DuckDBPyConnection) -> Any:
            return db.execute("SELECT body FROM table_list WHERE endpoint = ?", [redact(endpoint)]).fetchone()

        row = self._store.run(work, reading=True)
        try:
            return [TableRef.model_validate(one) for one in json.loads(row[0])] if row else []
        except (ValueError, ValidationError):
            return []


_NEXT_SEQ = "(SELECT coalesce(max(seq), 0) + 1 FROM operation)"


def _new_id() -> str:
    return uuid.uuid4().hex[:12]


def _owner() -> tuple[str, int, str]:
    from engine.session.processes import start_time

    return socket.gethostname(), os.getpid(), start_time(os.getpid())


def _body(value: Value) -> bytes:
    """Packed: a plan's file list is long and repeats itself, and DuckDB rewrites what it stores."""
    return zlib.compress(_text(value).encode(), 6)


def _unpack(body: bytes | None) -> str | None:
    return None if body is None else zlib.decompress(body).decode()


def _text(value: Value) -> str:
    return json.dumps(redact_document(value.model_dump(mode="json")), ensure_ascii=False)


def _insert(db: DuckDBPyConnection, plan: AnyPlan, body: bytes, status: str, op_id: str) -> str:
    target = plan.target
    db.execute(
        f"""INSERT INTO operation (seq, op_id, plan_id, kind, table_name, table_path, table_id, sql,
            status, started_at, host, pid, process)
            VALUES ({_NEXT_SEQ}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        [
            op_id,
            plan.plan_id,
            plan.kind,
            target.name,
            target.path.removeprefix("file:").rstrip("/"),
            target.table_id,
            redact(plan.statement.sql),
            status,
            now(),
            *_owner(),
        ],
    )
    _store_document(db, op_id, "plan", body)
    return op_id


def _store_document(db: DuckDBPyConnection, op_id: str, kind: str, body: bytes) -> None:
    db.execute("DELETE FROM document WHERE op_id = ? AND kind = ?", [op_id, kind])
    db.execute("INSERT INTO document VALUES (?, ?, ?)", [op_id, kind, body])


def _planned_row(db: DuckDBPyConnection, plan_id: str, op_id: str | None = None) -> str | None:
    row = db.execute(
        "SELECT op_id FROM operation WHERE plan_id = ? AND status = 'planned'"
        " AND (?::VARCHAR IS NULL OR op_id = ?) ORDER BY seq DESC LIMIT 1",
        [plan_id, op_id, op_id],
    ).fetchone()
    return None if row is None else str(row[0])


def _exists(db: DuckDBPyConnection, op_id: str) -> bool:
    return db.execute("SELECT 1 FROM operation WHERE op_id = ?", [op_id]).fetchone() is not None


def _status(db: DuckDBPyConnection, op_id: str) -> str:
    row = db.execute("SELECT status FROM operation WHERE op_id = ?", [op_id]).fetchone()
    if row is None:
        raise _not_found(op_id)
    return str(row[0])


def _update(db: DuckDBPyConnection, op_id: str, changes: str, values: Sequence[object]) -> None:
    _status(db, op_id)
    db.execute(f"UPDATE operation SET {changes} WHERE op_id = ?", [*values, op_id])


def _operations(db: DuckDBPyConnection, rest: str, values: Sequence[object]) -> list[Operation]:
    rows = db.execute(f"SELECT {_COLUMNS} FROM operation {rest}", values).fetchall()
    names = [name.strip().replace("table_name", "table") for name in _COLUMNS.split(",")]
    return [Operation.model_validate(dict(zip(names, row, strict=True))) for row in rows]


def _read(kind: Any, body: str | None) -> Any:
    """A stored value, or None: one that this version no longer understands must not hide the others."""
    try:
        return None if body is None else kind.model_validate_json(body)
    except ValidationError:
        return None


def _read_plan(body: str | None) -> AnyPlan | None:
    try:
        return None if body is None else TypeAdapter(AnyPlan).validate_json(body)
    except ValidationError:
        return None


def _not_found(op_id: str) -> EngineError:
    return EngineError(
        "OPERATION_NOT_FOUND",
        f"The history has no operation {op_id}.",
        "See them with: deltamerge-console history",
    )
