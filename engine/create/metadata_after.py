"""Provided → TableState: what OptimisticTransaction.updateMetadata makes of it, with the session's defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.create.column_ids import ColumnIds
from engine.create.handle_commit import handle_commit
from engine.create.provided_metadata import Provided
from engine.create.situation import Situation
from engine.model.create_values import StateColumn, TableState
from engine.spark.confs import is_on, read_confs
from engine.table.mapping_mode import MODE, mode_of
from engine.table.table_features import (
    FEATURE_PREFIX,
    Protocol,
    enabled_by_metadata,
    is_protocol_property,
    merged_protocol,
    named_features,
    protocol_for_new_table,
    protocol_of,
    with_required,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.sql.parse_create import ParsedCreate

DOWNGRADE = "spark.databricks.delta.replace.protocolDowngradeAllowed"
CLONE_DOWNGRADE = "spark.databricks.delta.restore.protocolDowngradeAllowed"
MAX_COLUMN_ID = "delta.columnMapping.maxColumnId"
ROW_TRACKING_COLUMNS = (
    "delta.rowTracking.materializedRowIdColumnName",
    "delta.rowTracking.materializedRowCommitVersionColumnName",
)
IN_COMMIT_TIMESTAMPS = "delta.enableInCommitTimestamps"
ENABLEMENT = ("delta.inCommitTimestampEnablementVersion", "delta.inCommitTimestampEnablementTimestamp")
KEPT_BY_REPLACE = ("delta.enableDeletionVectors", "delta.checkpointPolicy", "delta.enableRowTracking")
ICEBERG_COMPAT = tuple(f"delta.enableIcebergCompatV{version}" for version in (1, 2, 3))
IDS_FOR_HELD = ICEBERG_COMPAT[1:]


def state_after(spark: SparkSession, create: ParsedCreate, provided: Provided, around: Situation) -> TableState:
    """The state that a commit of ``create`` leaves."""
    before = around.before
    configuration = with_iceberg_compat(around.with_defaults(provided.configuration))
    protocol = protocol_after(spark, create, provided, configuration, before)
    properties = properties_after(create, provided.ids, configuration, protocol, before)
    files = handle_commit(create, provided, before)
    return TableState(
        location=around.location,
        columns=columns_after(create, provided, before),
        partition_columns=provided.partition_columns,
        clustering_columns=provided.clustering_columns,
        comment=comment_after(create, provided, before),
        properties=dict(sorted(properties.items())),
        min_reader_version=protocol.min_reader_version,
        min_writer_version=protocol.min_writer_version,
        features=tuple(sorted(protocol.features)),
        num_files=files.num_files,
        num_bytes=files.num_bytes,
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
                "counted": column.counted if kept_identity else None,
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
    properties: dict[str, str | None] = {**configuration, **(clustered if create.form != "clone" else {})}
    if create.form == "clone":
        allowed = is_on(read_confs(spark, (CLONE_DOWNGRADE,)), CLONE_DOWNGRADE, "false")
        old = frozenset(before.features) if before and not allowed else frozenset()
        empty = Protocol(1, 1, old | provided.features)
        # what the metadata needs is enabled before the source's features come to it, so that both forms of one may be
        protocol = merged_protocol(
            empty,
            provided.columns,
            properties,
            types=provided.types_inside,
            supported=frozenset(),
        )
        if before and not allowed and protocol.features == old:
            return Protocol(before.min_reader_version, before.min_writer_version, old)
        return protocol_of(protocol.features)
    if provided.protocol is not None:
        # CREATE TABLE LIKE takes the protocol of its Delta source in its weakest form (Protocol.removeFeature in
        # DeltaAnalysis), and not what is named: the commit only adds what the properties enable
        # (updateMetadataAndProtocolWithRequiredFeatures)
        weakest, enabling = protocol_of(provided.features), without_protocol(properties)
        return merged_protocol(weakest, provided.columns, enabling, types=provided.types_inside)
    properties = {**kept_by_replace(create, before), **properties}
    columns, types, not_null = provided.columns, provided.types_inside, provided.nested_not_null
    downgrade = is_on(read_confs(spark, (DOWNGRADE,)), DOWNGRADE, "false")
    if before is None or downgrade:
        return protocol_for_new_table(columns, properties, {}, types=types, nested_not_null=not_null)
    old_protocol = Protocol(before.min_reader_version, before.min_writer_version, frozenset(before.features))
    return merged_protocol(old_protocol, columns, properties, types=types, nested_not_null=not_null)


def properties_after(
    create: ParsedCreate,
    ids: ColumnIds,
    configuration: Mapping[str, str | None],
    protocol: Protocol,
    before: TableState | None,
) -> dict[str, str | None]:
    """The log's configuration; what only the commit knows is None."""
    properties = without_protocol(configuration)
    copies_ids = create.form == "clone"
    if mode_of(properties) != "none" and not (copies_ids and MAX_COLUMN_ID in properties):
        held = ids.held if any(is_on(properties, key, "false") for key in IDS_FOR_HELD) else 0
        # a replaced table keeps the ids of columns that stay, and goes on counting
        properties[MAX_COLUMN_ID] = None if before else str(ids.fields + held)
    for key in ROW_TRACKING_COLUMNS:
        properties.pop(key, None)
    copies_protocol = create.form in ("clone", "like")
    if tracks_rows(configuration, before) if copies_protocol else "rowTracking" in protocol.features:
        properties |= dict.fromkeys(ROW_TRACKING_COLUMNS)
    was_off = before is not None and not is_on(before.properties, IN_COMMIT_TIMESTAMPS, "false")
    if was_off and is_on(properties, IN_COMMIT_TIMESTAMPS, "false"):
        properties |= dict.fromkeys(ENABLEMENT)
    return {**kept_by_replace(create, before), **properties}


def tracks_rows(configuration: Mapping[str, str | None], before: TableState | None) -> bool:
    """Whether a clone or a table LIKE another has row tracking before the protocol of its source comes to it: only
    then it gets columns for it (MaterializedRowTrackingColumn.updateMaterializedColumnName)."""
    enabled = enabled_by_metadata((), configuration) | named_features(configuration)
    return "rowTracking" in with_required(enabled) or (before is not None and "rowTracking" in before.features)


def without_protocol(configuration: Mapping[str, str | None]) -> dict[str, str | None]:
    return {key: value for key, value in configuration.items() if not is_protocol_property(key)}


def kept_by_replace(create: ParsedCreate, before: TableState | None) -> dict[str, str | None]:
    """updateMetadataForNewTableInReplace: what was on stays on, unless the statement says otherwise."""
    if before is None or create.form == "clone":
        return {}
    return {key: before.properties[key] for key in KEPT_BY_REPLACE if key in before.properties}


def with_iceberg_compat(configuration: Mapping[str, str]) -> dict[str, str | None]:
    """UniversalFormat.enforceDependenciesInConfiguration: IcebergCompat brings column mapping by name."""
    properties: dict[str, str | None] = dict(configuration)
    if any(is_on(configuration, key, "false") for key in ICEBERG_COMPAT):
        properties.setdefault(MODE, "name")
        properties.setdefault("delta.universalFormat.iceberg.atomicConversion.supported", "true")
    return properties
