"""CreatePlan → Outcome: Delta's own CREATE or REPLACE TABLE, once, then promise against actual.

Only a CTAS writes a transaction id (WriteIntoDelta.createSetTransaction, DeltaCommand.hasBeenExecuted); an empty CREATE
and a CLONE write none. So every commit carries the plan's id in ``userMetadata``, and the history decides whether a
plan was applied; a plan that commits nothing is applied when the catalog has its table.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.commit.commit_identity import own_commit
from engine.commit.exactly_once import (
    COMPARING,
    as_done,
    commit_despite,
    given_up_if_interrupted,
    given_up_if_unknown,
    operation_of,
    plan_undone,
    refuse_undone,
    traced,
)
from engine.commit.lost_commit import lost_commit, raise_lost
from engine.commit.promise_check import deviations
from engine.commit.state_changes import plan_changes, session_changed
from engine.create.check_create_reading import check_parsed_create
from engine.create.data_frame_write import write_data_frame
from engine.create.provided_metadata import with_counted_source
from engine.create.survey import Survey, survey_table
from engine.ledger import history_store
from engine.model.create_values import CreatePlan, CreateSource, TableState
from engine.model.errors import EngineError, StalePlanError
from engine.model.instant import instant
from engine.model.operation import Deviation, Outcome
from engine.model.progress import OnProgress, Progress
from engine.spark.confs import confs_set
from engine.spark.session_state import confs_as_planned, run_setup, tagged, whereabouts
from engine.spark.spark_errors import translate
from engine.sql.names import quote
from engine.sql.parse_create import ParsedCreate
from engine.table.commits import Commit, commits_after
from engine.table.delta_log import list_files
from engine.table.restore_files import missing_files
from engine.table.table_state import DeltaTableNow, delta_table_now
from engine.table.transaction import once, refuse_txn_of_create

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.ledger.history import History

CREATING = "CREATE operation"
"""How the phase begins in which Delta's command runs: only Spark can end it."""


def apply_create(
    spark: SparkSession, plan: CreatePlan, create: ParsedCreate, history: History | None, say: OnProgress
) -> Outcome:
    """Run exactly ``plan``, which is not refused, once; ``create`` is its parsed statement.

    A stale plan raises StalePlanError: nothing ran then.
    """
    say(Progress(phase="check that nothing moved"))
    since = history_store.now()
    # a view keeps the confs that it was made under
    with confs_as_planned(spark, plan.confs):
        run_setup(spark, plan.statement.setup, again=True)
    with confs_as_planned(spark, plan.confs):
        changed = plan_changes(spark, plan)
        try:
            survey = survey_table(spark, create, plan.statement.overwrite_schema, count=False)
        except EngineError as error:
            # its names may be those of others here
            raise (session_changed(plan.target.name, changed) if changed else error) from error
        done, newer = committed(spark, plan, survey.now)
        if done is not None:
            refuse_undone(done, newer)
            if create.path is None and not survey.around.exists:
                # a DROP leaves the files of an external table
                raise plan_undone(f"The plan was committed as v{done.version}, and its name is not in the catalog.")
            return _outcome(plan, history, "", done, survey.now, already=True)
        if plan.effect == "adopt" and survey.around.exists and _is_same_table(plan, survey):
            return _outcome(plan, history, "", None, survey.now, already=True)
        _refuse_dropped(plan, history, since)
        refuse_txn_of_create(spark, create)
        if changed:
            raise session_changed(plan.target.name, changed)
        # what is read wrongly would look like a source that changed
        check_parsed_create(spark, create)
        check_fresh(spark, plan, create, survey)
        op_id = ""
        if history:
            op_id = history.begin(plan, where=whereabouts(spark), checked=plan.target.version, alone_since=since)
        if not plan.changes_something:
            return _outcome(plan, history, op_id, None, survey.now)
        with given_up_if_interrupted(spark, history, op_id):
            return _run(spark, plan, create, history, op_id, say)


def _run(
    spark: SparkSession, plan: CreatePlan, create: ParsedCreate, history: History | None, op_id: str, say: OnProgress
) -> Outcome:
    began = time.monotonic()
    say(Progress(phase=f"{CREATING} - {plan.operation or 'catalog entry'}", stage="writing"))
    try:
        # under the plan's id: whoever finds this process dead can still stop what it began
        with tagged(spark, plan.plan_id), confs_set(spark, run_confs(spark, plan, op_id)):
            if plan.statement.overwrite_schema is None:
                spark.sql(plan.statement.sql).collect()
            else:
                write_data_frame(spark, create, plan.statement.overwrite_schema)
    except Exception as error:
        reason = translate(error)

        if commit_despite(reason, error, lambda: committed_create(spark, plan), history, op_id) is None:
            raise reason from error
    say(Progress(phase=COMPARING, stage="committed"))
    with given_up_if_unknown(history, op_id):
        now = delta_table_now(spark, plan.target.name)
        commit, since = committed(spark, plan, now)
        lost = None
        if commit is None and plan.operation is not None and now is not None and not create.if_not_exists:
            transaction = plan.plan_id if plan.statement.form == "as_select" else None
            lost = lost_commit(spark, plan.target.name, now.state.location, plan.target.version, since, transaction)
    raise_lost(lost, history, op_id)
    with given_up_if_unknown(history, op_id, known=as_done(commit) or "It is done."):
        return _outcome(plan, history, op_id, commit, now, began=began)


def run_confs(spark: SparkSession, plan: CreatePlan, op_id: str) -> dict[str, str]:
    """The confs of the one statement: traceable, and once where Delta looks at transaction ids."""
    confs = traced(spark, plan.plan_id, op_id)
    return {**confs, **once(plan.plan_id)} if plan.statement.form == "as_select" else confs


def committed(
    spark: SparkSession, plan: CreatePlan, now: DeltaTableNow | None
) -> tuple[Commit | None, tuple[Commit, ...]]:
    """(The commit that this plan made, if there is one; the commits since the version that was planned, newest
    first)."""
    if now is None or plan.operation is None:
        return None, ()
    # by its place: a CREATE that failed after the commit has left no name for it
    newer = commits_after(spark, f"delta.{quote(now.state.location)}", plan.target.version, now.version)
    return own_commit(spark, now.state.location, newer, plan.kind, plan_id=plan.plan_id), newer


def committed_create(spark: SparkSession, plan: CreatePlan) -> Commit | None:
    """The commit that this plan made, if there is one, in what lies at its place now."""
    return committed(spark, plan, delta_table_now(spark, f"delta.{quote(plan.target.path)}"))[0]


def _refuse_dropped(plan: CreatePlan, history: History | None, since: str) -> None:
    """Raise if the ledger says that the plan was committed before this apply began, ``since``, or taken back: a DROP
    leaves no log that could say it. Planned again where there is no table, a CREATE has the same id."""
    known = history.find_by_plan(plan.plan_id) if history else []
    ended = [one for one in known if instant(plan.created_at) <= instant(one.finished_at or one.started_at)]
    if any(one.status == "undone" for one in ended):
        raise plan_undone("The plan was committed and taken back.")
    committed = [one for one in ended if one.status == "applied" and one.version is not None]
    if any(one.finished_at is not None and instant(one.finished_at) < instant(since) for one in committed):
        raise plan_undone("The plan was committed, and the table that it made is not there any more.")


def check_fresh(spark: SparkSession, plan: CreatePlan, create: ParsedCreate, survey: Survey) -> None:
    """Raise StalePlanError where the table, the catalog or a source is not as it was planned."""
    version = survey.now.version if survey.now else -1
    table_id = survey.now.table_id if survey.now else ""
    if survey.around.exists != plan.in_catalog:
        raise _stale(plan, "it appeared" if survey.around.exists else "it is gone")
    if version != plan.target.version or table_id != plan.target.table_id:
        raise _stale(plan, _how_other(plan, version))
    if survey.refused or survey.effect != plan.effect or survey.around.location != plan.target.path:
        raise _stale(plan, survey.refused.message if survey.refused else "another table is there")
    if not plan.changes_something:
        return
    is_query, now = plan.statement.form == "as_select", survey.provided.source
    if plan.source is not None and now is not None and not is_query and _is_other(plan.source, now):
        raise StalePlanError("SOURCE_CHANGED", f"{plan.source.sql} moved since the plan.", "Plan again.")
    _refuse_vacuumed(spark, plan, create)
    _check_after(plan, survey)
    if plan.source is not None and is_query and not plan.source.volatile:
        source = with_counted_source(spark, create, survey.provided).source
        if source is not None and source.fingerprint != plan.source.fingerprint:
            raise StalePlanError(
                "SOURCE_CHANGED",
                f"The query gives other rows than were planned: {source.num_rows or 0:,} now, "
                f"{plan.source.num_rows or 0:,} then.",
                "Plan again.",
            )


def _how_other(plan: CreatePlan, version: int) -> str:
    """How the table is not the one that was planned, now that it is at ``version``."""
    if version < 0:
        return "it is gone"
    return f"it is at v{version} now" if version != plan.target.version else "it was dropped and created again"


def _is_other(planned: CreateSource, now: CreateSource) -> bool:
    """Whether a CLONE or LIKE reads another table than was planned, or another version of it."""
    # a plan of an older version has no fingerprint of it
    is_same = planned.fingerprint in (None, now.fingerprint)
    return not is_same or now.pinned_versions != planned.pinned_versions


def _refuse_vacuumed(spark: SparkSession, plan: CreatePlan, create: ParsedCreate) -> None:
    """Raise StalePlanError where VACUUM took files of the older version that is cloned: Delta looks for none, and
    commits a table that cannot be read."""
    table = delta_table_now(spark, create.source or "") if create.form == "clone" and create.source_at else None
    if table is None or plan.source is None:
        return
    (version,) = plan.source.pinned_versions.values()
    files = list_files(spark, table.state.location, version)
    if missing := missing_files(spark, table.state.location, files):
        raise StalePlanError(
            "SOURCE_GONE",
            f"{plan.source.sql} cannot be read as it was planned, as after a VACUUM: {missing[0]} is gone.",
            "Clone a version whose files are there.",
        )


def _check_after(plan: CreatePlan, survey: Survey) -> None:
    """Raise StalePlanError where the statement would leave another table than was planned: what it reads changed."""
    if plan.after is None:
        return
    # the query is not run here, so the files are not known
    numbers = ("numFiles", "sizeInBytes")
    others = [one.metric for one in state_deviations(plan.after, survey.after) if one.metric not in numbers]
    if others:
        raise StalePlanError(
            "SOURCE_CHANGED",
            f"{plan.target.name} would be left otherwise than was planned ({', '.join(others)}): what the statement "
            "reads has changed.",
            "Plan again and look at what changed.",
        )


def _stale(plan: CreatePlan, what: str) -> StalePlanError:
    return StalePlanError(
        "STALE_PLAN", f"{plan.target.name} is not as it was planned: {what}.", "Plan again and look at what changed."
    )


def _is_same_table(plan: CreatePlan, survey: Survey) -> bool:
    now = survey.now
    return now is not None and (now.table_id, now.version) == (plan.target.table_id, plan.target.version)


def _outcome(
    plan: CreatePlan,
    history: History | None,
    op_id: str,
    commit: Commit | None,
    now: DeltaTableNow | None,
    *,
    already: bool = False,
    began: float | None = None,
) -> Outcome:
    differing = differences(plan, commit, now)
    known = operation_of(history, plan.plan_id, commit) if already else None
    if already:
        op_id = known.op_id if known else ""
    outcome = Outcome(
        plan_id=plan.plan_id,
        op_id=op_id,
        table=plan.target.name,
        verdict="fresh",
        version=commit.version if commit else None,
        read_version=commit.read_version if commit else None,
        already_applied=already,
        kept=not differing,
        promise=plan.promise,
        metrics=commit.metrics if commit else {},
        deviations=differing,
        duration_ms=round((time.monotonic() - began) * 1000) if began is not None else 0,
    )
    if history and (not already or (known and known.status != "applied")):  # the ledger knew less than the log does
        history.applied(op_id, outcome)
    return outcome


def differences(plan: CreatePlan, commit: Commit | None, now: DeltaTableNow | None) -> tuple[Deviation, ...]:
    """What is not as promised: the operation, the version, the metrics, and the table's state part by part."""
    changed: list[Deviation] = []
    if plan.operation is not None:
        changed += _unlike("operation", plan.operation, commit.operation if commit else None)
        changed += _unlike("version", plan.target.version + 1, commit.version if commit else None)
        changed += deviations(plan.promise, commit)
    newer = commit is not None and now is not None and now.version > commit.version
    if plan.after is not None and plan.changes_something and not newer:
        changed += state_deviations(plan.after, now.state if now else None)
    return tuple(changed)


def state_deviations(promised: TableState, actual: TableState | None) -> list[Deviation]:
    """The parts of the state that differ; what only the commit knew (None) cannot."""
    differences: list[Deviation] = []
    unknown = {key for key, value in promised.properties.items() if value is None}
    # the plan of an older version does not say how an identity counts
    uncounted = {one.name for one in promised.columns if one.identity and one.counted is None}

    def columns(state: TableState) -> list[dict[str, object]]:
        return [one.model_dump(exclude={"counted"} if one.name in uncounted else None) for one in state.columns]

    parts: tuple[tuple[str, Callable[[TableState], object]], ...] = (
        ("location", lambda state: state.location),
        ("columns", columns),
        ("partitionColumns", lambda state: list(state.partition_columns)),
        ("clusteringColumns", lambda state: list(state.clustering_columns)),
        ("comment", lambda state: state.comment),
        ("protocol", lambda state: [state.min_reader_version, state.min_writer_version, *state.features]),
        ("properties", lambda state: {k: v for k, v in state.properties.items() if k not in unknown}),
        ("numFiles", lambda state: None if promised.num_files is None else state.num_files),
        ("sizeInBytes", lambda state: None if promised.num_bytes is None else state.num_bytes),
    )
    for name, part in parts:
        differences += _unlike(name, part(promised), part(actual) if actual else None)
    return differences


def _unlike(name: str, promised: object, actual: object) -> list[Deviation]:
    if promised == actual:
        return []
    texts = [value if value is None or isinstance(value, int) else str(value) for value in (promised, actual)]
    return [Deviation(metric=name, promised="" if texts[0] is None else texts[0], actual=texts[1])]
