"""CREATE or REPLACE TABLE → CreatePlan: what CreateDeltaTableCommand would do. Reads everything, writes nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from engine.create.check_create_reading import check_analysis, check_parsed_create, read_create
from engine.create.data_frame_write import check_can_be_written
from engine.create.handle_commit import get_operation, handle_commit, handler_of, run_post_commit_updates
from engine.create.metadata_after import DOWNGRADE
from engine.create.survey import ARBITRARY, DEFAULT_SOURCE, Survey, survey_table
from engine.create.table_properties import DEFAULTS
from engine.ledger.history_store import now
from engine.merge.planning_state import Read, planning_state, session_confs, surroundings
from engine.model.counted import count
from engine.model.create_values import CreatePlan, CreateSource, CreateStatement, TableState
from engine.model.errors import EngineError
from engine.model.plan import PlanningState, Remark, Target
from engine.model.progress import OnProgress
from engine.preflight.log_store_warning import log_store_warnings
from engine.preflight.target_reads import beside
from engine.preflight.untested_confs import untested_confs
from engine.preflight.untested_engines import NO_NUMBER, is_tested, untested_engines
from engine.spark.clock import Clock
from engine.spark.confs import confs_set, of_now, read_confs
from engine.spark.engine_versions import engine_versions
from engine.spark.not_understood import NOT_UNDERSTOOD
from engine.spark.session_state import KEPT_CONFS, kept_confs, refuse_unwritable, run_setup, tagged
from engine.spark.spark_errors import translate
from engine.spark.why_refused import says_why_refused
from engine.sql.parse import Script
from engine.sql.parse_create import ParsedCreate
from engine.table.column_rules import CHECK
from engine.table.delta_log import list_files, live_rows
from engine.table.transaction import refuse_txn_of_create
from engine.table.version_times import undo_of_create

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@says_why_refused
def plan_create_table(
    spark: SparkSession,
    script: Script,
    *,
    params: Mapping[str, str] | None = None,
    overwrite_schema: bool | None = None,
    tag: str | None = None,
    on_progress: OnProgress | None = None,
) -> CreatePlan:
    """Plan a CREATE or REPLACE TABLE: what it would make of the table, without doing it.

    ``script`` may hold SET, USE and temporary views before the statement, and ``params`` are filled in already.
    ``overwrite_schema`` makes an AS SELECT
    the write of a DataFrame with that option, which no statement can have. What Spark or Delta refuses at analysis
    raises an EngineError; what would fail only while running gives a plan that is ``refused``.
    """
    with tagged(spark, tag):
        try:
            run_setup(spark, script.setup)
            refuse_unwritable(spark, params or {})
            create = read_create(spark, script.statement)
            refuse_txn_of_create(spark, create)
            if overwrite_schema is not None:
                check_can_be_written(create)
            clock = Clock(on_progress or (lambda _: None))
            with confs_set(spark, of_now(spark)):
                return _plan(spark, script, create, dict(params or {}), overwrite_schema, clock)
        except EngineError:
            raise
        except Exception as error:
            raise translate(error) from error


def _plan(
    spark: SparkSession,
    script: Script,
    create: ParsedCreate,
    params: dict[str, str],
    overwrite_schema: bool | None,
    clock: Clock,
) -> CreatePlan:
    with beside() as judge:
        with clock.phase("analyze"):
            plan, error = check_analysis(spark, create)
            # what Spark refuses is refused in its words
            reading = judge(lambda: check_parsed_create(spark, create, plan.parsed) if error is None else None)
            session = surroundings(spark, session_confs(spark, KEPT_CONFS))
            state = planning_state(spark, session, Read(plan, "", create.query or ""))
        try:
            with clock.phase("plan_create_table", "count the rows of the query" if create.query else ""):
                survey = survey_table(spark, create, overwrite_schema, count=error is None)
        except Exception:
            # a misreading is the reason why nothing is found under it
            misread = reading.exception()
            if isinstance(misread, EngineError) and misread.condition == NOT_UNDERSTOOD:
                raise misread from None
            raise
        with clock.phase("check_reading"):
            reading.result()
    if error is not None and survey.refused is None:
        raise error
    statement = CreateStatement(
        sql=create.sql,
        template=script.template,
        setup=script.setup,
        params=params,
        form=create.form,
        mode=create.mode,
        if_not_exists=create.if_not_exists,
        overwrite_schema=overwrite_schema,
    )
    draft = assemble(spark, statement, survey, state)
    return draft.model_copy(update={"undo": undo_of_create(spark, draft), "timings": clock.timings})


def assemble(spark: SparkSession, statement: CreateStatement, survey: Survey, state: PlanningState) -> CreatePlan:
    """The plan that is shown, saved and applied."""
    create, around, provided, after = survey.create, survey.around, survey.provided, survey.after
    before, confs, versions = around.before, create_confs(spark), engine_versions(spark)
    replaced = survey.effect == "replace" and create.form != "clone"
    target = target_of(survey, rows_before(spark, survey))
    commits = not survey.refused and survey.effect not in ("nothing", "adopt")
    updates = not survey.refused and survey.effect != "nothing"
    return CreatePlan(
        plan_id=_plan_id(statement, target, provided.source, confs, after, state),
        created_at=now(),
        engines=versions,
        statement=statement,
        target=target,
        in_catalog=around.exists,
        by_path=create.path is not None,
        managed=around.managed,
        handler=handler_of(create),
        effect="refused" if survey.refused else survey.effect,
        because=because(survey),
        provided=None if survey.effect == "nothing" else provided.value(),
        metadata_replaced=replaced,
        before=before,
        after=after,
        files_removed=before.num_files or 0 if replaced and before else 0,
        bytes_removed=before.num_bytes or 0 if replaced and before else 0,
        source=provided.source,
        operation=get_operation(create) if commits else None,
        post_commit=run_post_commit_updates(create, around.exists, after.properties if after else {})
        if updates
        else (),
        promise=handle_commit(create, provided, before).metrics if commits and is_tested(versions) else {},
        refused=survey.refused,
        warnings=(
            *untested_engines(versions, NO_NUMBER),
            *untested_confs(state),
            *warnings_of(survey),
            *log_store_warnings(spark, around.location),
        ),
        confs=confs,
        state=state,
    )


def create_confs(spark: SparkSession) -> dict[str, str]:
    """The confs that are set and change what a CREATE means."""
    defaults = tuple(sorted(key for key in spark.conf.getAll if key.startswith(DEFAULTS)))
    return {**kept_confs(spark), **read_confs(spark, (*defaults, DOWNGRADE, ARBITRARY, DEFAULT_SOURCE))}


def rows_before(spark: SparkSession, survey: Survey) -> int | None:
    """The live rows of the table that is replaced; None if none is, or the log does not count them."""
    replaced = survey.now if survey.effect == "replace" and survey.refused is None else None
    return None if replaced is None else live_rows(list_files(spark, survey.around.location, replaced.version))


def target_of(survey: Survey, num_rows: int | None) -> Target:
    """The table as it is."""
    state, there = survey.around.before, survey.now
    return Target(
        name=survey.name,
        path=survey.around.location,
        table_id=there.table_id if there else "",
        version=there.version if there else -1,
        features=state.features if state else (),
        num_files=state.num_files or 0 if state else 0,
        num_bytes=state.num_bytes or 0 if state else 0,
        num_rows=num_rows,
        partition_columns=state.partition_columns if state else (),
        clustering_columns=state.clustering_columns if state else (),
    )


def because(survey: Survey) -> str:
    """What is there and what that means, in a sentence."""
    create, around = survey.create, survey.around
    where = f"at {around.location}"
    if survey.refused:
        return survey.refused.message
    if survey.effect == "nothing":
        return f"{create.name} exists, and IF NOT EXISTS leaves it as it is."
    if survey.effect == "create":
        kind = "by path" if create.path else "managed" if around.managed else "external"
        return f"There is no such table: a new one is made, {kind}, {where}."
    if survey.effect == "adopt":
        entry = "no catalog entry is made" if create.path else "only its catalog entry is made"
        return f"There is a Delta table {where} already, and it fits: {entry}, nothing is committed."
    version = survey.now.version if survey.now else -1
    registered = "" if around.exists or create.path else ", which is in no catalog yet"
    return f"The table {where} is replaced at v{version}{registered}: its history stays, its files leave the version."


def warnings_of(survey: Survey) -> tuple[Remark, ...]:
    """What a person should know before it runs."""
    create, around = survey.create, survey.around
    warnings: list[Remark] = []
    before = around.before
    if survey.effect == "adopt" and create.mode == "CreateOrReplace" and not survey.refused:
        warnings.append(
            Remark(
                code="NOTHING_IS_REPLACED",
                sentence="CREATE OR REPLACE replaces nothing here: the table is in no catalog, so its log is only "
                "compared with the statement, and its rows stay.",
                evidence=f"At {around.location} stay {count(before.num_files or 0, 'file')}." if before else "",
            )
        )
    if survey.effect == "replace" and before and create.form != "clone" and before.num_files and not survey.refused:
        warnings.append(
            Remark(
                code="FILES_LEAVE_THE_VERSION",
                sentence="The files of the current version leave it "
                f"({before.num_files:,}, {before.num_bytes or 0:,} bytes). They stay readable "
                "by time travel until VACUUM.",
            )
        )
    warnings += _lost_checks(survey)
    source = survey.provided.source
    if source and source.volatile and source.num_rows is not None:
        warnings.append(
            Remark(
                code="VOLATILE_QUERY",
                sentence=f"The query gives other values each time ({', '.join(source.volatile)}): the rows that are "
                "written are not those that were counted.",
            )
        )
    if survey.after is not None and survey.effect == "replace" and survey.after.columns != survey.provided.columns:
        warnings.append(
            Remark(
                code="GENERATED_COLUMNS_ARE_LOST",
                sentence=f"{create.name} was made without generated or identity columns: the clone has the source's "
                "columns, but Delta drops how their values are generated.",
                evidence="DROP TABLE it first, and clone into a new one.",
            )
        )
    if create.form == "clone" and not survey.refused:
        warnings.append(
            Remark(
                code="FILES_BELONG_TO_THE_SOURCE",
                sentence="A shallow clone reads the source's own files: VACUUM of the source breaks it.",
            )
        )
    return tuple(warnings)


def _lost_checks(survey: Survey) -> Iterator[Remark]:
    before, after = survey.around.before, survey.after
    if before is None or after is None or survey.effect != "replace":
        return
    had = _checks(before)
    if lost := sorted(had.keys() - _checks(after).keys()):
        yield Remark(
            code="CONSTRAINTS_ARE_LOST",
            sentence=f"The table has {count(len(lost), 'CHECK constraint')} that the statement does not set: "
            "what is written from then on is not checked.",
            evidence=", ".join(f"{name} ({had[name]})" for name in lost),
        )


def _checks(state: TableState) -> dict[str, str | None]:
    """The CHECK constraints of a table, by their names."""
    return {name.removeprefix(CHECK): text for name, text in state.properties.items() if name.startswith(CHECK)}


def _plan_id(
    statement: CreateStatement,
    target: Target,
    source: CreateSource | None,
    confs: Mapping[str, str],
    after: TableState | None,
    state: PlanningState,
) -> str:
    """32 hex digits over what a plan means: statement, table id and version, sources, confs, the session's state, and
    what it leaves."""
    meaning = {
        "sql": statement.sql,
        "setup": statement.setup,
        "params": statement.params,
        "overwrite_schema": statement.overwrite_schema,
        "target": [target.name, target.table_id, target.version],
        "source": [source.fingerprint, source.pinned_versions] if source and not source.volatile else None,
        "confs": dict(confs),
        "state": state.model_dump(mode="json"),
        "after": after.model_dump(mode="json") if after else None,
    }
    return hashlib.sha256(json.dumps(meaning, sort_keys=True).encode()).hexdigest()[:32]
