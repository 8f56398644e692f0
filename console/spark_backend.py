"""The real backend: the engine on one Spark, a session of its own for each plan."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from console.backend import OnProgress
from console.plan_sessions import PlanSessions
from console.spark_tables import SparkTables
from engine.commit.policy import Policy
from engine.model.checks import Checks

if TYPE_CHECKING:
    from engine.expect.read_expectations import Declared
    from engine.explore.find_key import FoundKey
    from engine.model.browse import Validation
    from engine.model.changes import Changes
    from engine.model.operation import Operation, Outcome, Rehearsal, UndoPlan
    from engine.model.plan import Plan
    from engine.model.plans import AnyPlan, OperationDetail
    from engine.session.connect import Session
    from engine.session.state import ServerInfo
    from engine.session.store_watch import Silence
    from engine.spark.explain import Explained


class SparkBackend(SparkTables):
    """Implements ``Backend``. ``target`` is a master or an ``sc://`` address; nothing happens before connect. ``fault``
    keeps from that."""

    def __init__(
        self,
        target: str,
        home: Path,
        confs: Mapping[str, str] | None = None,
        *,
        private: bool = False,
        policy: Policy = Policy(),  # noqa: B008  frozen
        checks: Checks = Checks(),  # noqa: B008  frozen
        store: str = "",
        server_home: Path | None = None,
        fault: Exception | None = None,
    ) -> None:
        super().__init__(target, home, private=private)
        self._store = store
        self._fault = fault
        self._server_home = server_home or home
        self._confs = dict(confs or {})
        self._silent_faults = checks
        self.policy = policy
        self._checks: Session | None = None
        self._set_up: tuple[tuple[str, ...], Session] | None = None
        """The statements that ran in a session for checks, before the one that is checked."""
        self._checking = threading.Lock()
        self._sessions = PlanSessions()
        self._file_of: dict[str, str] = {}
        """The file of SQL that a plan was made of, by its id; "" if of none."""
        self._server: ServerInfo | None = None
        """The embedded server that was connected to last."""
        self._lock = threading.Lock()

    @property
    def catalog_name(self) -> str:
        own = self._server_home != self.home
        return f"{self.endpoint} {self._server_home.name}" if own else self.endpoint

    # Session

    def connect(self, on_progress: OnProgress) -> tuple[str, ...]:
        from engine.model.progress import Progress
        from engine.session.connect import connect

        if self._fault is not None:
            raise self._fault
        # a lost Spark may come back as another one, which knows none of these sessions
        with contextlib.suppress(Exception):
            self.close()
        self._main = connect(
            self._target,
            home=self._server_home,
            confs=self._confs,
            store=self._store,
            progress=lambda text: on_progress(Progress(phase=text)),
        )
        self._server = self._main.server
        return self._recover(self._main, lambda text: on_progress(Progress(phase=text)))

    def _recover(self, session: Session, say: Callable[[str], None]) -> tuple[str, ...]:
        from engine.model.errors import EngineError
        from engine.recovery.recover import recover, sentence

        try:
            return tuple(sentence(one) for one in recover(session, self._ledger(), say))
        except EngineError as error:
            # browsing needs no ledger; the History place will say the same
            return (f"The history was not looked at: {error}",)

    def close(self) -> None:
        with self._lock:
            own = (self._checks, self._set_up[1] if self._set_up is not None else None, self._main)
            self._checks = self._set_up = self._main = None
        with contextlib.ExitStack() as stack:  # each is closed, whatever another one raises
            for session in own:
                if session is not None:
                    stack.callback(session.close)
            stack.callback(self._sessions.close)

    def is_alive(self) -> bool:
        return self._main is not None and self._main.is_alive()

    def store_silence(self) -> Silence | None:
        main = self._main  # another thread may close it
        return main.store_silence() if main is not None else None

    def is_replaced(self) -> bool:
        from engine.session.server import find_server

        found = find_server(self._server_home) if self._server is not None else None
        return found is not None and found != self._server

    def restart(self, on_progress: OnProgress) -> tuple[str, ...]:
        from engine.session.leases import used_by_others
        from engine.session.server import stop_server

        ours = self._server is not None and not self.is_replaced()
        with contextlib.suppress(Exception):  # a Spark that is lost cannot be told good-bye
            self.close()
        # for another console it may work
        if ours and not used_by_others(self._server_home):
            stop_server(self._server_home, alone=True, only=self._server)
        return self.connect(on_progress)

    def stop_server(self) -> None:
        from engine.model.errors import UsageError
        from engine.session.server import stop_server

        if self._main is None or not self._main.embedded:
            raise UsageError("NOT_OUR_SERVER", f"Spark at {self.endpoint} was not started by this console.")
        stop_server(self._server_home, alone=True)

    def describe_session(self) -> Mapping[str, str]:
        from console.words.rules import rules_set
        from engine.spark.engine_versions import engine_versions

        session, versions = self._session(), self._ask(engine_versions)
        facts = {
            "endpoint": session.endpoint,
            "kind": "embedded Spark Connect server" if session.embedded else "Spark Connect server",
            "session": session.session_id or "classic",
            "Spark": versions.spark,
            "Delta": versions.delta,
            "home": str(self.home),
            **rules_set("policy", self.policy),
            **rules_set("checks", self._silent_faults),
        }
        settings: dict[str, str] = self._ask(lambda s: dict(s.conf.getAll))
        from engine.model.secrets import redact_confs

        for key, value in sorted(redact_confs(settings).items()):
            if key.startswith(("spark.databricks.delta", "spark.sql.", "spark.driver.memory", "spark.master")):
                facts[key] = value
        return facts

    # Statements

    def validate(self, sql: str, params: Mapping[str, str]) -> Validation:
        from engine.explore.validate import setup_of, validate

        if setup := setup_of(sql, params):
            # its USE, SET and temporary views are no other statement's
            with self._checking:
                return validate(self._session_after(setup).spark, sql, params)
        with self._lock:
            if self._checks is None:
                self._checks = self._session().new_session(self._confs)
            checks = self._checks
        return validate(checks.spark, sql, params)

    def _session_after(self, setup: tuple[str, ...]) -> Session:
        """A session for the checks of texts that begin with the same statements."""
        with self._lock:
            before = self._set_up
            if before is not None and before[0] == setup:
                return before[1]
            session = self._session().new_session(self._confs)
            self._set_up = setup, session
        if before is not None:
            with contextlib.suppress(Exception):  # a Spark that is lost cannot be told good-bye
                before[1].close()
        return session

    def plan(
        self,
        sql: str,
        params: Mapping[str, str],
        *,
        rows: int,
        operation_id: str,
        on_progress: OnProgress,
        file: str = "",
    ) -> AnyPlan:
        from engine.commit.plans_before import beside_plans_before
        from engine.commit.policy import with_verdicts
        from engine.expect.read_expectations import read_beside
        from engine.model.errors import EngineError
        from engine.plan_statement import plan

        expectations = read_beside(file, self.home)
        session = self._session().new_session(self._confs)
        done = False
        try:
            result = self._sessions.run(
                session,
                operation_id,
                on_progress,
                lambda say: plan(
                    session.spark,
                    sql,
                    params=params,
                    rows=rows,
                    tag=operation_id,
                    on_progress=say,
                    private=self._private,
                    checks=self._silent_faults,
                    expectations=expectations,
                ),
            )
            done = True
        finally:
            if not done:
                session.close()
        result = with_verdicts(self.policy, result)
        self._sessions.keep(result.plan_id, session)
        self._file_of[result.plan_id] = file
        try:
            ledger = self._ledger()
            result = beside_plans_before(ledger, result, self._silent_faults)
            ledger.record_planned(result)
        except EngineError:
            # the plan is what was asked for; committing it needs the ledger, and then says so
            logging.getLogger("deltamerge.console").exception("the plan is not in the history")
        return result

    def _expectations(self, plan_id: str) -> tuple[Declared, ...]:
        """What the files say now of a plan: whoever corrects one plans again."""
        from engine.expect.read_expectations import read_beside

        return read_beside(self._file_of.get(plan_id, ""), self.home)

    def find_key(self, plan: Plan, typed: str, *, operation_id: str) -> FoundKey:
        from engine.explore.find_key import find_key

        session = self._session_of(plan)
        return self._sessions.run(
            session,
            operation_id,
            lambda _: None,
            lambda _: find_key(
                session.spark, plan, typed, private=self._private, checks=self._silent_faults, tag=operation_id
            ),
        )

    def changes(self, plan: Plan, *, operation_id: str) -> Changes:
        from engine.explore.changes import changes

        session = self._session_of(plan)
        return self._sessions.run(
            session,
            operation_id,
            lambda _: None,
            lambda _: changes(session.spark, plan, private=self._private, tag=operation_id),
        )

    def explain_merge(self, plan: Plan) -> Explained:
        from engine.merge.running_statement import running_sql
        from engine.spark.explain import explain

        return explain(self._session_of(plan).spark, running_sql(plan))

    def _session_of(self, plan: Plan) -> Session:
        """The session that planned, which holds the frozen source."""
        from engine.explore.reopen_plan import source_gone

        session = self._sessions.get(plan.plan_id)
        if session is None:
            raise source_gone()
        return session

    def apply(self, plan: AnyPlan, *, accept: tuple[str, ...], operation_id: str, on_progress: OnProgress) -> Outcome:
        from engine.commit.apply_plan import apply
        from engine.commit.verify import as_accepted, expected_of, not_verified, verify
        from engine.model.errors import EngineError

        # a file that is broken is told before anything is written, and before the session counts as busy
        expected = self._expectations(plan.plan_id) if self.policy.verify else ()
        running = self._session_to_run(plan, operation_id)

        def work(say: OnProgress) -> Outcome:
            spark, ledger, tag = running.spark, self._ledger(), operation_id
            wanted = expected_of(expected, plan, spark) if expected and plan.kind == "merge" else ()
            wanted = as_accepted(wanted, accept)
            outcome = apply(spark, plan, history=ledger, accept=accept, tag=tag, on_progress=say, policy=self.policy)
            if not wanted or plan.kind == "create_table":
                return outcome
            try:
                return verify(
                    spark, plan, outcome, wanted, history=ledger, private=self._private, tag=tag, on_progress=say
                )
            except EngineError as error:
                return not_verified(outcome, wanted, error)

        return self._sessions.run(running, operation_id, on_progress, work)

    def rehearse(self, plan: Plan, *, operation_id: str, on_progress: OnProgress) -> Rehearsal:
        from engine.commit.rehearse import rehearse
        from engine.model.errors import EngineError

        expected = self._expectations(plan.plan_id)
        running = self._session_to_run(plan, operation_id)
        rehearsal = self._sessions.run(
            running,
            operation_id,
            on_progress,
            lambda say: rehearse(
                running.spark,
                plan,
                tag=operation_id,
                on_progress=say,
                policy=self.policy,
                expectations=expected,
                private=self._private,
            ),
        )
        try:
            self._ledger().rehearsed(plan, rehearsal)
        except EngineError:
            logging.getLogger("deltamerge.console").exception("the rehearsal is not in the history")
        return rehearsal

    def _session_to_run(self, plan: AnyPlan, operation_id: str) -> Session:
        """The session that planned, or a new one if that is closed."""
        session = self._sessions.take(plan.plan_id, operation_id)
        if session is None:
            session = self._session().new_session(self._confs)
            self._sessions.keep(plan.plan_id, session)
        return session

    def save_plan(self, plan: AnyPlan, path: Path) -> None:
        from engine.model.errors import EngineError
        from engine.model.plan_file import write_plan

        write_plan(path, plan)
        self._sessions.save(plan.plan_id)
        with contextlib.suppress(EngineError):  # that the plan is not in the ledger was told
            self._ledger().saved(plan)

    def cancel(self, operation_id: str) -> None:
        self._sessions.cancel(operation_id)

    # History

    def history(self, table: str | None = None, limit: int = 500) -> list[Operation]:
        return self._ledger().list(table, limit)

    def operation(self, op_id: str) -> OperationDetail:
        return self._ledger().get(op_id)

    def outcomes(self, limit: int = 500) -> list[OperationDetail]:
        return self._ledger().outcomes(limit)

    def plan_undo(self, op_id: str, *, operation_id: str) -> UndoPlan:
        from engine.commit.policy import check_writable
        from engine.recovery.undo import plan_undo

        check_writable(self.policy)
        ledger = self._ledger()
        found = ledger.get(op_id)
        return self._sessions.run(
            self._session(),
            operation_id,
            lambda _: None,
            lambda _: self._ask(lambda s: plan_undo(s, found, history=ledger, tag=operation_id)),
        )

    def undo(self, undo_plan: UndoPlan, *, operation_id: str, on_progress: OnProgress) -> Outcome:
        from engine.recovery.undo import LATER_COMMITS, RAISE_RETENTION, undo

        with self._session().new_session(self._confs) as session:
            return self._sessions.run(
                session,
                operation_id,
                on_progress,
                lambda say: undo(
                    session.spark,
                    undo_plan,
                    history=self._ledger(),
                    accept=[LATER_COMMITS, RAISE_RETENTION],
                    tag=operation_id,
                    on_progress=say,
                ),
            )
