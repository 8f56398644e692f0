"""Tables, their versions, files and rows, for browsing."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from engine.model.create_values import Effect
from engine.model.identity import Identity
from engine.model.plan import Decision
from engine.model.value import Cells, Value


class TableRef(Value):
    """A table that can be browsed. ``name`` is quoted as Spark wants it; ``path`` set for path tables."""

    name: str
    catalog: str | None = None
    schema_name: str | None = None
    table: str
    path: str | None = None
    is_delta: bool | None = None
    """None if unknown."""


class Column(Value):
    """``default`` and ``generated_as`` are SQL text; those generated and identities are told of a TableDetail only."""

    name: str
    type: str
    nullable: bool = True
    comment: str = ""
    is_partition: bool = False
    default: str | None = None
    generated_as: str | None = None
    identity: Identity | None = None


class TableDetail(Value):
    """DESCRIBE DETAIL and the schema of one table. Of a table that is not Delta, Spark tells no version, no files and
    no protocol: they are None."""

    name: str
    path: str
    format: str
    table_id: str
    version: int | None
    created_at: str | None = None
    last_modified: str | None = None
    description: str = ""
    columns: tuple[Column, ...]
    partition_columns: tuple[str, ...] = ()
    clustering_columns: tuple[str, ...] = ()
    num_files: int | None
    num_bytes: int | None
    properties: dict[str, str] = Field(default_factory=dict)
    features: tuple[str, ...] = ()
    min_reader_version: int | None = None
    min_writer_version: int | None = None

    @property
    def is_delta(self) -> bool:
        return self.format == "delta"


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
    """One data file of a table version, with its statistics in the log, each by its column's ``statistics_key``."""

    path: str
    bytes: int
    rows: int | None = None
    """Live rows: those that no deletion vector marks."""
    deletion_vector_rows: int = 0
    partition: Cells = Field(default_factory=dict)
    modified_at: str | None = None
    min_values: Cells = Field(default_factory=dict)
    max_values: Cells = Field(default_factory=dict)
    null_counts: dict[str, int] = Field(default_factory=dict)


class RowPage(Value):
    """Some rows of a table. ``more``: there are others that were not fetched. ``cut``: some cells are longer than so
    many characters, and end there; None if all are whole."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str | None, ...], ...]
    more: bool = False
    cut: int | None = None


class Validation(Value):
    """What Spark's analyzer says about a statement, without running it."""

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
    effect: Effect | None = None
    """What a CREATE does, as far as what has its name tells; None of a MERGE."""
