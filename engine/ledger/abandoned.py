"""What a crash left in the ledger: operations that run by its word, whose process is gone."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from engine.ledger import history_rows as rows
from engine.spark.session_state import Whereabouts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SAVED_DAYS, SAVED_PLANS = 7, 10
"""Of how many days, and how many of them, the tables are asked: each command does so."""


@dataclass(frozen=True)
class Abandoned:
    """An operation whose process is gone, or may be gone if it began ``elsewhere``, under another host name.
    ``checked`` is the table's version that apply checked before it ran. ``given_up``: by a program that may live, in a
    session that it may use. ``pid`` and ``process`` name the process that began it. ``is_saved``: it was not begun
    here; its plan was saved, of the version ``checked``, and another program may have applied it."""

    op_id: str
    plan_id: str
    kind: str
    table: str
    table_path: str
    where: Whereabouts
    checked: int | None
    undoes: str | None
    elsewhere: bool
    given_up: bool = False
    pid: int = 0
    process: str = ""
    is_saved: bool = False


def unsettled(db: DuckDBPyConnection) -> list[Abandoned]:
    """Oldest first, with those of other host names, whose processes may live; then the plans that were saved."""
    return [*_begun(db), *_saved_plans(db)]


def _begun(db: DuckDBPyConnection) -> list[Abandoned]:
    here = socket.gethostname()
    running = db.execute(
        "SELECT op_id, plan_id, kind, table_name, table_path, endpoint, session_id, user_id, checked, undoes,"
        " host, pid, process FROM operation WHERE status = 'running' AND host IS NOT NULL ORDER BY seq"
    ).fetchall()
    return [
        Abandoned(
            op_id,
            plan_id,
            kind,
            table,
            path,
            Whereabouts(*where),
            checked,
            undoes,
            host != here,
            pid == 0,
            pid,
            process,
        )
        for op_id, plan_id, kind, table, path, *where, checked, undoes, host, pid, process in running
        if host != here or rows.is_gone(host, pid, process)
    ]


def saved(db: DuckDBPyConnection, plan_id: str, version: int | None) -> None:
    """The plan, of that version of its table, was saved: another program may apply it."""
    if (op_id := rows.planned_row(db, plan_id)) is not None:
        rows.update(db, op_id, {"checked": -1 if version is None else version})


def _saved_plans(db: DuckDBPyConnection) -> list[Abandoned]:
    """The newest of those that are not applied, oldest first."""
    since = (datetime.now(timezone.utc) - timedelta(days=SAVED_DAYS)).isoformat()
    newest = db.execute(
        "SELECT op_id, plan_id, kind, table_name, table_path, checked FROM operation"
        " WHERE status = 'planned' AND checked IS NOT NULL AND started_at >= ? ORDER BY seq DESC LIMIT ?",
        [since, SAVED_PLANS],
    ).fetchall()
    return [
        Abandoned(op_id, plan_id, kind, table, path, Whereabouts(), checked, None, False, is_saved=True)
        for op_id, plan_id, kind, table, path, checked in reversed(newest)
    ]


def running_sessions(db: DuckDBPyConnection) -> set[str]:
    """The Connect sessions of the operations that run by the ledger's word, whoever owns them."""
    query = "SELECT session_id FROM operation WHERE status = 'running' AND session_id IS NOT NULL"
    return {session_id for (session_id,) in db.execute(query).fetchall()}


def take_over(db: DuckDBPyConnection, op_id: str) -> bool:
    """Make this process the owner; False if another was faster."""
    if op_id not in (one.op_id for one in unsettled(db) if not one.elsewhere):
        return False
    rows.update(db, op_id, rows.owner())
    return True


def give_back(db: DuckDBPyConnection, one: Abandoned) -> None:
    """It was not settled: it is owned by whom it was taken from."""
    rows.update(db, one.op_id, {"pid": one.pid, "process": one.process})


def give_up(db: DuckDBPyConnection, op_id: str) -> None:
    """No process owns it any more: it is abandoned again."""
    rows.update(db, op_id, {"pid": 0})
