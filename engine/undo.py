"""Take a committed merge back: Delta's RESTORE to the version before it, looked at first.

A RESTORE takes back every commit since as well: those are listed, and must be accepted. Like a MERGE it has no guard
for the version that it is meant for, so that is checked just before, and what it read is checked after.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from engine.commit_identity import is_compaction_of, of_another_table, own_commit
from engine.commits import Commit, commits_since, current_version, taken_back_by
from engine.confs import confs_set
from engine.delta_log import LogFile, list_files, live_rows
from engine.errors import EngineError, RefusedError, StalePlanError
from engine.exactly_once import COMPARING, commit_despite, given_up_if_unknown, is_conflict, traced
from engine.names import quote
from engine.outcome import deviations
from engine.session_state import tagged, whereabouts
from engine.spark_errors import is_missing, translate
from engine.staleness import commit_line
from engine.table_state import table_id
from engine.values import Deviation, OnProgress, Outcome, Progress, UndoPlan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.history import History
    from engine.plans import AnyPlan, OperationDetail

LATER_COMMITS = "LATER_COMMITS"
"""What is to be accepted where commits after the operation would be lost."""
RESTORING = "RESTORE"
"""The phase in which Delta restores: only Spark can end it."""


def plan_undo(spark: SparkSession, found: OperationDetail) -> UndoPlan:
    """What it would take to take ``found`` back. Looks only.

    Raises RefusedError for what was not committed, StalePlanError for what is taken back already, or where the table
    is another or its log does not hold that commit any more.
    """
    operation, plan = found.operation, found.plan
    if operation.status == "undone":
        raise StalePlanError("ALREADY_UNDONE", f"Operation {operation.op_id} is taken back already.")
    if plan is None or operation.status != "applied" or operation.version is None:
        raise RefusedError(
            "NOT_APPLIED",
            f"Operation {operation.op_id} committed no merge ({operation.status}): there is nothing to take back.",
            "See what was committed with: deltamerge-console history",
        )
    at = operation.version
    if at == 0:
        raise RefusedError(
            "FIRST_VERSION",
            f"Operation {operation.op_id} made {plan.target.name}: there is no version before it.",
            f"If the table is to go, DROP TABLE {plan.target.name}.",
        )
    table = _name_of(spark, plan)
    now, since = commits_since(spark, table, at - 1)
    there = [one for one in since if one.version == at]
    commit = own_commit(spark, plan.target.path, there, plan.kind, plan_id=plan.plan_id)
    if commit is None:
        raise StalePlanError(
            "ANOTHER_COMMIT",
            f"v{at} of {plan.target.name} is not the commit of this operation: the table is another, or made anew.",
        )
    later = [one for one in since if one.version > at]
    if (taken_back := taken_back_by(commit, later)) is not None:
        raise StalePlanError("ALREADY_UNDONE", f"v{at} is taken back already, by v{taken_back.version}.")
    here, before = (list_files(spark, plan.target.path, version) for version in (now, at - 1))
    return UndoPlan(
        undo_id=hashlib.sha256(f"restore {plan.target.table_id} {now} {at - 1}".encode()).hexdigest()[:32],
        op_id=operation.op_id,
        table=table,
        path=plan.target.path,
        table_id=plan.target.table_id,
        version=now,
        to_version=at - 1,
        lost=tuple(commit_line(one) for one in later if not is_compaction_of(commit, one)),
        promise=promise(here, before),
        rows_now=live_rows(here),
        rows_after=live_rows(before),
    )


def undo(
    spark: SparkSession,
    looked: UndoPlan,
    *,
    history: History | None = None,
    accept: Sequence[str] = (),
    tag: str | None = None,
    on_progress: OnProgress | None = None,
) -> Outcome:
    """Do what was looked at, once, and compare it with the commit's metrics.

    Raises RefusedError where later commits would be lost and ``accept`` does not hold LATER_COMMITS, StalePlanError
    where the table moved since it was looked at; in both cases nothing ran.
    """
    say = on_progress or (lambda _: None)
    if looked.lost and LATER_COMMITS not in accept:
        raise RefusedError(
            LATER_COMMITS,
            f"{len(looked.lost)} later commits would be lost too: {'; '.join(looked.lost[:3])}.",
            f"If that is what you want, undo with --accept {LATER_COMMITS}.",
        )
    with tagged(spark, tag):
        say(Progress(phase="check that nothing moved"))
        version = current_version(spark, looked.table)
        if table_id(spark, looked.table) != looked.table_id:
            raise StalePlanError(
                "STALE_UNDO",
                f"{looked.table} was dropped and made anew since it was looked at.",
                "What the operation wrote is gone with the table that it wrote to.",
            )
        if version != looked.version:
            raise StalePlanError(
                "STALE_UNDO",
                f"{looked.table} moved from v{looked.version} to v{version} since it was looked at.",
                "Look again at what would be lost.",
            )
        say(Progress(phase=RESTORING))
        op_id = history.begin_undo(looked, where=whereabouts(spark)) if history else ""
        began = time.monotonic()
        try:
            _restore(spark, looked, op_id)
        except Exception as error:
            told = translate(error)
            commit = commit_despite(told, error, lambda: commit_of(spark, looked, op_id), history, op_id)
            if commit is None:
                raise (_conflict(looked, told) if is_conflict(told) else told) from error
        else:
            say(Progress(phase=COMPARING))
            with given_up_if_unknown(history, op_id):
                commit = commit_of(spark, looked, op_id)
        with given_up_if_unknown(history, op_id):
            other = of_another_table(spark, looked.table, looked.table_id, commit)
    outcome = _outcome(looked, op_id, commit, round((time.monotonic() - began) * 1000), other)
    if history:
        history.undone(op_id, outcome)
    return outcome


def _conflict(looked: UndoPlan, error: EngineError) -> StalePlanError:
    return StalePlanError(
        error.condition,
        f"Another commit to {looked.table} was faster, and nothing was restored.",
        "Look again at what would be lost.",
    )


def _restore(spark: SparkSession, looked: UndoPlan, op_id: str) -> None:
    with tagged(spark, looked.undo_id), confs_set(spark, traced(spark, looked.undo_id, op_id)):
        spark.sql(looked.sql).collect()


def commit_of(spark: SparkSession, looked: UndoPlan, op_id: str) -> Commit | None:
    since = commits_since(spark, looked.table, looked.version)[1]
    restores = [one for one in since if one.restored_to == looked.to_version and one.op_id == (op_id or None)]
    return own_commit(spark, looked.path, restores, "restore", plan_id=looked.undo_id)


def promise(here: Iterable[LogFile], there: Iterable[LogFile]) -> dict[str, int]:
    """Delta's operationMetrics of a RESTORE from the files ``here`` to those ``there``."""
    now, then = ({one.key: one.bytes for one in files} for files in (here, there))
    restored = [size for key, size in then.items() if key not in now]
    removed = [size for key, size in now.items() if key not in then]
    return {
        "numRestoredFiles": len(restored),
        "restoredFilesSize": sum(restored),
        "numRemovedFiles": len(removed),
        "removedFilesSize": sum(removed),
        "numOfFilesAfterRestore": len(then),
        "tableSizeAfterRestore": sum(then.values()),
    }


def _name_of(spark: SparkSession, plan: AnyPlan) -> str:
    """The table by its name, or by its path where the name means another in this session."""
    try:
        if str(spark.sql(f"DESCRIBE DETAIL {plan.target.name}").collect()[0]["id"]) == plan.target.table_id:
            return plan.target.name
    except Exception as error:
        translated = translate(error)
        if not is_missing(translated):
            raise translated from error
    return f"delta.{quote(plan.target.path)}"


def _outcome(
    looked: UndoPlan, op_id: str, commit: Commit | None, duration_ms: int, more: tuple[Deviation, ...]
) -> Outcome:
    found = deviations(looked.promise, commit, checked=looked.version) + more
    return Outcome(
        plan_id=looked.undo_id,
        op_id=op_id,
        table=looked.table,
        verdict="fresh",
        version=commit.version if commit else None,
        read_version=commit.read_version if commit else None,
        kept=commit is not None and not found,
        metrics=commit.metrics if commit else {},
        deviations=found,
        duration_ms=duration_ms,
    )
