"""The frozen values of a CREATE or REPLACE TABLE plan: what CreateDeltaTableCommand would do, and what it leaves."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_serializer

from engine.model.identity import Identity
from engine.model.plan import (
    FORMAT_VERSION,
    Checksum,
    Engines,
    PlanningState,
    PolicyVerdict,
    Refused,
    Remark,
    Target,
    Undo,
    keys_left_out,
)
from engine.model.plan_checksum import plan_checksum
from engine.model.script import joined
from engine.model.value import Value

Form = Literal["empty", "as_select", "like", "clone"]
Mode = Literal["Create", "CreateOrReplace", "Replace"]
Handler = Literal["handleCreateTable", "handleCreateTableAsSelect", "handleClone"]
Effect = Literal["create", "adopt", "replace", "nothing", "refused"]


class CreateStatement(Value):
    """The operator's statement. ``sql`` is the text as typed, its ``params`` filled in; ``template`` the whole file
    before that, "" if it has no parameters; ``setup`` the statements that run before the statement.

    ``overwrite_schema`` is the option of that name: if it is given, the statement runs as a write of a DataFrame.
    """

    sql: str
    # left out of a plan file where it says nothing: files of older versions lack it
    template: str = Field(default="", exclude_if=lambda value: not value)
    setup: tuple[str, ...] = ()
    params: dict[str, str] = Field(default_factory=dict)
    form: Form
    mode: Mode
    if_not_exists: bool = False
    overwrite_schema: bool | None = None

    @property
    def script(self) -> str:
        """The statement and what runs before it, as one text with its ``params`` filled in."""
        return joined((*self.setup, self.sql))

    @property
    def before_parameters(self) -> str:
        """The whole text as typed, its ``params`` yet to be filled in."""
        return self.template or self.script


class StateColumn(Value):
    """One column of a table. ``type`` as Spark prints it, CHAR and VARCHAR as declared.

    ``default`` and ``generated_as`` are SQL text; ``identity`` says whether values are generated, and ``counted`` how:
    None of a column that is no identity, and in the plans of older versions.
    """

    name: str
    type: str
    nullable: bool = True
    comment: str = ""
    default: str | None = None
    generated_as: str | None = None
    identity: bool = False
    counted: Identity | None = Field(default=None, exclude_if=lambda value: value is None)


class TableState(Value):
    """A table as in its log. Properties, files and bytes that only the commit knows are None.

    ``features`` are those that the protocol supports, named or implied, by name.
    """

    location: str
    columns: tuple[StateColumn, ...]
    partition_columns: tuple[str, ...] = ()
    clustering_columns: tuple[str, ...] = ()
    comment: str = ""
    properties: dict[str, str | None] = Field(default_factory=dict)
    min_reader_version: int
    min_writer_version: int
    features: tuple[str, ...] = ()
    num_files: int | None = None
    num_bytes: int | None = None


class CreateSource(Value):
    """What the statement reads. ``pinned_versions``: Delta table → its version when it was planned.

    ``num_rows`` and ``num_partitions`` are of a CTAS query, None for a CLONE or LIKE; ``volatile`` are functions in it
    that give other rows each time. ``fingerprint`` is of its rows; else of which table it is: the id of a Delta table,
    and of a Parquet one a checksum of its files.
    """

    sql: str
    pinned_versions: dict[str, int] = Field(default_factory=dict)
    num_rows: int | None = None
    num_partitions: int | None = None
    fingerprint: str | None = None
    volatile: tuple[str, ...] = ()


class ProvidedMetadata(Value):
    """CreateDeltaTableCommand.getProvidedMetadata: what the statement itself says, before defaults and rules.

    ``configuration`` is without the clustering property, which is never persisted in the log.
    """

    description: str | None
    columns: tuple[StateColumn, ...]
    partition_columns: tuple[str, ...]
    configuration: dict[str, str]


class CreatePlan(Value):
    """The plan of a CREATE or REPLACE TABLE: a plan file of kind ``create_table``.

    ``target`` is the table now (version -1 and no id if there is none), ``before`` and ``after`` its state.
    ``operation`` is its name in the table's history, None if nothing is committed; ``promise`` its operationMetrics.
    """

    format_version: Literal[1, 2] = FORMAT_VERSION
    checksum: Checksum = None
    """SHA-256 of the file without it (engine.model.plan_checksum); None in a file of format 1."""
    plan_id: str
    created_at: str
    kind: Literal["create_table"] = "create_table"
    engines: Engines
    statement: CreateStatement
    target: Target
    in_catalog: bool
    by_path: bool
    managed: bool
    handler: Handler
    effect: Effect
    because: str
    """What the table, catalog entry and location, existing or missing, mean for it, in a sentence."""
    provided: ProvidedMetadata | None = None
    metadata_replaced: bool = False
    """replaceMetadataIfNecessary: the metadata of an existing log is overwritten."""
    before: TableState | None = None
    after: TableState | None = None
    files_removed: int = 0
    bytes_removed: int = 0
    source: CreateSource | None = None
    operation: str | None = None
    post_commit: tuple[str, ...] = ()
    promise: dict[str, int] = Field(default_factory=dict)
    refused: Refused | None = None
    warnings: tuple[Remark, ...] = ()
    confs: dict[str, str] = Field(default_factory=dict)
    state: PlanningState | None = None
    """None in a plan of format 1, which has none: then nothing is compared."""
    undo: Undo | None = None
    """None if nothing is changed, and in the plans of older versions."""
    policy: tuple[PolicyVerdict, ...] = ()
    """The policy's rules at planning time. Apply checks the rules of its own time."""
    timings: dict[str, int] = Field(default_factory=dict)
    """Milliseconds by step of the chain."""

    @property
    def changes_something(self) -> bool:
        """Whether applying it changes the table or the catalog."""
        return self.effect not in ("nothing", "refused")

    @property
    def registers(self) -> bool:
        """Whether applying it only enters a table that is there already into the catalog."""
        return self.effect == "adopt" and not self.by_path

    def to_json(self) -> str:
        """The plan file's text, keys in declared order, two spaces of indent."""
        return self.model_dump_json(indent=2, exclude=keys_left_out(self)) + "\n"

    @field_serializer("checksum")
    def _checksum(self, _: str | None) -> str | None:
        return plan_checksum(self, self.format_version)
