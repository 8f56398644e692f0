"""Plan → Outcome: Delta's own MERGE over the frozen source, exactly once, then promise against actual."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.commit.apply_create import apply_create, committed_create
from engine.commit.check_allowed import check_allowed
from engine.commit.check_plan import check_plan, invalid
from engine.commit.check_running import check_running
from engine.commit.commit_identity import of_another_table, own_commit
from engine.commit.exactly_once import (
    COMPARING,
    as_done,
    as_recorded,
    commit_despite,
    given_up_if_interrupted,
    given_up_if_unknown,
    is_conflict,
    operation_of,
    refusal_is_recorded,
    refuse_undone,
    traced,
)
from engine.commit.lost_commit import lost_since, raise_lost
from engine.commit.policy import Policy
from engine.commit.prepare_again import (
    is_pinned,
    merges_checkpoint,
    pinned_files_gone,
    prepare_again,
    prepare_lost,
    resume_session,
)
from engine.commit.promise_check import deviations, outcome_of
from engine.commit.staleness import Staleness, check_staleness
from engine.commit.state_changes import first_of, session_changed
from engine.merge.analyze import analyze
from engine.merge.derive_conjuncts import derive_again
from engine.merge.prepare_source import free_source, pruned_source_sql
from engine.merge.run_with_source_lost_retries import Attempt, lost_blocks, run_with_source_lost_retries
from engine.merge.running_statement import frozen_sql, running_sql
from engine.merge.should_materialize_source import MODE
from engine.merge.stage_source import drop_own, is_nameless, staged_name
from engine.model.create_values import CreatePlan
from engine.model.errors import (
    ENDS_ALL,
    CancelledError,
    ConflictError,
    EngineError,
    RefusedError,
    SessionChangedError,
    StalePlanError,
)
from engine.model.operation import Outcome
from engine.model.plan import Plan
from engine.model.progress import OnProgress, Progress
from engine.spark.confs import confs_set
from engine.spark.session_state import read_as_planned, tagged, whereabouts
from engine.spark.spark_errors import translate
from engine.spark.why_refused import says_why_refused
from engine.sql.as_typed import moved
from engine.sql.parse import MergeStatement, parse_merge
from engine.table.commits import Commit, commits_since
from engine.table.logged_schema import logged_schema
from engine.table.transaction import once, refuse_operator_txn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.ledger.history import History

REWRITING = "MERGE operation - Rewriting"
"""How the phase begins in which Delta's MERGE runs: only Spark can end it."""
MOVED_BY = 3
"""How many of the commits since the plan an error names."""


@says_why_refused
def apply(
    spark: SparkSession,
    plan: Plan | CreatePlan,
    *,
    history: History | None = None,
    accept: Sequence[str] = (),
    tag: str | None = None,
    on_progress: OnProgress | None = None,
    policy: Policy | None = None,
) -> Outcome:
    """Commit exactly ``plan``, once.

    A stale plan raises StalePlanError; one that is refused or forbidden by ``policy``, or a warning whose code is not
    in ``accept``, RefusedError: in these cases nothing ran. If another commit was faster, ConflictError: nothing was
    written. A plan that is committed already changes nothing and says so. ``history`` records it. The frozen source is
    dropped from the session at the end, also after a failure, but not where the plan may be applied again as it is.
    """
    say = on_progress or (lambda _: None)
    if isinstance(plan, CreatePlan):
        create = check_plan(plan)
        with refusal_is_recorded(history, plan), tagged(spark, tag):
            with allowed_if_committed(plan, lambda: committed_create(spark, plan)):
                check_allowed(plan, accept, policy, history)
            return apply_create(spark, plan, create, history, say)
    application = Application(spark, plan, check_plan(plan), history, say)
    with refusal_is_recorded(history, plan), tagged(spark, tag):
        with allowed_if_committed(plan, application.committed):
            check_allowed(plan, accept, policy, history)
        try:
            outcome = _apply(application)
        except (RefusedError, ConflictError, SessionChangedError, CancelledError):
            raise  # nothing was written: applied again, the source that was previewed is merged
        except Exception as error:
            free_source(spark, plan.session.source_view, error)
            if isinstance(error, EngineError):
                raise
            raise translate(error) from error
        free_source(spark, plan.session.source_view)
        return outcome


@contextlib.contextmanager
def allowed_if_committed(plan: Plan | CreatePlan, committed: Callable[[], Commit | None]) -> Iterator[None]:
    """What must not run has nothing left to run where it is ``committed``: applied again it says so."""
    try:
        yield
    except RefusedError:
        with contextlib.suppress(EngineError):
            if plan.refused is None and committed() is not None:
                return
        raise


@dataclass(frozen=True)
class Application:
    """One apply of a MERGE. ``statement`` is the plan's, parsed."""

    spark: SparkSession
    plan: Plan
    statement: MergeStatement
    history: History | None
    say: OnProgress

    def committed(self) -> Commit | None:
        """The commit that this plan made, if there is one: it can only be newer than the version it was planned at."""
        target = self.plan.target
        return of_plan(self.spark, self.plan, commits_since(self.spark, target.name, target.version)[1])

    def committed_meanwhile(self, error: EngineError) -> Commit | None:
        """The commit of another apply of this plan, which dropped what was frozen or moved what the plan reads; None
        where ``error`` has another cause."""
        if error.condition in ENDS_ALL:
            return None
        with contextlib.suppress(EngineError):
            return self.committed()
        return None

    def prepare_again(self) -> None:
        prepare_again(self.spark, self.plan, self.statement, self.say)


def _apply(application: Application) -> Outcome:
    spark, plan, statement = application.spark, application.plan, application.statement
    history = application.history
    application.say(Progress(phase="check that nothing moved"))
    is_own, changed = resume_session(spark, plan, statement)
    try:
        version, since = commits_since(spark, plan.target.name, plan.target.version)
    except EngineError as error:
        if (outcome := as_recorded(history, plan.plan_id, error)) is not None:
            return outcome
        # its name may be another table's here
        raise (session_changed(plan.target.name, changed) if changed else error) from error
    commit = of_plan(spark, plan, since)
    if commit is not None:
        refuse_undone(commit, since)
        drop_own(spark, plan)
        return already_applied(plan, commit, history)
    refuse_operator_txn(spark)
    if changed:
        raise session_changed(plan.target.name, changed)
    with read_as_planned(spark, plan.confs):
        try:
            state = check_staleness(spark, plan, version, since, application.prepare_again)
            if state.verdict == "stale":
                drop_stale(spark, plan, state)
                raise stale(plan, state)
            if not plan.changes_something:
                return nothing_to_do(plan, state, history)
            check_staged(spark, plan, statement)
            application.prepare_again()
            if not is_own:
                check_derived(spark, plan, statement)
            check_running(spark, plan, statement)
        except EngineError as error:
            commit = application.committed_meanwhile(error)
            if commit is None:
                gone = pinned_files_gone(spark, plan, error)
                if gone is None:
                    raise
                raise gone from error
            return already_applied(plan, commit, history)
        application.say(Progress(phase=f"{REWRITING} {len(plan.changed_files)} files", stage="writing"))
        op_id = history.begin(plan, where=whereabouts(spark), checked=state.version) if history else ""
        with given_up_if_interrupted(spark, history, op_id):
            return _run(application, op_id, state)


def drop_stale(spark: SparkSession, plan: Plan, state: Staleness) -> None:
    """A plan that the table moved past is never applied; another table of its name says nothing about the plan."""
    if state.moved_by:
        drop_own(spark, plan)


def stale(plan: Plan, state: Staleness) -> StalePlanError:
    what = "is not as it was planned"
    # a table that is another has no commits since
    if state.moved_by:
        versions = f"from v{plan.target.version} to v{state.version}"
        what = f"moved {versions} since the plan ({first_of(state.moved_by, MOVED_BY)})"
    return StalePlanError(
        "STALE_PLAN", f"{plan.target.name} {what}: {state.collides}.", "Plan again and look at what changed."
    )


def _run(application: Application, op_id: str, state: Staleness) -> Outcome:
    began = time.monotonic()
    spark, plan = application.spark, application.plan

    def merge() -> None:
        # under the plan's id: if this process dies, another one can still stop what it began
        with tagged(spark, plan.plan_id), confs_set(spark, run_confs(spark, plan, op_id)):
            spark.sql(running_sql(plan)).collect()

    def prepare(attempt: Attempt) -> None:
        if attempt.attempt > 1:
            prepare_lost(spark, plan, application.statement, attempt, state, application.say)

    def merge_frozen(_: Attempt, __: None) -> None:
        try:
            merge()
        except Exception as error:
            # blocks may be lost after the commit as well, and then there is nothing to run again
            if not lost_blocks(error) or application.committed() is None:
                raise

    try:
        if merges_checkpoint(plan):
            run_with_source_lost_retries(spark, prepare, merge_frozen)
        else:
            merge()
    except Exception as cause:
        error = moved(translate(cause, running_sql(plan)), plan.statement.sql, plan.splices)
        commit = commit_despite(error, cause, application.committed, application.history, op_id)
        if commit is None:
            raise _explained(application, error) from cause
        with given_up_if_unknown(application.history, op_id, known=as_done(commit)):
            return _recorded(application, op_id, state, commit, began)
    application.say(Progress(phase=COMPARING, stage="committed"))
    with given_up_if_unknown(application.history, op_id):
        commit = application.committed()
        lost = None
        if commit is None:
            # with the transaction confs a MERGE commits even if it changes nothing
            target = plan.target
            lost = lost_since(spark, target.name, target.path, target.table_id, state.version, plan.plan_id)
    raise_lost(lost, application.history, op_id)
    with given_up_if_unknown(application.history, op_id, known=as_done(commit)):
        return _recorded(application, op_id, state, commit, began)


def _explained(application: Application, error: EngineError) -> EngineError:
    """Delta's error, or what it means for this plan."""
    if is_conflict(error):
        return _conflict(application, error)
    return pinned_files_gone(application.spark, application.plan, error) or error


def _conflict(application: Application, error: EngineError) -> EngineError:
    """Delta's conflict as advice: whether the same plan can be applied again as it is."""
    spark, plan = application.spark, application.plan
    try:
        version, since = commits_since(spark, plan.target.name, plan.target.version)
        state = check_staleness(spark, plan, version, since, application.prepare_again)
    except EngineError:
        return error  # what cannot be asked is checked when it is applied again
    if state.verdict == "stale":
        drop_stale(spark, plan, state)
        reason = stale(plan, state)
        return StalePlanError(error.condition, f"Another commit was faster. {reason.message}", reason.hint)
    return ConflictError(
        error.condition,
        f"Another commit was faster ({first_of(state.moved_by, MOVED_BY)}), and nothing was written.",
        "It touches nothing that this plan does: apply the same plan again.",
    )


def of_plan(spark: SparkSession, plan: Plan, commits: Sequence[Commit]) -> Commit | None:
    return own_commit(spark, plan.target.path, commits, "merge", plan_id=plan.plan_id)


def run_confs(spark: SparkSession, plan: Plan, op_id: str) -> dict[str, str]:
    """The confs of the one statement: exactly once, traceable, and no second materialization of what is frozen."""
    confs = {**once(plan.plan_id), **traced(spark, plan.plan_id, op_id)}
    if merges_checkpoint(plan):
        confs[MODE] = "none"
    return confs


def check_staged(spark: SparkSession, plan: Plan, statement: MergeStatement) -> None:
    """Refuse a plan whose source is not kept beside the target, where this program keeps it."""
    staged, view = plan.session.staged, plan.session.source_view or ""
    if staged is not None:
        target = statement.target
        if not is_nameless(target) and staged != staged_name(spark, target, view):
            raise invalid("its source is kept elsewhere than beside its target")


def check_derived(spark: SparkSession, plan: Plan, statement: MergeStatement) -> None:
    """Refuse a plan of another session that narrows its ON by more than its source's keys imply."""
    if not any(splice.part == "condition" for splice in plan.splices):
        return
    staged = plan.session.staged is not None
    # what is staged outlives the source that it was made of
    merge = analyze(spark, parse_merge(frozen_sql(plan)) if staged else statement)
    table = merge.statement.source.text if is_pinned(plan) and not staged else None
    source = f"({pruned_source_sql(merge, table, plan.source.pinned_versions)})"
    if merges_checkpoint(plan) and plan.session.source_view:
        source = plan.session.source_view
    columns = logged_schema(spark, plan.target.path, plan.target.version)
    again = {one.text for one in derive_again(spark, merge, source, columns, plan.target.partition_columns)}
    if not again >= {one.text for one in plan.scan.derived}:
        raise invalid("what it adds to ON is not what the keys of its source say")


def already_applied(plan: Plan, commit: Commit, history: History | None) -> Outcome:
    known = operation_of(history, plan.plan_id, commit)
    op_id = known.op_id if known else commit.op_id or ""
    differing = deviations(plan.promise, commit)
    outcome = Outcome(
        plan_id=plan.plan_id,
        op_id=op_id,
        table=plan.target.name,
        verdict="fresh",
        version=commit.version,
        read_version=commit.read_version,
        already_applied=True,
        kept=not differing,
        promise=plan.promise,
        metrics=commit.metrics,
        deviations=differing,
    )
    if history and known and known.status != "applied":
        history.applied(op_id, outcome)  # the ledger knew less than the log does
    return outcome


def nothing_to_do(plan: Plan, state: Staleness, history: History | None) -> Outcome:
    """A plan that promises no change is not run: with the transaction confs Delta would commit an empty version."""
    outcome = Outcome(
        plan_id=plan.plan_id,
        op_id=history.begin(plan) if history else "",
        table=plan.target.name,
        verdict=state.verdict,
        version=None,
        read_version=state.version,
        moved_by=state.moved_by,
    )
    if history:
        history.applied(outcome.op_id, outcome)
    return outcome


def _recorded(application: Application, op_id: str, state: Staleness, commit: Commit | None, began: float) -> Outcome:
    spark, plan, history = application.spark, application.plan, application.history
    # before it is recorded: if this process dies in between, engine.recovery.recover finds it and drops the source
    drop_own(spark, plan)
    if commit is not None and op_id and commit.op_id != op_id:
        # the same plan was applied twice at once; Delta let one of them commit
        if history:
            history.failed(op_id, f"Another apply of this plan was faster: v{commit.version}.", "not_committed")
        return already_applied(plan, commit, history)
    other = of_another_table(spark, plan.target.name, plan.target.table_id, commit.version) if commit else ()
    outcome = outcome_of(plan, op_id, state, commit, round((time.monotonic() - began) * 1000), other)
    if history:
        history.applied(op_id, outcome)
    return outcome
