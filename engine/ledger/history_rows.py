"""The rows of the ledger's table ``operation``: how they are written and read, inside a transaction of the store."""

from __future__ import annotations

import json
import os
import socket
import uuid
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from engine.ledger.history_store import now
from engine.model.create_values import CreatePlan
from engine.model.errors import EngineError, RefusedError
from engine.model.expectation import ExpectationResult, failing
from engine.model.operation import Operation, Outcome, Rehearsal
from engine.model.plans import AnyPlan
from engine.model.secrets import redact, redact_document
from engine.model.value import Value
from engine.spark.session_state import Whereabouts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NEXT_SEQ = "(SELECT coalesce(max(seq), 0) + 1 FROM operation)"
GONE = ("undone", "overwritten")
COMMITTED = ("applied", *GONE)
"""The statuses of what Delta has committed."""
TRIED = ("failed", "cancelled", "not_committed")
"""The statuses of what was begun and has committed nothing."""
SHORTEST_ID = 4
"""Fewer characters are no beginning of an id: with a slip of the finger they name another operation."""
_SESSION_CATALOG = "spark_catalog."
"""A table's name may be typed with it or without."""
_COLUMNS = "op_id, plan_id, kind, table_name, sql, status, version, started_at, finished_at, kept, error"

Stored = TypeVar("Stored", bound=Value)


@dataclass(frozen=True)
class Subject:
    """What an operation is about. ``undoes`` is the operation that a restore takes back."""

    plan_id: str
    kind: str
    table: str
    path: str
    table_id: str
    sql: str
    undoes: str | None = None


def insert(db: DuckDBPyConnection, subject: Subject, status: str, op_id: str) -> str:
    """A new row, owned by this process. Returns ``op_id``."""
    values: Mapping[str, object] = {
        "op_id": op_id,
        "plan_id": subject.plan_id,
        "kind": subject.kind,
        "table_name": subject.table,
        "table_path": subject.path.removeprefix("file:").rstrip("/"),
        "table_id": subject.table_id,
        "sql": redact(subject.sql),
        "status": status,
        "started_at": now(),
        "undoes": subject.undoes,
        **owner(),
    }
    db.execute(
        f"INSERT INTO operation (seq, {', '.join(values)}) VALUES ({NEXT_SEQ}{', ?' * len(values)})",
        list(values.values()),
    )
    return op_id


def owner() -> dict[str, object]:
    """The columns that name this process."""
    from engine.processes import start_time

    return {"host": socket.gethostname(), "pid": os.getpid(), "process": start_time(os.getpid())}


def update(db: DuckDBPyConnection, op_id: str, changes: Mapping[str, object]) -> None:
    """Change columns of a row. Raises EngineError ``OPERATION_NOT_FOUND``."""
    status_of(db, op_id)
    names = ", ".join(f"{name} = ?" for name in changes)
    db.execute(f"UPDATE operation SET {names} WHERE op_id = ?", [*changes.values(), op_id])


def start(db: DuckDBPyConnection, op_id: str, status: str, at: str) -> None:
    """What the row is about began ``at``, and not when it was planned: it is the newest now."""
    update(db, op_id, {"status": status, "started_at": at})
    db.execute(f"UPDATE operation SET seq = {NEXT_SEQ} WHERE op_id = ?", [op_id])


def operations(db: DuckDBPyConnection, rest: str, values: Sequence[object]) -> list[Operation]:
    rows = db.execute(f"SELECT {_COLUMNS}, host, pid, process FROM operation {rest}", values).fetchall()
    names = [name.strip().replace("table_name", "table") for name in _COLUMNS.split(",")]
    found = [Operation.model_validate(dict(zip(names, row[:-3], strict=True))) for row in rows]
    gone = {one.op_id for one, row in zip(found, rows, strict=True) if one.status == "running" and is_gone(*row[-3:])}
    rehearsed = rehearsals(db, found)
    entered = registered(db, [one.op_id for one in found])

    def told(one: Operation) -> dict[str, object]:
        rehearsal = next(iter(rehearsed[one.op_id]), None)
        return {
            "rehearsed": None if rehearsal is None else rehearsal.kept,
            "rehearsal_fails": rehearsal is not None and bool(failing(rehearsal.expectations)),
            "program_gone": one.op_id in gone,
            "registered": one.op_id in entered,
        }

    return [one.model_copy(update=told(one)) for one in found]


def undo_of(db: DuckDBPyConnection, op_id: str) -> Operation | None:
    """The undo of that operation which committed, even if a later RESTORE has overwritten it."""
    committed = "WHERE undoes = ? AND list_contains(?, status) ORDER BY seq DESC LIMIT 1"
    return next(iter(operations(db, committed, [op_id, list(COMMITTED)])), None)


def overwriting(db: DuckDBPyConnection, op_id: str) -> Operation | None:
    """The restore that overwrote that operation: the first that went back behind it."""
    went_back = (
        "WHERE op_id = (SELECT last.op_id FROM operation AS gone, operation AS last, operation AS first"
        " WHERE gone.op_id = ? AND gone.status = 'overwritten' AND last.undoes = first.op_id"
        " AND list_contains(?, last.status) AND first.table_path = gone.table_path"
        " AND gone.version > first.version AND gone.version < last.version ORDER BY last.version LIMIT 1)"
    )
    return next(iter(operations(db, went_back, [op_id, list(COMMITTED)])), None)


def named(db: DuckDBPyConnection, typed: str) -> Operation:
    """The operation of that id, the newest of that plan's id, or the one whose ids begin so.

    Raises EngineError: ``OPERATION_NOT_FOUND``, ``OPERATION_AMBIGUOUS``.
    """
    prefix = typed.strip().lower()
    found = operations(db, "WHERE op_id = ?", [prefix])
    if not found:
        found = operations(db, "WHERE plan_id = ? ORDER BY seq DESC LIMIT 1", [prefix])
    if prefix and not found and len(prefix) < SHORTEST_ID:
        raise not_found(typed, f"Type at least {SHORTEST_ID} characters of the id, or all of it.")
    if prefix and not found:
        begins = "WHERE starts_with(op_id, ?) OR starts_with(plan_id, ?) ORDER BY seq DESC"
        found = operations(db, begins, [prefix, prefix])
        if len({one.plan_id for one in found}) == 1 and found[0].plan_id.startswith(prefix):
            # one plan, which was tried before: as by its whole id
            found = found[:1]
    if not found:
        raise not_found(typed)
    if len(found) > 1:
        ids = ", ".join(one.op_id for one in found[:5])
        raise EngineError(
            "OPERATION_AMBIGUOUS",
            f"Several operations begin with {typed}, or their plans: {ids}.",
            "Type more of the id.",
        )
    return found[0]


def is_gone(host: str | None, pid: int | None, process: str | None) -> bool:
    """Whether a process was one of this machine, and runs no more."""
    from engine.processes import is_running

    return host == socket.gethostname() and not is_running(pid or 0, process or "")


def rehearsals(db: DuckDBPyConnection, operations: Sequence[Operation]) -> dict[str, tuple[Rehearsal, ...]]:
    """Those of each operation's plan, the newest first. One that began when an operation had ended belongs to those
    after it, and to the newest of the plan if there are none."""
    plan_ids = [one.plan_id for one in operations]
    bodies = db.execute(
        "SELECT body FROM document JOIN operation USING (op_id)"
        " WHERE document.kind = 'rehearsal' AND list_contains(?, plan_id)",
        [plan_ids],
    ).fetchall()
    found = [one for (body,) in bodies if (one := read(Rehearsal, unpacked(body)))]
    found.sort(key=lambda one: one.started_at, reverse=True)
    newest = "SELECT arg_max(op_id, seq) FROM operation WHERE list_contains(?, plan_id) GROUP BY plan_id"
    last = {op_id for (op_id,) in db.execute(newest, [plan_ids]).fetchall()} if found else set()

    def belongs(rehearsal: Rehearsal, one: Operation) -> bool:
        is_before = one.finished_at is None or rehearsal.started_at <= one.finished_at
        return rehearsal.plan_id == one.plan_id and (is_before or one.op_id in last)

    return {one.op_id: tuple(each for each in found if belongs(each, one)) for one in operations}


def registered(db: DuckDBPyConnection, op_ids: Sequence[str]) -> set[str]:
    """Those that needed no commit to do something: they entered a table into the catalog."""
    bodies = db.execute(
        "SELECT op_id, body FROM document JOIN operation USING (op_id) WHERE document.kind = 'plan'"
        " AND operation.kind = 'create_table' AND status = 'applied' AND version IS NULL AND list_contains(?, op_id)",
        [op_ids],
    ).fetchall()
    plans = {op_id: read(CreatePlan, unpacked(body)) for op_id, body in bodies}
    return {op_id for op_id, plan in plans.items() if plan is not None and plan.registers}


def of_table(table: str | None) -> tuple[str, list[str]]:
    """The condition for the operations of a table, by its name, the end of that or its path; of all if None. Those that
    named it by its path are among those of its name."""
    if table is None:
        return "true", []
    wanted = table.replace("`", "").lower().removeprefix(_SESSION_CATALOG)
    path = wanted.removeprefix("delta.").removeprefix("file:").rstrip("/")
    plain = f"regexp_replace(replace(lower(table_name), '`', ''), '^{_SESSION_CATALOG}', '')"
    name = f"(CASE WHEN contains({plain}, '.') THEN {plain} ELSE 'default.' || {plain} END)"
    is_named = f"({name} = ? OR ends_with({name}, ?))"
    by_path = f"starts_with({name}, 'delta.') AND table_path IN (SELECT table_path FROM operation WHERE {is_named})"
    values = [wanted, f".{wanted}"]
    return f"({is_named} OR lower(table_path) = ? OR {by_path})", [*values, path, *values]


def overwrite(db: DuckDBPyConnection, undone: str, restore: str) -> None:
    """Mark as overwritten what was committed to the table after ``undone`` and before ``restore``."""
    db.execute(
        "UPDATE operation SET status = 'overwritten' FROM operation AS first, operation AS last"
        " WHERE first.op_id = ? AND last.op_id = ? AND operation.status = 'applied'"
        " AND operation.table_path = first.table_path"
        " AND operation.version > first.version AND operation.version < last.version",
        [undone, restore],
    )


def applied(
    db: DuckDBPyConnection, op_id: str, outcome: Outcome, body: bytes, at: str | None, status: str = "applied"
) -> None:
    changes = {"version": outcome.version, "kept": outcome.kept, "finished_at": at or now(), "error": None}
    if status_of(db, op_id) not in GONE:
        changes["status"] = status
    update(db, op_id, changes)
    store_document(db, op_id, "outcome", body)


def run(db: DuckDBPyConnection, op_id: str, where: Whereabouts, checked: int | None) -> None:
    start(db, op_id, "running", now())
    update(db, op_id, {"checked": checked, "error": None, **asdict(where), **owner()})


def store_document(db: DuckDBPyConnection, op_id: str, kind: str, body: bytes | None) -> None:
    """The document of that kind is ``body`` now; there is none if that is None."""
    db.execute("DELETE FROM document WHERE op_id = ? AND kind = ?", [op_id, kind])
    if body is not None:
        db.execute("INSERT INTO document VALUES (?, ?, ?)", [op_id, kind, body])


def document(db: DuckDBPyConnection, op_id: str, kind: str, model: type[Stored]) -> Stored | None:
    """The document of that kind, as ``model`` reads it; None if there is none."""
    row = db.execute("SELECT body FROM document WHERE op_id = ? AND kind = ?", [op_id, kind]).fetchone()
    return read(model, unpacked(row[0])) if row else None


def verified(db: DuckDBPyConnection, op_id: str, expectations: tuple[ExpectationResult, ...]) -> None:
    if (outcome := document(db, op_id, "outcome", Outcome)) is not None:
        store_document(db, op_id, "outcome", packed(outcome.model_copy(update={"expectations": expectations})))


def insert_plan(db: DuckDBPyConnection, plan: AnyPlan, body: bytes, status: str, op_id: str) -> str:
    target = plan.target
    subject = Subject(plan.plan_id, plan.kind, target.name, target.path, target.table_id, plan.statement.script)
    insert(db, subject, status, op_id)
    store_document(db, op_id, "plan", body)
    return op_id


def insert_planned(db: DuckDBPyConnection, plan: AnyPlan, body: bytes) -> str:
    op_id = insert_plan(db, plan, body, "planned" if plan.refused is None else "refused", new_id())
    if plan.refused is not None:
        update(db, op_id, {"error": redact(f"[{plan.refused.condition}] {plan.refused.message}")})
    return op_id


def planned_row(db: DuckDBPyConnection, plan_id: str, op_id: str | None = None) -> str | None:
    row = db.execute(
        "SELECT op_id FROM operation WHERE plan_id = ? AND status IN ('planned', 'refused')"
        " AND (?::VARCHAR IS NULL OR op_id = ?) ORDER BY seq DESC LIMIT 1",
        [plan_id, op_id, op_id],
    ).fetchone()
    return None if row is None else str(row[0])


def newest_row(db: DuckDBPyConnection, plan_id: str) -> str | None:
    query = "SELECT op_id FROM operation WHERE plan_id = ? ORDER BY seq DESC LIMIT 1"
    row = db.execute(query, [plan_id]).fetchone()
    return None if row is None else str(row[0])


def refuse_rival(db: DuckDBPyConnection, plan_id: str, since: str) -> None:
    """Raise RefusedError if a process of this machine applies the same plan, or has since that time."""
    from engine.processes import is_running

    rivals = db.execute(
        "SELECT status, pid, process, finished_at FROM operation WHERE plan_id = ? AND host = ?"
        " AND status IN ('running', 'applied')",
        [plan_id, socket.gethostname()],
    ).fetchall()
    for status, pid, process, finished_at in rivals:
        if is_running(int(pid), process) if status == "running" else str(finished_at) >= since:
            raise RefusedError(
                "PLAN_IS_BEING_APPLIED",
                f"Process {pid} applies this plan already.",
                "Apply it again when that has ended: it tells then whether it is committed.",
            )


def exists(db: DuckDBPyConnection, op_id: str) -> bool:
    return db.execute("SELECT 1 FROM operation WHERE op_id = ?", [op_id]).fetchone() is not None


def status_of(db: DuckDBPyConnection, op_id: str) -> str:
    row = db.execute("SELECT status FROM operation WHERE op_id = ?", [op_id]).fetchone()
    if row is None:
        raise not_found(op_id)
    return str(row[0])


def ran_nothing(db: DuckDBPyConnection, plan: AnyPlan, body: bytes, error: str, began: str) -> None:
    """An apply that ``began`` then was refused, see ``History.ran_nothing``."""
    newest = newest_row(db, plan.plan_id)
    if newest is not None and _began_since(db, newest, began):
        if status_of(db, newest) == "failed":
            update(db, newest, {"error": error})
        return
    if newest is not None and _failed_by(db, newest, error):
        return
    if newest is None or status_of(db, newest) in TRIED:
        # each try has its own reason
        insert_planned(db, plan, body)
    op_id = planned_row(db, plan.plan_id)
    if op_id is not None and status_of(db, op_id) == "planned":
        start(db, op_id, "failed", began)
        update(db, op_id, {"error": error, "finished_at": now()})


def _failed_by(db: DuckDBPyConnection, op_id: str, error: str) -> bool:
    query = "SELECT 1 FROM operation WHERE op_id = ? AND status = 'failed' AND error = ?"
    return db.execute(query, [op_id, error]).fetchone() is not None


def _began_since(db: DuckDBPyConnection, op_id: str, then: str) -> bool:
    query = "SELECT 1 FROM operation WHERE op_id = ? AND started_at > ? AND status NOT IN ('planned', 'refused')"
    return db.execute(query, [op_id, then]).fetchone() is not None


def new_id() -> str:
    return uuid.uuid4().hex[:12]


def text(value: Value) -> str:
    return json.dumps(redact_document(value.model_dump(mode="json")), ensure_ascii=False)


def packed(value: Value) -> bytes:
    """Packed: a plan's file list is long and repeats itself, and DuckDB rewrites what it stores."""
    return zlib.compress(text(value).encode(), 6)


def unpacked(body: bytes | None) -> str | None:
    return None if body is None else zlib.decompress(body).decode()


def read(kind: type[Stored], body: str | None) -> Stored | None:
    """A stored value; None if this version no longer understands it, so that it does not hide the others."""
    try:
        return None if body is None else kind.model_validate_json(body)
    except ValidationError:
        return None


def not_found(op_id: str, hint: str = "See them with: deltamerge-console history") -> EngineError:
    return EngineError("OPERATION_NOT_FOUND", f"The history has no operation {op_id}.", hint)
