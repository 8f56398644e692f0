"""Plan → Rehearsal: Delta's own MERGE on a SHALLOW CLONE of the planned version, and what it did beside the promise.

It costs one MERGE, and for a small table its rows once more. The table itself is not written.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.commit.apply_plan import REWRITING, check_derived, check_staged, of_plan, run_confs, stale
from engine.commit.check_plan import check_plan
from engine.commit.check_running import check_running, is_at
from engine.commit.exactly_once import COMPARING, why_undone
from engine.commit.policy import Policy, check_writable
from engine.commit.prepare_again import (
    AGAIN,
    merges_checkpoint,
    pinned_files_gone,
    prepare_again,
    prepare_as_planned,
    resume_session,
)
from engine.commit.promise_check import deviations
from engine.commit.rehearsal_clone import cloned, drop_left_over
from engine.commit.rehearsed_rows import can_compare_rows, count_deviations, row_deviations
from engine.commit.staleness import (
    NO_FILE,
    Staleness,
    check_staleness,
    commit_line,
    missing_in,
    not_readable,
    table_changed,
)
from engine.commit.state_changes import session_changed
from engine.commit.verify import VERIFYING, check_versions, expected_of
from engine.ledger.history_store import now
from engine.merge.analyze import analyze
from engine.merge.cloned_target import check_retargeted, retargeted
from engine.merge.run_with_source_lost_retries import Attempt, run_with_source_lost_retries
from engine.merge.running_statement import running_sql
from engine.model.create_values import CreatePlan
from engine.model.errors import CancelledError, EngineError, StalePlanError, UnreachableError, UsageError
from engine.model.operation import Deviation, Rehearsal
from engine.model.plan import Plan, Refused
from engine.model.progress import OnProgress, Progress
from engine.spark.confs import confs_set
from engine.spark.session_state import read_as_planned, tagged
from engine.spark.spark_errors import WITHOUT_CLASS, collected, translate
from engine.sql.parse import MergeStatement, parse_merge
from engine.table.commits import Commit, commits, commits_since
from engine.table.delta_log import list_files
from engine.table.logged_schema import logged_metadata
from engine.table.table_state import table_id
from engine.table.transaction import refuse_operator_txn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.expect.read_expectations import Declared

NO_SOURCE = "A rehearsal checks what the MERGE left: a plan reads the source."
COST = "A rehearsal costs one MERGE: Delta runs it on a clone of the planned version, which is dropped again."


def rehearse(
    spark: SparkSession,
    plan: Plan | CreatePlan,
    *,
    clone_schema: str | None = None,
    tag: str | None = None,
    on_progress: OnProgress | None = None,
    policy: Policy | None = None,
    expectations: Sequence[Declared] = (),
    private: bool = False,
) -> Rehearsal:
    """Run the MERGE of ``plan`` on a SHALLOW CLONE of the planned version, and compare what it did with the promise.

    The clone is a managed table in ``clone_schema`` (a dotted name, by default a schema of ours). It is dropped at the
    end, also after a failure. The table may have moved since the plan: the version that was planned is cloned, and
    ``stale`` of the rehearsal says why apply would refuse the plan. If the plan says that Delta refuses the MERGE, that
    is rehearsed. The frozen source stays, so the plan can be applied.
    ``expectations``, those for the target, are checked on the clone; ``private`` leaves the values of rows out.

    Raises RefusedError if ``policy`` allows no writing, StalePlanError if the table or the source is another,
    STATEMENT_NOT_UNDERSTOOD if the statement cannot be moved to the clone, else Spark's or Delta's error.
    """
    if isinstance(plan, CreatePlan):
        raise UsageError("NOT_A_MERGE", "Only a MERGE can be rehearsed.", "Apply the plan of a CREATE without it.")
    statement = check_plan(plan)
    if policy is not None:
        # the clone is a table, though a table of ours
        check_writable(policy)
    with tagged(spark, tag):
        try:
            expected = Expected(expected_of(expectations, plan, spark), private)
            return _rehearse(spark, plan, statement, clone_schema, expected, on_progress or (lambda _: None))
        except EngineError as error:
            gone = pinned_files_gone(spark, plan, error) or planned_files_gone(spark, plan, error)
            if gone is None:
                raise
            raise gone from error
        except Exception as error:
            raise translate(error) from error


@dataclass(frozen=True)
class Expected:
    """What is ``declared`` of the target; ``private``: its failing rows are not shown."""

    declared: tuple[Declared, ...] = ()
    private: bool = False


def _rehearse(
    spark: SparkSession,
    plan: Plan,
    statement: MergeStatement,
    schema: str | None,
    expected: Expected,
    say: OnProgress,
) -> Rehearsal:
    say(Progress(phase="check that nothing moved"))
    is_own, changed = resume_session(spark, plan, statement)
    if changed:
        raise session_changed(plan.target.name, changed)
    refuse_operator_txn(spark)
    with read_as_planned(spark, plan.confs):
        if table_id(spark, plan.target.name, (plan.target.table_id, plan.target.version)) != plan.target.table_id:
            raise StalePlanError("STALE_PLAN", f"{plan.target.name} was created again since the plan.", AGAIN)
        version, since = commits_since(spark, plan.target.name, plan.target.version)
        check_columns(spark, plan, version, since)
        check_staged(spark, plan, statement)
        prepare_again(spark, plan, statement, say)
        if not is_own:
            check_derived(spark, plan, statement)
        check_running(spark, plan, statement)
        why = why_stale(spark, plan, version, since)
        drop_left_over(spark, plan, schema)
        say(Progress(phase="clone the target"))
        with cloned(spark, plan, schema) as clone:
            rehearsal = _merge_into(spark, plan, statement, clone, say).model_copy(update={"stale": why})
            return with_expectations(spark, plan, rehearsal, expected, say)


def planned_files_gone(spark: SparkSession, plan: Plan, error: EngineError) -> StalePlanError | None:
    """The error of a MERGE into the clone, if a file is missing that the table had at the planned version and has not
    any more."""
    if error.condition != NO_FILE:
        return None
    planned = missing_in(error, list_files(spark, plan.target.path, plan.target.version))
    version, since = commits_since(spark, plan.target.name, plan.target.version)
    now = {file.path for file in list_files(spark, plan.target.path, version)}
    gone = [file for file in planned if file.path not in now]
    if not gone:
        return None
    return stale(plan, Staleness("stale", version, tuple(map(commit_line, since)), not_readable(gone)))


def check_columns(spark: SparkSession, plan: Plan, version: int, since: Sequence[Commit]) -> None:
    """Raise StalePlanError if the table has other columns than the planned version: Spark reads the statement against
    the table of now, and would refuse it, or read it otherwise. ``since`` are the commits up to ``version``, which is
    the table's."""
    if version <= plan.target.version:
        return
    then, today = (logged_metadata(spark, plan.target.path, one) for one in (plan.target.version, version))
    if list(then.fields.items()) != list(today.fields.items()):
        raise stale(plan, Staleness("stale", version, tuple(map(commit_line, since)), table_changed(then, today)))


def why_stale(spark: SparkSession, plan: Plan, version: int, since: Sequence[Commit]) -> str:
    """Why apply would refuse the plan as stale, in its words; "" if it would not. The source is prepared already."""
    if (done := of_plan(spark, plan, since)) is not None:
        return why_undone(done, since)
    state = check_staleness(spark, plan, version, since, lambda: None)
    return stale(plan, state).message if state.verdict == "stale" else ""


def with_expectations(
    spark: SparkSession, plan: Plan, rehearsal: Rehearsal, expected: Expected, say: OnProgress
) -> Rehearsal:
    """The rehearsal with what holds of its clone, unless Delta refused the MERGE."""
    if not expected.declared or rehearsal.refused:
        return rehearsal
    say(Progress(phase=VERIFYING, stage="writing"))
    versions = f"{plan.target.name} VERSION AS OF {rehearsal.version}", rehearsal.clone
    results = check_versions(spark, plan, versions, expected.declared, NO_SOURCE, private=expected.private)
    return rehearsal.model_copy(update={"expectations": results})


def _merge_into(spark: SparkSession, plan: Plan, statement: MergeStatement, clone: str, say: OnProgress) -> Rehearsal:
    sql = rehearsed_sql(spark, plan, clone)
    say(Progress(phase=f"{REWRITING} {len(plan.changed_files)} files of the clone", stage="writing"))
    started_at, began = now(), time.monotonic()
    error = _run(spark, plan, statement, sql)
    duration_ms = round((time.monotonic() - began) * 1000)
    say(Progress(phase=COMPARING, stage="writing"))
    commit = None if error else _commit_of(spark, plan, clone)
    compares = commit is not None and not plan.refused and can_compare_rows(plan)
    if plan.refused:
        found = refusal_deviations(plan.refused, error)
    else:
        found = deviations(plan.promise, commit)
        found += tuple(count_deviations(spark, plan, clone, commit.version)) if commit else ()
        found += tuple(row_deviations(spark, plan, clone, commit.version)) if commit and compares else ()
    return Rehearsal(
        plan_id=plan.plan_id,
        table=plan.target.name,
        version=plan.target.version,
        clone=clone,
        sql=sql,
        kept=not found,
        promise=plan.promise,
        metrics=commit.metrics if commit else {},
        deviations=found,
        refused=error.condition if error else None,
        rows_compared=compares,
        started_at=started_at,
        duration_ms=duration_ms,
    )


def rehearsed_sql(spark: SparkSession, plan: Plan, clone: str) -> str:
    """The statement that apply would send, its target replaced by ``clone``. Raises if Spark reads another MERGE in
    it, or one into another table."""
    running = analyze(spark, parse_merge(running_sql(plan)))
    sql = retargeted(running.typed, running.sides[1], running.target_name, clone)
    merge = check_retargeted(spark, running, sql)
    location = str(collected(spark, f"DESCRIBE DETAIL {clone}")[0]["location"])
    if is_at(merge.path, plan.target.path) or not is_at(merge.path, location):
        raise EngineError("OTHER_TARGET", f"The rehearsal would write into {merge.path}. Nothing ran.", AGAIN)
    return sql


def _run(spark: SparkSession, plan: Plan, statement: MergeStatement, sql: str) -> EngineError | None:
    """Run the MERGE. The error by which Delta refuses it, if the plan says that it does; other errors are raised."""

    def merge() -> None:
        with confs_set(spark, run_confs(spark, plan, "")):
            spark.sql(sql).collect()

    def prepare(attempt: Attempt) -> None:
        if attempt.attempt > 1:
            prepare_as_planned(spark, plan, statement, attempt.storage_level)

    try:
        if merges_checkpoint(plan):
            run_with_source_lost_retries(spark, prepare, lambda _, __: merge())
        else:
            merge()
    except Exception as cause:
        error = translate(cause, sql)
        error.line = error.column = None  # of a text that nobody typed
        if plan.refused is None or isinstance(error, (CancelledError, UnreachableError)):
            raise error from cause
        if error.condition in WITHOUT_CLASS and plan.refused.condition != error.condition:
            raise error from cause
        return error
    return None


def _commit_of(spark: SparkSession, plan: Plan, clone: str) -> Commit | None:
    """The commit of the MERGE; the OPTIMIZE of auto-compaction may follow it."""
    every = commits(spark, clone)
    return next((one for one in every if one.operation == "MERGE" and one.plan_id == plan.plan_id), None)


def refusal_deviations(refused: Refused, error: EngineError | None) -> tuple[Deviation, ...]:
    """Where Delta did not refuse the MERGE as the plan says."""
    actual = error.condition if error else None
    if actual in (refused.condition, *refused.also):
        return ()
    return (Deviation(metric="refused", promised=refused.condition, actual=actual),)
