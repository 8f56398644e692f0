"""What the console asks of the engine: one protocol, one real implementation, one fake for UI tests.

Every method blocks and is called from a worker thread, never from the UI thread; ``store_silence`` alone returns at
once. All of them raise ``engine.model.errors.EngineError``; nothing else is expected to come out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from engine.commit.policy import Policy

if TYPE_CHECKING:
    from engine.explore.find_key import FoundKey
    from engine.explore.layout_advice import LayoutAdvice
    from engine.explore.scan_explorer import QueryScan, ScanExplained
    from engine.model.browse import Column, DataFile, RowPage, TableDetail, TableRef, TableVersion, Validation
    from engine.model.changes import Changes
    from engine.model.create_values import TableState
    from engine.model.operation import Operation, Outcome, Rehearsal, UndoPlan
    from engine.model.plan import Plan
    from engine.model.plans import AnyPlan, OperationDetail
    from engine.model.progress import Progress
    from engine.session.store_watch import Silence
    from engine.spark.explain import Explained

# the values are only named here: pydantic is not to be imported before the first frame
OnProgress = Callable[["Progress"], None]


class Backend(Protocol):
    """The engine as the console sees it."""

    @property
    def endpoint(self) -> str:
        """Where Spark runs, without its token. Known before connecting."""

    home: Path
    policy: Policy

    def __hash__(self) -> int:
        """Two backends are never equal."""

    def connect(self, on_progress: OnProgress) -> tuple[str, ...]:
        """Start or find Spark. Long on a cold machine; says what it does through ``on_progress``.

        Returns a sentence for each operation whose program is gone: what became of it."""

    def close(self) -> None:
        """Give back what Spark holds for this console, the sources of saved plans excepted."""

    def is_alive(self) -> bool: ...

    def store_silence(self) -> Silence | None:
        """How long the object store has not answered this machine; None if it answers or is not known."""

    def is_replaced(self) -> bool:
        """Whether another process has started our Spark server anew: sessions on it are to be opened again."""

    def restart(self, on_progress: OnProgress) -> tuple[str, ...]:
        """Start the driver again after it died, as ``connect`` does; drafts and history are untouched."""

    def stop_server(self) -> None:
        """Stop the Spark server that the console has started, for every console. Raises EngineError if it has none."""

    def describe_session(self) -> Mapping[str, str]:
        """What the Session place shows: endpoint, versions, confs that matter."""

    # Tables
    def list_schemas(self) -> list[str]: ...

    def list_tables(self, schema: str) -> list[TableRef]: ...

    def find_tables(self, directory: str) -> list[TableRef]:
        """Directories under ``directory`` that hold a ``_delta_log``."""

    def table_detail(self, name: str) -> TableDetail: ...

    def table_columns(self, name: str) -> tuple[Column, ...]:
        """The columns of a table or a view, whatever its format. Quick: nothing is read."""

    def table_version(self, path: str) -> int:
        """The newest version of the Delta table at a path. Quick: no job."""

    def table_versions(self, name: str, limit: int = 100) -> list[TableVersion]: ...

    def remembered_tables(self) -> list[TableRef]:
        """The tables that were listed here last time, without asking Spark."""

    def remember_tables(self, tables: Sequence[TableRef]) -> None: ...

    def ledger_stamp(self) -> int:
        """Another one whenever any program has recorded something in the ledger. Cheap: nothing is opened."""

    def remembered_versions(self, name: str) -> list[TableVersion]:
        """The versions of a table that were listed here before, newest first, without asking Spark."""

    def table_files(self, name: str, limit: int = 10_000, version: int | None = None) -> list[DataFile]: ...

    def table_rows(
        self, name: str, limit: int = 100, version: int | None = None, percent: float | None = None
    ) -> RowPage:
        """Some rows: the first that Spark comes upon, or ``percent`` of all by chance."""

    def describe_table(self, name: str) -> tuple[tuple[str, str, str], ...]:
        """The lines of DESCRIBE TABLE EXTENDED."""

    def table_state(self, name: str) -> TableState:
        """A Delta table in all its parts, generated columns and defaults too: what one like it is made from."""

    def table_advice(self, name: str) -> tuple[LayoutAdvice, ...]:
        """Advice on the layout of a Delta table, with the evidence. Reads the table's keys."""

    def explore_scan(self, name: str, predicate: str, version: int | None = None) -> ScanExplained:
        """Which files of a Delta table a read with this predicate leaves, and why. No data is read."""

    def explore_query(self, query: str) -> tuple[QueryScan, ...]:
        """The Delta scans of a query, and the files that each is left with. No data is read."""

    # Statements
    def validate(self, sql: str, params: Mapping[str, str]) -> Validation: ...

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
        """Plan a MERGE, a CREATE or a REPLACE TABLE: what it would do, without doing it. The expectations beside the
        ``file`` that its text was opened from hold for it."""

    def find_key(self, plan: Plan, typed: str, *, operation_id: str) -> FoundKey:
        """What that plan does to the rows of one key: values of ON's equalities, or a predicate."""

    def changes(self, plan: Plan, *, operation_id: str) -> Changes:
        """What that plan changes, by column."""

    def explain_merge(self, plan: Plan) -> Explained:
        """Spark's own plans of the statement that would run."""

    def rehearse(self, plan: Plan, *, operation_id: str, on_progress: OnProgress) -> Rehearsal:
        """Run the MERGE of that plan on a clone, which is dropped again, and compare. It costs one MERGE."""

    def apply(
        self, plan: AnyPlan, *, accept: tuple[str, ...], operation_id: str, on_progress: OnProgress
    ) -> Outcome: ...

    def save_plan(self, plan: AnyPlan, path: Path) -> None:
        """Write the plan file. The frozen source of a saved plan outlives the console."""

    def cancel(self, operation_id: str) -> None:
        """Interrupt the Spark work of one plan or apply. Returns at once."""

    # History
    def history(self, table: str | None = None, limit: int = 500) -> list[Operation]: ...

    def operation(self, op_id: str) -> OperationDetail: ...

    def outcomes(self, limit: int = 500) -> list[OperationDetail]:
        """The operations that committed, newest first, with what they did; without their plans."""

    def plan_undo(self, op_id: str, *, operation_id: str) -> UndoPlan:
        """How that operation could be undone. Changes nothing."""

    def undo(self, undo_plan: UndoPlan, *, operation_id: str, on_progress: OnProgress) -> Outcome:
        """Undo it. The later commits that the plan names are lost too: the user saw them."""
