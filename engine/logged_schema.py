"""The columns of a table as its log has them: physical names and generation expressions, which no query shows."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.delta_log import LogFile, LogSegment, log_segment
from engine.errors import EngineError
from engine.names import quote
from engine.spark_errors import translate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class LoggedColumn:
    """A top-level column. ``physical_name`` is what files, partition values and statistics call it."""

    name: str
    physical_name: str
    generated_as: str | None = None
    identity: bool = False


@dataclass(frozen=True)
class LoggedMetadata:
    """The newest metaData and protocol actions of a version, as far as a MERGE depends on them.

    ``fields`` are the schema's, by name, each as JSON; ``protocol`` the versions and features.
    """

    table_id: str
    fields: Mapping[str, str]
    partition_columns: tuple[str, ...]
    properties: Mapping[str, str]
    protocol: tuple[str, ...]


def logged_schema(spark: SparkSession, path: str, version: int) -> tuple[LoggedColumn, ...]:
    """The columns of ``version`` of the table at ``path``, by its newest metaData action up to then."""
    metadata = _newest(spark, path, version, "metaData")
    return tuple(_column(field) for field in json.loads(metadata["schemaString"])["fields"])


def logged_metadata(spark: SparkSession, path: str, version: int) -> LoggedMetadata:
    """What ``version`` of the table at ``path`` is, beside its files."""
    metadata, protocol = (_newest(spark, path, version, action) for action in ("metaData", "protocol"))
    features = (*(protocol.get("readerFeatures") or ()), *(protocol.get("writerFeatures") or ()))
    return LoggedMetadata(
        table_id=str(metadata["id"]),
        fields={str(field["name"]): _meaning(field) for field in json.loads(metadata["schemaString"])["fields"]},
        partition_columns=tuple(metadata.get("partitionColumns") or ()),
        properties=dict(metadata.get("configuration") or {}),
        protocol=(
            f"reader {protocol['minReaderVersion']}, writer {protocol['minWriterVersion']}",
            *sorted(set(features)),
        ),
    )


def _meaning(field: Mapping[str, Any]) -> str:
    # each write into an identity column moves this mark, and changes nothing else
    metadata = {k: v for k, v in (field.get("metadata") or {}).items() if k != "delta.identity.highWaterMark"}
    return json.dumps({**field, "metadata": metadata}, sort_keys=True)


def _column(field: Mapping[str, Any]) -> LoggedColumn:
    metadata = field.get("metadata") or {}
    name = str(field["name"])
    return LoggedColumn(
        name=name,
        physical_name=str(metadata.get("delta.columnMapping.physicalName", name)),
        generated_as=metadata.get("delta.generationExpression"),
        identity="delta.identity.start" in metadata,
    )


def _newest(spark: SparkSession, path: str, version: int, action: str) -> dict[str, Any]:
    """The newest action of that name (metaData, protocol) up to ``version``. Raises EngineError."""
    try:
        segment = log_segment(spark, path, version)
        found = json.loads(_newest_text(spark, segment, action))
    except EngineError:
        raise
    except Exception as error:
        raise translate(error) from error
    return dict(found[action])


def _newest_text(spark: SparkSession, segment: LogSegment, action: str) -> str:
    like = f"value LIKE '{{\"{action}\"%'"
    if segment.commits:
        place = quote(f"{segment.directory}/{{{','.join(segment.commits)}}}")
        query = f"SELECT max_by(value, _metadata.file_name) FROM text.{place} WHERE {like}"
        newest = spark.sql(query).collect()[0][0]
        if newest is not None:
            return str(newest)
    place = quote(f"{segment.directory}/{{{','.join(segment.checkpoint_files)}}}")
    if segment.checkpoint_format == "json":
        query = f"SELECT value FROM text.{place} WHERE {like}"
    else:
        query = f"SELECT to_json(struct({action})) FROM parquet.{place} WHERE {action} IS NOT NULL"
    return str(spark.sql(query).collect()[0][0])


def logical_partitions(files: Iterable[LogFile], columns: Iterable[LoggedColumn]) -> tuple[LogFile, ...]:
    """``files`` with their partition values under the names that people know."""
    names = {column.physical_name: column.name for column in columns}
    return tuple(
        dataclasses.replace(file, partition={names.get(name, name): value for name, value in file.partition.items()})
        for file in files
    )
