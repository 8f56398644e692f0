"""The columns of a table in its log: physical names, generation expressions and identities, which no query shows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.model.errors import EngineError
from engine.model.identity import Identity
from engine.spark.spark_errors import translate
from engine.sql.names import quoted_if_needed
from engine.table.delta_log import (
    ListedLog,
    LogSegment,
    all_of,
    checkpoint_view,
    is_action,
    is_among,
    listed_log,
    log_state,
    of_files,
)
from engine.table.log_file import BY_COLUMN, LogFile, statistics_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


CLUSTERING = "delta.clustering"
"""The domain whose metadata are the clustering columns (ClusteringMetadataDomain)."""
ACTIONS = {
    "metaData": "STRUCT<id: STRING, description: STRING, schemaString: STRING, partitionColumns: ARRAY<STRING>, "
    "configuration: MAP<STRING, STRING>>",
    "protocol": "STRUCT<minReaderVersion: INT, minWriterVersion: INT, readerFeatures: ARRAY<STRING>, "
    "writerFeatures: ARRAY<STRING>>",
    "domainMetadata": "STRUCT<domain: STRING, configuration: STRING, removed: BOOLEAN>",
}


@dataclass(frozen=True)
class LoggedColumn:
    """A column, or a field of a struct. ``physical_name`` is its name in files, partition values and statistics."""

    name: str
    physical_name: str
    generated_as: str | None = None
    identity: Identity | None = None
    fields: tuple[LoggedColumn, ...] = ()


@dataclass(frozen=True)
class LoggedTable:
    """The newest metaData action of a version. ``fields`` are the schema's, by name, each as JSON."""

    table_id: str
    description: str
    fields: Mapping[str, str]
    partition_columns: tuple[str, ...]
    configuration: Mapping[str, str]


@dataclass(frozen=True)
class LoggedMetadata(LoggedTable):
    """With its newest protocol action. ``features`` are those that it names, sorted."""

    min_reader_version: int
    min_writer_version: int
    features: tuple[str, ...]


def logged_schema(spark: SparkSession, path: str, version: int) -> tuple[LoggedColumn, ...]:
    """The columns of ``version`` of the table at ``path``, by its newest metaData action up to then."""
    metadata = _newest(spark, path, version, "metaData")
    return tuple(_column(field) for field in json.loads(metadata["schemaString"])["fields"])


def logged_table(spark: SparkSession, path: str, version: int) -> LoggedTable:
    """``version`` of the table at ``path``, without its files and its protocol."""
    metadata = _newest(spark, path, version, "metaData")
    return LoggedTable(
        table_id=str(metadata["id"]),
        description=metadata.get("description") or "",
        fields=_fields_of(metadata),
        partition_columns=tuple(metadata.get("partitionColumns") or ()),
        configuration=dict(sorted((metadata.get("configuration") or {}).items())),
    )


def logged_metadata(spark: SparkSession, path: str, version: int) -> LoggedMetadata:
    """``version`` of the table at ``path``, without its files."""
    table, protocol = logged_table(spark, path, version), _newest(spark, path, version, "protocol")
    return LoggedMetadata(
        **vars(table),
        min_reader_version=int(protocol["minReaderVersion"]),
        min_writer_version=int(protocol["minWriterVersion"]),
        features=tuple(sorted({*(protocol.get("readerFeatures") or ()), *(protocol.get("writerFeatures") or ())})),
    )


def logged_clustering(spark: SparkSession, path: str, version: int) -> tuple[str, ...]:
    """The clustering columns of ``version``, as DESCRIBE DETAIL names them; the log has their physical names."""
    text = _newest(spark, path, version, "domainMetadata", CLUSTERING)
    if not text or text.get("removed"):
        return ()
    columns = logged_schema(spark, path, version)
    return tuple(_logical(names, columns) for names in json.loads(text["configuration"])["clusteringColumns"])


def _logical(physical: Sequence[str], columns: Sequence[LoggedColumn]) -> str:
    first, *rest = physical
    column = next(one for one in columns if one.physical_name.lower() == first.lower())
    name = quoted_if_needed(column.name)
    return f"{name}.{_logical(rest, column.fields)}" if rest else name


def _fields_of(metadata: Mapping[str, Any]) -> dict[str, str]:
    return {str(field["name"]): _meaning(field) for field in json.loads(metadata["schemaString"])["fields"]}


def _meaning(field: Mapping[str, Any]) -> str:
    # each write into an identity column moves this mark, and changes nothing else
    metadata = {k: v for k, v in (field.get("metadata") or {}).items() if k != "delta.identity.highWaterMark"}
    return json.dumps({**field, "metadata": metadata}, sort_keys=True)


def _column(field: Mapping[str, Any]) -> LoggedColumn:
    metadata = field.get("metadata") or {}
    name, data_type = str(field["name"]), field["type"]
    return LoggedColumn(
        name=name,
        physical_name=str(metadata.get("delta.columnMapping.physicalName", name)),
        generated_as=metadata.get("delta.generationExpression"),
        identity=_identity(metadata),
        fields=tuple(_column(one) for one in data_type.get("fields", ())) if isinstance(data_type, dict) else (),
    )


def _identity(metadata: Mapping[str, Any]) -> Identity | None:
    if "delta.identity.start" not in metadata:
        return None
    return Identity(
        start=int(metadata["delta.identity.start"]),
        step=int(metadata.get("delta.identity.step", 1)),
        always=not metadata.get("delta.identity.allowExplicitInsert"),
    )


def _newest(spark: SparkSession, path: str, version: int, action: str, domain: str = "") -> dict[str, Any]:
    """The newest action of that name (metaData, protocol) up to ``version``, of that ``domain`` if it is a
    domainMetadata; {} where there is none. Raises EngineError."""
    try:
        with listed_log(spark, path) as log:
            found = json.loads(log.read(version, lambda segment: _newest_text(spark, log, segment, action, domain)))
    except EngineError:
        raise
    except Exception as error:
        raise translate(error) from error
    return dict(found.get(action) or {})


def _newest_text(spark: SparkSession, log: ListedLog, segment: LogSegment, action: str, domain: str) -> str:
    like = is_action(action)
    if domain:
        like += f" AND get_json_object(value, '$.{action}.domain') = '{domain}'"
    if segment.commits:
        query = f"SELECT max_by(value, name) FROM {log.view} WHERE {is_among(segment.commits)} AND {like}"
        newest = spark.sql(query).collect()[0][0]
        if newest is not None:
            return str(newest)
    if not segment.checkpoint_files:
        return "{}"
    place = all_of(segment.directory, segment.checkpoint_files)
    if segment.checkpoint_format == "json":
        rows = spark.sql(f"SELECT value FROM {of_files('text', place)} WHERE {like}").collect()
    else:
        of_domain = f" AND {action}.domain = '{domain}'" if domain else ""
        with checkpoint_view(spark, place, f"{action} {ACTIONS[action]}") as view:
            query = f"SELECT to_json(struct({action})) FROM {view} WHERE {action} IS NOT NULL{of_domain}"
            rows = spark.sql(query).collect()
    if not rows:
        log_state(spark, segment, with_stats=False)  # raises if the checkpoint is empty
    return str(rows[0][0]) if rows else "{}"


def logical_names(files: tuple[LogFile, ...], columns: Sequence[LoggedColumn]) -> tuple[LogFile, ...]:
    """``files`` with partition values and statistics under the columns' logical names."""
    if not _renames(columns):
        return files
    names = {column.physical_name: column.name for column in columns}
    return tuple(
        file._replace(
            partition={names.get(name, name): value for name, value in file.partition.items()},
            stats=_stats(file.stats, columns),
        )
        for file in files
    )


def _renames(columns: Iterable[LoggedColumn]) -> bool:
    return any(column.name != column.physical_name or _renames(column.fields) for column in columns)


def _stats(text: str | None, columns: Sequence[LoggedColumn]) -> str | None:
    if text is None:
        return text
    stats = statistics_of(text, _number)
    return json.dumps({key: _renamed(of, columns) if key in BY_COLUMN else of for key, of in stats.items()})


def _number(text: str) -> float | str:
    """A number that is written again as it was read; else its text."""
    number = float(text)
    return number if repr(number) == text else text


def _renamed(values: Mapping[str, Any], columns: Sequence[LoggedColumn]) -> dict[str, Any]:
    by_name = {column.physical_name: column for column in columns}
    renamed = {}
    for name, value in values.items():
        column = by_name.get(name)
        inner = _renamed(value, column.fields) if column and isinstance(value, dict) else value
        renamed[column.name if column else name] = inner
    return renamed
