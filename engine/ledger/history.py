"""The ledger: every plan and every apply, what was promised and what happened, in one DuckDB file.

Several consoles and CI jobs share it (see ``engine.ledger.history_store`` for how). It also remembers the
tables and table histories it has seen, so that browsing shows something before Spark is up.

Nothing secret is stored: texts go through ``engine.model.secrets.redact`` on their way in.
Every method may raise EngineError ``LEDGER_LOCKED``, ``LEDGER_NEWER``, ``LEDGER_NOT_WRITABLE``,
``LEDGER_DISK_FULL`` or ``LEDGER_FAILED``; none leaves half a record.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import TypeAdapter, ValidationError

from engine.ledger import abandoned, browse_cache
from engine.ledger import history_rows as rows
from engine.ledger.abandoned import Abandoned
from engine.ledger.history_store import Store, now
from engine.model.browse import TableRef, TableVersion
from engine.model.errors import CancelledError, EngineError
from engine.model.expectation import ExpectationResult
from engine.model.operation import Operation, Outcome, Rehearsal, UndoPlan, UndoRefused
from engine.model.plan import Plan
from engine.model.plans import AnyPlan, OperationDetail
from engine.model.script import joined
from engine.model.secrets import redact
from engine.spark.session_state import Whereabouts
from engine.sql.undo_statements import undo_statements

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LEFT_OUT = "The message is left out: the profile is private."
"""In place of what Spark says of an error."""
FailedStatus = Literal["failed", "cancelled", "not_committed", "lost"]
OTHER_MERGES = 10
"""Applied merges into a table that are read for each one that is wanted."""

# ``History.list`` hides the built-in of that name inside the class.
Operations = list[Operation]
Details = list[OperationDetail]
Versions = list[TableVersion]
Tables = list[TableRef]
Abandonments = list[Abandoned]


class History:
    """The ledger in the file ``path`` (default: ``history.duckdb`` in the home directory).

    Opening costs nothing; the first call that needs the file creates it. Safe to share between
    threads and processes. A call waits at most ``wait_seconds`` for others. ``on_notice`` gets one-line
    notices for a person (a damaged ledger was set aside). ``private``: only the class of an error is kept; its message
    may hold the value of a row.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        wait_seconds: float = 10.0,
        on_notice: Callable[[str], None] | None = None,
        private: bool = False,
    ) -> None:
        if path is None:
            from engine.session.home import default_home, ledger_path

            path = ledger_path(default_home())
        self.path = Path(path).expanduser().absolute()
        self._private = private
        self._store = Store(self.path, wait_seconds=wait_seconds, on_notice=on_notice)

    # Writing

    def record_planned(self, plan: AnyPlan) -> str:
        """Remember ``plan`` as planned, or as refused, and return the new operation's id (12 hex digits).

        A plan that is planned already and was not begun keeps its row: the same id comes back.
        """

        body = rows.packed(plan)  # before the lock is taken: others wait for it

        def work(db: DuckDBPyConnection) -> str:
            return rows.planned_row(db, plan.plan_id) or rows.insert_planned(db, plan, body)

        return self._store.run(work)

    def rehearsed(self, plan: AnyPlan, rehearsal: Rehearsal) -> None:
        """``plan`` was rehearsed. It is remembered as planned if it is not known."""
        body, found = rows.packed(plan), rows.packed(rehearsal)

        def work(db: DuckDBPyConnection) -> None:
            op_id = rows.newest_row(db, plan.plan_id) or rows.insert_planned(db, plan, body)
            db.execute("INSERT INTO document VALUES (?, 'rehearsal', ?)", [op_id, found])

        self._store.run(work)

    def begin(
        self,
        plan: AnyPlan,
        op_id: str | None = None,
        *,
        where: Whereabouts = Whereabouts(),  # noqa: B008  frozen
        checked: int | None = None,
        alone_since: str | None = None,
    ) -> str:
        """An apply of ``plan`` starts: status running, started now, owned by this process.

        Takes over the row ``op_id``, or else the latest planned one of this plan id; a row that was begun
        before stays, and a new row is added. ``where`` it runs and the table's version that was ``checked``
        show after a crash what became of it. ``alone_since``, for what Delta itself would do twice:
        RefusedError if another apply of the same plan runs on this machine, or has committed since that time
        (``now()``). Returns the id of the row.
        """

        body = rows.packed(plan)

        def work(db: DuckDBPyConnection) -> str:
            if alone_since is not None:
                rows.refuse_rival(db, plan.plan_id, alone_since)
            row = rows.planned_row(db, plan.plan_id, op_id)
            if row is None:
                fresh = op_id if op_id is not None and not rows.exists(db, op_id) else rows.new_id()
                row = rows.insert_plan(db, plan, body, "running", fresh)
            rows.run(db, row, where, checked)
            return row

        return self._store.run(work)

    def applied(self, op_id: str, outcome: Outcome, at: str | None = None, *, undone: bool = False) -> None:
        """The operation committed, now or ``at``: status applied, with its outcome, or ``undone``, by no operation of
        this ledger. If it was undone or overwritten meanwhile, it stays so."""
        body = rows.packed(outcome)
        status = "undone" if undone else "applied"
        self._store.run(lambda db: rows.applied(db, op_id, outcome, body, at, status))

    def verified(self, op_id: str, expectations: tuple[ExpectationResult, ...]) -> None:
        """What was committed was checked: the operation's outcome, if it is known here, gets the results."""
        self._store.run(lambda db: rows.verified(db, op_id, expectations))

    def begin_undo(self, undo: UndoPlan, *, where: Whereabouts = Whereabouts()) -> str:  # noqa: B008  frozen
        """A RESTORE or DROP that takes an operation back starts: add a row of that kind, and return its id."""
        body = rows.packed(undo)

        def work(db: DuckDBPyConnection) -> str:
            sql = joined(undo_statements(undo))
            subject = rows.Subject(undo.undo_id, undo.kind, undo.table, undo.path, undo.table_id, sql, undo.op_id)
            row = rows.insert(db, subject, "running", rows.new_id())
            rows.store_document(db, row, "undo", body)
            rows.run(db, row, where, undo.version)
            return row

        return self._store.run(work)

    def undone(self, op_id: str, outcome: Outcome, at: str | None = None) -> None:
        """The restore ``op_id`` committed, now or ``at``: it is applied, the operation that it takes back is undone,
        and the operations between them are overwritten; all or nothing."""
        body = rows.packed(outcome)

        def work(db: DuckDBPyConnection) -> None:
            rows.applied(db, op_id, outcome, body, at)
            (undoes,) = db.execute("SELECT undoes FROM operation WHERE op_id = ?", [op_id]).fetchone() or (None,)
            if undoes is not None:
                rows.overwrite(db, undoes, op_id)
                rows.update(db, undoes, {"status": "undone"})

        self._store.run(work)

    def undo_refused(self, op_id: str, error: EngineError | None) -> None:
        """An undo of the operation was found not possible, as ``error`` says; None if it is possible after all."""
        body = None
        if error is not None:
            body = rows.packed(UndoRefused(at=now(), why=LEFT_OUT if self._private else error.message))
        self._store.run(lambda db: rows.store_document(db, op_id, "undo_refused", body))

    def failed(self, op_id: str, error: str, status: FailedStatus = "failed", *, just_now: bool = True) -> None:
        """The operation did not commit, or its commit is lost; ``error`` is one line. Unless it was ``just_now``, when
        is not known. An applied one stays applied: a commit is a fact, whatever failed after it.
        """
        end = now() if just_now else None

        def work(db: DuckDBPyConnection) -> None:
            if rows.status_of(db, op_id) not in rows.COMMITTED:
                rows.update(db, op_id, {"status": status, "error": redact(error), "finished_at": end})

        self._store.run(work)

    def failed_by(self, op_id: str, error: EngineError) -> None:
        """The operation did not commit: it was cancelled, or Spark raised ``error``."""
        if isinstance(error, CancelledError):
            self.failed(op_id, error.message, "cancelled")
        else:
            self.failed(op_id, self._told(error))

    def _told(self, error: EngineError) -> str:
        return f"[{error.condition}] {LEFT_OUT}" if self._private else str(error)

    def ran_nothing(self, plan: AnyPlan, error: EngineError, began: str) -> None:
        """An apply of ``plan``, which ``began`` then, was refused, before it ran anything or because another commit was
        faster: then ``error`` says it better than Spark's, which its row has. What was begun in the ledger tells its
        own end otherwise, and a plan that Delta would refuse its own reason."""
        body, told = rows.packed(plan), redact(self._told(error))
        self._store.run(lambda db: rows.ran_nothing(db, plan, body, told, began))

    # Reading

    def list(self, table: str | None = None, limit: int = 100) -> Operations:
        """The newest ``limit`` operations, newest first; of one table if named (name, its end, or path)."""

        def work(db: DuckDBPyConnection) -> Operations:
            where, values = rows.of_table(table)
            return rows.operations(db, f"WHERE {where} ORDER BY seq DESC LIMIT ?", [*values, max(0, limit)])

        return self._store.run(work, reading=True)

    def get(self, op_id: str) -> OperationDetail:
        """One operation in full, by its id, that of its plan, or the beginning of one of them.

        Raises EngineError: ``OPERATION_NOT_FOUND``, ``OPERATION_AMBIGUOUS``.
        """

        def work(db: DuckDBPyConnection) -> OperationDetail:
            operation = rows.named(db, op_id)
            documents = db.execute("SELECT kind, body FROM document WHERE op_id = ?", [operation.op_id]).fetchall()
            bodies = dict(documents)
            return OperationDetail(
                operation=operation,
                plan=_read_plan(rows.unpacked(bodies.get("plan"))),
                outcome=rows.read(Outcome, rows.unpacked(bodies.get("outcome"))),
                rehearsals=rows.rehearsals(db, [operation])[operation.op_id],
                taken_back_by=rows.undo_of(db, operation.op_id),
                overwritten_by=rows.overwriting(db, operation.op_id),
                undo_refused=rows.read(UndoRefused, rows.unpacked(bodies.get("undo_refused"))),
            )

        return self._store.run(work, reading=True)

    def outcomes(self, limit: int = 500, table: str | None = None) -> Details:
        """The newest ``limit`` operations that committed, newest first, with what they did and without their plans; of
        one table if named."""

        def work(db: DuckDBPyConnection) -> Details:
            of_table, values = rows.of_table(table)
            where = f"WHERE list_contains(?, status) AND version IS NOT NULL AND {of_table} ORDER BY seq DESC LIMIT ?"
            operations = rows.operations(db, where, [list(rows.COMMITTED), *values, max(0, limit)])
            ids = [one.op_id for one in operations]
            query = "SELECT op_id, body FROM document WHERE kind = 'outcome' AND list_contains(?, op_id)"
            bodies = dict(db.execute(query, [ids]).fetchall()) if ids else {}
            outcomes = {one: rows.read(Outcome, rows.unpacked(bodies.get(one))) for one in ids}
            return [OperationDetail(operation=one, outcome=outcomes[one.op_id]) for one in operations]

        return self._store.run(work, reading=True)

    def source_rows(self, table_id: str, text: str, limit: int) -> tuple[int, ...]:
        """The rows of the source of the last ``limit`` applied merges of one table and one ``text`` before parameters,
        newest first."""

        def work(db: DuckDBPyConnection) -> tuple[int, ...]:
            found = _merges_alike(db, table_id, text, limit * OTHER_MERGES, "AND status = 'applied'")
            return tuple(islice((plan.source.num_rows for plan, _ in found), limit))

        return self._store.run(work, reading=True)

    def expected(self, table_id: str, text: str) -> tuple[str, ...]:
        """The names of the expectations of the plans of one table and one ``text`` before parameters: of those since
        the last that was applied, and of that."""

        def work(db: DuckDBPyConnection) -> tuple[str, ...]:
            names: dict[str, None] = {}
            for plan, status in _merges_alike(db, table_id, text, OTHER_MERGES):
                names |= dict.fromkeys(one.name for one in plan.expectations)
                if status in rows.COMMITTED:
                    break
            return tuple(names)

        return self._store.run(work, reading=True)

    def find_by_plan(self, plan_id: str) -> Operations:
        """The operations of one plan, newest first."""
        return self._select("WHERE plan_id = ? ORDER BY seq DESC", [plan_id])

    def running(self) -> Operations:
        """The operations that were begun and not finished, by any process, newest first."""
        return self._select("WHERE status = 'running' ORDER BY seq DESC", [])

    def _select(self, rest: str, values: Sequence[object]) -> Operations:
        return self._store.run(lambda db: rows.operations(db, rest, values), reading=True)

    # Reviews

    def reviewed(self, plan_id: str, by: str) -> None:
        """``by`` looked at that plan in its file."""
        self._store.run(lambda db: db.execute("INSERT INTO review VALUES (?, ?, ?)", [plan_id, now(), by]))

    def is_reviewed(self, plan_id: str) -> bool:
        """Whether anybody looked at that plan in its file."""
        query = "SELECT 1 FROM review WHERE plan_id = ? LIMIT 1"
        row = self._store.run(lambda db: db.execute(query, [plan_id]).fetchone(), reading=True)
        return row is not None

    # What a crash left

    def abandoned(self) -> Abandonments:
        """Those of :meth:`running` whose process on this machine is gone, oldest first."""
        return [one for one in self.unsettled() if not (one.elsewhere or one.is_saved)]

    def unsettled(self) -> Abandonments:
        """Those, the ones of :meth:`running` under another host name, whose process may live, and the plans that were
        saved, which another program may have applied."""
        return self._store.run(abandoned.unsettled, reading=True) if self.path.exists() else []

    def saved(self, plan: AnyPlan) -> None:
        """``plan``, which is planned here, was saved: another program may apply it."""
        self._store.run(lambda db: abandoned.saved(db, plan.plan_id, plan.target.version))

    def running_sessions(self) -> set[str]:
        """The Connect sessions in which those of :meth:`running` run, whose fate only they may tell."""
        return self._store.run(abandoned.running_sessions, reading=True) if self.path.exists() else set()

    def take_over(self, op_id: str) -> bool:
        """Make this process the owner of an abandoned operation, so that no other settles it too.
        False if another was faster."""
        return self._store.run(lambda db: abandoned.take_over(db, op_id))

    def give_back(self, one: Abandoned) -> None:
        """It was taken over and not settled: the next command settles it, as it would have been now."""
        self._store.run(lambda db: abandoned.give_back(db, one))

    def begun_undo(self, op_id: str) -> UndoPlan | None:
        """The plan of an undo that was begun; None in ledgers of older versions."""
        return self._store.run(lambda db: rows.document(db, op_id, "undo", UndoPlan), reading=True)

    def give_up(self, op_id: str) -> None:
        """Its fate is unknown: the operation is abandoned again."""
        self._store.run(lambda db: abandoned.give_up(db, op_id))

    # After a ledger was damaged

    def needs_rebuild(self) -> bool:
        """Whether a damaged ledger was set aside and not yet rebuilt (``rebuild_ledger``)."""
        if not self.path.exists():
            return False
        query = "SELECT 1 FROM set_aside WHERE NOT rebuilt LIMIT 1"
        return self._store.run(lambda db: db.execute(query).fetchone(), reading=True) is not None

    def rebuilt(self) -> None:
        """The operations of damaged ledgers are read again."""
        self._store.run(lambda db: db.execute("UPDATE set_aside SET rebuilt = true"))

    def add_found(self, subject: rows.Subject, outcome: Outcome, at: str, *, undone: bool) -> None:
        """Add an operation from a table's log, committed ``at``, unless it is known. Whether it kept its promise is
        unknown."""
        body = rows.packed(outcome)

        def work(db: DuckDBPyConnection) -> None:
            op_id = outcome.op_id
            if rows.exists(db, op_id):
                return
            rows.insert(db, subject, "undone" if undone else "applied", op_id)
            rows.update(db, op_id, {"version": outcome.version, "started_at": at, "finished_at": at})
            rows.store_document(db, op_id, "outcome", body)

        self._store.run(work)

    # What browsing shows before Spark is up

    def cache_versions(self, table_key: str, versions: Iterable[TableVersion]) -> None:
        """Remember versions of a table (its id, or whatever names it for good). Known ones are replaced."""
        bodies = {one.version: rows.text(one) for one in versions}
        if bodies:
            self._store.run(lambda db: browse_cache.replace_versions(db, table_key, bodies), tells=False)

    def cached_versions(self, table_key: str) -> Versions:
        """The versions remembered of a table, newest first; empty when it was never seen."""
        return self._store.run(lambda db: browse_cache.versions(db, table_key), reading=True)

    def cache_tables(self, endpoint: str, tables: Sequence[TableRef]) -> None:
        """Remember the tables seen at ``endpoint``, in place of those remembered before."""
        self._store.run(lambda db: browse_cache.replace_tables(db, redact(endpoint), tables), tells=False)

    def cached_tables(self, endpoint: str) -> Tables:
        """The tables seen last time at ``endpoint``; empty when there was none."""
        return self._store.run(lambda db: browse_cache.tables(db, redact(endpoint)), reading=True)


def _merges_alike(
    db: DuckDBPyConnection, table_id: str, text: str, limit: int, only: str = ""
) -> Iterator[tuple[Plan, str]]:
    """The plans of one ``text`` among the last ``limit`` merges into a table, newest first, and what became of each."""
    text = redact(text)  # as it is stored
    bodies = db.execute(
        "SELECT body, status FROM operation JOIN document USING (op_id) WHERE operation.kind = 'merge' "
        f"AND document.kind = 'plan' AND table_id = ? {only} ORDER BY seq DESC LIMIT ?",
        [table_id, limit],
    ).fetchall()
    for body, status in bodies:
        plan = _read_plan(rows.unpacked(body))
        if plan is not None and plan.kind == "merge" and plan.statement.before_parameters == text:
            yield plan, status


def _read_plan(body: str | None) -> AnyPlan | None:
    try:
        return None if body is None else TypeAdapter(AnyPlan).validate_json(body)
    except ValidationError:
        return None
