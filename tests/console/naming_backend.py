"""A backend whose every answer says what it answers, and comes when the test lets it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from engine.explore.layout_advice import LayoutAdvice
from engine.model.browse import Column, DataFile, RowPage, TableDetail, TableVersion, Validation
from engine.model.changes import Changes
from engine.model.operation import Operation, Outcome
from engine.model.plan import Plan
from engine.model.plans import AnyPlan, OperationDetail
from engine.spark.explain import Explained
from tests.console import samples
from tests.console.fake_backend import FakeBackend, Report

FREE = ("connect", "list_schemas", "list_tables", "remember_tables", "remembered_tables", "history", "outcomes")
PATIENCE_SECONDS = 20.0


def tag(name: str, view: str, version: int | None = None) -> str:
    """The mark of an answer about a table."""
    return f"<{name}|{view}|{version}>"


@dataclass
class Call:
    """One question that waits for the test."""

    method: str
    arguments: Sequence[object]
    may_go: threading.Event = field(default_factory=threading.Event)


class NamingBackend(FakeBackend):
    """``waiting``: the calls that are not answered yet, in the order in which they came."""

    waiting: list[Call]
    starts = 0
    """How often Spark was started anew."""

    def _enter(self, method: str, *arguments: object, **how: Any) -> None:
        super()._enter(method, *arguments, **how)
        if method in FREE:
            return
        call = Call(method, arguments)
        with self._lock:
            self.waiting.append(call)
        call.may_go.wait(PATIENCE_SECONDS)

    def answer(self, at: int) -> None:
        """Let one of those that wait go; any number is of one of them."""
        with self._lock:
            if self.waiting:
                self.waiting.pop(at % len(self.waiting)).may_go.set()

    def restart(self, on_progress: Report) -> tuple[str, ...]:
        told = super().restart(on_progress)
        self.starts += 1
        return told

    def describe_session(self) -> Mapping[str, str]:
        mark = f"<spark {self.starts}>"
        return {**super().describe_session(), "mark": mark}

    def table_detail(self, name: str) -> TableDetail:
        made = super().table_detail(name)
        column = Column(name=tag(name, "columns"), type="int")
        properties = {"mark": tag(name, "properties")}
        return made.model_copy(update={"columns": (column,), "partition_columns": (), "properties": properties})

    def table_versions(self, name: str, limit: int = 100) -> list[TableVersion]:
        made = super().table_versions(name, limit)
        return [one.model_copy(update={"operation": tag(name, "versions")}) for one in made]

    def table_files(self, name: str, limit: int = 10_000, version: int | None = None) -> list[DataFile]:
        made = super().table_files(name, limit, version)
        # the statistics are of the files too
        return [one.model_copy(update={"path": tag(name, "files"), "partition": {}}) for one in made]

    def describe_table(self, name: str) -> tuple[tuple[str, str, str], ...]:
        super().describe_table(name)
        return ((tag(name, "describe"), "", ""),)

    def table_rows(
        self, name: str, limit: int = 100, version: int | None = None, percent: float | None = None
    ) -> RowPage:
        super().table_rows(name, limit, version, percent)
        column = Column(name="mark", type="string")
        return RowPage(columns=(column,), rows=((tag(name, "rows", version),),) * 3, more=True)

    def table_advice(self, name: str) -> tuple[LayoutAdvice, ...]:
        super().table_advice(name)
        return (LayoutAdvice("SMALL_FILES", tag(name, "advice"), "", ""),)

    def plan(
        self, sql: str, params: Mapping[str, str], *, rows: int, operation_id: str, on_progress: Report, file: str = ""
    ) -> AnyPlan:
        made = super().plan(sql, params, rows=rows, operation_id=operation_id, on_progress=on_progress, file=file)
        plan_id = sha256(sql.encode()).hexdigest()
        update: dict[str, object] = {"plan_id": plan_id}
        if made.kind == "create_table":
            update["because"] = f"<{plan_id}>"
        return made.model_copy(update=update)

    def apply(self, plan: AnyPlan, *, accept: tuple[str, ...], operation_id: str, on_progress: Report) -> Outcome:
        made = super().apply(plan, accept=accept, operation_id=operation_id, on_progress=on_progress)
        return made.model_copy(update={"verdict": "disjoint", "moved_by": (f"<{plan.plan_id}>",)})

    def validate(self, sql: str, params: Mapping[str, str]) -> Validation:
        usual = super().validate(sql, params)
        return usual.model_copy(update={"target": f"<{sha256(sql.encode()).hexdigest()}>"}) if usual.ok else usual

    def changes(self, plan: Plan, *, operation_id: str) -> Changes:
        found = super().changes(plan, operation_id=operation_id)
        return found.model_copy(update={"not_compared": {"x": f"<{plan.plan_id}>"}})

    def explain_merge(self, plan: Plan) -> Explained:
        super().explain_merge(plan)
        mark = f"<{plan.plan_id}>"
        return Explained(parsed=mark, analyzed=mark, optimized=mark, physical=mark)

    def operation(self, op_id: str) -> OperationDetail:
        found = super().operation(op_id)
        sql = f"<{op_id}>"
        return found.model_copy(update={"operation": found.operation.model_copy(update={"sql": sql})})


def a_long_ledger() -> list[Operation]:
    """Operations that can be undone, each with text of its own."""
    first = samples.a_ledger()[0]
    return [
        first.model_copy(update={"op_id": f"op{number}", "sql": f"<op{number}>", "version": 50 - number})
        for number in range(4)
    ]
