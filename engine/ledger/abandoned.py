"""What a crash left in the ledger: operations that run by its word, whose process is gone."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.ledger import history_rows as rows
from engine.spark.session_state import Whereabouts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class Abandoned:
    """An operation whose process is gone, or may be gone if it began ``elsewhere``, under another host name.
    ``checked`` is the table's version that apply checked before it ran. ``given_up``: by a program that may live, in a
    session that it may use. ``pid`` and ``process`` name the process that began it."""

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


def unsettled(db: DuckDBPyConnection) -> list[Abandoned]:
    """Oldest first, with those of other host names, whose processes may live."""
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
