"""Browsing: schemas, tables, their details, versions and rows, over any SparkSession, in SQL.

Names are SQL text (``cat.db.t``, ``delta.`/path` ``) or a bare path; :func:`table_sql` makes the former of
either. Nothing here writes, and nothing fetches without a bound. What Spark refuses is an EngineError.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta, timezone
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from engine.model.browse import Column, RowPage, TableDetail, TableRef, TableVersion
from engine.model.errors import EngineError, UsageError
from engine.spark.confs import AS_WRITTEN, confs_set
from engine.spark.spark_errors import raise_if_all_ends, translate
from engine.spark.why_refused import says_why_refused
from engine.sql.char_types import declared_type
from engine.sql.literals import shown
from engine.sql.names import quote, quoted_if_needed, string
from engine.sql.store_paths import refuse_credentials
from engine.sql.substitution import reference_in
from engine.table.commits import current_version
from engine.table.table_state import told_by_the_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.table.logged_schema import LoggedColumn

#: The most rows of one page.
MAX_ROWS = 10_000
#: Characters of one cell; fewer if there are many cells.
MAX_CELL = 2_000
MIN_CELL = 40
#: Characters of one page, about.
MAX_PAGE = 8_000_000
#: How deep directories are searched, and how many.
MAX_DEPTH = 6
MAX_DIRECTORIES = 20_000

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:/")
_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.\s][^`.]*)")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

Call = TypeVar("Call", bound=Callable[..., Any])


def _translated(call: Call) -> Call:
    """Raise as EngineError whatever Spark raises."""

    @wraps(call)
    def guarded(*arguments: Any, **named: Any) -> Any:
        try:
            return call(*arguments, **named)
        except EngineError:
            raise
        except Exception as error:
            raise translate(error) from error

    return guarded  # type: ignore[return-value]


# Names


def table_sql(name: str) -> str:
    """``name`` as SQL text, each part quoted where it must be.

    A bare path (``/data/t``, ``s3://b/t``, ``./t``, ``~/t``) becomes ``delta.`path` ``; a relative one is
    taken from the current directory. Raises UsageError (``BAD_TABLE_NAME``) for what is neither.
    """
    text = name.strip()
    refuse_credentials(text)
    if is_path(text):
        return f"delta.{quote(_absolute(text))}"
    return ".".join(quoted_if_needed(part) for part in name_parts(text))


def is_path(name: str) -> bool:
    """Whether ``name`` is a bare path rather than the name of a table."""
    return "`" not in name and (name in (".", "..") or "/" in name or bool(_SCHEME.match(name)))


def name_parts(name: str) -> tuple[str, ...]:
    """The parts of a dotted name, back-quotes removed: ``a.`b.c` `` gives ``("a", "b.c")``."""
    parts: list[str] = []
    position = 0
    text = name.strip()
    while True:
        match = _PART.match(text, position)
        if match is None:
            raise _bad_name(name)
        parts.append(match[1].replace("``", "`") if match[1] is not None else match[2].strip())
        position = match.end()
        if position == len(text):
            return tuple(parts)
        if text[position] != ".":
            raise _bad_name(name)
        position += 1


def _bad_name(name: str) -> UsageError:
    return UsageError(
        "BAD_TABLE_NAME",
        f"{name!r} is not the name of a table.",
        "Write schema.table, `quoted name`.table, or the path of a Delta table.",
    )


def _absolute(path: str) -> str:
    return path if _SCHEME.match(path) else str(Path(path).expanduser().absolute())


# What there is


@_translated
def current_catalog(spark: SparkSession) -> str:
    """The catalog whose schemas are listed without its name."""
    return str(spark.sql("SELECT current_catalog()").collect()[0][0])


@_translated
def list_schemas(spark: SparkSession) -> list[str]:
    """The schemas of the current catalog, as SQL text, by name; those of other catalogs as ``cat.schema``."""
    current = current_catalog(spark)
    all_schemas = sorted(quoted_if_needed(str(row[0])) for row in spark.sql("SHOW SCHEMAS").collect())
    for row in spark.sql("SHOW CATALOGS").collect():
        catalog = str(row[0])
        if catalog == current:
            continue
        try:
            schemas = spark.sql(f"SHOW SCHEMAS IN {quote(catalog)}").collect()
            all_schemas += sorted(table_sql(f"{quote(catalog)}.{quote(str(one[0]))}") for one in schemas)
        except Exception as error:
            # a catalog that cannot be reached must not hide the others
            raise_if_all_ends(error)
    return all_schemas


@_translated
def list_tables(spark: SparkSession, schema: str) -> list[TableRef]:
    """The tables of ``schema`` (SQL text), by name; views are left out."""
    parts = name_parts(schema)
    inside = ".".join(quote(part) for part in parts)
    try:
        # One query for all: it also shows which of them are views, and which are Delta.
        rows = spark.sql(f"SHOW TABLE EXTENDED IN {inside} LIKE '*'").collect()
        by_table = {str(row["tableName"]): str(row["information"]) for row in rows if not row["isTemporary"]}
    except Exception as error:
        raise_if_all_ends(error)
        rows = spark.sql(f"SHOW TABLES IN {inside}").collect()
        by_table = {str(row["tableName"]): "" for row in rows if not row["isTemporary"]}
    return [
        TableRef(
            name=".".join(quoted_if_needed(part) for part in (*parts, table)),
            catalog=parts[-2] if len(parts) > 1 else None,
            schema_name=parts[-1],
            table=table,
            is_delta=_is_delta(information),
        )
        for table, information in sorted(by_table.items())
        if not re.search(r"^Type: VIEW$", information, re.MULTILINE)
    ]


def _is_delta(information: str) -> bool | None:
    provider = re.search(r"^Provider: (\S+)$", information, re.MULTILINE)
    return None if provider is None else provider[1].lower() == "delta"


def find_tables(spark: SparkSession, directory: str) -> list[TableRef]:
    """The Delta tables in and below a local ``directory``: those that hold a ``_delta_log``, by path.

    At most six levels down; hidden directories and those inside a table are not looked into. Object stores
    cannot be walked in SQL: EngineError ``DIRECTORY_NOT_LOCAL``. A missing one:
    ``DIRECTORY_NOT_FOUND``.
    """
    del spark  # the search is on this machine; all of browsing takes a session
    path = directory.strip()
    if _SCHEME.match(path) and not path.startswith("file:/"):
        raise EngineError(
            "DIRECTORY_NOT_LOCAL",
            f"{path} is not on this machine: only local directories can be searched.",
            f"Open a table there by its path: delta.`{path.rstrip('/')}/…`",
        )
    root = Path(re.sub(r"^file:/+", "/", path)).expanduser().absolute()
    if not root.is_dir():
        raise EngineError("DIRECTORY_NOT_FOUND", f"There is no directory {root}.", "Check the path.")
    paths: list[Path] = []
    for count, (folder, inner, _) in enumerate(os.walk(root)):
        here = Path(folder)
        if "_delta_log" in inner:
            paths.append(here)
            inner.clear()
        elif count >= MAX_DIRECTORIES or len(here.relative_to(root).parts) >= MAX_DEPTH:
            inner.clear()
        else:
            inner[:] = sorted(name for name in inner if not name.startswith((".", "_")))
    return [TableRef(name=f"delta.{quote(str(one))}", table=one.name, path=str(one), is_delta=True) for one in paths]


# One table


@_translated
@says_why_refused
def table_detail(spark: SparkSession, name: str) -> TableDetail:
    """DESCRIBE DETAIL, the schema and the version of a table.

    A table that is not Delta has no version and no table id, and Spark knows none of its numbers.
    """
    table = table_sql(name)
    detail = (
        spark.sql(f"DESCRIBE DETAIL {table}")
        .selectExpr("*", "unix_micros(createdAt) AS created", "unix_micros(lastModified) AS modified")
        .collect()[0]
        .asDict()
    )
    partitions = tuple(detail["partitionColumns"] or ())
    is_delta = detail["format"] == "delta"
    version = current_version(spark, table) if is_delta else None
    features = tuple(detail.get("tableFeatures") or ())
    logged = {} if version is None else told_by_the_log(spark, detail["location"], version, features)
    return TableDetail(
        name=table,
        path=_local_path(detail["location"] or ""),
        format=detail["format"] or "",
        table_id=detail["id"] or "",
        version=version,
        created_at=_time(detail["created"]),
        last_modified=_time(detail["modified"]),
        description=detail["description"] or "",
        columns=tuple(_as_logged(one, logged.get(one.name)) for one in _columns(spark, table, partitions)),
        partition_columns=partitions,
        clustering_columns=tuple(detail.get("clusteringColumns") or ()),
        num_files=detail["numFiles"] if is_delta else None,
        num_bytes=detail["sizeInBytes"] if is_delta else None,
        properties=dict(detail["properties"] or {}),
        features=features,
        min_reader_version=detail["minReaderVersion"],
        min_writer_version=detail["minWriterVersion"],
    )


@_translated
def table_versions(spark: SparkSession, name: str, limit: int = 100) -> list[TableVersion]:
    """The newest ``limit`` versions of a Delta table, newest first, from DESCRIBE HISTORY."""
    rows = (
        spark.sql(f"DESCRIBE HISTORY {table_sql(name)} LIMIT {max(1, int(limit))}")
        .selectExpr("*", "unix_micros(timestamp) AS at")
        .collect()
    )
    return [
        TableVersion(
            version=int(row["version"]),
            timestamp=_time(row["at"]) or "",
            operation=row["operation"] or "",
            user=row["userName"] or "",
            read_version=row["readVersion"],
            metrics=_texts(row["operationMetrics"]),
            parameters=_texts(row["operationParameters"]),
            user_metadata=row["userMetadata"],
        )
        for row in rows
    ]


@_translated
def table_columns(spark: SparkSession, name: str) -> tuple[Column, ...]:
    """The columns of anything that can be read by a name, a path or a query in brackets; Spark analyses it and runs no
    job."""
    if name.startswith("("):
        refuse_credentials(name)
        return _columns(spark, name)
    return _columns(spark, table_sql(name))


@_translated
def describe_table(spark: SparkSession, name: str) -> tuple[tuple[str, str, str], ...]:
    """The lines of DESCRIBE TABLE EXTENDED: name, type or value, comment."""
    lines = spark.sql(f"DESCRIBE TABLE EXTENDED {table_sql(name)}").collect()
    return tuple((str(line[0] or ""), str(line[1] or ""), str(line[2] or "")) for line in lines)


@_translated
def table_rows(
    spark: SparkSession, name: str, limit: int = 100, version: int | None = None, percent: float | None = None
) -> RowPage:
    """The first ``limit`` rows that Spark reads, of the current version or of ``version``; with ``percent``, of a
    random sample of that share of all rows (TABLESAMPLE, which reads every file).

    Cells are texts as Spark casts them (binary ones as ``0x…``); a long one is cut in Spark and ends in
    ``… (+N)``, N the characters left out. At most 10,000 rows.
    """
    table = table_sql(name)
    count = max(0, min(int(limit), MAX_ROWS))
    at = "" if version is None else f" VERSION AS OF {int(version)}"
    columns = _columns(spark, table + at)
    cell = max(MIN_CELL, min(MAX_CELL, MAX_PAGE // max(1, len(columns) * (count + 1))))
    cells = ", ".join(f"{_cell(column, cell)} AS c{n}" for n, column in enumerate(columns))
    sample = "" if percent is None else f" TABLESAMPLE ({percent:.9f} PERCENT)"
    query = f"SELECT {cells} FROM {table}{at}{sample} LIMIT {count + 1}"
    with confs_set(spark, AS_WRITTEN if reference_in(cells) else {}):
        rows = spark.sql(query).collect() if columns else []
    page = tuple(tuple(row) for row in rows[:count])
    cut = cell if has_cut(columns, page, cell) else None
    return RowPage(columns=columns, rows=page, more=len(rows) > count, cut=cut)


def has_cut(columns: Sequence[Column], rows: Iterable[Sequence[str | None]], most: int) -> bool:
    """Whether a cell is longer than those that stay whole: behind what is left of one that is cut stands its mark."""
    longest = {
        at: len("0x") + most // 2 * 2 if column.type == "binary" else most
        for at, column in enumerate(columns)
        if not column.type.startswith(_SHORT_TYPES)
    }
    return any(len(row[at] or "") > length for row in rows for at, length in longest.items())


def _cell(column: Column, most: int) -> str:
    name = quote(column.name)
    if column.type == "binary":
        shortened = f"concat('0x', hex(substring({name}, 1, {most // 2})))"
        rest = f"length({name}) - {most // 2}"
        return (
            f"CASE WHEN length({name}) > {most // 2} THEN concat({shortened}, '… (+', {rest}, ')') ELSE {shortened} END"
        )
    text = shown(name)
    if column.type.startswith(_SHORT_TYPES):
        return text
    shortened = f"concat(left({text}, {most}), '… (+', length({text}) - {most}, ')')"
    return f"CASE WHEN length({text}) > {most} THEN {shortened} ELSE {text} END"


#: Types whose text is always short: no need to measure it.
_SHORT_TYPES = (
    *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "date", "timestamp"),
    *("interval", "void"),
)


def _columns(spark: SparkSession, table: str, partitions: tuple[str, ...] = ()) -> tuple[Column, ...]:
    in_partition = {name.lower() for name in partitions}
    columns = []
    for field in spark.sql(f"SELECT * FROM {table}").schema.fields:
        metadata = field.metadata or {}
        columns.append(
            Column(
                name=field.name,
                type=declared_type(field),
                nullable=field.nullable,
                comment=metadata.get("comment") or "",
                is_partition=field.name.lower() in in_partition,
                default=metadata.get("CURRENT_DEFAULT"),
            )
        )
    return tuple(columns)


def _as_logged(column: Column, logged: LoggedColumn | None) -> Column:
    if logged is None:
        return column
    return column.model_copy(update={"generated_as": logged.generated_as, "identity": logged.identity})


def _texts(values: Any) -> dict[str, str]:
    return {str(key): "" if value is None else str(value) for key, value in dict(values or {}).items()}


def _time(micros: int | None) -> str | None:
    """ISO 8601 UTC. Spark is asked in microseconds: a datetime would depend on both sides' time zones."""
    if micros is None:
        return None
    at = _EPOCH + timedelta(microseconds=micros)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _local_path(location: str) -> str:
    return re.sub(r"^file:/+", "/", location)


__all__ = [
    "find_tables",
    "is_path",
    "list_schemas",
    "list_tables",
    "name_parts",
    "quote",
    "string",
    "table_detail",
    "table_rows",
    "table_sql",
    "table_versions",
]
