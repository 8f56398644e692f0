"""ParsedCreate → Provided: the metadata that the statement gives (CreateDeltaTableCommand.getProvidedMetadata).

Types, queries and other tables are asked of Spark; what Delta adds to it is ``engine.create.metadata_after``.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.create.clone_parquet import check_format, directories, partitions_fault
from engine.create.column_ids import NO_IDS, ColumnIds, column_ids
from engine.create.generation_expressions import type_of, unsupported_part
from engine.create.table_properties import DEFAULTS, known_default, normal_key, properties_given
from engine.merge.planning_state import user_functions
from engine.merge.prepare_source import source_fingerprint
from engine.merge.source_plan import delta_tables, query_plan
from engine.merge.volatile_parts import volatile_behind
from engine.model.create_values import CreateSource, ProvidedMetadata, StateColumn, TableState
from engine.model.errors import UsageError
from engine.model.plan import Refused
from engine.spark.confs import is_on, read_confs
from engine.spark.input_files import files_of_query
from engine.spark.schema import schema_of
from engine.sql.char_types import as_declared
from engine.sql.lexer import tokenize
from engine.sql.names import quote
from engine.sql.parse_create import ParsedCreate
from engine.table.commits import current_version
from engine.table.delta_log import escaped, list_files
from engine.table.logged_schema import logged_clustering, logged_metadata
from engine.table.nested_types import (
    Facts,
    facts_inside,
    facts_of_schema,
    field_names,
    has_not_null,
    has_unenforceable,
    holds_void,
    leaves_of,
    types_in,
)
from engine.table.table_features import Protocol, implied_by, known_features
from engine.table.table_state import (
    DeltaTableNow,
    catalog_entry,
    delta_table_now,
    plain,
    state_columns,
    with_log,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType, StructType

OPTIONS_STAY = "spark.databricks.delta.legacy.storeOptionsAsProperties"
CHAR_TYPE = re.compile(r"^\s*(?:(char)(?:acter)?|(varchar))\s*\(\s*(\d+)\s*\)\s*$", re.IGNORECASE)
# internal to the table that has them: a table made like it gets its own (DeltaAnalysis)
NOT_COPIED = (
    "delta.columnMapping.maxColumnId",
    "delta.rowTracking.materializedRowIdColumnName",
    "delta.rowTracking.materializedRowCommitVersionColumnName",
)
COMMENT = "comment"
TRANSIENT = ("transient_lastDdlTime",)


@dataclass(frozen=True)
class Provided:
    """What the statement gives. ``configuration`` holds the protocol's properties as well, keys as Delta writes them.

    ``protocol`` is that of a Delta table that is copied; ``num_files`` and ``num_bytes`` are what a clone refers to,
    None where that is not known, and ``unclonable`` is what stops it as it runs.
    ``leaves`` are the types by name of the fields without fields of their own, ``s.x``, in the order of the
    columns, ``field_names`` those inside of types; ``types`` are all those in each column (nested_types.types_in), and
    ``inside`` is what columns have beside them (facts_inside).
    ``unenforceable`` is the first column with a NOT NULL inside of an array or a map, ``holds_void`` that of a query
    with nothing but NULL there; ``not_generated`` is the first generated column with an expression that Delta takes in
    none, and that part of it, ``other_type`` the first whose expression has another type than the column, and that
    type. ``source_mapping`` is the mode of column mapping of what is cloned; ``ids`` are those
    that mapping gives to the fields of a new table.
    """

    columns: tuple[StateColumn, ...]
    partition_columns: tuple[str, ...]
    clustering_columns: tuple[str, ...] = ()
    configuration: dict[str, str] = field(default_factory=dict)
    comment: str | None = None
    protocol: Protocol | None = None
    nested_not_null: bool = False
    unenforceable: str | None = None
    holds_void: str | None = None
    leaves: dict[str, str] = field(default_factory=dict)
    field_names: tuple[str, ...] = ()
    inside: Facts = frozenset()
    ids: ColumnIds = NO_IDS
    types: Mapping[str, frozenset[str]] = field(default_factory=dict)
    source: CreateSource | None = None
    not_generated: tuple[str, str] | None = None
    other_type: tuple[str, str] | None = None
    source_mapping: str | None = None
    num_files: int | None = 0
    num_bytes: int | None = 0
    unclonable: Refused | None = None

    @property
    def features(self) -> frozenset[str]:
        """Those that come with a table that is copied."""
        return self.protocol.features if self.protocol else frozenset()

    @property
    def types_inside(self) -> frozenset[str]:
        """Those of all columns."""
        return frozenset().union(*self.types.values())

    def first_of(self, kind: re.Pattern[str]) -> StateColumn | None:
        """The first column with a type that begins so in it."""
        return next((one for one in self.columns if any(map(kind.match, self.types.get(one.name, ())))), None)

    def value(self) -> ProvidedMetadata:
        return ProvidedMetadata(
            description=self.comment,
            columns=self.columns,
            partition_columns=self.partition_columns,
            configuration=self.configuration,
        )


def provided_metadata(spark: SparkSession, create: ParsedCreate) -> Provided:
    """The metadata that ``create`` gives. No query is run."""
    steps = {"empty": _defined, "as_select": _selected, "like": _like, "clone": _cloned}
    provided = steps[create.form](spark, create)
    properties = properties_given(create, options_stay=is_on(read_confs(spark, (OPTIONS_STAY,)), OPTIONS_STAY, "false"))
    # Spark takes it for the table's comment
    comment = properties.pop(COMMENT, None) if create.form in ("empty", "as_select") else None
    if provided.comment is None:
        provided = dataclasses.replace(provided, comment=comment)
    return dataclasses.replace(provided, configuration={**provided.configuration, **properties})


def session_defaults(spark: SparkSession) -> dict[str, str]:
    """The table properties that the session gives every new table (DeltaConfigs.mergeGlobalConfigs)."""
    keys = [key for key in spark.conf.getAll if known_default(key)]
    confs = read_confs(spark, keys)
    return {normal_key(f"delta.{key[len(DEFAULTS) :]}"): value for key, value in confs.items()}


def _defined(spark: SparkSession, create: ParsedCreate) -> Provided:
    if not create.columns:
        return Provided((), (), comment=create.comment)
    casts = ", ".join(f"CAST(NULL AS {column.type}) AS c{i}" for i, column in enumerate(create.columns))
    schema = schema_of(spark, f"SELECT {casts}")
    columns = []
    for column, known in zip(create.columns, schema.fields, strict=True):
        char = CHAR_TYPE.match(column.type)
        columns.append(
            StateColumn(
                name=column.name,
                type=f"{(char[1] or char[2]).lower()}({char[3]})" if char else as_declared(known.dataType),
                nullable=column.nullable,
                comment=column.comment,
                default=column.default,
                generated_as=column.generated_as,
                identity=column.counted is not None,
                counted=column.counted,
            )
        )
    types = [(column.name, known.dataType) for column, known in zip(columns, schema.fields, strict=True)]
    not_generated, other_type = _generation_faults(spark, columns, dict(types))
    return Provided(
        columns=tuple(columns),
        partition_columns=_as_in_schema(create.partition_by, columns),
        clustering_columns=_as_in_schema(create.cluster_by, columns),
        comment=create.comment,
        nested_not_null=any(has_not_null(known.dataType) for known in schema.fields),
        unenforceable=next((name for name, type_ in types if has_unenforceable(type_)), None),
        leaves={name: leaf for one in types for name, leaf in leaves_of(*one)},
        field_names=tuple(name for _, type_ in types for name in field_names(type_)),
        inside=facts_inside(types),
        ids=column_ids(schema),
        types={name: types_in(type_) for name, type_ in types},
        not_generated=not_generated,
        other_type=other_type,
    )


def _generation_faults(
    spark: SparkSession, columns: Sequence[StateColumn], types: Mapping[str, DataType]
) -> tuple[tuple[str, str] | None, tuple[str, str] | None]:
    """``not_generated`` and ``other_type`` of Provided."""
    base = {one.name: types[one.name] for one in columns if one.generated_as is None}
    generated = [(one.name, one.generated_as) for one in columns if one.generated_as]
    for name, expression in generated:
        if (part := unsupported_part(spark, expression, base)) is not None:
            return (name, part), None
    # nothing in a simple print tells what may be NULL, which Delta does not compare either
    found = ((name, type_of(spark, expression, base)) for name, expression in generated)
    return None, next(((name, type_) for name, type_ in found if type_ != types[name].simpleString()), None)


def _selected(spark: SparkSession, create: ParsedCreate) -> Provided:
    # Delta writes what a query gives as nullable (asNullable)
    schema = schema_of(spark, create.query or "")
    columns = [column.model_copy(update={"nullable": True}) for column in state_columns(schema)]
    return Provided(
        columns=tuple(columns),
        partition_columns=_as_in_schema(create.partition_by, columns),
        clustering_columns=_as_in_schema(create.cluster_by, columns),
        comment=create.comment,
        holds_void=next((one.name for one in schema.fields if holds_void(one.dataType)), None),
        leaves={name: leaf for one in schema.fields for name, leaf in leaves_of(one.name, one.dataType)},
        field_names=tuple(field_names(schema)),
        ids=column_ids(schema),
        types=_types_of(schema),
    )


def with_counted_source(spark: SparkSession, create: ParsedCreate, provided: Provided) -> Provided:
    """``provided`` of a CTAS with its query: that is run, and its rows are counted."""
    query = f"({create.query}\n)"
    plan = query_plan(spark, "", f"{query} AS q")
    pinned = {name: current_version(spark, name) for name in delta_tables(spark, plan)}
    schema = schema_of(spark, create.query or "")
    keys = ", ".join(quote(name) for name in provided.partition_columns)
    items = (f"CAST(count(DISTINCT `struct`({keys})) AS STRING)",) if keys else ()
    num_rows, fingerprint, cells = source_fingerprint(spark, query, schema, "q", items)
    source = CreateSource(
        sql=create.query or "",
        pinned_versions=pinned,
        num_rows=num_rows,
        num_partitions=int(cells[0] or 0) if cells else None,
        fingerprint=fingerprint,
        volatile=volatile_behind(spark, query, plan.analyzed, user_functions(spark)),
    )
    return dataclasses.replace(provided, source=source)


def _like(spark: SparkSession, create: ParsedCreate) -> Provided:
    name = create.source or ""
    table = delta_table_now(spark, name)
    if table is None:
        return _other_format(spark, name)
    state = table.state
    return Provided(
        columns=state.columns,
        partition_columns=state.partition_columns,
        configuration=_copied({k: v for k, v in state.properties.items() if v is not None and k not in NOT_COPIED}),
        comment=state.comment or None,
        protocol=protocol_known(state),
        types=_types_of(table.schema),
        inside=facts_of_schema(table.schema),
        ids=column_ids(table.schema),
        source=CreateSource(sql=name, pinned_versions={name: table.version}, fingerprint=table.table_id),
    )


def _cloned(spark: SparkSession, create: ParsedCreate) -> Provided:
    name = create.source or ""
    table = delta_table_now(spark, name)
    if table is None:
        return _cloned_parquet(spark, create)
    if create.source_at:
        version = traveled_version(spark, name, create.source_at)
        table = delta_table_at(spark, name, table, version) if version != table.version else table
    state = table.state
    return Provided(
        columns=state.columns,
        partition_columns=state.partition_columns,
        clustering_columns=state.clustering_columns,
        configuration=_copied(state.properties),
        protocol=protocol_known(state),
        source_mapping=state.properties.get("delta.columnMapping.mode"),
        source=CreateSource(
            sql=f"{name} {create.source_at}".strip(),
            pinned_versions={name: table.version},
            fingerprint=table.table_id,
        ),
        types=_types_of(table.schema),
        ids=column_ids(table.schema),
        num_files=state.num_files or 0,
        num_bytes=state.num_bytes or 0,
    )


def _cloned_parquet(spark: SparkSession, create: ParsedCreate) -> Provided:
    """CloneParquetSource, which Delta makes of nothing else that is no Delta table."""
    name = create.source or ""
    entry = catalog_entry(spark, name)
    check_format(spark, create, entry)
    other = _other_format(spark, name)
    columns = tuple(column.model_copy(update={"nullable": True}) for column in other.columns)
    # Spark takes a path that is typed for a pattern
    place = escaped(entry.location) if entry and entry.location else name.partition(".")[2].strip("`")
    parquet = dataclasses.replace(other, columns=columns, comment=None)
    if other.partition_columns:
        # the files are those of the partitions that the catalog has
        paths = [plain(file) for file in files_of_query(spark, f"SELECT * FROM {name}")]
        fault = partitions_fault(spark, name, plain(entry.location if entry else ""), paths)
        source = CreateSource(sql=name, fingerprint=hashlib.sha256("\n".join(sorted(paths)).encode()).hexdigest())
        return dataclasses.replace(parquet, num_files=None, num_bytes=None, unclonable=fault, source=source)
    stamps = "CAST(bit_xor(xxhash64(path, length, modificationTime)) AS STRING)"
    files = spark.sql(f"SELECT count(*), sum(length), {stamps} FROM binaryFile.{quote(place)}").collect()[0]
    if entry is None:
        parquet = dataclasses.replace(parquet, unclonable=directories(spark, place))
    source = CreateSource(sql=name, fingerprint=files[2] or "")
    return dataclasses.replace(parquet, num_files=int(files[0]), num_bytes=int(files[1] or 0), source=source)


def protocol_known(state: TableState) -> Protocol:
    """The protocol of a table that is copied, with the features that this Delta knows."""
    return Protocol(state.min_reader_version, state.min_writer_version, known_features(state.features))


def traveled_version(spark: SparkSession, name: str, at: str) -> int:
    """The version that ``VERSION AS OF`` or ``TIMESTAMP AS OF`` names. What Delta refuses is raised in its words."""
    schema_of(spark, f"SELECT * FROM {name} {at}")
    value = tokenize(at)[-1]
    if not value.is_string:
        return int(value.text)
    history = spark.sql(f"DESCRIBE HISTORY {name}").where(f"timestamp <= CAST({value.text} AS TIMESTAMP)")
    return int(history.selectExpr("max(version) AS version").collect()[0][0])


def delta_table_at(spark: SparkSession, name: str, now: DeltaTableNow, version: int) -> DeltaTableNow:
    """A Delta table at an older version, read out of its log."""
    location = now.state.location
    logged = logged_metadata(spark, location, version)
    files = list_files(spark, location, version)
    schema = schema_of(spark, f"SELECT * FROM {name} VERSION AS OF {version}")
    state = TableState(
        location=location,
        columns=with_log(spark, state_columns(schema), location, version, logged.features),
        partition_columns=logged.partition_columns,
        clustering_columns=logged_clustering(spark, location, version) if "clustering" in logged.features else (),
        comment=logged.description,
        properties=dict(logged.configuration),
        min_reader_version=logged.min_reader_version,
        min_writer_version=logged.min_writer_version,
        features=logged.features or tuple(sorted(implied_by(logged.min_reader_version, logged.min_writer_version))),
        num_files=len(files),
        num_bytes=sum(file.bytes for file in files),
    )
    return DeltaTableNow(logged.table_id, version, state, schema)


def _other_format(spark: SparkSession, name: str) -> Provided:
    """A table that is not Delta, as the catalog describes it."""
    schema = schema_of(spark, f"SELECT * FROM {name}")
    properties: dict[str, str] = {}
    partitions: tuple[str, ...] = ()
    comment = ""
    entry = catalog_entry(spark, name)
    if entry is not None and entry.kind == "VIEW":
        raise UsageError(
            "LIKE_A_VIEW",
            f"{name} is a view: a table made like it would get the view's own properties as table properties.",
            f"Write CREATE TABLE … USING delta AS SELECT * FROM {name} WHERE false.",
        )
    if entry is not None:
        rows = [(str(r[0]), str(r[1])) for r in spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()]
        begin = next((i for i, row in enumerate(rows) if row[0] == "# Partition Information"), len(rows))
        after = [row[0] for row in rows[begin + 2 :]]
        partitions = tuple(after[: next((i for i, one in enumerate(after) if not one), 0)])
        comment = next((value for key, value in rows if key == "Comment"), "")
        property_rows = spark.sql(f"SHOW TBLPROPERTIES {name}").collect()
        properties = {str(r[0]): str(r[1]) for r in property_rows if str(r[0]) not in TRANSIENT}
    return Provided(
        columns=state_columns(schema),
        types=_types_of(schema),
        inside=facts_of_schema(schema),
        ids=column_ids(schema),
        partition_columns=partitions,
        configuration=properties,
        comment=comment or None,
        source=CreateSource(sql=name),
    )


def _types_of(schema: StructType) -> dict[str, frozenset[str]]:
    return {one.name: types_in(one.dataType) for one in schema.fields}


def _copied(properties: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in properties.items() if value is not None}


def _as_in_schema(names: tuple[str, ...], columns: list[StateColumn]) -> tuple[str, ...]:
    """``names`` as the columns write them; one that is no column stays as typed."""
    written = {column.name.lower(): column.name for column in columns}
    return tuple(written.get(name.lower(), name) for name in names)
