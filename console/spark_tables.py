"""The part of the backend that looks at tables: it reads them in one session, and remembers what it saw."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from engine.explore.layout_advice import LayoutAdvice
    from engine.explore.scan_explorer import QueryScan, ScanExplained
    from engine.ledger.history import History
    from engine.model.browse import Column, DataFile, RowPage, TableDetail, TableRef, TableVersion
    from engine.model.create_values import TableState
    from engine.session.connect import Session

T = TypeVar("T")


class SparkTables:
    """The tables of one Spark, and the ledger of one home. ``_main`` is None until Spark is up."""

    def __init__(self, target: str, home: Path, *, private: bool = False) -> None:
        self._target = target
        self.home = home
        self._private = private
        self._main: Session | None = None
        self._history: History | None = None

    @property
    def endpoint(self) -> str:
        """Where Spark runs, without a token."""
        return self._target.partition("/;")[0]

    def list_schemas(self) -> list[str]:
        from engine.table import tables

        return self._ask(tables.list_schemas)

    def list_tables(self, schema: str) -> list[TableRef]:
        from engine.table import tables

        return self._ask(lambda s: tables.list_tables(s, schema))

    def find_tables(self, directory: str) -> list[TableRef]:
        from engine.table import tables

        return self._ask(lambda s: tables.find_tables(s, directory))

    def table_detail(self, name: str) -> TableDetail:
        from engine.table import tables

        return self._ask(lambda s: tables.table_detail(s, name))

    def table_columns(self, name: str) -> tuple[Column, ...]:
        from engine.table import tables

        return self._ask(lambda s: tables.table_columns(s, name))

    def table_version(self, path: str) -> int:
        from engine.sql.names import quote
        from engine.table.commits import current_version

        return self._ask(lambda s: current_version(s, f"delta.{quote(path)}"))

    def table_versions(self, name: str, limit: int = 100) -> list[TableVersion]:
        from engine.model.errors import EngineError
        from engine.table import tables

        versions = self._ask(lambda s: tables.table_versions(s, name, limit))
        # browsing goes on if they cannot be stored; the history says why
        with contextlib.suppress(EngineError):
            self._ledger().cache_versions(self._key(name), versions)
        return versions

    def remembered_versions(self, name: str) -> list[TableVersion]:
        return self._ledger().cached_versions(self._key(name))

    def _key(self, name: str) -> str:
        """What names a table for good as long as Spark is not up to tell its id."""
        return f"{self.catalog_name} {name}"

    @property
    def catalog_name(self) -> str:
        """Names the catalog whose tables are remembered: the embedded servers of one master have one each."""
        return self.endpoint

    def remembered_tables(self) -> list[TableRef]:
        return self._ledger().cached_tables(self.catalog_name)

    def remember_tables(self, tables: Sequence[TableRef]) -> None:
        self._ledger().cache_tables(self.catalog_name, tables)

    def ledger_stamp(self) -> int:
        from engine.ledger.history_store import changed_file
        from engine.session.home import ledger_path

        with contextlib.suppress(OSError):
            return changed_file(ledger_path(self.home)).stat().st_size
        return 0

    def table_files(self, name: str, limit: int = 10_000, version: int | None = None) -> list[DataFile]:
        from engine.table.table_files import table_files

        return self._ask(lambda s: table_files(s, name, limit, version))

    def table_rows(
        self, name: str, limit: int = 100, version: int | None = None, percent: float | None = None
    ) -> RowPage:
        from engine.table import tables

        return self._ask(lambda s: tables.table_rows(s, name, limit, version, percent))

    def describe_table(self, name: str) -> tuple[tuple[str, str, str], ...]:
        from engine.table import tables

        return self._ask(lambda s: tables.describe_table(s, name))

    def table_state(self, name: str) -> TableState:
        from engine.model.errors import EngineError
        from engine.table.table_state import delta_table_now

        table = self._ask(lambda s: delta_table_now(s, name))
        if table is None:
            raise EngineError("DELTA_TABLE_ONLY_OPERATION", f"{name} is not a Delta table.", "Choose a Delta table.")
        return table.state

    def table_advice(self, name: str) -> tuple[LayoutAdvice, ...]:
        from engine.explore.layout_advice import advise_layout

        return self._ask(lambda s: advise_layout(s, name, self._ledger()))

    def explore_scan(self, name: str, predicate: str, version: int | None = None) -> ScanExplained:
        from engine.explore.scan_explorer import explore

        return self._ask(lambda s: explore(s, name, predicate, version))

    def explore_query(self, query: str) -> tuple[QueryScan, ...]:
        from engine.explore.scan_explorer import explore_query

        return self._ask(lambda s: explore_query(s, query))

    def _ledger(self) -> History:
        from engine.ledger.history import History
        from engine.session.home import ledger_path

        if self._history is None:
            self._history = History(ledger_path(self.home), private=self._private)
        return self._history

    def _session(self) -> Session:
        from engine.model.errors import UnreachableError

        main = self._main  # another thread may close it
        if main is None:
            raise UnreachableError("SPARK_UNREACHABLE", "Spark is not up yet.", "Wait a moment, or restart it.")
        if main.server is not None and not main.server.is_running():
            # a session of its own would start another server, of which nothing else here knows
            raise UnreachableError("SPARK_UNREACHABLE", "The Spark server was stopped.", "Start it again.")
        return main

    def _ask(self, question: Callable[[Any], T]) -> T:
        from engine.spark.spark_errors import translate

        try:
            return question(self._session().spark)
        except Exception as error:
            raise translate(error) from error
