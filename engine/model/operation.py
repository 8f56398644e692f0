"""What was applied or undone: the rows of the ledger, and how each ended."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from engine.model.expectation import ExpectationResult
from engine.model.plan import RaisedProperty
from engine.model.value import Value

Verdict = Literal["fresh", "disjoint", "stale"]
OperationStatus = Literal[
    "planned", "refused", "running", "applied", "failed", "cancelled", "not_committed", "undone", "overwritten", "lost"
]
"""``refused``: the plan says that Delta would raise. ``undone``: committed, and taken back. ``overwritten``: committed,
and lost by a RESTORE that took back an earlier operation. ``lost``: Delta reported the commit, and the log does not
hold it."""


class Deviation(Value):
    """A difference from the promise: in a metric, or (of a CREATE) in a part of the table's state as text."""

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
    """The promised metrics. Empty if nothing was promised, and in ledgers of older versions."""
    metrics: dict[str, int] = Field(default_factory=dict)
    deviations: tuple[Deviation, ...] = ()
    moved_by: tuple[str, ...] = ()
    """Commits since the plan, one line each."""
    duration_ms: int = 0
    # left out if nothing was verified: ledgers of older versions lack them
    expectations: tuple[ExpectationResult, ...] = Field(default=(), exclude_if=lambda value: not value)
    undone_as: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """The version by which it was taken back at once, because an expectation failed."""

    @property
    def committed_nothing(self) -> bool:
        """Whether there is no commit of it, as promised."""
        return self.version is None and self.kept


class Rehearsal(Value):
    """What Delta's own MERGE did on a SHALLOW CLONE of the planned version, which is dropped again.

    ``sql`` is the statement that ran, ``clone`` the table in it, ``version`` the one that was cloned. ``refused`` is
    the class of the error that Delta raised as the plan said it would. ``rows_compared``: whether the rows that it left
    were compared one for one, and not by their number alone. ``duration_ms`` is the time of the MERGE, which began at
    ``started_at``. ``expectations`` are what was checked of those rows. ``stale`` says why apply would refuse the plan
    as stale: the table moved since, which the clone does not show.
    """

    plan_id: str
    table: str
    version: int
    clone: str
    sql: str
    kept: bool
    promise: dict[str, int] = Field(default_factory=dict)
    metrics: dict[str, int] = Field(default_factory=dict)
    deviations: tuple[Deviation, ...] = ()
    refused: str | None = None
    rows_compared: bool = False
    started_at: str
    duration_ms: int = 0
    expectations: tuple[ExpectationResult, ...] = Field(default=(), exclude_if=lambda value: not value)
    stale: str = Field(default="", exclude_if=lambda value: not value)


class ColumnsChange(Value):
    """What a RESTORE does to a table's columns, by name: those that come back, those that go, and those that become
    what they were (type, nullability, comment)."""

    back: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class PartChange(Value):
    """What a RESTORE does to a part of a table beside its columns, as text: what it is ``now``, and what it was
    ``before``, which it becomes again."""

    name: str
    now: str
    before: str


class UndoPlan(Value):
    """The plan of an undo: what taking an operation back would do.

    ``restore`` is RestoreTableCommand: ``version`` is the table's now and ``to_version`` the one that comes back;
    ``lost`` are the commits after the operation, which are lost too, one line each. ``taken_back`` are those later
    ones that take each other back, so that nothing of them is lost, a line for two. ``promise`` holds Delta's metrics.
    Rows are live rows, None if the log has no counts. ``drop`` removes a table that the operation made (its
    ``to_version`` is -1); ``files_stay``: its files are not deleted. ``columns``: None if they stay as they are.
    ``parts`` are the other parts that do not: partitioning, clustering and comment.
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
    taken_back: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    promise: dict[str, int] = Field(default_factory=dict)
    rows_now: int | None = None
    rows_after: int | None = None
    until: str | None = None
    why: str = ""
    raise_retention: tuple[RaisedProperty, ...] = ()
    files_stay: bool = False
    columns: ColumnsChange | None = None
    parts: tuple[PartChange, ...] = Field(default=(), exclude_if=lambda value: not value)


class UndoRefused(Value):
    """That an undo was found not possible, when and why."""

    at: str
    why: str


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
    rehearsed: bool | None = None
    """Whether the last rehearsal of its plan went as promised; None if there was none."""
    rehearsal_fails: bool = Field(default=False, exclude_if=lambda value: not value)
    """Whether an expectation failed on the rows that the last rehearsal left."""
    program_gone: bool = Field(default=False, exclude_if=lambda value: not value)
    """Whether it is "running" and its program, of this machine, runs no more."""
    registered: bool = Field(default=False, exclude_if=lambda value: not value)
    """Whether it was applied without a commit because it entered a table that was there already into the catalog."""

    @property
    def committed_nothing(self) -> bool:
        """Whether it was applied without a commit, as promised: nothing was to change. A DROP needs none."""
        return self.status == "applied" and self.version is None and self.kept is not False and self.kind != "drop"
