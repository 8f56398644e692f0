"""The frozen values that flow along the chain, and the plan file they become.

Every value is immutable, strict about unknown keys, and serialises to the JSON of the plan file
(``format_version`` 2). Sizes are bytes, times ISO 8601 UTC, durations milliseconds. Cells of table
rows are Spark's own string form (``CAST(x AS STRING)``), bytes in hexadecimal, or ``None`` for NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_serializer

from engine.model.plan_checksum import plan_checksum

if TYPE_CHECKING:
    from engine.model.create_values import CreatePlan

FORMAT_VERSION: Final = 2

Accuracy = Literal["exact", "estimated", "unknown"]
ClauseKind = Literal["matched", "not_matched", "not_matched_by_source"]
ActionKind = Literal["update", "delete", "insert"]
Verdict = Literal["fresh", "disjoint", "stale"]
OperationStatus = Literal[
    "planned", "refused", "running", "applied", "failed", "cancelled", "not_committed", "undone", "overwritten"
]
"""``refused``: the plan says that Delta would raise. ``undone``: committed, and taken back. ``overwritten``: committed,
and gone with a RESTORE that took back an earlier operation."""
Cells = dict[str, str | None]
# of a file alone: it is computed when a plan is written, and checked and forgotten when one is read
Checksum = Annotated[str | None, AfterValidator(lambda _: None)]


class Value(BaseModel):
    """Base of all values: frozen, and unknown keys are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Engines(Value):
    spark: str
    delta: str
    deltamerge: str


class Clause(Value):
    """One WHEN clause, as typed. ``action`` is the text after THEN."""

    kind: ClauseKind
    condition: str | None
    action: str
    action_kind: ActionKind


class Statement(Value):
    """The operator's MERGE. ``sql`` is the text as typed; ``setup`` the statements that run before it."""

    sql: str
    setup: tuple[str, ...] = ()
    params: dict[str, str] = Field(default_factory=dict)
    condition: str = ""
    clauses: tuple[Clause, ...] = ()
    insert_only: bool = False
    matched_only: bool = False
    schema_evolution: bool = False


class Target(Value):
    """The table that is merged into, at the version that was planned."""

    name: str
    path: str
    table_id: str
    version: int
    features: tuple[str, ...] = ()
    num_files: int
    num_bytes: int
    num_rows: int | None = None
    """Live rows, None where the log does not count them."""
    partition_columns: tuple[str, ...] = ()
    clustering_columns: tuple[str, ...] = ()


class Source(Value):
    """The frozen source. ``pinned_versions``: Delta table → version it was read at. ``pinned_id``: the id of the one
    table that the MERGE reads VERSION AS OF, the source itself or the one that it is staged in."""

    sql: str
    columns_used: tuple[str, ...]
    num_rows: int
    fingerprint: str
    pinned_versions: dict[str, int] = Field(default_factory=dict)
    pinned_id: str | None = None
    volatile: tuple[str, ...] = ()
    """Functions in the source that give other rows each time it is read (rand, current_timestamp…)."""


class Decision(Value):
    """Whether Delta materializes the source, and why (MergeIntoMaterializeSource.shouldMaterializeSource).

    ``certainty`` is ``inferred`` where the plan text alone cannot prove Delta's answer.
    """

    mode: str
    materialize: bool
    reason: str
    because: str
    avoid: str = ""
    certainty: Literal["exact", "inferred"] = "exact"
    storage_level: str | None = None
    attempt: int = 1


class DerivedConjunct(Value):
    """What a key of ON says of a target ``column`` once the source's keys are known: ``text``, or "" and
    ``why_not``."""

    column: str
    text: str
    why_not: str = ""


class Scan(Value):
    """What data skipping leaves of the target (OptimisticTransaction.filterFiles).

    ``files_after_as_typed``: what it leaves without the ``derived`` conjuncts; equal where none was added.
    ``files_after_of_a_read``: what a read under the same predicates keeps, which uses partition filters derived from
    generated columns where a MERGE does not; None in the plans of older versions.
    """

    predicates: tuple[str, ...]
    files_before: int
    files_after: int
    bytes_before: int
    bytes_after: int
    partitions_before: int | None = None
    partitions_after: int
    files_after_as_typed: int | None = None
    files_after_of_a_read: int | None = None
    derived: tuple[DerivedConjunct, ...] = ()
    accuracy: Accuracy = "exact"
    why: str = ""


class TouchedFile(Value):
    """One file that the MERGE rewrites, or (with deletion vectors) marks rows of. Counts are rows."""

    path: str
    bytes: int
    rows: int
    matched: int
    updated: int
    deleted: int
    copied: int
    partition: Cells = Field(default_factory=dict)


class ConflictKey(Value):
    """Source rows that match the same target row: the values of the source's columns in ON, and how many there are.

    ``rivals`` are some of these rows, the columns that the MERGE uses; ``differing`` the columns in which they differ.
    """

    key: Cells
    source_rows: int
    target_rows: int = 1
    rivals: tuple[Cells, ...] = ()
    differing: tuple[str, ...] = ()


class Dedupe(Value):
    """The source with one row for each key: ``sql`` is to stand after USING, its alias included.

    ``choice`` says which row of a key stays; ``order_by`` is the column that decides, "" where none was found. Counted
    over the frozen source: ``rows_dropped``, target rows that are still matched twice (``conflicts_left``), and those
    that nothing matches any more (``matches_lost``).
    """

    sql: str
    keys: tuple[str, ...]
    order_by: str
    choice: str
    rows_dropped: int
    conflicts_left: int
    matches_lost: int


class Conflicts(Value):
    """``count``: target rows as Delta counts them; ``true_count``: as they truly are.

    ``dedupe`` is None where there is no conflict, or ON has no equality to key by.
    """

    count: int = 0
    true_count: int = 0
    keys: tuple[ConflictKey, ...] = ()
    dedupe: Dedupe | None = None


class TouchedFiles(Value):
    """ClassicMergeExecutor.findTouchedFiles. ``join_type`` is None where no such job runs."""

    join_type: str | None
    matched_predicate: str | None
    files: tuple[TouchedFile, ...] = ()
    conflicts: Conflicts = Conflicts()
    partitions_removed_from: int = 0


class ColumnAfter(Value):
    """One column of the target as the MERGE leaves it. ``type_before`` is None where schema evolution adds it; it
    differs from ``type`` where evolution adds fields to it."""

    name: str
    type: str
    type_before: str | None


class WritePlan(Value):
    """How the changes are written (ClassicMergeExecutor.writeAllChanges, InsertOnlyMergeExecutor)."""

    extra_op_type: str
    join_type: str | None
    deletion_vectors: bool
    change_data_feed: bool
    unmodified_rows_written: bool
    schema_after: tuple[ColumnAfter, ...] = ()
    """Empty where the schema stays as it is."""


class Estimate(Value):
    """A number that is bounded, not known."""

    low: int
    high: int


class Refused(Value):
    """The error Delta would raise while running. ``also`` are the classes that it raises instead, where other rows come
    first."""

    condition: str
    message: str
    rows: tuple[Cells, ...] = ()
    hint: str = ""
    also: tuple[str, ...] = ()


class Remark(Value):
    """A warning or an advice: a code (Delta's error class where there is one), a sentence, its evidence."""

    code: str
    sentence: str
    evidence: str = ""


Share = Annotated[float, Field(ge=0, le=1)]


class PolicyVerdict(Value):
    """What one rule of the policy says of a plan. ``limit`` and ``value`` are shares from 0 to 1, None where the rule
    has none, or it is not known. ``asks``: a person has to do something before the commit."""

    rule: str
    limit: Share | None = None
    value: Share | None = None
    verdict: Literal["allowed", "asks", "refused"]
    how: str = ""


class Sample(Value):
    """One row before and after. Inserted rows have no ``before``, deleted ones no ``after``.

    ``clause`` counts the statement's clauses from 0. ``unknown`` names the columns whose value only the commit knows
    (rand, current_timestamp, identity); ``after`` leaves them out.
    """

    action: ActionKind
    clause: int
    before: Cells | None = None
    after: Cells | None = None
    unknown: tuple[str, ...] = ()

    @property
    def shown_after(self) -> Cells | None:
        """``after`` to be looked at: cells that only the commit knows say so."""
        return None if self.after is None else {**self.after, **dict.fromkeys(self.unknown, "(known at the commit)")}


class SessionRef(Value):
    """The Connect session that holds the frozen source, so that apply can re-attach to it; ``staged`` is the Delta
    table that keeps it for longer (``plan --freeze``)."""

    session_id: str | None = None
    user_id: str | None = None
    source_view: str | None = None
    staged: str | None = None


class Splice(Value):
    """One change made to the operator's text: ``[start, end)`` of ``sql`` replaced by ``text``."""

    part: Literal["source", "condition"] = "source"
    start: int
    end: int
    text: str
    why: str


def keys_left_out(plan: Plan | CreatePlan) -> set[str]:
    """The keys that the plan's format does not have."""
    if plan.format_version != 1:
        return set()
    return {"checksum", *(name for name in ("state", "undo", "policy") if not getattr(plan, name))}


class PlanningState(Value):
    """The state of the session that a plan means something in: compared when it is applied, and never set.

    ``catalog`` and ``schema_name`` are the current ones, None where no name depends on them. ``confs`` are those that
    are set, beside the plan's own ``confs``, which apply puts back. ``variables`` by name, as literals of SQL.
    ``views`` and ``functions`` that are read: the SHA-256 of the definition of each. ``names``: what the statement
    reads by a name alone, ``temporary`` those of them that were temporary views. ``subqueries``: the SHA-256 of what
    each subquery in SET and VALUES gave, "" where it gives something else each time.
    """

    catalog: str | None = None
    schema_name: str | None = None
    confs: dict[str, str] = Field(default_factory=dict)
    variables: dict[str, str] = Field(default_factory=dict)
    views: dict[str, str] = Field(default_factory=dict)
    functions: dict[str, str] = Field(default_factory=dict)
    names: tuple[str, ...] = ()
    temporary: tuple[str, ...] = ()
    subqueries: tuple[str, ...] = ()


class RaisedProperty(Value):
    """A table property that an undo raises first. ``before`` is None where the table leaves it at Delta's default."""

    name: str
    before: str | None
    after: str


class Undo(Value):
    """Whether the commit of a plan can be taken back. ``possible`` is None where that is not known.

    It stays possible ``until`` that time at least, unless somebody runs a VACUUM that keeps less than the table's
    properties say; None where no time can be promised. ``raise_retention``: what the undo has to raise, because Delta
    refuses the version by its age alone.
    """

    possible: bool | None
    until: str | None = None
    why: str
    raise_retention: tuple[RaisedProperty, ...] = ()


class Plan(Value):
    """A MERGE that was looked at and not yet run: the plan file."""

    format_version: Literal[1, 2] = FORMAT_VERSION
    checksum: Checksum = None
    """SHA-256 of the file without it (engine.model.plan_checksum); None in a file of format 1."""
    plan_id: str
    created_at: str
    kind: Literal["merge"] = "merge"
    engines: Engines
    statement: Statement
    target: Target
    source: Source
    decision: Decision
    scan: Scan
    executor: Literal["ClassicMergeExecutor", "InsertOnlyMergeExecutor"]
    find_touched_files: TouchedFiles
    write: WritePlan
    promise: dict[str, int]
    estimates: dict[str, int | Estimate] = Field(default_factory=dict)
    refused: Refused | None = None
    warnings: tuple[Remark, ...] = ()
    advice: tuple[Remark, ...] = ()
    samples: tuple[Sample, ...] = ()
    confs: dict[str, str] = Field(default_factory=dict)
    state: PlanningState | None = None
    """None in a plan of format 1, which recorded none: then nothing is compared."""
    splices: tuple[Splice, ...] = ()
    session: SessionRef = SessionRef()
    undo: Undo | None = None
    """None where nothing is committed, and in the plans of older versions."""
    policy: tuple[PolicyVerdict, ...] = ()
    """The rules in force where it was planned. Applying checks those that are in force then."""
    timings: dict[str, int] = Field(default_factory=dict)
    """Milliseconds by step of the chain."""

    @property
    def changes_something(self) -> bool:
        """Whether applying commits a new version. A schema that evolves is committed even where no row changes."""
        return bool(self.promise.get("numTargetFilesRemoved") or self.write.schema_after) or any(
            self.promise.get(metric)
            for metric in ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")
        )

    def to_json(self) -> str:
        """The plan file's text, keys in declared order, two spaces of indent."""
        return self.model_dump_json(indent=2, exclude=keys_left_out(self)) + "\n"

    @field_serializer("checksum")
    def _checksum(self, _: str | None) -> str | None:
        return plan_checksum(self, self.format_version)

    @classmethod
    def from_json(cls, text: str) -> Plan | CreatePlan:
        """Read a plan file of either kind. Damaged or newer files raise an EngineError that says which."""
        from engine.model.plan_file import read_plan

        return read_plan(text)


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


class Progress(Value):
    """One step of long work. ``done`` and ``total`` are Spark tasks; ``total`` 0 means not known yet.

    ``decision`` and ``scan`` are the answers of a plan that cost nothing, told as soon as they are known. That scan is
    of the target's own predicates: what the source's keys add is not known before it is frozen.
    """

    phase: str
    done: int = 0
    total: int = 0
    bytes_read: int = 0
    decision: Decision | None = None
    scan: Scan | None = None

    @property
    def is_answer(self) -> bool:
        """Whether it tells something that no later step repeats."""
        return self.decision is not None or self.scan is not None


OnProgress = Callable[[Progress], None]
"""Hears each step of long work. What it raises ends the work."""


# Browsing


class TableRef(Value):
    """A table that can be browsed. ``name`` is quoted as Spark wants it; ``path`` set for path tables."""

    name: str
    catalog: str | None = None
    schema_name: str | None = None
    table: str
    path: str | None = None
    is_delta: bool | None = None
    """None where it was not asked."""


class Column(Value):
    name: str
    type: str
    nullable: bool = True
    comment: str = ""
    is_partition: bool = False


class TableDetail(Value):
    """DESCRIBE DETAIL and the schema of one table."""

    name: str
    path: str
    format: str
    table_id: str
    version: int
    created_at: str | None = None
    last_modified: str | None = None
    description: str = ""
    columns: tuple[Column, ...]
    partition_columns: tuple[str, ...] = ()
    clustering_columns: tuple[str, ...] = ()
    num_files: int
    num_bytes: int
    properties: dict[str, str] = Field(default_factory=dict)
    features: tuple[str, ...] = ()
    min_reader_version: int = 0
    min_writer_version: int = 0


class TableVersion(Value):
    """One row of DESCRIBE HISTORY."""

    version: int
    timestamp: str
    operation: str
    user: str = ""
    read_version: int | None = None
    metrics: dict[str, str] = Field(default_factory=dict)
    parameters: dict[str, str] = Field(default_factory=dict)
    user_metadata: str | None = None


class DataFile(Value):
    """One data file of a table version, with the statistics the log holds of it."""

    path: str
    bytes: int
    rows: int | None = None
    """Live rows: those of the file less those its deletion vector marks."""
    deletion_vector_rows: int = 0
    partition: Cells = Field(default_factory=dict)
    modified_at: str | None = None
    min_values: Cells = Field(default_factory=dict)
    max_values: Cells = Field(default_factory=dict)
    null_counts: dict[str, int] = Field(default_factory=dict)


class RowPage(Value):
    """Some rows of a table. ``more``: there are others that were not fetched."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str | None, ...], ...]
    more: bool = False


class Validation(Value):
    """What the analyzer says of a statement that was not run."""

    ok: bool
    condition: str = ""
    message: str = ""
    hint: str = ""
    line: int | None = None
    column: int | None = None
    kind: Literal["merge", "create", "other", "empty"] = "merge"
    target: str | None = None
    target_version: int | None = None
    decision: Decision | None = None
