"""What was applied or undone: the rows of the ledger, and how each ended."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from engine.model.plan import RaisedProperty
from engine.model.value import Value

Verdict = Literal["fresh", "disjoint", "stale"]
OperationStatus = Literal[
    "planned", "refused", "running", "applied", "failed", "cancelled", "not_committed", "undone", "overwritten"
]
"""``refused``: the plan says that Delta would raise. ``undone``: committed, and taken back. ``overwritten``: committed,
and gone with a RESTORE that took back an earlier operation."""


class Deviation(Value):
    """What is not as promised: a metric, or (of a CREATE) a part of the table's state as text."""

    metric: str
    promised: int | str
    actual: int | str | None


class Outcome(Value):
    """What apply did: the commit, and how it compares with the promise."""

    plan_id: str
    op_id: str
    table: str
    verdict: Verdict
    version: int | None
    read_version: int | None
    already_applied: bool = False
    kept: bool = True
    promise: dict[str, int] = Field(default_factory=dict)
    """What the commit was held to, by metric. Empty where nothing was, and in ledgers of older versions."""
    metrics: dict[str, int] = Field(default_factory=dict)
    deviations: tuple[Deviation, ...] = ()
    moved_by: tuple[str, ...] = ()
    """Commits since the plan, one line each."""
    duration_ms: int = 0


class UndoPlan(Value):
    """What taking an operation back would do, looked at and not yet run.

    ``restore`` is RestoreTableCommand: ``version`` is the table's now and ``to_version`` the one that comes back;
    ``lost`` are the commits after the operation, which go too, one line each. ``promise`` holds Delta's metrics of it.
    Rows are live rows, None where the log has no counts. ``drop`` takes a table away that the operation made (its
    ``to_version`` is -1); ``files_stay`` says that its files do not go with it.
    """

    undo_id: str
    op_id: str
    kind: Literal["restore", "drop"] = "restore"
    table: str
    path: str
    table_id: str
    version: int
    to_version: int
    lost: tuple[str, ...] = ()
    promise: dict[str, int] = Field(default_factory=dict)
    rows_now: int | None = None
    rows_after: int | None = None
    until: str | None = None
    why: str = ""
    raise_retention: tuple[RaisedProperty, ...] = ()
    files_stay: bool = False


class Operation(Value):
    """One row of the ledger."""

    op_id: str
    plan_id: str
    kind: str
    table: str
    sql: str
    status: OperationStatus
    version: int | None = None
    started_at: str
    finished_at: str | None = None
    kept: bool | None = None
    error: str | None = None
