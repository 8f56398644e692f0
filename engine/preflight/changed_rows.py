"""The rows that a plan changes, each with its values before and after, computed once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.preflight.assignments import ClauseAssignments, kept, never_failing
from engine.preflight.planned_merge import PlannedMerge
from engine.preflight.rows_after import clause_rows, deleted_rows
from engine.preflight.target_rules import TargetColumn
from engine.preflight.updated_faults import comparable
from engine.spark.checkpoint import checkpoint
from engine.sql.names import string
from engine.sql.parse import MergeClause
from engine.sql.store_types import ddl

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ACTION = "__dm_action"
INTEGER = re.compile(r"tinyint|smallint|int|bigint")
NUMBER = re.compile(rf"{INTEGER.pattern}|float|double|decimal\(.*\)")
GROUPED = re.compile(rf"{INTEGER.pattern}|decimal\(.*\)|boolean|date|timestamp|timestamp_ntz|string|(var)?char\(.*\)")


@dataclass(frozen=True)
class ChangedColumn:
    """A column of the schema after; ``at`` is its place there. ``why`` it is not compared, "" if it is."""

    at: int
    column: TargetColumn
    assigned: bool
    why: str

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def type(self) -> str:
        return self.column.type.simpleString()

    @property
    def is_number(self) -> bool:
        return NUMBER.fullmatch(self.type) is not None

    @property
    def is_grouped(self) -> bool:
        """Whether its values are counted by value: floats are not, nor nested values."""
        return GROUPED.fullmatch(self.type) is not None

    @property
    def before(self) -> str:
        return f"__dm_before_{self.at}"

    @property
    def after(self) -> str:
        return f"__dm_after_{self.at}"

    @property
    def is_compared(self) -> bool:
        return self.assigned and not self.why

    @property
    def changes(self) -> str:
        """Whether an update changes the value."""
        return f"({ACTION} = 'update' AND NOT {self.before} <=> {self.after})"


@dataclass(frozen=True)
class ChangedRows:
    """A ``view`` with ACTION and the columns before and after, NULL where there is no row."""

    view: str
    columns: tuple[ChangedColumn, ...]

    @property
    def compared(self) -> tuple[ChangedColumn, ...]:
        return tuple(one for one in self.columns if one.is_compared)

    @property
    def some_value_changes(self) -> str:
        return " OR ".join(one.changes for one in self.compared) or "FALSE"


def changed_rows(spark: SparkSession, planned: PlannedMerge) -> ChangedRows:
    """The rows that some clause takes. Raises EngineError."""
    columns = _columns(planned)
    by_clause = {one.clause: one for one in planned.assigned}
    parts = [_rows_of(planned, clause, by_clause.get(clause), columns) for clause in planned.merge.statement.clauses]
    view = f"{planned.source.view}_changes"
    checkpoint(spark, "\nUNION ALL\n".join(parts), "DISK_ONLY", view)
    return ChangedRows(view, columns)


def _columns(planned: PlannedMerge) -> tuple[ChangedColumn, ...]:
    updates = [one for one in planned.assigned if one.clause.action_kind == "update"]
    found = []
    for at, column in enumerate(planned.rules.columns):
        written = [one.columns[at] for one in updates if one.columns[at].origin != "kept"]
        why = next((one.unknown for one in written if one.unknown), "")
        if written and not comparable(column.type):
            why = f"values of type {column.type.simpleString()} are not compared"
        found.append(ChangedColumn(at, column, bool(written), why))
    return tuple(found)


def _rows_of(
    planned: PlannedMerge, clause: MergeClause, one: ClauseAssignments | None, columns: Sequence[ChangedColumn]
) -> str:
    merge, rules, source = planned.merge, planned.rules, planned.source
    old = kept(merge, rules)
    new = never_failing(merge, rules, one).columns if one else ()
    items = [f"{string(clause.action_kind)} AS {ACTION}"]
    for column in columns:
        if not (column.is_compared or (column.is_grouped and comparable(column.column.type))):
            continue
        nothing = f"CAST(NULL AS {ddl(column.column.type)})"
        before = nothing if clause.action_kind == "insert" else old[column.at].read_value
        after = new[column.at].read_value if new and not new[column.at].unknown else nothing
        items += [f"{before} AS {column.before}", f"{after} AS {column.after}"]
    is_delete = clause.action_kind == "delete"
    return f"SELECT {', '.join(items)} FROM {(deleted_rows if is_delete else clause_rows)(merge, source, clause)}"
