"""Has the table moved since the plan? Three verdicts: fresh, disjoint, stale (DESIGN.md §7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from engine.merge.analyze import analyze
from engine.merge.join_sides import FILE
from engine.merge.prepare_delta_scan import ONLY_IN_READS
from engine.merge.running_statement import spliced
from engine.model.errors import EngineError
from engine.model.operation import Verdict
from engine.model.plan import Plan
from engine.spark.confs import AS_MERGE_READS, confs_set, without_rules
from engine.spark.spark_errors import translate
from engine.sql.parse import parse_merge
from engine.table.commits import Commit
from engine.table.delta_log import list_files
from engine.table.log_file import LogFile
from engine.table.logged_schema import LoggedMetadata, logged_metadata

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REPLACING = re.compile(r"^(CREATE OR REPLACE|REPLACE|RESTORE|CLONE)", re.IGNORECASE)
"""Operations that put another table in its place."""
NAMED_FILES = 3
NO_FILE = "FAILED_READ_FILE.FILE_NOT_EXIST"
BEYOND_RETENTION = "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION"


@dataclass(frozen=True)
class Staleness:
    """``version`` is the one that was checked; ``moved_by`` the commits since the plan, newest first, a line each."""

    verdict: Verdict
    version: int
    moved_by: tuple[str, ...] = ()
    collides: str = ""


def check_staleness(
    spark: SparkSession, plan: Plan, version: int, since: Sequence[Commit], prepare_source: Callable[[], None]
) -> Staleness:
    """Compare the table with what was planned. A table that is gone raises Spark's error.

    ``version`` is the table's now, ``since`` the commits after the plan's (see ``commits_since``).
    ``prepare_source`` makes the frozen source readable in this session; it is called only where files that came or
    went have to be asked whether they match it.
    """
    table, planned_at = plan.target.name, plan.target.version
    try:
        detail = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]
    except Exception as error:
        raise translate(error) from error
    if str(detail["id"]) != plan.target.table_id:
        return Staleness("stale", version, (), "it was replaced, or dropped and created again, so it is another table")
    if version == planned_at:
        return Staleness("fresh", version)
    if version < planned_at:
        return Staleness("stale", version, (), "its versions begin anew")
    lines = tuple(commit_line(c) for c in since)
    collides = collision(spark, plan, version, since, prepare_source)
    return Staleness("stale" if collides else "disjoint", version, lines, collides)


def commit_line(commit: Commit) -> str:
    """A commit in one line, for people."""
    at = re.sub(r"\.\d+", "", commit.timestamp)
    return f"v{commit.version} {commit.operation} {at}"


def collision(
    spark: SparkSession, plan: Plan, version: int, since: Sequence[Commit], prepare_source: Callable[[], None]
) -> str:
    """Why the commits since the plan could change what it does, in words, or "" when they cannot."""
    replaced = next((c for c in since if REPLACING.match(c.operation)), None)
    if replaced:
        return f"v{replaced.version} ({replaced.operation}) may have put other rows in its place"
    changed = table_changed(*(logged_metadata(spark, plan.target.path, v) for v in (plan.target.version, version)))
    if changed:
        return changed
    if any(clause.kind == "not_matched_by_source" for clause in plan.statement.clauses):
        return "with NOT MATCHED BY SOURCE every row of the table matters"
    now = {file.path: file for file in list_files(spark, plan.target.path, version)}
    before = {file.path: file for file in list_files(spark, plan.target.path, plan.target.version)}
    planned = [f.path for f in plan.find_touched_files.files if now.get(f.path) != before.get(f.path)]
    if planned:
        return f"{len(planned)} of the files it would touch changed: {some(planned)}"
    new = [file for path, file in now.items() if before.get(path) != file]
    inserts = any(clause.kind == "not_matched" for clause in plan.statement.clauses)
    # what a clause takes is in the files above; any other row that matches keeps its source row from being inserted
    gone = [file for path, file in before.items() if now.get(path) != file] if inserts else []
    if new or gone:
        prepare_source()
    if new and (file := first_match(spark, plan, version, new)):
        return f"a row of the new file {file.path} matches the source"
    return gone_match(spark, plan, gone) if gone else ""


def gone_match(spark: SparkSession, plan: Plan, gone: Sequence[LogFile]) -> str:
    """Why the rows that files held at the planned version could change what the plan does, or ""."""
    try:
        if file := first_match(spark, plan, plan.target.version, gone):
            return f"a row of the file {file.path}, which went, matches the source"
    except EngineError as error:
        # any other error is none of the table's age: nothing is known of the plan, and nothing of it is given up
        if error.condition != BEYOND_RETENTION and not missing_in(error, gone):
            raise
        return not_readable(gone)
    return ""


def missing_in(error: EngineError, files: Iterable[LogFile]) -> list[LogFile]:
    """Those of these files that ``error`` says do not exist."""
    message = unquote(error.message)
    return [file for file in files if file.path in message] if error.condition == NO_FILE else []


def not_readable(gone: Sequence[LogFile]) -> str:
    """That files which went since the plan are deleted, in words."""
    files = "file" if len(gone) == 1 else "files"
    return f"{files} went that cannot be read any more: {some([file.path for file in gone])}"


def table_changed(before: LoggedMetadata, now: LoggedMetadata) -> str:
    """What changed in the table beside its rows, in words; "" for nothing."""
    changed = changed_metadata(before, now)
    return f"the table itself changed: {'; '.join(changed)}" if changed else ""


def changed_metadata(before: LoggedMetadata, now: LoggedMetadata) -> tuple[str, ...]:
    """What changed in the table beside its rows, a few words for each."""
    changes = []
    if before.table_id != now.table_id:
        changes.append("it was created again")
    for name in dict.fromkeys((*before.fields, *now.fields)):
        if name not in now.fields:
            changes.append(f"column {name} is gone")
        elif name not in before.fields:
            changes.append(f"column {name} is new")
        elif before.fields[name] != now.fields[name]:
            changes.append(f"column {name} is another")
    if list(before.fields) != list(now.fields) and not changes:
        changes.append("its columns are in another order")
    if before.partition_columns != now.partition_columns:
        changes.append(f"it is partitioned by {', '.join(now.partition_columns) or 'nothing'}")
    for key in sorted({*before.configuration, *now.configuration}):
        if before.configuration.get(key) != now.configuration.get(key):
            changes.append(f"property {key} is {'gone' if key not in now.configuration else 'another'}")
    if protocol(before) != protocol(now):
        changes.append(f"its protocol is {protocol(now)}")
    return tuple(changes)


def protocol(metadata: LoggedMetadata) -> str:
    versions = f"reader {metadata.min_reader_version}, writer {metadata.min_writer_version}"
    return ", ".join((versions, *metadata.features))


def some(paths: Sequence[str]) -> str:
    """The first few of these files, and how many more."""
    more = len(paths) - NAMED_FILES
    return ", ".join(paths[:NAMED_FILES]) + (f" and {more} more" if more > 0 else "")


def first_match(spark: SparkSession, plan: Plan, version: int, files: Sequence[LogFile]) -> LogFile | None:
    """One of these ``files`` of a version with a row that matches a row of the frozen source on the plan's ON."""
    merge = analyze(spark, parse_merge(spliced(plan.statement.sql, plan.splices)))
    by_hash = {file.file_hash: file for file in files}
    hashes = ", ".join(f"{h}L" for h in by_hash)
    target = merge.statement.target.reference
    query = (
        f"{merge.statement.before_select}SELECT {target}.{FILE} FROM {merge.source_sql} "
        f"JOIN (SELECT *, xxhash64({merge.file_path}) AS {FILE} FROM {merge.target_name} "
        f"VERSION AS OF {version} AS {target} WHERE xxhash64({merge.file_path}) IN ({hashes})) AS {target} "
        f"ON {merge.statement.condition}\nLIMIT 1"
    )
    try:
        # bounds of these files may be inexact, and must not hide a match: see prepare_delta_scan.merge_reads
        with confs_set(spark, {**AS_MERGE_READS, **without_rules(spark, ONLY_IN_READS)}):
            found = spark.sql(query).collect()
    except Exception as error:
        raise translate(error) from error
    return by_hash[found[0][0]] if found else None
