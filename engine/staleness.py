"""Has the table moved since the plan? Three verdicts: fresh, disjoint, stale (DESIGN.md §7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.analyze import aliased, by_reference
from engine.commits import Commit
from engine.confs import STATS_SKIPPING, confs_set
from engine.delta_log import list_files
from engine.parse import parse_merge
from engine.spark_errors import translate
from engine.splice import spliced
from engine.values import Plan, Verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

METADATA_OPERATIONS = re.compile(
    r"^(ALTER|SET|UNSET|ADD|DROP|RENAME|CHANGE|UPGRADE|REPLACE|CREATE|RESTORE|CLONE|CLUSTER BY|COMPUTE)",
    re.IGNORECASE,
)


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
    ``prepare_source`` makes the frozen source readable in this session; it is called only where new files have to
    be asked whether they match it.
    """
    table, planned_at = plan.target.name, plan.target.version
    try:
        detail = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]
    except Exception as error:
        raise translate(error) from error
    if str(detail["id"]) != plan.target.table_id:
        return Staleness("stale", version, (), "it was dropped and created again, so it is another table")
    if version == planned_at:
        return Staleness("fresh", version)
    if version < planned_at:
        return Staleness("stale", version, (), "its versions begin anew")
    lines = tuple(commit_line(c) for c in since)
    collides = changed_metadata(since) or collision(spark, plan, version, prepare_source)
    return Staleness("stale" if collides else "disjoint", version, lines, collides)


def commit_line(commit: Commit) -> str:
    """A commit in one line, for people."""
    return f"v{commit.version} {commit.operation} {commit.timestamp}"


def changed_metadata(since: Sequence[Commit]) -> str:
    """The commit that changed more than rows, in words, or ""."""
    found = next((c for c in since if METADATA_OPERATIONS.match(c.operation)), None)
    return f"v{found.version} ({found.operation}) changed the table itself" if found else ""


def collision(spark: SparkSession, plan: Plan, version: int, prepare_source: Callable[[], None]) -> str:
    """Why the commits since the plan could change what it does, in words, or "" when they cannot."""
    if any(clause.kind == "not_matched_by_source" for clause in plan.statement.clauses):
        return "with NOT MATCHED BY SOURCE every row of the table matters"
    now = {file.path: file for file in list_files(spark, plan.target.path, version)}
    before = {file.path: file for file in list_files(spark, plan.target.path, plan.target.version)}
    planned = [f.path for f in plan.find_touched_files.files if now.get(f.path) != before.get(f.path)]
    if planned:
        return f"{len(planned)} of the files it would touch changed, {planned[0]} for one"
    if any(now.get(path) != file for path, file in before.items()):
        # rows of files that the plan skips may have moved into the new ones
        return "files were rewritten"
    added = [file for path, file in now.items() if path not in before]
    if added:
        prepare_source()
        if any_match(spark, plan, version, [file.file_hash for file in added]):
            return f"rows in {len(added)} new files match the source"
    return ""


def any_match(spark: SparkSession, plan: Plan, version: int, hashes: Sequence[int]) -> bool:
    """Whether a row of the files with these hashes matches a row of the frozen source on the plan's ON."""
    statement = parse_merge(spliced(plan.statement.sql, plan.splices))
    prefix = statement.before_select
    reference = statement.target.reference
    condition = by_reference(statement.target, statement.condition)
    files = ", ".join(f"{h}L" for h in hashes)
    query = (
        f"{prefix}SELECT 1 FROM {aliased(statement.source)} JOIN (SELECT * FROM {statement.target.text} VERSION AS OF "
        f"{version} AS {reference} WHERE xxhash64(_metadata.file_path) IN ({files})) AS {reference} "
        f"ON {condition}\nLIMIT 1"
    )
    try:
        with confs_set(spark, {STATS_SKIPPING: "true"}):
            return bool(spark.sql(query).collect())
    except Exception as error:
        raise translate(error) from error
