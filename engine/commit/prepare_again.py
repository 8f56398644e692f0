"""Plan → the frozen source as it was planned, in the session that applies."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from engine.commit.staleness import NO_FILE, Staleness
from engine.commit.state_changes import plan_changes
from engine.merge.analyze import analyze
from engine.merge.prepare_source import get_merge_source, prepare_source
from engine.merge.run_with_source_lost_retries import Attempt
from engine.merge.stage_source import version_of
from engine.merge.subquery_values import subquery_changes
from engine.model.counted import count
from engine.model.errors import EngineError, StalePlanError
from engine.model.plan import Plan
from engine.model.progress import OnProgress, Progress
from engine.spark.confs import read_confs
from engine.spark.schema import schema_of
from engine.spark.session_state import PLANNED, confs_as_planned, read_as_planned, run_setup, whereabouts
from engine.spark.spark_errors import collected, is_missing
from engine.sql.parse import MergeStatement
from engine.table.commits import commits_since
from engine.table.table_state import table_id

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


GONE, CHANGED = "SOURCE_GONE", "SOURCE_CHANGED"
NO_VERSION = ("DELTA_VERSION_NOT_FOUND", "DELTA_LOG_FILE_NOT_FOUND", "DELTA_NO_RECREATABLE_HISTORY_FOUND")
"""Delta has deleted what the log said of a version."""
OTHER_COLUMNS = ("UNRESOLVED_COLUMN", "FIELD_NOT_FOUND", "DATATYPE_MISMATCH", "DELTA_MERGE_UNRESOLVED_EXPRESSION")
"""Spark, or Delta, misses a column or takes one of another type."""
AGAIN = "Plan again."
MATERIALIZING = "MERGE operation - materialize source"
COMPARING_SOURCE = "read the source again, to compare"
"""Of a MERGE that does not materialize it."""
KEPT_BY_FREEZE = "Plan again; with --freeze the source stays as it was planned."


def is_own_session(spark: SparkSession, plan: Plan) -> bool:
    """Whether this is the session that planned, in which the setup was run."""
    same = plan.session.session_id is not None and plan.session.session_id == whereabouts(spark).session_id
    own = same and read_confs(spark, (PLANNED,)).get(PLANNED) is not None
    return own or (plan.session.source_view is not None and has_view(spark, plan.session.source_view))


def resume_session(spark: SparkSession, plan: Plan, statement: MergeStatement) -> tuple[bool, tuple[str, ...]]:
    """(Whether this is the session that planned, what has changed of the state on which the plan depends).

    In another session the setup statements are run first.
    """
    is_own = is_own_session(spark, plan)
    if not is_own:
        # a view keeps the confs that it was made under
        with confs_as_planned(spark, plan.confs):
            run_setup(spark, plan.statement.setup, again=True)
    with read_as_planned(spark, plan.confs):
        changed = plan_changes(spark, plan)
        if plan.state is not None and not changed:
            changed = subquery_changes(spark, statement, plan.state.subqueries)
    return is_own, changed


def prepare_again(spark: SparkSession, plan: Plan, statement: MergeStatement, say: OnProgress) -> None:
    """Make sure that the frozen source is there, and is what was planned.

    A source read VERSION AS OF cannot change. In the plan's own session the checkpoint is still there. In another
    session it is prepared again under the same name, and compared by row count and fingerprint; tables that are read
    live must be at the versions of the plan.
    """
    view = plan.session.source_view
    if is_pinned(plan):
        check_pinned(spark, plan)
    elif not (merges_checkpoint(plan) and view and has_view(spark, view)):
        say(Progress(phase=MATERIALIZING if merges_checkpoint(plan) else COMPARING_SOURCE))
        prepare_as_planned(spark, plan, statement, plan.decision.storage_level)


def prepare_lost(
    spark: SparkSession, plan: Plan, statement: MergeStatement, attempt: Attempt, state: Staleness, say: OnProgress
) -> None:
    """Prepare the source again after its blocks were lost, under the same name at the attempt's storage level."""
    say(Progress(phase=f"{MATERIALIZING}, attempt {attempt.attempt} ({attempt.storage_level})"))
    version, _ = commits_since(spark, plan.target.name, plan.target.version)
    if version != state.version:
        raise StalePlanError(
            "STALE_PLAN",
            f"{plan.target.name} moved from v{state.version} to v{version} while its source was lost.",
            "Plan again and look at what changed.",
        )
    prepare_as_planned(spark, plan, statement, attempt.storage_level)


def prepare_as_planned(spark: SparkSession, plan: Plan, statement: MergeStatement, level: str | None) -> None:
    """Prepare the source under the plan's name for it; refuses one that is not what was planned."""
    try:
        merge = analyze(spark, statement)
    except EngineError as error:
        other = of_another_source(error)
        if other is None:
            raise
        raise other from error
    try:
        source = prepare_source(spark, merge, plan.decision, view=plan.session.source_view, level=level)
    except EngineError as error:
        raise (files_gone("The source", error) if error.condition == NO_FILE else error) from error
    if source.fingerprint != plan.source.fingerprint:
        same = ", other values" if source.num_rows == plan.source.num_rows else ""
        then, now = plan.source.pinned_versions, source.pinned_versions
        moved = "".join(f"; {name} was v{v} and is v{now[name]}" for name, v in then.items() if now.get(name, v) != v)
        raise StalePlanError(
            CHANGED,
            f"The source is not what was planned: {count(source.num_rows, 'row')} now, {plan.source.num_rows:,} then"
            f"{same}{moved}.",
            KEPT_BY_FREEZE,
        )


def of_another_source(error: EngineError) -> StalePlanError | None:
    """What it means that Spark does not take the statement that was planned, into the table as it was planned."""
    # first, for a field that is not found is none that is gone with its table
    if error.condition.startswith(OTHER_COLUMNS):
        return StalePlanError(CHANGED, f"The source is not what was planned: {error.message}", KEPT_BY_FREEZE)
    if is_missing(error):
        return StalePlanError(GONE, f"What the source reads is not there any more: {error.message}", KEPT_BY_FREEZE)
    return None


def is_pinned(plan: Plan) -> bool:
    """Whether the statement that runs reads its source VERSION AS OF."""
    return not merges_checkpoint(plan) and any(splice.part == "source" for splice in plan.splices)


def merges_checkpoint(plan: Plan) -> bool:
    """Whether the statement that runs reads its source from a checkpoint of this program's."""
    view = plan.session.source_view
    return plan.session.staged is None and any(
        splice.part == "source" and view is not None and view in splice.text for splice in plan.splices
    )


def _pinned(plan: Plan) -> tuple[str, int]:
    """The table that the statement that runs reads, and the version."""
    if plan.session.staged is not None:
        return plan.session.staged, version_of(plan.source.num_rows)
    return next(iter(plan.source.pinned_versions.items()))


def check_pinned(spark: SparkSession, plan: Plan) -> None:
    """Refuse a plan whose source is gone, or is another table of the same name with versions of its own."""
    planned = plan.source.pinned_id
    name, version = _pinned(plan)
    try:
        current = table_id(spark, name, None if planned is None else (planned, version))
    except EngineError as error:
        if not is_missing(error):
            raise
        raise StalePlanError(GONE, f"The source that was planned, {name}, is not there any more.", AGAIN) from error
    if planned not in (None, current):
        message = f"The source that was planned, {name}, was dropped and created again, so it is another table."
        raise StalePlanError(CHANGED, message, AGAIN)


def pinned_files_gone(spark: SparkSession, plan: Plan, error: EngineError) -> StalePlanError | None:
    """The error of a MERGE, if a file of the version that its source is pinned to is missing, or its log entry."""
    if error.condition not in (NO_FILE, *NO_VERSION) or not is_pinned(plan):
        return None
    name, version = _pinned(plan)
    if error.condition == NO_FILE:
        location = unquote(str(collected(spark, f"DESCRIBE DETAIL {name}")[0]["location"]))
        is_gone = f"{location}/" in unquote(error.message)
    else:
        is_gone = not _has_version(spark, name, version)  # Delta names no table
    return files_gone(f"The source {name}", error, is_kept=plan.session.staged is not None) if is_gone else None


def _has_version(spark: SparkSession, name: str, version: int) -> bool:
    try:
        schema_of(spark, f"SELECT * FROM {name} VERSION AS OF {version}")
    except EngineError as error:
        return error.condition not in NO_VERSION
    return True


def files_gone(source: str, error: EngineError, *, is_kept: bool = False) -> StalePlanError:
    """``is_kept``: it is what --freeze has kept, and that was not enough."""
    message = f"{source} cannot be read as it was planned, as after a VACUUM or a cleanup of its log: {error.message}"
    return StalePlanError(GONE, message, AGAIN if is_kept else KEPT_BY_FREEZE)


def has_view(spark: SparkSession, view: str) -> bool:
    try:
        get_merge_source(spark, view)
    except RuntimeError:
        return False
    return True
