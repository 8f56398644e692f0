"""A table's catalog entry, and its state from DESCRIBE DETAIL, its schema and its log."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.model.create_values import StateColumn, TableState
from engine.model.errors import EngineError
from engine.spark.input_files import files_of_query
from engine.spark.schema import schema_of
from engine.spark.spark_errors import collected, translate
from engine.sql.char_types import declared_type
from engine.sql.names import quote, string
from engine.sql.store_paths import is_in_store
from engine.table.commits import current_version
from engine.table.delta_log import INCOMPLETE, escaped
from engine.table.logged_schema import LoggedColumn, logged_schema, logged_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

VIEW = "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE"
MISSING = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "PATH_NOT_FOUND", "DELTA_MISSING_DELTA_TABLE")
# a name that no directory has
NOTHING = "_deltamerge_console_asks"
TOLD_BY_THE_LOG = ("generatedColumns", "identityColumns")


@dataclass(frozen=True)
class CatalogEntry:
    """A name in the catalog. ``kind`` is MANAGED, EXTERNAL or VIEW."""

    kind: str
    provider: str
    location: str


@dataclass(frozen=True)
class DeltaTableNow:
    """A Delta table at a version, its newest unless another is asked for."""

    table_id: str
    version: int
    state: TableState
    schema: StructType


def catalog_entry(spark: SparkSession, name: str) -> CatalogEntry | None:
    """The catalog's entry for ``name`` (SQL text), or None."""
    try:
        rows = spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
    except Exception as error:
        if (failure := translate(error)).condition in MISSING:
            return None
        raise failure from error
    begin = next((i for i, row in enumerate(rows) if row[0] == "# Detailed Table Information"), 0)
    told_of = {str(row[0]): str(row[1]) for row in rows[begin + 1 :]}
    return CatalogEntry(
        kind=told_of.get("Type", ""),
        provider=told_of.get("Provider", "").lower(),
        location=told_of.get("Location", ""),
    )


def delta_table_now(spark: SparkSession, name: str) -> DeltaTableNow | None:
    """The Delta table ``name`` (SQL text of a name or path) at its newest version; None if there is no log."""
    try:
        detail = spark.sql(f"DESCRIBE DETAIL {name}").collect()[0]
    except Exception as error:
        if (failure := translate(error)).condition in (*MISSING, VIEW):
            return None
        raise failure from error
    if detail["format"] != "delta":
        return None
    version = current_version(spark, name)
    schema = schema_of(spark, f"SELECT * FROM {name}")
    return DeltaTableNow(str(detail["id"]), version, _state(spark, schema, detail, version), schema)


def _state(spark: SparkSession, schema: StructType, detail: Any, version: int) -> TableState:
    features = tuple(sorted(detail["tableFeatures"] or ()))
    return TableState(
        location=plain(detail["location"]),
        columns=with_log(spark, state_columns(schema), str(detail["location"]), version, features),
        partition_columns=tuple(detail["partitionColumns"] or ()),
        clustering_columns=tuple(detail["clusteringColumns"] or ()),
        comment=detail["description"] or "",
        properties=dict(sorted(dict(detail["properties"] or {}).items())),
        min_reader_version=int(detail["minReaderVersion"]),
        min_writer_version=int(detail["minWriterVersion"]),
        features=features,
        num_files=int(detail["numFiles"] or 0),
        num_bytes=int(detail["sizeInBytes"] or 0),
    )


def with_log(
    spark: SparkSession, columns: tuple[StateColumn, ...], path: str, version: int, features: Collection[str]
) -> tuple[StateColumn, ...]:
    """``columns`` with generation expressions and identity, which no query shows."""
    logged = told_by_the_log(spark, path, version, features)
    return tuple(_as_logged(column, of_log) if (of_log := logged.get(column.name)) else column for column in columns)


def _as_logged(column: StateColumn, of_log: LoggedColumn) -> StateColumn:
    counted = of_log.identity
    update = {"generated_as": of_log.generated_as, "identity": counted is not None, "counted": counted}
    return column.model_copy(update=update)


def told_by_the_log(
    spark: SparkSession, path: str, version: int, features: Collection[str]
) -> Mapping[str, LoggedColumn]:
    """The columns as the log has them, by name; none if the table's ``features`` let no query hide anything of them."""
    if not set(TOLD_BY_THE_LOG).intersection(features):
        return {}
    return {column.name: column for column in logged_schema(spark, path, version)}


def state_columns(schema: StructType) -> tuple[StateColumn, ...]:
    """The columns of a query, types as declared."""
    return tuple(
        StateColumn(
            name=field.name,
            type=declared_type(field),
            nullable=field.nullable,
            comment=str(field.metadata.get("comment") or ""),
            default=field.metadata.get("CURRENT_DEFAULT"),
        )
        for field in schema.fields
    )


def table_id(spark: SparkSession, name: str, since: tuple[str, int] | None = None, *, is_restored: bool = False) -> str:
    """The id of the table, which another table of the same name does not have. Raises EngineError.

    A REPLACE keeps counting versions under a new id. Then ``since``, an id and a version, is searched in the log: if it
    is there, its id is returned. So it is after a RESTORE (``is_restored``), which brings back the id of its version,
    whosever log it commits to.
    """
    detail = collected(spark, f"DESCRIBE DETAIL {name}")[0]
    now = str(detail["id"])
    if since is None or (now == since[0] and not is_restored):
        return now
    try:
        return logged_table(spark, str(detail["location"]), since[1]).table_id
    except EngineError as error:
        if error.condition != INCOMPLETE:
            raise
        return now  # a version that is not there


def qualified_name(spark: SparkSession, parts: tuple[str, ...]) -> tuple[str, ...]:
    """``name`` with its catalog and schema."""
    catalog, schema = spark.sql("SELECT `current_catalog`(), `current_schema`()").collect()[0]
    return (*(str(catalog), str(schema))[: 3 - len(parts)], *parts) if len(parts) < 3 else parts


def default_location(spark: SparkSession, parts: tuple[str, ...]) -> str:
    """Where a managed table of this qualified name lives (SessionCatalog.defaultTablePath)."""
    return f"{schema_location(spark, parts[:-1])}/{parts[-1].lower()}"


def schema_location(spark: SparkSession, parts: tuple[str, ...]) -> str:
    """Where a schema keeps its managed tables; "" if it has no location."""
    schema = ".".join(quote(part) for part in parts)
    try:
        rows = spark.sql(f"DESCRIBE SCHEMA EXTENDED {schema}").collect()
    except Exception as error:
        raise translate(error) from error
    return plain(next((str(row[1]) for row in rows if row[0] == "Location"), ""))


def holds_data(spark: SparkSession, path: str) -> bool:
    """Whether anything is in a directory, were it a hidden file or an empty folder (assertPathEmpty)."""
    return _is_there(spark, f"{escaped(path)}/*")


def has_log_directory(spark: SparkSession, path: str) -> bool:
    """Whether ``_delta_log`` is there, with commits or, after a CREATE that failed, without."""
    return _is_there(spark, escaped(f"{path}/_delta_log"))


def _is_there(spark: SparkSession, pattern: str) -> bool:
    """Whether there is a file or a directory that Hadoop's ``pattern`` names."""
    # without partitions: a directory of tables has some that contradict each other, and Spark refuses to plan that
    query = f"SELECT path FROM binaryFile.{quote(pattern)} WITH (recursiveFileLookup = 'true')"
    try:
        files_of_query(spark, query)
    except Exception as error:
        failure = translate(error)
        if failure.condition == "PATH_NOT_FOUND":
            return False
        if not failure.condition.startswith("DELTA_"):  # only Delta reads a Delta table
            raise failure from error
    return True


def can_be_reached(spark: SparkSession, path: str) -> None:
    """Ask the file system of ``path`` for a missing file: nothing is listed. Raises EngineError if it fails."""
    _is_there(spark, escaped(f"{path}/{NOTHING}"))


def is_a_place(spark: SparkSession, path: str) -> bool:
    """Whether anything is at ``path``, were it an empty folder. An object store has no folders: any path is a place
    there. Nothing is listed."""
    if is_in_store(path):
        return True
    try:
        collected(spark, f"DESCRIBE DETAIL {string(path)}")
    except EngineError as error:
        # Delta looks for the folder where it finds no table; one that cannot be read is there
        return error.condition != "DELTA_FILE_NOT_FOUND"
    return True


def plain(location: str) -> str:
    """A local path without its scheme, as people type it; any other path unchanged."""
    return re.sub(r"^file:/+", "/", str(location)).rstrip("/")
