"""Take a commit back: Delta's RESTORE to the version before it, or DROP of the table that it made.

A RESTORE also takes back every later commit: those are listed, and must be accepted. Like a MERGE it does not check
which version it runs on, so that is checked just before, and the version that it read is checked after.

Delta may refuse a version only because of its age, while all its files exist. Then a property of the table is raised
first, which must be accepted too. That is one more commit, which the RESTORE takes back: it brings back the version's
properties. If the RESTORE fails, another commit puts the properties back.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from engine.commit.commit_identity import later_than, of_another_table, own_commit
from engine.commit.exactly_once import (
    COMPARING,
    as_done,
    commit_despite,
    given_up_if_interrupted,
    given_up_if_unknown,
    is_conflict,
    traced,
)
from engine.commit.lost_commit import lost_since, raise_lost
from engine.commit.promise_check import deviations
from engine.commit.staleness import BEYOND_RETENTION, commit_line
from engine.ledger.history_rows import GONE
from engine.model.counted import count, verb_of
from engine.model.create_values import CreatePlan
from engine.model.errors import EngineError, RefusedError, StalePlanError
from engine.model.operation import Deviation, Outcome, UndoPlan
from engine.model.plan import Undo
from engine.model.progress import OnProgress, Progress
from engine.recovery.restored_metadata import clustering, columns_change, part_changes
from engine.recovery.undo_drop import check_still_ours, dropped, not_there, plan_drop
from engine.recovery.undo_refusal import NOT_POSSIBLE, undo_refusal_is_recorded
from engine.recovery.why_not_undone import NOT_APPLIED, why_not_undone
from engine.spark.confs import confs_set, of_now
from engine.spark.schema import schema_of
from engine.spark.session_state import tagged, whereabouts
from engine.spark.spark_errors import collected, is_missing, translate
from engine.spark.why_refused import says_why_refused
from engine.sql.names import quote, string
from engine.sql.undo_statements import raise_retention_statement, undo_statement
from engine.table.commits import Commit, commits_since, current_version, taken_back_by, taking_each_other_back
from engine.table.delta_log import list_files, live_rows
from engine.table.log_file import LogFile
from engine.table.logged_schema import logged_table
from engine.table.restore_files import IGNORE_MISSING, missing_files, restored
from engine.table.table_state import has_log_directory, table_id
from engine.table.undo_possible import RETENTION, VersionTime, after_raising, retention_of, undo_of_commit
from engine.table.version_times import committed_times, is_enforced, now_ms, why_no_restore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.ledger.history import History
    from engine.model.plans import AnyPlan, OperationDetail

LATER_COMMITS = "LATER_COMMITS"
"""What must be accepted if commits after the operation would be lost."""
RAISE_RETENTION = "RAISE_RETENTION"
"""What must be accepted if a table property is raised first."""
RESTORING, DROPPING = "RESTORE", "DROP TABLE"
"""The phase in which Delta restores: only Spark can end it."""


@says_why_refused
def plan_undo(
    spark: SparkSession, detail: OperationDetail, *, history: History | None = None, tag: str | None = None
) -> UndoPlan:
    """How to take that operation back. Only reads; ``tag`` marks its Spark work, to cancel it. ``history`` records
    that it is not possible.

    Raises RefusedError for what was not committed, StalePlanError for what is taken back already, or if the table
    is another one or its log no longer holds that commit.
    """
    operation, plan = detail.operation, detail.plan
    if (refused := why_not_undone(operation)) is not None:
        raise refused
    if plan is None or operation.version is None:
        raise RefusedError(NOT_APPLIED, f"The ledger does not hold the plan of operation {operation.op_id}.")
    at = operation.version
    with tagged(spark, tag), confs_set(spark, of_now(spark)), undo_refusal_is_recorded(history, detail):
        if at > 0:
            return _plan_restore(spark, operation.op_id, plan, at)
        if isinstance(plan, CreatePlan):
            return plan_drop(spark, operation, plan)
    raise AssertionError(f"an operation of kind {operation.kind} has the plan of a {plan.kind}")


def _plan_restore(spark: SparkSession, op_id: str, plan: AnyPlan, at: int) -> UndoPlan:
    table = _name_of(spark, plan, at - 1)
    now, since = commits_since(spark, table, at - 1)
    if now >= at and all(one.version > at for one in since):
        raise _gone(at - 1, f"the log holds no entry of v{at} any more")
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
    judged = _judged(spark, table, at - 1, now)
    new, old = (logged_table(spark, plan.target.path, version) for version in (now, at - 1))
    if why := why_no_restore(spark, new.configuration, old.configuration):
        raise RefusedError(
            NOT_POSSIBLE, f"v{at - 1} cannot be restored: {why}.", "Its rows can be read: INSERT INTO another table."
        )
    here, before = (list_files(spark, plan.target.path, version) for version in (now, at - 1))
    if missing := missing_files(spark, plan.target.path, restored(here, before)):
        deleted = f"{len(missing):,} of its files {verb_of(len(missing), 'are')} deleted"
        raise _gone(at - 1, f"{deleted}: {missing[0]}{' among them' if len(missing) > 1 else ''}")
    later = later_than(commit, later)
    pairs = taking_each_other_back(later)
    undone = {version for one, restore in pairs for version in (one.version, restore.version)}
    detail = collected(spark, f"DESCRIBE DETAIL {table}")[0]
    now_id = str(detail["id"])  # a REPLACE gave the table another than the plan has
    return UndoPlan(
        undo_id=hashlib.sha256(f"restore {now_id} {now} {at - 1}".encode()).hexdigest()[:32],
        op_id=op_id,
        table=table,
        path=plan.target.path,
        table_id=now_id,
        version=now,
        to_version=at - 1,
        lost=tuple(commit_line(one) for one in later if one.version not in undone),
        taken_back=tuple(f"v{one.version} {one.operation}, undone by v{restore.version}" for one, restore in pairs),
        promise=promise(here, before),
        rows_now=live_rows(here),
        rows_after=live_rows(before),
        until=judged.until,
        why=judged.why,
        raise_retention=judged.raise_retention,
        columns=columns_change(new.fields, old.fields),
        parts=part_changes(new, old, *clustering(spark, plan, detail, at - 1)),
    )


def _judged(spark: SparkSession, table: str, version: int, at: int) -> Undo:
    """Whether Delta restores ``version`` of a table whose newest is ``at``. Asks Delta by a time travel read, which
    makes the same check. Raises RefusedError if the version cannot be read."""
    try:
        schema_of(spark, f"SELECT * FROM {table} VERSION AS OF {version}")
        too_old = False
    except EngineError as error:
        too_old = error.condition == BEYOND_RETENTION
        if not too_old:
            raise _gone(version, error.message) if _log_is_gone(error) else error from error
    detail = collected(spark, f"DESCRIBE DETAIL {table}")[0]
    every = committed_times(spark, table, at - version + 1)
    committed_at, made_at = every.get(version), every.get(version + 1)
    times = VersionTime(version, committed_at, committed_at)
    retention, enforced, now = retention_of(dict(detail["properties"] or {})), is_enforced(spark), now_ms()
    if enforced and committed_at is not None and retention.files is not None:
        # Delta has judged by the clock of its server, from which this one may differ
        last = committed_at + retention.files
        now = max(now, last + 1) if too_old else min(now, last)
    if not too_old:
        return undo_of_commit(times, retention, now, enforced=enforced, made_at=made_at)
    if committed_at is None:
        raise RefusedError(
            BEYOND_RETENTION,
            f"Delta refuses v{version} by its age ({RETENTION}), and when it was committed is not known.",
            f"Raise that property, then undo: ALTER TABLE {table} SET TBLPROPERTIES ('{RETENTION}' = '…').",
        )
    return after_raising(times, retention, now, made_at)


def _log_is_gone(error: EngineError) -> bool:
    return (
        error.condition in ("DELTA_VERSION_NOT_FOUND", "DELTA_LOG_FILE_NOT_FOUND") or "RECREATABLE" in error.condition
    )


def _gone(version: int, why: str) -> RefusedError:
    return RefusedError(
        NOT_POSSIBLE,
        f"v{version} cannot be restored: {why}.",
        "VACUUM and the cleanup of the log delete for good: a copy of the table serves only if it was made before.",
    )


@says_why_refused
def undo(
    spark: SparkSession,
    undo_plan: UndoPlan,
    *,
    history: History | None = None,
    accept: Sequence[str] = (),
    tag: str | None = None,
    on_progress: OnProgress | None = None,
) -> Outcome:
    """Run ``undo_plan`` once, and compare its promise with the commit's metrics.

    Raises RefusedError if later commits would be lost and ``accept`` does not hold LATER_COMMITS, or if a property must
    be raised and it does not hold RAISE_RETENTION; StalePlanError if the table moved since the plan was made. In all
    these cases nothing ran.
    """
    say = on_progress or (lambda _: None)
    _refuse(undo_plan, accept)
    _refuse_undone(undo_plan, history)
    with tagged(spark, tag), confs_set(spark, of_now(spark)):
        say(Progress(phase="check that nothing moved"))
        is_drop = undo_plan.kind == "drop"
        if is_drop:
            check_still_ours(spark, undo_plan)
        else:
            _check_version(spark, undo_plan, undo_plan.version)
        say(Progress(phase=DROPPING if is_drop else RESTORING, stage="writing"))
        op_id = history.begin_undo(undo_plan, where=whereabouts(spark)) if history else ""
        with given_up_if_interrupted(spark, history, op_id):
            return (dropped if is_drop else _restored)(spark, undo_plan, history, op_id, say)


def _restored(
    spark: SparkSession, undo_plan: UndoPlan, history: History | None, op_id: str, say: OnProgress
) -> Outcome:
    began = time.monotonic()
    table, checked = undo_plan.table, undo_plan.version
    try:
        with raised_retention(spark, undo_plan, op_id):
            _restore(spark, undo_plan, op_id)
    except Exception as error:
        failure = translate(error)
        commit = commit_despite(failure, error, lambda: commit_of(spark, undo_plan, op_id), history, op_id)
        if commit is None:
            raise (_conflict(undo_plan, failure) if is_conflict(failure) else failure) from error
    else:
        say(Progress(phase=COMPARING, stage="committed"))
        with given_up_if_unknown(history, op_id):
            commit, lost = commit_of(spark, undo_plan, op_id), None
            if commit is None:
                lost = lost_since(spark, table, undo_plan.path, undo_plan.table_id, checked, None)
        raise_lost(lost, history, op_id)
    with given_up_if_unknown(history, op_id, known=as_done(commit)):
        other = of_another_table(spark, table, undo_plan.table_id, checked, is_restored=True) if commit else ()
        outcome = _outcome(undo_plan, op_id, commit, round((time.monotonic() - began) * 1000), other)
        if history:
            history.undone(op_id, outcome)
    return outcome


def _conflict(undo_plan: UndoPlan, error: EngineError) -> StalePlanError:
    return StalePlanError(
        error.condition,
        f"Another commit to {undo_plan.table} was faster, and nothing was restored.",
        "Look again at what would be lost.",
    )


def _refuse_undone(undo_plan: UndoPlan, history: History | None) -> None:
    """Raise if the ledger knows by now that the operation is taken back: the table may be gone with it."""
    try:
        known = history.get(undo_plan.op_id).operation if history else None
    except EngineError:
        return  # it is of another ledger
    if known is not None and known.status in GONE and (refused := why_not_undone(known)) is not None:
        raise refused


def _refuse(undo_plan: UndoPlan, accept: Sequence[str]) -> None:
    if undo_plan.lost and LATER_COMMITS not in accept:
        raise RefusedError(
            LATER_COMMITS,
            f"{count(len(undo_plan.lost), 'later commit')} would be lost too: {'; '.join(undo_plan.lost[:3])}.",
            f"If that is what you want, undo with --accept {LATER_COMMITS}.",
        )
    if undo_plan.raise_retention and RAISE_RETENTION not in accept:
        raise RefusedError(
            RAISE_RETENTION,
            f"Delta refuses v{undo_plan.to_version} by its age; this would be run first: "
            f"{raise_retention_statement(undo_plan)}.",
            f"If that is what you want, undo with --accept {RAISE_RETENTION}.",
        )


def _check_version(spark: SparkSession, undo_plan: UndoPlan, expected: int) -> None:
    version = current_version(spark, undo_plan.table)
    if table_id(spark, undo_plan.table) != undo_plan.table_id:
        raise StalePlanError(
            "STALE_UNDO",
            f"{undo_plan.table} was dropped and made anew since it was looked at.",
            "What the operation wrote is gone with the table that it wrote to.",
        )
    if version != expected:
        raise StalePlanError(
            "STALE_UNDO",
            f"{undo_plan.table} moved from v{expected} to v{version} since it was looked at.",
            "Look again at what would be lost.",
        )


@contextlib.contextmanager
def raised_retention(spark: SparkSession, undo_plan: UndoPlan, op_id: str) -> Iterator[None]:
    """Raise the table's properties for the RESTORE in the body, which brings back those of its version. If the body
    fails they are put back."""
    if not undo_plan.raise_retention:
        yield
        return
    try:
        # where it is interrupted, it may be committed
        with tagged(spark, undo_plan.undo_id), confs_set(spark, traced(spark, undo_plan.undo_id, op_id)):
            collected(spark, raise_retention_statement(undo_plan))
        _check_version(spark, undo_plan, undo_plan.version + 1)
        yield
    except BaseException:
        with contextlib.suppress(Exception):
            put_back(spark, undo_plan, op_id)
        raise


def put_back(spark: SparkSession, undo_plan: UndoPlan, op_id: str) -> bool:
    """Put back the table's properties that were raised for ``undo_plan``; False if none is as it was raised."""
    changed = False
    now = dict(collected(spark, f"DESCRIBE DETAIL {undo_plan.table}")[0]["properties"] or {})
    for one in undo_plan.raise_retention:
        # after a RESTORE that did commit, or another's ALTER, it is no longer ours to change
        if now.get(one.name) != one.after or now.get(one.name) == one.before:
            continue
        change = f"UNSET TBLPROPERTIES ({string(one.name)})"
        if one.before is not None:
            change = f"SET TBLPROPERTIES ({string(one.name)} = {string(one.before)})"
        with confs_set(spark, traced(spark, undo_plan.undo_id, op_id)):
            collected(spark, f"ALTER TABLE {undo_plan.table} {change}")
        changed = True
    return changed


def _restore(spark: SparkSession, undo_plan: UndoPlan, op_id: str) -> None:
    # Delta would restore a version without the files that are gone
    confs = {**traced(spark, undo_plan.undo_id, op_id), IGNORE_MISSING: "false"}
    with tagged(spark, undo_plan.undo_id), confs_set(spark, confs):
        spark.sql(undo_statement(undo_plan)).collect()


def commit_of(spark: SparkSession, undo_plan: UndoPlan, op_id: str) -> Commit | None:
    since = commits_since(spark, undo_plan.table, undo_plan.version)[1]
    restores = [one for one in since if one.restored_to == undo_plan.to_version and one.op_id == (op_id or None)]
    return own_commit(spark, undo_plan.path, restores, "restore", plan_id=undo_plan.undo_id)


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


def _name_of(spark: SparkSession, plan: AnyPlan, to_version: int) -> str:
    """The table by its name, or by its path if the name means another table in this session. Raises StalePlanError if
    it is at neither."""
    try:
        # a REPLACE gives the table another id, and its log has the one before
        at_planning = (plan.target.table_id, plan.target.version)
        if table_id(spark, plan.target.name, at_planning) == plan.target.table_id:
            return plan.target.name
    except EngineError as error:
        if not is_missing(error):
            raise
        if not has_log_directory(spark, plan.target.path):
            again = f"RESTORE TABLE … TO VERSION AS OF {to_version}, by its new name."
            raise not_there(f"{plan.target.name} is there no more, nor is a table at its path", again) from error
    return f"delta.{quote(plan.target.path)}"


def _outcome(
    undo_plan: UndoPlan, op_id: str, commit: Commit | None, duration_ms: int, more: tuple[Deviation, ...]
) -> Outcome:
    differences = (
        deviations(undo_plan.promise, commit, checked=undo_plan.version + bool(undo_plan.raise_retention)) + more
    )
    return Outcome(
        plan_id=undo_plan.undo_id,
        op_id=op_id,
        table=undo_plan.table,
        verdict="fresh",
        version=commit.version if commit else None,
        read_version=commit.read_version if commit else None,
        kept=commit is not None and not differences,
        promise=undo_plan.promise,
        metrics=commit.metrics if commit else {},
        deviations=differences,
        duration_ms=duration_ms,
    )
