"""A backend without Spark: fixed answers, delays one can set, errors one can ask for, a driver that dies."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from engine.commit.policy import Policy
from engine.explore.find_key import FoundKey
from engine.explore.layout_advice import LayoutAdvice
from engine.explore.scan_explorer import QueryScan, ScanExplained
from engine.model.browse import Column, DataFile, RowPage, TableDetail, TableRef, TableVersion, Validation
from engine.model.changes import Changes
from engine.model.create_values import Effect, TableState
from engine.model.errors import CancelledError, EngineError, UnreachableError
from engine.model.operation import Operation, Outcome, Rehearsal, UndoPlan, UndoRefused
from engine.model.plan import Plan
from engine.model.plans import AnyPlan, OperationDetail
from engine.model.progress import Progress
from engine.session.store_watch import Silence
from engine.spark.explain import Explained
from tests.console import samples

Report = Callable[[Progress], None]
PHASES = ("analyzing", "freezing the source", "finding touched files", "collecting samples")


class FakeBackend:
    """``delays``: seconds by method name. ``errors``: what a method raises. ``calls``: who was called with what."""

    def __init__(self, home: Path, *, delays: Mapping[str, float] | None = None) -> None:
        self.endpoint = "local[*]"
        self.home = home
        self.policy = Policy()
        self.writes = True
        self.delays = dict(delays or {})
        self.errors: dict[str, Exception] = {}
        self.calls: list[tuple[str, tuple[object, ...]]] = []
        self.plans: list[AnyPlan] = []
        """What plan gives, one after the other; then the clean upsert, or the table that is replaced."""
        self.deviates = False
        self.dead = False
        self.replaced = False
        self.silence: Silence | None = None
        self.later_commits: tuple[str, ...] = ()
        self.undo_plan: UndoPlan | None = None
        self.undo_refused: dict[str, UndoRefused] = {}
        self.recovered: tuple[str, ...] = ()
        """What is told of operations whose program is gone."""
        self.ledger = samples.a_ledger()
        self.stamp = 0
        self.new_tables: list[TableRef] = []
        """What another program has made, in every schema."""
        self.schemas = ["default", "sales"]
        self.remembered: list[TableRef] = []
        self.versions = samples.some_versions()
        self.newest: dict[str, int] = {}
        """The newest versions of tables, by their paths, where others than this ledger's programs commit."""
        self.file_count = 40
        self.files_have_statistics = True
        self.table_update: dict[str, object] = {}
        """What another program has made of every table."""
        self._cancelled: set[str] = set()
        self._gates: dict[str, threading.Event] = {}
        self._lock = threading.Lock()

    # What tests ask

    def called(self, method: str) -> list[tuple[object, ...]]:
        with self._lock:
            return [arguments for name, arguments in self.calls if name == method]

    def hold(self, method: str) -> None:
        """Calls of ``method`` do not come back until ``release``."""
        self._gates[method] = threading.Event()

    def release(self, method: str) -> None:
        self._gates.pop(method).set()

    def die(self) -> None:
        """From now on the driver is gone."""
        self.dead = True

    # Backend

    def connect(self, on_progress: Report) -> tuple[str, ...]:
        for phase in ("finding Java", "starting the server"):
            on_progress(Progress(phase=phase))
            self._enter("connect")
        return self.recovered

    def close(self) -> None:
        self._enter("close", needs_spark=False)

    def is_alive(self) -> bool:
        self._enter("is_alive", needs_spark=False, sleep=False)
        return not self.dead

    def store_silence(self) -> Silence | None:
        return self.silence

    def is_replaced(self) -> bool:
        return self.replaced

    def restart(self, on_progress: Report) -> tuple[str, ...]:
        self._enter("restart", needs_spark=False)
        on_progress(Progress(phase="starting the server"))
        self.dead = False
        return self.recovered

    def stop_server(self) -> None:
        self._enter("stop_server", needs_spark=False)
        self.dead = True

    def describe_session(self) -> Mapping[str, str]:
        self._enter("describe_session")
        return {
            "endpoint": self.endpoint,
            "Spark": "4.2.0",
            "Delta": "4.4.0",
            "Java": "21.0.8",
            "policy.require_undo": "true",
            "checks": "as by default",
            "tag": "[/x]",
        }

    def list_schemas(self) -> list[str]:
        self._enter("list_schemas")
        return list(self.schemas)

    def list_tables(self, schema: str) -> list[TableRef]:
        self._enter("list_tables", schema)
        return [*samples.some_tables(schema), *self.new_tables]

    def find_tables(self, directory: str) -> list[TableRef]:
        self._enter("find_tables", directory)
        path = f"{directory.rstrip('/')}/events"
        return [TableRef(name=f"delta.`{path}`", table="events", path=path, is_delta=True)]

    def table_detail(self, name: str) -> TableDetail:
        self._enter("table_detail", name)
        return samples.a_detail(name).model_copy(update=self.table_update)

    def table_columns(self, name: str) -> tuple[Column, ...]:
        self._enter("table_columns", name)
        return samples.columns_of(name)

    def table_version(self, path: str) -> int:
        self._enter("table_version", path)
        return self.newest.get(path, -1)

    def table_versions(self, name: str, limit: int = 100) -> list[TableVersion]:
        self._enter("table_versions", name, limit)
        return list(self.versions)

    def remembered_tables(self) -> list[TableRef]:
        self._enter("remembered_tables", needs_spark=False)
        return list(self.remembered)

    def remember_tables(self, tables: Sequence[TableRef]) -> None:
        self._enter("remember_tables", needs_spark=False)
        self.remembered = list(tables)

    def ledger_stamp(self) -> int:
        return self.stamp

    def remembered_versions(self, name: str) -> list[TableVersion]:
        self._enter("remembered_versions", name, needs_spark=False)
        return samples.some_versions()

    def table_files(self, name: str, limit: int = 10_000, version: int | None = None) -> list[DataFile]:
        self._enter("table_files", name, limit, version)
        files = samples.some_files(min(self.file_count, limit))
        return files if self.files_have_statistics else [file.model_copy(update={"rows": None}) for file in files]

    def describe_table(self, name: str) -> tuple[tuple[str, str, str], ...]:
        self._enter("describe_table", name)
        return (("order_id", "bigint", "unique [/x]"), ("", "", ""), ("# Detailed Table Information", "", ""))

    def table_rows(
        self, name: str, limit: int = 100, version: int | None = None, percent: float | None = None
    ) -> RowPage:
        self._enter("table_rows", name, limit, version, percent)
        return samples.some_rows(limit)

    def table_state(self, name: str) -> TableState:
        self._enter("table_state", name)
        return samples.a_state()

    def table_advice(self, name: str) -> tuple[LayoutAdvice, ...]:
        self._enter("table_advice", name)
        return (
            LayoutAdvice("SMALL_FILES", "Many files are small.", "30 of 40 files are below 16 MiB", f"OPTIMIZE {name}"),
        )

    def explore_scan(self, name: str, predicate: str, version: int | None = None) -> ScanExplained:
        self._enter("explore_scan", name, predicate, version)
        return samples.a_scan(predicate)

    def explore_query(self, query: str) -> tuple[QueryScan, ...]:
        self._enter("explore_query", query)
        return samples.scans_of_a_query()

    def validate(self, sql: str, params: Mapping[str, str]) -> Validation:
        self._enter("validate", sql, dict(params))
        if "nowhere" in sql:
            line = next(index for index, text in enumerate(sql.splitlines(), 1) if "nowhere" in text)
            column = sql.splitlines()[line - 1].index("nowhere") + 1
            return Validation(
                ok=False,
                condition="TABLE_OR_VIEW_NOT_FOUND",
                message="The table or view `nowhere` cannot be found [/x].",
                hint="Check the name; Tables (1) lists what there is.",
                line=line,
                column=column,
            )
        if sql.upper().startswith(("CREATE", "REPLACE")):
            heads: dict[str, Effect] = {"CREATE OR REPLACE": "replace", "CREATE TABLE IF": "nothing"}
            effect = next((does for head, does in heads.items() if sql.upper().startswith(head)), "create")
            if effect == "create" and "sales.orders (" in sql:
                effect = "refused"
            version = None if effect == "create" else 41
            return Validation(ok=True, kind="create", target="sales.orders", effect=effect, target_version=version)
        if "merge" not in sql.lower():
            return Validation(ok=True, kind="other")
        decision = samples.a_plan().decision
        return Validation(ok=True, target="sales.orders", target_version=41, decision=decision)

    def plan(
        self, sql: str, params: Mapping[str, str], *, rows: int, operation_id: str, on_progress: Report, file: str = ""
    ) -> AnyPlan:
        self._enter("plan", sql, dict(params), rows, file, operation_id, sleep=False)
        if not sql.upper().startswith(("CREATE", "REPLACE")):
            looked = samples.a_plan()
            on_progress(Progress(phase=PHASES[0], decision=looked.decision))
            on_progress(Progress(phase=PHASES[0], scan=looked.scan))
        self._work("plan", operation_id, PHASES, on_progress)
        with self._lock:
            usual = samples.a_create_plan if sql.upper().startswith(("CREATE", "REPLACE")) else samples.a_plan
            plan: AnyPlan = self.plans.pop(0) if self.plans else usual()
        # as the engine does: what runs before the statement is kept apart from it
        update = {"sql": sql.rpartition(";\n")[2], "params": dict(params)}
        return plan.model_copy(update={"statement": plan.statement.model_copy(update=update)})

    def find_key(self, plan: Plan, typed: str, *, operation_id: str) -> FoundKey:
        self._enter("find_key", plan.plan_id, typed, operation_id)
        return samples.a_found_key(typed)

    def changes(self, plan: Plan, *, operation_id: str) -> Changes:
        self._enter("changes", plan.plan_id, operation_id)
        return samples.some_changes()

    def explain_merge(self, plan: Plan) -> Explained:
        self._enter("explain_merge", plan.plan_id)
        return samples.some_spark_plans()

    def apply(self, plan: AnyPlan, *, accept: tuple[str, ...], operation_id: str, on_progress: Report) -> Outcome:
        self._enter("apply", plan.plan_id, accept, operation_id, sleep=False)
        self._work("apply", operation_id, ("checking that nothing moved", "merging"), on_progress)
        return samples.an_outcome(plan, deviates=self.deviates)

    def rehearse(self, plan: Plan, *, operation_id: str, on_progress: Report) -> Rehearsal:
        self._enter("rehearse", plan.plan_id, operation_id, sleep=False)
        self._work("rehearse", operation_id, ("clone the target", "merging"), on_progress)
        return samples.a_rehearsal(plan, deviates=self.deviates)

    def save_plan(self, plan: AnyPlan, path: Path) -> None:
        from engine.model.plan_file import write_plan

        self._enter("save_plan", plan.plan_id, path, needs_spark=False)
        write_plan(path, plan)

    def cancel(self, operation_id: str) -> None:
        self._enter("cancel", operation_id, needs_spark=False)
        self._cancelled.add(operation_id)

    def history(self, table: str | None = None, limit: int = 500) -> list[Operation]:
        self._enter("history", table, limit, needs_spark=False)
        listed = [
            one for one in self.ledger if table in (None, one.table, f"/warehouse/{one.table.replace('.', '.db/')}")
        ]
        return listed[:limit]

    def operation(self, op_id: str) -> OperationDetail:
        self._enter("operation", op_id, needs_spark=False)
        return self._detail(op_id)

    def _detail(self, op_id: str) -> OperationDetail:
        one = next(entry for entry in self.ledger if entry.op_id == op_id)
        made = samples.a_create_plan if one.kind == "create_table" else samples.a_plan
        plan = made(one.sql, plan_id=one.plan_id)
        outcome = samples.an_outcome(plan, deviates=one.kept is False) if one.status == "applied" else None
        refused = self.undo_refused.get(op_id)
        return OperationDetail(operation=one, plan=plan, outcome=outcome, undo_refused=refused)

    def outcomes(self, limit: int = 500) -> list[OperationDetail]:
        self._enter("outcomes", limit, needs_spark=False)
        details = (self._detail(one.op_id) for one in self.ledger[:limit] if one.version is not None)
        return [detail.model_copy(update={"plan": None}) for detail in details]

    def plan_undo(self, op_id: str, *, operation_id: str) -> UndoPlan:
        self._enter("plan_undo", op_id, operation_id, cancelled_by=operation_id)
        return self.undo_plan or samples.an_undo(op_id, lost=self.later_commits)

    def undo(self, looked: UndoPlan, *, operation_id: str, on_progress: Report) -> Outcome:
        self._enter("undo", looked.op_id, operation_id, sleep=False)
        self._work("undo", operation_id, ("restoring",), on_progress)
        self.ledger = [
            one.model_copy(update={"status": "undone"}) if one.op_id == looked.op_id else one for one in self.ledger
        ]
        return samples.a_restore(looked)

    # How it works

    def _enter(
        self, method: str, *arguments: object, needs_spark: bool = True, sleep: bool = True, cancelled_by: str = ""
    ) -> None:
        with self._lock:
            self.calls.append((method, arguments))
        if sleep:
            time.sleep(self.delays.get(method, 0))
            self._wait_at_gate(method, cancelled_by)
        self._check_cancelled(cancelled_by)
        if needs_spark:
            self._check_driver()
        if (error := self.errors.get(method)) is not None:
            self._wait_at_gate(method)
            raise error

    def _wait_at_gate(self, method: str, operation_id: str = "") -> None:
        gate = self._gates.get(method)
        while gate is not None and not gate.wait(0.01):
            if operation_id in self._cancelled or self.dead:
                return

    def _check_cancelled(self, operation_id: str) -> None:
        if operation_id in self._cancelled:
            raise CancelledError("OPERATION_CANCELED", "cancelled by the operator")

    def _check_driver(self) -> None:
        if self.dead:
            raise UnreachableError("DRIVER_LOST", "the Spark driver died (exit code 137)", "Start it again.")

    def _work(self, method: str, operation_id: str, phases: tuple[str, ...], on_progress: Report) -> None:
        """Sleep in small steps, telling where it is, and stop when it is cancelled."""
        steps = 10
        for phase in phases:
            for step in range(steps):
                is_held = method in self._gates and step == steps // 2
                # the console shows no more steps than an eye can follow; this one is looked at
                time.sleep(0.1 if is_held else 0)
                stage = "writing" if method == "apply" and self.writes else "reading"
                told = Progress(phase=phase, done=step, total=steps, bytes_read=step * 1_000_000, stage=stage)
                on_progress(told)
                if is_held:
                    self._wait_at_gate(method, operation_id)
                self._check_cancelled(operation_id)
                self._check_driver()
                time.sleep(self.delays.get(method, 0) / steps / len(phases))


def table_not_found() -> EngineError:
    """An error whose class and text would be eaten, or would crash, as markup."""
    return EngineError(
        "TABLE_OR_VIEW_NOT_FOUND",
        "The table or view `db`.`[/x]` cannot be found.",
        "Check the spelling.",
        line=2,
        column=7,
    )
