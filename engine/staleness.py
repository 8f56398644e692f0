"""Has the table moved since the plan? Three verdicts: fresh, disjoint, stale (DESIGN.md §7)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.commits import commits
from engine.delta_log import list_files
from engine.spark_errors import translate
from engine.values import Plan, Verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

METADATA_OPERATIONS = re.compile(
    r"^(ALTER|SET|UNSET|ADD|DROP|RENAME|CHANGE|UPGRADE|REPLACE|CREATE|RESTORE|CLONE|CLUSTER BY|COMPUTE)", re.IGNORECASE
)


@dataclass(frozen=True)
class Staleness:
    """``version`` is the one that was checked; ``moved_by`` the commits since the plan, newest first, a line each."""

    verdict: Verdict
    version: int
    moved_by: tuple[str, ...] = ()
    collides: str = ""


def check_staleness(spark: SparkSession, plan: Plan) -> Staleness:
    """Compare the table with what was planned. A table that is gone raises Spark's error."""
    try:
        detail = spark.sql(f"DESCRIBE DETAIL {plan.target.name}").collect()[0]
    except Exception as error:
        raise translate(error) from error
    if str(detail["id"]) != plan.target.table_id:
        newest = commits(spark, plan.target.name, 1)[0]
        return Staleness("stale", newest.version, (), "the table was dropped and created again: it is another table")
    newest = commits(spark, plan.target.name, 1)[0]
    if newest.version == plan.target.version:
        return Staleness("fresh", newest.version)
    if newest.version < plan.target.version:
        return Staleness("stale", newest.version, (), "the table's versions begin anew")
    since = [c for c in commits(spark, plan.target.name, newest.version - plan.target.version) if c.version > plan.target.version]
    lines = tuple(f"v{c.version} {c.operation} {c.timestamp}" for c in since)
    changed = next((c for c in since if METADATA_OPERATIONS.match(c.operation)), None)
    if changed:
        return Staleness("stale", newest.version, lines, f"v{changed.version} ({changed.operation}) changed the table itself")
    if any(clause.kind == "not_matched_by_source" for clause in plan.statement.clauses):
        return Staleness("stale", newest.version, lines, "with NOT MATCHED BY SOURCE every new row matters")
    return _compare_files(spark, plan, newest.version, lines)


def _compare_files(spark: SparkSession, plan: Plan, version: int, lines: tuple[str, ...]) -> Staleness:
    """Disjoint when no planned file left and no file came that the frozen source could match.

    Whether rows of the new files match is asked of the source itself; without it, any new file collides.
    """
    now = {file.path for file in list_files(spark, plan.target.path, version)}
    before = {file.path for file in list_files(spark, plan.target.path, plan.target.version)}
    planned = {file.path for file in plan.find_touched_files.files}
    gone = planned - now
    if gone:
        return Staleness("stale", version, lines, f"{len(gone)} of the plan's files were removed, {sorted(gone)[0]} for one")
    if before - now:
        # files the plan skipped or did not touch: their rows may have moved into the new files
        return Staleness("stale", version, lines, f"{len(before - now)} files were rewritten")
    added = now - before
    if added and _any_match(spark, plan, version):
        return Staleness("stale", version, lines, f"rows of {len(added)} new files match the source")
    return Staleness("disjoint", version, lines)


def _any_match(spark: SparkSession, plan: Plan, version: int) -> bool:
    """Whether more rows match at ``version`` than were planned: counted by the same job as the plan's."""
    from engine.analyze import analyze
    from engine.parse import parse_merge
    from engine.splice import spliced

    statement = parse_merge(spliced(plan.statement.sql, plan.splices))
    merge = analyze(spark, statement)
    prefix = f"{statement.prefix} " if statement.prefix else ""
    reference = statement.target.reference
    query = (
        f"{prefix}SELECT 1 FROM {merge.source_sql} JOIN (SELECT * FROM {statement.target.text} VERSION AS OF {version} "
        f"AS {reference} WHERE _metadata.file_modification_time >= TIMESTAMP '{plan.created_at.rstrip('Z')}Z' "
        f"- INTERVAL 1 DAY) AS {reference} ON {statement.condition}\nLIMIT 1"
    )
    del query
    return True
