"""The columns of a table as its log has them: physical names and generation expressions, which no query shows."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.delta_log import LogFile, LogSegment, log_segment
from engine.errors import EngineError
from engine.names import quote
from engine.spark_errors import translate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

METADATA = "STRUCT<metaData: STRUCT<schemaString: STRING>>"
TABLE = (
    "STRUCT<metaData: STRUCT<description: STRING, partitionColumns: ARRAY<STRING>, "
    "configuration: MAP<STRING, STRING>>, "
    "protocol: STRUCT<minReaderVersion: INT, minWriterVersion: INT, readerFeatures: ARRAY<STRING>, "
    "writerFeatures: ARRAY<STRING>>>"
)


@dataclass(frozen=True)
class LoggedColumn:
    """A column, or a field of a struct. ``physical_name`` is what files, partition values and statistics call it."""

    name: str
    physical_name: str
    generated_as: str | None = None
    identity: bool = False
    fields: tuple[LoggedColumn, ...] = ()


def logged_schema(spark: SparkSession, path: str, version: int) -> tuple[LoggedColumn, ...]:
    """The columns of ``version`` of the table at ``path``, by its newest metaData action up to then."""
    try:
        text = _schema_string(spark, log_segment(spark, path, version))
    except EngineError:
        raise
    except Exception as error:
        raise translate(error) from error
    return tuple(_column(field) for field in json.loads(text)["fields"])


@dataclass(frozen=True)
class LoggedMetadata:
    """What the log says of a table beside its columns. ``features`` are those that its protocol names, sorted."""

    description: str
    partition_columns: tuple[str, ...]
    configuration: dict[str, str]
    min_reader_version: int
    min_writer_version: int
    features: tuple[str, ...]


def logged_metadata(spark: SparkSession, path: str, version: int) -> LoggedMetadata:
    """The newest metaData and protocol actions up to ``version`` of the table at ``path``."""
    try:
        segment = log_segment(spark, path, version)
        rows = _table_actions(spark, segment)
    except EngineError:
        raise
    except Exception as error:
        raise translate(error) from error
    metadata = next(row["metaData"] for row in rows if row["metaData"] is not None)
    protocol = next(row["protocol"] for row in rows if row["protocol"] is not None)
    named = {*(protocol["readerFeatures"] or ()), *(protocol["writerFeatures"] or ())}
    return LoggedMetadata(
        description=metadata["description"] or "",
        partition_columns=tuple(metadata["partitionColumns"] or ()),
        configuration=dict(sorted(dict(metadata["configuration"] or {}).items())),
        min_reader_version=int(protocol["minReaderVersion"]),
        min_writer_version=int(protocol["minWriterVersion"]),
        features=tuple(sorted(named)),
    )


def _table_actions(spark: SparkSession, segment: LogSegment) -> list[Any]:
    """Rows with ``metaData`` or ``protocol``, newest first."""
    rows: list[Any] = []
    if segment.commits:
        place = quote(f"{segment.directory}/{{{','.join(segment.commits)}}}")
        rows += spark.sql(
            f"SELECT a.* FROM (SELECT _metadata.file_name AS commit_file, from_json(value, '{TABLE}') AS a "
            f"FROM text.{place} "
            "WHERE value LIKE '{\"metaData\"%' OR value LIKE '{\"protocol\"%') ORDER BY commit_file DESC"
        ).collect()
    if segment.checkpoint_files:
        place = quote(f"{segment.directory}/{{{','.join(segment.checkpoint_files)}}}")
        if segment.checkpoint_format == "json":
            query = f"SELECT from_json(value, '{TABLE}') AS a FROM text.{place}"
        else:
            query = f"SELECT from_json(to_json(struct(metaData, protocol)), '{TABLE}') AS a FROM parquet.{place}"
        rows += spark.sql(f"SELECT a.* FROM ({query}) WHERE a.metaData IS NOT NULL OR a.protocol IS NOT NULL").collect()
    return rows


def _column(field: Mapping[str, Any]) -> LoggedColumn:
    metadata = field.get("metadata") or {}
    name, data_type = str(field["name"]), field["type"]
    return LoggedColumn(
        name=name,
        physical_name=str(metadata.get("delta.columnMapping.physicalName", name)),
        generated_as=metadata.get("delta.generationExpression"),
        identity="delta.identity.start" in metadata,
        fields=tuple(_column(one) for one in data_type.get("fields", ())) if isinstance(data_type, dict) else (),
    )


def _schema_string(spark: SparkSession, segment: LogSegment) -> str:
    if segment.commits:
        place = quote(f"{segment.directory}/{{{','.join(segment.commits)}}}")
        newest = spark.sql(
            f"SELECT max_by(from_json(value, '{METADATA}').metaData.schemaString, _metadata.file_name) "
            f"FROM text.{place} WHERE value LIKE '{{\"metaData\"%'"
        ).collect()[0][0]
        if newest is not None:
            return str(newest)
    place = quote(f"{segment.directory}/{{{','.join(segment.checkpoint_files)}}}")
    actions = (
        f"(SELECT from_json(value, '{METADATA}').metaData FROM text.{place})"
        if segment.checkpoint_format == "json"
        else f"parquet.{place}"
    )
    return str(spark.sql(f"SELECT metaData.schemaString FROM {actions} WHERE metaData IS NOT NULL").collect()[0][0])


def logical_names(files: Iterable[LogFile], columns: Sequence[LoggedColumn]) -> tuple[LogFile, ...]:
    """``files`` with their partition values and statistics under the names that people know."""
    return tuple(
        dataclasses.replace(file, partition=_renamed(file.partition, columns), stats=_stats(file.stats, columns))
        for file in files
    )


def _stats(text: str | None, columns: Sequence[LoggedColumn]) -> str | None:
    if text is None or all(column.name == column.physical_name for column in columns):
        return text
    stats = json.loads(text)
    by_column = ("minValues", "maxValues", "nullCount")
    return json.dumps({key: _renamed(of, columns) if key in by_column else of for key, of in stats.items()})


def _renamed(values: Mapping[str, Any], columns: Sequence[LoggedColumn]) -> dict[str, Any]:
    known = {column.physical_name: column for column in columns}
    renamed = {}
    for name, value in values.items():
        column = known.get(name)
        inner = _renamed(value, column.fields) if column and isinstance(value, dict) else value
        renamed[column.name if column else name] = inner
    return renamed
