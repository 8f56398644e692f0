"""The data files of a table version, read out of its Delta log by Spark. Nothing is ever written there.

SQL has no statement that lists a table's files with their row counts and deletion vectors, so the log is read as
the Delta protocol describes it: the newest checkpoint at or before the version, then the commits after it.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from engine.model.errors import EngineError
from engine.spark.input_files import files_of_query
from engine.spark.spark_errors import translate
from engine.spark.temporary_view import temporary_view
from engine.sql.names import quote, string
from engine.table import log_cache
from engine.table.encoded_paths import OTHERWISE_ENCODED, encoded, encoded_again
from engine.table.log_cache import LogState, Stamp
from engine.table.log_file import LogFile

if TYPE_CHECKING:
    from pyarrow import Table
    from pyspark.sql import DataFrame, SparkSession

Answer = TypeVar("Answer")

CHECKPOINT = re.compile(r"(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10}))?(?:\.[0-9a-f-]{36})?\.(parquet|json)$")
COMMIT = re.compile(r"(\d{20})\.json$")
INCOMPLETE = "DELTA_LOG_INCOMPLETE"
CLEANED = "The version is too old to list, or the log was cleaned: plan against the current version."
ELSEWHERE = "A catalog or a coordinator of commits keeps the newest ones elsewhere: plan when they are in _delta_log."
# offset is a reserved word in a session that enforces those of ANSI
DV = "STRUCT<storageType: STRING, pathOrInlineDv: STRING, `offset`: INT, sizeInBytes: INT, cardinality: BIGINT>"
ADD = (
    "STRUCT<path: STRING, partitionValues: MAP<STRING, STRING>, size: BIGINT, modificationTime: BIGINT, "
    f"stats: STRING, deletionVector: {DV}>"
)
REMOVE = f"STRUCT<path: STRING, deletionVector: {DV}>"
SIDECAR = "STRUCT<path: STRING>"
ACTIONS = f"STRUCT<add: {ADD}, remove: {REMOVE}, sidecar: {SIDECAR}>"
STRICT = {"ignoreCorruptFiles": "false", "ignoreMissingFiles": "false"}
"""As Delta reads its log, whatever the session ignores of data (DeltaLog.indexToRelation)."""
STRICTLY = ", ".join(f"{option} = '{value}'" for option, value in STRICT.items())


class EmptyCheckpointError(Exception):
    """The files ``names`` of a checkpoint have no byte, or are gone."""

    def __init__(self, names: Collection[str]) -> None:
        super().__init__(", ".join(names))
        self.names = names


@dataclass(frozen=True)
class LogSegment:
    """Which files of the log make up a version."""

    directory: str
    checkpoint_files: tuple[str, ...]
    commits: tuple[str, ...]
    checkpoint_format: str = ""


def list_files(spark: SparkSession, path: str, version: int, *, with_stats: bool = False) -> tuple[LogFile, ...]:
    """The AddFiles of ``version`` of the table at ``path``, in the log's order of path.

    ``with_stats`` brings the statistics text as well (one row count only, otherwise). A log that cannot be read
    raises an EngineError.
    """
    with files_of_log(spark, path, version) as files:
        return files(with_stats)


@contextmanager
def files_of_log(spark: SparkSession, path: str, version: int) -> Iterator[Callable[[bool], tuple[LogFile, ...]]]:
    """The same in two steps, for listing the log takes a store as long as reading it."""
    try:
        with listed_log(spark, path) as log:
            yield lambda with_stats: log.read(version, lambda segment: _replay(spark, log, segment, with_stats))
    except EngineError:
        raise
    except Exception as error:
        raise translate(error) from error


@dataclass(frozen=True)
class ListedLog:
    """The ``names`` in the ``_delta_log`` of the table at ``path`` when it was listed, and a temporary ``view`` of
    the (name, value) of every line of every file, which opens only the files that a filter of the name leaves."""

    path: str
    names: tuple[str, ...]
    view: str

    def segment(self, version: int) -> LogSegment:
        """The newest complete checkpoint at or before ``version``, and the commits since. Raises EngineError where the
        log has not what makes it up."""
        return _segment(self.path, self.names, version)

    def read(self, version: int, read: Callable[[LogSegment], Answer]) -> Answer:
        """What ``read`` gives of the files that make up ``version``. For a checkpoint of which a writer that died left
        empty files it raises EmptyCheckpointError, and is asked again without these: Delta does not count them, and
        Spark reads no row there."""
        log = self
        while True:
            try:
                return read(log.segment(version))
            except EmptyCheckpointError as empty:
                log = replace(log, names=tuple(name for name in log.names if name not in empty.names))


@contextmanager
def listed_log(spark: SparkSession, path: str) -> Iterator[ListedLog]:
    """The log of the table at ``path``, listed once. The view is dropped at the end. Raises what Spark raises."""
    # a pattern of many names would ask the store for each of them
    lines = _log_lines(spark, escaped(directory_of(path)))
    with temporary_view(spark, "__dm_log_") as view:
        lines.selectExpr("_metadata.file_name AS name", "value").createTempView(view)
        names = sorted(name.rpartition("/")[2] for name in files_of_query(spark, f"SELECT * FROM {view}"))
        yield ListedLog(path, tuple(names), view)


def _log_lines(spark: SparkSession, place: str) -> DataFrame:
    """By a reader, for each mention of text.`path` in SQL is listed anew, over Connect twice.

    Spark Connect keeps for a session what a reader has listed (``planCache``), and takes one of another process for the
    same, which numbers what it asks for from 0 as well: an option that Spark does not know makes it another one.
    """
    once = {"deltamergeListing": uuid.uuid4().hex}
    return spark.read.schema("value STRING").format("text").options(**STRICT, **once).load(place)


def of_files(form: str, place: str) -> str:
    """SQL for the relation of the files at ``place``."""
    return f"{form}.{quote(place)} WITH ({STRICTLY})"


@contextmanager
def checkpoint_view(spark: SparkSession, place: str, columns: str) -> Iterator[str]:
    """A temporary view of these ``columns``, actions with their types, of the Parquet files at ``place``."""
    with temporary_view(spark, "__dm_checkpoint_") as view:
        # with its columns given, Spark reads no footer to learn them, which it does for each mention of parquet.`path`
        spark.sql(
            f"CREATE TEMPORARY VIEW {view} ({columns}) USING parquet OPTIONS (path = {string(place)}, {STRICTLY})"
        )
        yield view


def directory_of(path: str) -> str:
    return f"{path.rstrip('/')}/_delta_log"


def _segment(path: str, names: Sequence[str], version: int) -> LogSegment:
    checkpoints: dict[int, list[tuple[str, re.Match[str]]]] = {}
    for name in names:
        match = CHECKPOINT.fullmatch(name)
        if match and int(match.group(1)) <= version:
            checkpoints.setdefault(int(match.group(1)), []).append((name, match))
    base, parts = -1, tuple[str, ...]()
    for at in sorted(checkpoints, reverse=True):
        complete = _complete(checkpoints[at])
        if complete:
            base, parts = at, complete
            break
    commits = {int(m.group(1)): name for name in names if (m := COMMIT.fullmatch(name))}
    versions = range(base + 1, version + 1)
    missing = next((v for v in versions if v not in commits), None)
    if missing is not None:
        raise EngineError(
            INCOMPLETE,
            f"The log of {path} has no commit {missing} and no checkpoint for it.",
            CLEANED if any(re.match(r"\d{20}\.", name) and int(name[:20]) > missing for name in names) else ELSEWHERE,
        )
    return LogSegment(
        directory=directory_of(path),
        checkpoint_files=parts,
        commits=tuple(commits[v] for v in versions),
        checkpoint_format=parts[0].rpartition(".")[2] if parts else "",
    )


def _complete(files: list[tuple[str, re.Match[str]]]) -> tuple[str, ...]:
    by_count: dict[int, list[str]] = {}
    for name, match in files:
        if match.group(2) is None:
            return (name,)
        by_count.setdefault(int(match.group(3)), []).append(name)
    return next((tuple(parts) for count, parts in by_count.items() if len(parts) == count), ())


def _replay(spark: SparkSession, log: ListedLog, segment: LogSegment, with_stats: bool) -> tuple[LogFile, ...]:
    """Action reconciliation of the protocol: of each (path, deletion vector) the newest action holds."""
    base = segment.directory.removesuffix("/_delta_log")
    # who reads statistics reads them again; the plan of a small table, whose checkpoint is one file, must not wait
    uses_cache = (
        with_stats
        or len(segment.checkpoint_files) > 1
        or len(segment.commits) >= log_cache.MANY_COMMITS
        or log_cache.is_large(segment.directory)
    )
    state = log_state(spark, segment, with_stats) if uses_cache else None
    files, done = log_cache.find(state) if state else ((), -1)
    if done == len(segment.commits):
        return files
    if done < 0:
        files, done = tuple(_checkpoint_files(spark, segment, base, with_stats)), 0
    live = {file.key: file for file in files}
    if newer := segment.commits[done:]:
        source = (
            f"SELECT name AS commit_file, from_json(value, '{ACTIONS}') AS a FROM {log.view} "
            f"WHERE {is_among(newer)} AND ({is_action('add')} OR {is_action('remove')})"
        )
        rows = spark.sql(
            "SELECT commit_file, a.remove IS NOT NULL AS removed, "
            f"{_columns('coalesce(a.add.path, a.remove.path)', with_stats, base)} FROM ({source})"
        ).toArrow()
        actions = zip(rows["commit_file"].to_pylist(), rows["removed"].to_pylist(), _log_files(rows), strict=True)
        for _, removed, file in sorted(actions, key=lambda action: (action[0], not action[1])):
            if removed:
                live.pop(file.key, None)
            else:
                live[file.key] = file
    files = tuple(sorted(live.values(), key=lambda file: file.path))
    log_cache.keep(segment.directory, state, files)
    return files


def log_state(spark: SparkSession, segment: LogSegment, with_stats: bool) -> LogState:
    """What tells whether the files of ``segment`` are known. Opens no file, and looks at few: a store is asked for
    each. Raises EmptyCheckpointError."""
    ends = log_cache.ends_in(segment.directory, segment.commits)
    rows = spark.sql(
        "SELECT _metadata.file_name AS name, length, unix_micros(modificationTime) AS modified "
        f"FROM binaryFile.{quote(all_of(segment.directory, sorted((*segment.checkpoint_files, *ends))))}"
    ).collect()
    stamps = {str(row["name"]): Stamp(str(row["name"]), int(row["length"]), int(row["modified"])) for row in rows}
    # Spark lists no file without a byte
    if empty := [name for name in segment.checkpoint_files if name not in stamps]:
        raise EmptyCheckpointError(empty)
    checkpoint = tuple(stamps[name] for name in segment.checkpoint_files)
    found = frozenset(stamps.get(name, Stamp(name, 0, 0)) for name in ends)
    return LogState(segment.directory, with_stats, checkpoint, segment.commits, found)


def is_among(commits: Sequence[str]) -> str:
    """SQL for: ``name`` is one of these commits, which follow each other. There may be thousands."""
    # a compacted log has names between those of commits, which are longer
    return f"name BETWEEN {string(commits[0])} AND {string(commits[-1])} AND length(name) = {len(commits[0])}"


def is_action(name: str) -> str:
    """SQL for: the line ``value`` is an action of this name, which other writers write with blanks."""
    return f"replace(left(value, 40), ' ', '') LIKE '{{\"{name}\"%'"


def all_of(directory: str, names: Iterable[str]) -> str:
    """One path that names all these files of ``directory``. A pattern asks the store once more."""
    names = tuple(names)
    if len(names) == 1:
        return f"{escaped(directory)}/{escaped(names[0])}"
    return f"{escaped(directory)}/{{{','.join(names)}}}"


def escaped(path: str) -> str:
    """``path`` with the signs escaped that mean something in Hadoop's patterns."""
    return re.sub(r"([\\*?\[\]{},^])", r"\\\1", path)


def logged_transactions(
    spark: SparkSession, path: str, versions: Iterable[int]
) -> dict[int, frozenset[tuple[str, int]]]:
    """(application id, version) of the SetTransaction actions in the commits of these versions, by version.

    DESCRIBE HISTORY does not show them. Opens those commits and lists nothing. Raises EngineError.
    """
    place = all_of(directory_of(path), (f"{version:020}.json" for version in versions))
    try:
        lines = _log_lines(spark, place).where(is_action("txn"))
        rows = lines.selectExpr("_metadata.file_name AS name", "value").collect()
    except Exception as error:
        raise translate(error) from error
    transactions: dict[int, frozenset[tuple[str, int]]] = {}
    for name, value in rows:
        version, action = int(str(name)[:20]), json.loads(value)["txn"]
        transactions[version] = transactions.get(version, frozenset()) | {
            (str(action["appId"]), int(action["version"]))
        }
    return transactions


def _columns(path: str, with_stats: bool, base: str) -> str:
    root = base if "://" in base and not base.startswith("file:") else re.sub(r"^file:/+", "file:/", base)
    absolute = (
        f"CASE WHEN {path} RLIKE '^[a-zA-Z][a-zA-Z0-9+.-]*:' THEN regexp_replace({path}, '^file:/+', 'file:/') "
        f"ELSE concat({string(encoded(root) + '/')}, {path}) END"
    )
    absolute = f"CASE WHEN {path} RLIKE '{OTHERWISE_ENCODED}' THEN {encoded_again(absolute)} ELSE {absolute} END"
    dv = "coalesce(a.add.deletionVector, a.remove.deletionVector)"
    return (
        f"{path} AS path, a.add.size AS bytes, a.add.partitionValues AS partition, "
        "from_json(a.add.stats, 'numRecords BIGINT').numRecords AS physical_rows, "
        f"coalesce({dv}.cardinality, 0L) AS deleted_rows, coalesce(concat({dv}.storageType, {dv}.pathOrInlineDv, '@', "
        f"coalesce(CAST({dv}.`offset` AS STRING), '')), '') AS vector, xxhash64({absolute}) AS file_hash, "
        "coalesce(a.add.modificationTime, 0L) AS modified_at, "
        f"{'a.add.stats' if with_stats else 'CAST(NULL AS STRING)'} AS stats"
    )


def _checkpoint_files(spark: SparkSession, segment: LogSegment, base: str, with_stats: bool) -> list[LogFile]:
    if not segment.checkpoint_files:
        return []
    if segment.checkpoint_format == "json":
        place = all_of(segment.directory, segment.checkpoint_files)
        actions = f"(SELECT from_json(value, '{ACTIONS}') AS a FROM {of_files('text', place)})"
        files, sidecars = _adds_and_sidecars(spark, actions, base, with_stats)
    else:
        files, sidecars = _parquet_files(spark, segment.directory, segment.checkpoint_files, base, with_stats)
    if not files and not sidecars:
        log_state(spark, segment, with_stats)  # raises if the checkpoint is empty, not the table
    if sidecars:
        names = tuple(path.rpartition("/")[2] for path in sidecars)
        files += _parquet_files(spark, f"{segment.directory}/_sidecars", names, base, with_stats)[0]
    return files


def _parquet_files(
    spark: SparkSession, directory: str, names: Sequence[str], base: str, with_stats: bool
) -> tuple[list[LogFile], list[str]]:
    """(the files, the paths of sidecars) in Parquet files of a checkpoint."""
    place = all_of(directory, names)
    with checkpoint_view(spark, place, f"add {ADD}, sidecar {SIDECAR}") as view:
        actions = f"(SELECT struct(add, CAST(NULL AS {REMOVE}) AS remove, sidecar) AS a FROM {view})"
        adds, sidecars = _adds_and_sidecars(spark, actions, base, with_stats)
    if any(file.physical_rows is None for file in adds):
        # some writers keep statistics as a struct alone, whose fields are the table's
        actions = _struct_of(spark, of_files("parquet", place))
        adds = _log_files(spark.sql(f"SELECT {_columns('a.add.path', with_stats, base)} FROM {actions}").toArrow())
    return adds, sidecars


def _struct_of(spark: SparkSession, files: str) -> str:
    """A checkpoint's ``add`` in the shape of ADD; columns that this writer left out read as NULL."""
    schema = spark.sql(f"SELECT * FROM {files}").schema
    add: Any = schema["add"].dataType
    names = {f.name for f in add.fields}
    stats = "add.stats" if "stats" in names else "CAST(NULL AS STRING)"
    if "stats_parsed" in names:
        stats = f"coalesce({stats}, to_json(add.stats_parsed))"
    # writers differ in the vector's fields: by way of JSON each gives those of DV
    dv = f"from_json(to_json(add.deletionVector), '{DV}')" if "deletionVector" in names else f"CAST(NULL AS {DV})"
    return (
        "(SELECT named_struct('add', named_struct('path', add.path, 'size', add.size, 'partitionValues', "
        f"add.partitionValues, 'modificationTime', add.modificationTime, 'stats', {stats}, 'deletionVector', {dv}), "
        f"'remove', CAST(NULL AS {REMOVE})) AS a FROM {files} WHERE add IS NOT NULL)"
    )


def _adds_and_sidecars(
    spark: SparkSession, actions: str, base: str, with_stats: bool
) -> tuple[list[LogFile], list[str]]:
    query = (
        f"SELECT {_columns('a.add.path', with_stats, base)}, a.sidecar.path AS sidecar FROM {actions} "
        "WHERE a.add IS NOT NULL OR a.sidecar IS NOT NULL"
    )
    rows = spark.sql(query).toArrow()
    sidecars = [str(path) for path in rows["sidecar"].to_pylist() if path is not None]
    return [file for file in _log_files(rows) if file.path is not None], sidecars


def _log_files(rows: Table) -> list[LogFile]:
    # column by column, because there may be a hundred thousand; a map is a list of pairs here
    columns = {name: rows[name].to_pylist() for name in LogFile._fields}
    columns["partition"] = [dict(pairs or ()) for pairs in columns["partition"]]
    return list(map(LogFile._make, zip(*columns.values(), strict=True)))


def live_rows(files: Sequence[LogFile]) -> int | None:
    """The live rows of these files; None if the log does not count the rows of each."""
    counts = [file.rows for file in files if file.rows is not None]
    return sum(counts) if len(counts) == len(files) else None


def partitions_of(files: Iterable[LogFile]) -> int:
    """Distinct partition tuples, as totalBytesAndDistinctPartitionValues counts them (none without files)."""
    return len({frozenset(file.partition.items()) for file in files})
