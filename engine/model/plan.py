"""The plan of a MERGE, and what it is made of. It serialises to the JSON of the plan file (``format_version`` 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import AfterValidator, Field, field_serializer

from engine.model.changes import Changes
from engine.model.expectation import ExpectationResult
from engine.model.plan_checksum import plan_checksum
from engine.model.scan import Scan, TouchedFile, TouchedFiles
from engine.model.script import joined
from engine.model.value import Accuracy, Cells, Value
from engine.model.write import WritePlan

if TYPE_CHECKING:
    from engine.model.create_values import CreatePlan

FORMAT_VERSION: Final = 2
ClauseKind = Literal["matched", "not_matched", "not_matched_by_source"]
ActionKind = Literal["update", "delete", "insert"]
# only of the file: computed when a plan is written, and checked and dropped when one is read
Checksum = Annotated[str | None, AfterValidator(lambda _: None)]


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
    """The operator's MERGE. ``sql`` is the text as typed, its ``params`` filled in; ``template`` the whole file before
    that, "" if it has no parameters; ``setup`` the statements that run before the MERGE."""

    sql: str
    # left out of a plan file where it says nothing: files of older versions lack it
    template: str = Field(default="", exclude_if=lambda value: not value)
    setup: tuple[str, ...] = ()
    params: dict[str, str] = Field(default_factory=dict)
    condition: str = ""
    clauses: tuple[Clause, ...] = ()
    insert_only: bool = False
    matched_only: bool = False
    schema_evolution: bool = False

    @property
    def script(self) -> str:
        """The MERGE and what runs before it, as one text with its ``params`` filled in."""
        return joined((*self.setup, self.sql))

    @property
    def before_parameters(self) -> str:
        """The whole text as typed, its ``params`` yet to be filled in: it tells one regular MERGE from another."""
        return self.template or self.script


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
    """Live rows; None if the log does not count them."""
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

    ``certainty`` is ``inferred`` if the plan's text alone cannot prove Delta's answer.
    """

    mode: str
    materialize: bool
    reason: str
    because: str
    avoid: str = ""
    certainty: Literal["exact", "inferred"] = "exact"
    storage_level: str | None = None
    attempt: int = 1


class Estimate(Value):
    """A number of which only the bounds are known."""

    low: int
    high: int


class Refused(Value):
    """The error Delta would raise while running. ``rows`` are up to five of the ``count`` for which it does; ``also``
    are the classes that it raises instead if other rows come first."""

    condition: str
    message: str
    rows: tuple[Cells, ...] = ()
    count: int | None = Field(default=None, exclude_if=lambda value: value is None)
    hint: str = ""
    also: tuple[str, ...] = ()


class Remark(Value):
    """A warning or an advice: a code (Delta's error class if there is one), a sentence, its evidence.

    ``count`` is the number of rows, None if it has none or is unknown; ``exactness`` is None where nothing was counted.
    ``keys`` are up to five of the rows by their keys, ``fix`` is SQL to paste. A warning of severity ``error`` must be
    accepted before the plan is applied.
    """

    code: str
    sentence: str
    evidence: str = ""
    # left out of a plan file where they say nothing: files of older versions lack them
    count: int | None = Field(default=None, exclude_if=lambda value: value is None)
    exactness: Accuracy | None = Field(default=None, exclude_if=lambda value: value is None)
    severity: Literal["warning", "error"] = Field(default="warning", exclude_if=lambda value: value == "warning")
    keys: tuple[Cells, ...] = Field(default=(), exclude_if=lambda value: not value)
    fix: str = Field(default="", exclude_if=lambda value: not value)


Share = Annotated[float, Field(ge=0, le=1)]


class PolicyVerdict(Value):
    """What one rule of the policy says about a plan. ``limit`` and ``value`` are shares from 0 to 1, None if the rule
    has none or if unknown. ``asks``: a person must do something before the commit."""

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
        """``after`` for display: cells that only the commit knows say so."""
        return None if self.after is None else {**self.after, **dict.fromkeys(self.unknown, "(known at the commit)")}


class SessionRef(Value):
    """The Connect session that holds the frozen source, to which apply attaches again; ``staged`` is the Delta
    table that keeps it longer (``plan --freeze``)."""

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
    """The state of the session on which a plan's meaning depends: compared when it is applied, and never set.

    ``catalog`` and ``schema_name`` are the current ones, None if no name depends on them. ``confs`` are those that
    are set, beside the plan's own ``confs``, which apply sets again. ``variables`` by name, as literals of SQL.
    ``views`` and ``functions`` that are read: the SHA-256 of the definition of each. ``names``: what the statement
    reads by name only, ``temporary`` those of them that were temporary views. ``subqueries``: the SHA-256 of what
    each subquery in SET and VALUES gave, "" if it gives something else each time. ``user``: whom ``current_user()``
    gave, None if nothing asks for it.
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
    user: str | None = Field(default=None, exclude_if=lambda value: value is None)


class RaisedProperty(Value):
    """A table property that an undo raises first. ``before`` is None if the table has Delta's default."""

    name: str
    before: str | None
    after: str


class Undo(Value):
    """Whether the commit of a plan can be taken back. ``possible`` is None if unknown.

    It stays possible at least ``until`` that time, unless somebody runs a VACUUM that keeps less than the table's
    properties say; None if no time can be promised. ``raise_retention``: the properties that the undo must raise,
    because Delta refuses the version only for its age.
    """

    possible: bool | None
    until: str | None = None
    why: str
    raise_retention: tuple[RaisedProperty, ...] = ()


class Plan(Value):
    """The plan of a MERGE: the plan file."""

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
    # left out of a plan file without any: files of older versions lack them
    expectations: tuple[ExpectationResult, ...] = Field(default=(), exclude_if=lambda value: not value)
    samples: tuple[Sample, ...] = ()
    changes: Changes | None = Field(default=None, exclude_if=lambda value: value is None)
    """None if they were not asked for."""
    confs: dict[str, str] = Field(default_factory=dict)
    state: PlanningState | None = None
    """None in a plan of format 1, which has none: then nothing is compared."""
    splices: tuple[Splice, ...] = ()
    session: SessionRef = SessionRef()
    undo: Undo | None = None
    """None if nothing is committed, and in the plans of older versions."""
    policy: tuple[PolicyVerdict, ...] = ()
    """The policy's rules at planning time. Apply checks the rules of its own time."""
    timings: dict[str, int] = Field(default_factory=dict)
    """Milliseconds by step of the chain."""

    @property
    def changed_files(self) -> tuple[TouchedFile, ...]:
        """The files that are rewritten; with deletion vectors those in which a row is marked. The rest is only read."""
        files = self.find_touched_files.files
        return tuple(one for one in files if one.updated or one.deleted) if self.write.deletion_vectors else files

    @property
    def changes_something(self) -> bool:
        """Whether applying commits a new version. A schema that evolves is committed even if no row changes."""
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
