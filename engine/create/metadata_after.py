"""Provided → TableState: what OptimisticTransaction.updateMetadata makes of it, with the session's defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.create.provided_metadata import Provided, session_defaults
from engine.model.create_values import StateColumn, TableState
from engine.spark.confs import is_on, read_confs
from engine.table.table_features import (
    FEATURE_PREFIX,
    Protocol,
    is_protocol_property,
    merged_protocol,
    protocol_for_new_table,
    protocol_of,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.sql.parse_create import ParsedCreate

DOWNGRADE = "spark.databricks.delta.replace.protocolDowngradeAllowed"
MAX_COLUMN_ID = "delta.columnMapping.maxColumnId"
MODE = "delta.columnMapping.mode"
ROW_TRACKING_COLUMNS = (
    "delta.rowTracking.materializedRowIdColumnName",
    "delta.rowTracking.materializedRowCommitVersionColumnName",
)
IN_COMMIT_TIMESTAMPS = "delta.enableInCommitTimestamps"
ENABLEMENT = ("delta.inCommitTimestampEnablementVersion", "delta.inCommitTimestampEnablementTimestamp")
KEPT_BY_REPLACE = ("delta.enableDeletionVectors", "delta.checkpointPolicy", "delta.enableRowTracking")
ICEBERG_COMPAT = tuple(f"delta.enableIcebergCompatV{version}" for version in (1, 2, 3))


def state_after(
    spark: SparkSession, create: ParsedCreate, provided: Provided, before: TableState | None, location: str
) -> TableState:
    """The state that a commit of ``create`` leaves; ``before`` is that of the log that it replaces, if any."""
    defaults = {} if create.form == "clone" else session_defaults(spark)
    if is_on(provided.configuration, "delta.ignoreProtocolDefaults", "false"):
        defaults = {key: value for key, value in defaults.items() if not is_protocol_property(key)}
    configuration = with_iceberg_compat({**defaults, **provided.configuration})
    protocol = protocol_after(spark, create, provided, configuration, before)
    properties = properties_after(create, provided.columns, configuration, protocol, before)
    files: int | None = 0
    size: int | None = 0
    if create.form == "as_select":
        # one row is one file; how many files more rows make is Spark's to decide while it runs
        files = size = None
    elif create.form == "clone":
        files, size = provided.num_files, provided.num_bytes
    return TableState(
        location=location,
        columns=columns_after(create, provided, before),
        partition_columns=provided.partition_columns,
        clustering_columns=provided.clustering_columns,
        comment=comment_after(create, provided, before),
        properties=dict(sorted(properties.items())),
        min_reader_version=protocol.min_reader_version,
        min_writer_version=protocol.min_writer_version,
        features=tuple(sorted(protocol.features)),
        num_files=files,
        num_bytes=size,
    )


def columns_after(create: ParsedCreate, provided: Provided, before: TableState | None) -> tuple[StateColumn, ...]:
    """A clone over a table whose protocol has no generated or identity columns loses those of its source."""
    if create.form != "clone" or before is None:
        return provided.columns
    kept_generated, kept_identity = (name in before.features for name in ("generatedColumns", "identityColumns"))
    return tuple(
        column.model_copy(
            update={
                "generated_as": column.generated_as if kept_generated else None,
                "identity": column.identity and kept_identity,
            }
        )
        for column in provided.columns
    )


def comment_after(create: ParsedCreate, provided: Provided, before: TableState | None) -> str:
    """A clone keeps the description of the table it replaces, and takes none from its source."""
    if create.form == "clone":
        return before.comment if before else ""
    return provided.comment or ""


def protocol_after(
    spark: SparkSession,
    create: ParsedCreate,
    provided: Provided,
    configuration: Mapping[str, str | None],
    before: TableState | None,
) -> Protocol:
    """OptimisticTransaction.updateMetadata, CloneTableBase.determineTargetProtocol."""
    clustered = {f"{FEATURE_PREFIX}clustering": "supported"} if provided.clustering_columns else {}
    given: dict[str, str | None] = {**configuration, **(clustered if create.form != "clone" else {})}
    if create.form == "clone":
        source = provided.features
        old = frozenset(before.features) if before else frozenset()
        empty = Protocol(1, 1, old | source)
        found = merged_protocol(empty, provided.columns, given, nested_not_null=provided.nested_not_null)
        if before and found.features == old:
            return Protocol(before.min_reader_version, before.min_writer_version, old)
        return protocol_of(found.features)
    downgrade = is_on(read_confs(spark, (DOWNGRADE,)), DOWNGRADE, "false")
    if before is None or downgrade:
        new = protocol_for_new_table(provided.columns, given, {}, nested_not_null=provided.nested_not_null)
        # CREATE TABLE LIKE takes the protocol of its Delta source whole
        return protocol_of(provided.features) if provided.features else new
    old_protocol = Protocol(before.min_reader_version, before.min_writer_version, frozenset(before.features))
    return merged_protocol(old_protocol, provided.columns, given, nested_not_null=provided.nested_not_null)


def properties_after(
    create: ParsedCreate,
    columns: tuple[StateColumn, ...],
    configuration: Mapping[str, str | None],
    protocol: Protocol,
    before: TableState | None,
) -> dict[str, str | None]:
    """The log's configuration; what only the commit knows is None."""
    found = {key: value for key, value in configuration.items() if not is_protocol_property(key)}
    copies_ids = create.form == "clone"
    if (found.get(MODE) or "none").lower() != "none" and not (copies_ids and MAX_COLUMN_ID in found):
        # a replaced table keeps the ids of columns that stay, and goes on counting
        found[MAX_COLUMN_ID] = None if before else str(sum(1 + column.type.count(":") for column in columns))
    if "rowTracking" in protocol.features:
        for key in ROW_TRACKING_COLUMNS:
            found[key] = None
    was_off = before is not None and not is_on(before.properties, IN_COMMIT_TIMESTAMPS, "false")
    if was_off and is_on(found, IN_COMMIT_TIMESTAMPS, "false"):
        found |= dict.fromkeys(ENABLEMENT)
    if before is not None and create.form != "clone":
        # updateMetadataForNewTableInReplace: what was on stays on, unless the statement says otherwise
        for key in KEPT_BY_REPLACE:
            if key in before.properties:
                found.setdefault(key, before.properties[key])
    return found


def with_iceberg_compat(configuration: Mapping[str, str]) -> dict[str, str | None]:
    """UniversalFormat.enforceDependenciesInConfiguration: IcebergCompat brings column mapping by name."""
    found: dict[str, str | None] = dict(configuration)
    if any(is_on(configuration, key, "false") for key in ICEBERG_COMPAT):
        found.setdefault(MODE, "name")
        found.setdefault("delta.universalFormat.iceberg.atomicConversion.supported", "true")
    return found
