"""What tables there are and which columns they have, asked of Spark once: for completion and for proposals.

Methods that load run in a worker's thread; the ``known`` ones only look at what was loaded.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from console.backend import Backend
    from engine.model.browse import Column, TableRef

SCHEMAS_LIMIT = 100


class Catalog:
    """One for the whole console. Forgotten when Spark starts anew, when this console changed a table, and when the
    operator asks for a refresh."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._tables: list[TableRef] | None = None
        self.in_directories: dict[str, TableRef] = {}
        """The tables of the directories that were opened, by name."""
        self._columns: dict[str, tuple[Column, ...]] = {}
        self._forgotten = 0
        """How often it was forgotten: what was asked for before is not kept."""
        self._lock = Lock()

    def forget(self) -> None:
        with self._lock:
            self._tables = None
            self._columns.clear()
            self._forgotten += 1

    def known_tables(self) -> list[TableRef]:
        """The tables, or [] if they were not asked for yet."""
        return self._tables or []

    def known_columns(self, name: str) -> tuple[Column, ...] | None:
        """The columns of a table; () if Spark does not know, None if it was not asked."""
        return self._columns.get(name)

    def load_tables(self) -> list[TableRef]:
        """The tables of the first hundred schemas, as they were asked for before. Raises EngineError."""
        known = self._tables
        return self.ask_tables() if known is None else known

    def ask_tables(self) -> list[TableRef]:
        """The tables that the first hundred schemas have now, whoever made them. A schema that cannot be listed is
        left out. Raises EngineError."""
        from engine.model.errors import EngineError, UnreachableError

        forgotten = self._forgotten
        found: list[TableRef] = []
        for schema in self._backend.list_schemas()[:SCHEMAS_LIMIT]:
            try:
                found += self._backend.list_tables(schema)
            except UnreachableError:
                raise
            except EngineError:
                continue
        with self._lock:
            if forgotten == self._forgotten:
                self._tables = found
        return found

    def ask_columns(self, name: str) -> tuple[Column, ...]:
        """The columns that a table has now, whoever changed it. Raises EngineError."""
        forgotten = self._forgotten
        columns = self._backend.table_columns(name)
        self._keep_columns(name, columns, forgotten)
        return columns

    def try_columns(self, name: str) -> tuple[Column, ...]:
        """The columns of a table or of a query; one that was not there when it was asked for is asked for again."""
        from engine.model.errors import EngineError

        forgotten = self._forgotten
        try:
            return self._columns.get(name) or self.ask_columns(name)
        except EngineError:
            self._keep_columns(name, (), forgotten)
            return ()

    def _keep_columns(self, name: str, columns: tuple[Column, ...], forgotten: int) -> None:
        """``forgotten``: what it was when they were asked for."""
        with self._lock:
            if forgotten == self._forgotten:
                self._columns[name] = columns
