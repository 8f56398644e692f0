"""When the versions of a table were committed, and whether the commit of a plan can be taken back."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine.model.plan import Undo
from engine.spark.confs import TRAVEL_ENFORCED, is_on, read_confs
from engine.spark.spark_errors import translate
from engine.sql.names import quote
from engine.table.mapping_mode import REMOVAL, why_no_change
from engine.table.undo_possible import VersionTime, retention_of, undo_of_commit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from engine.model.create_values import CreatePlan

IN_COMMIT = "delta.enableInCommitTimestamps"


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def detail_with_time(spark: SparkSession, table: str) -> DataFrame:
    """DESCRIBE DETAIL, with the time of the newest commit's file in milliseconds as ``written_at``."""
    # as a number: a timestamp that is collected is in the time zone of this process, which repeats an hour each year
    return spark.sql(f"DESCRIBE DETAIL {table}").selectExpr("*", "unix_millis(lastModified) AS written_at")


def newest_version_time(spark: SparkSession, table: str, version: int, detail: Any) -> VersionTime:
    """Of ``version``, the newest when ``detail`` (see :func:`detail_with_time`) was read."""
    written_at = detail["written_at"]
    committed_at = written_at
    if is_on(dict(detail["properties"] or {}), IN_COMMIT, "false"):
        committed_at = committed_times(spark, table, 1).get(version)
    return VersionTime(version, committed_at, written_at)


def committed_times(spark: SparkSession, table: str, newest: int) -> dict[int, int]:
    """Version → Snapshot.timestamp in milliseconds, of the ``newest`` commits, without those whose log entries are
    deleted. Delta moves the time of a commit file only up, to be later than the one before."""
    try:
        history = spark.sql(f"DESCRIBE HISTORY {table} LIMIT {newest}")
        rows = history.selectExpr("version", "unix_millis(timestamp) AS at").collect()
    except Exception as error:
        raise translate(error) from error
    return {int(row["version"]): int(row["at"]) for row in rows}


def is_enforced(spark: SparkSession) -> bool:
    """Whether Delta refuses versions by their age in this session."""
    return is_on(read_confs(spark, (TRAVEL_ENFORCED,)), TRAVEL_ENFORCED)


def undo_of_merge(spark: SparkSession, table: str, version: int, detail: Any) -> Undo:
    """The undo of a MERGE into ``table``, which is at ``version``."""
    return undo_over(spark, newest_version_time(spark, table, version, detail), dict(detail["properties"] or {}))


def undo_over(
    spark: SparkSession, newest: VersionTime, properties: Mapping[str, str], *, checkpoints: bool = False
) -> Undo:
    """The undo of the next commit. ``properties`` are the table's after it; ``checkpoints``: it writes a checkpoint
    whatever its version is."""
    retention = retention_of(properties)
    return undo_of_commit(
        newest,
        replace(retention, checkpoint_interval=1) if checkpoints else retention,
        now_ms(),
        enforced=is_enforced(spark),
        commits=newest.version + 1,
    )


def why_no_restore(spark: SparkSession, now: Mapping[str, str], then: Mapping[str, str]) -> str:
    """Why RESTORE cannot bring the properties ``then`` back to a table that has those of ``now``; "" if it can. It
    changes the metadata as any commit does."""
    return why_no_change(now, then, removal=is_on(read_confs(spark, (REMOVAL,)), REMOVAL))


def undo_of_create(spark: SparkSession, plan: CreatePlan) -> Undo | None:
    """The undo of a CREATE, REPLACE or CLONE; None if it changes nothing."""
    if plan.effect not in ("create", "adopt", "replace"):
        return None
    if plan.effect == "adopt":
        why = "nothing is committed that a RESTORE or DROP takes back: only a catalog entry is made"
        return Undo(possible=False, why=why)
    if plan.effect == "create":
        if plan.by_path:
            why = "a table without a catalog entry is not dropped: to take it away, delete its directory"
            return Undo(possible=False, why=why)
        stay = "" if plan.managed else f"; its files stay at {plan.target.path}"
        return Undo(possible=True, why=f"DROP takes the new table away while nothing else is committed to it{stay}")
    table = f"delta.{quote(plan.target.path)}" if plan.by_path or not plan.in_catalog else plan.target.name
    try:
        detail = detail_with_time(spark, table).collect()[0]
    except Exception as error:
        raise translate(error) from error
    newest = newest_version_time(spark, table, plan.target.version, detail)
    after = {key: value for key, value in (plan.after.properties if plan.after else {}).items() if value is not None}
    if why := why_no_restore(spark, after, dict(detail["properties"] or {})):
        return Undo(possible=False, why=f"RESTORE refuses it: {why}")
    # CloneTableBase commits by commitLarge, which ends in a checkpoint
    undo = undo_over(spark, newest, after, checkpoints=plan.operation == "CLONE")
    if plan.in_catalog or plan.by_path:
        return undo
    return undo.model_copy(update={"why": f"{undo.why}; the catalog entry that it makes stays"})
