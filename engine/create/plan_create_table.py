"""CREATE or REPLACE TABLE → CreatePlan: what CreateDeltaTableCommand would do. Looks at everything, writes nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.create.check_create_reading import check_analysis, check_parsed_create, read_create
from engine.create.data_frame_write import check_can_be_written, illegal_usage
from engine.create.foresee_create import CATALOG_MANAGED_DEFAULT, Surroundings, effect_of, foresee_create
from engine.create.metadata_after import DOWNGRADE, state_after
from engine.create.provided_metadata import DEFAULTS, Provided, provided_metadata, with_counted_source
from engine.ledger.history_store import now
from engine.merge.plan_values import engines
from engine.merge.planning_state import Read, planning_state, session_confs, surroundings
from engine.model.create_values import CreatePlan, CreateSource, CreateStatement, Effect, Handler, TableState
from engine.model.errors import EngineError, UsageError
from engine.model.plan import PlanningState, Refused, Remark, Target
from engine.model.progress import OnProgress
from engine.preflight.metadata_errors import unwritable
from engine.preflight.target_reads import beside
from engine.spark.clock import Clock
from engine.spark.confs import is_on, read_confs
from engine.spark.not_understood import NOT_UNDERSTOOD
from engine.spark.session_state import KEPT_CONFS, kept_confs, run_setup, tagged
from engine.spark.spark_errors import translate
from engine.sql.names import quote
from engine.sql.params import fill
from engine.sql.parse import Script, parse_script
from engine.sql.parse_create import ParsedCreate
from engine.table.column_rules import CHECK
from engine.table.table_state import (
    CatalogEntry,
    DeltaTableNow,
    catalog_entry,
    default_location,
    delta_table_now,
    has_log_directory,
    holds_data,
    plain,
    qualified_name,
)
from engine.table.tables import table_sql
from engine.table.transaction import refuse_txn_of_create
from engine.table.version_times import undo_of_create

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_SOURCE = "spark.sql.sources.default"
ARBITRARY = "spark.databricks.delta.allowArbitraryProperties.enabled"
OPERATIONS = {
    ("Create", "empty"): "CREATE TABLE",
    ("Create", "like"): "CREATE TABLE",
    ("Create", "as_select"): "CREATE TABLE AS SELECT",
    ("CreateOrReplace", "empty"): "CREATE OR REPLACE TABLE",
    ("CreateOrReplace", "as_select"): "CREATE OR REPLACE TABLE AS SELECT",
    ("Replace", "empty"): "REPLACE TABLE",
    ("Replace", "as_select"): "REPLACE TABLE AS SELECT",
}


@dataclass(frozen=True)
class Looked:
    """What the catalog, the location and the statement give together."""

    create: ParsedCreate
    name: str
    around: Surroundings
    now: DeltaTableNow | None
    provided: Provided
    effect: Effect
    after: TableState | None
    refused: Refused | None


def plan_create_table(
    spark: SparkSession,
    sql: str,
    *,
    params: Mapping[str, str] | None = None,
    overwrite_schema: bool | None = None,
    tag: str | None = None,
    on_progress: OnProgress | None = None,
) -> CreatePlan:
    """Plan a CREATE or REPLACE TABLE: what it would make of the table, without doing it.

    ``sql`` may hold SET, USE and temporary views before the statement. ``overwrite_schema`` makes an AS SELECT
    the write of a DataFrame with that option, which no statement can have. What Spark or Delta refuses at analysis
    raises an EngineError; what would fail only while running gives a plan that is ``refused``.
    """
    with tagged(spark, tag):
        try:
            script = parse_script(fill(sql, params or {}))
            run_setup(spark, script.setup)
            create = read_create(spark, script.statement)
            refuse_txn_of_create(spark, create)
            if overwrite_schema is not None:
                check_can_be_written(create)
            clock = Clock(on_progress or (lambda _: None))
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
                looked = look(spark, create, overwrite_schema, count=error is None)
        except Exception:
            # what was misread cannot be looked at: that is the error then
            misread = reading.exception()
            if isinstance(misread, EngineError) and misread.condition == NOT_UNDERSTOOD:
                raise misread from None
            raise
        with clock.phase("check_reading"):
            reading.result()
    if error is not None and looked.refused is None:
        raise error
    provided, around, after = looked.provided, looked.around, looked.after
    confs = create_confs(spark)
    replaces = looked.effect == "replace"
    typed = CreateStatement(
        sql=create.sql,
        setup=script.setup,
        params=params,
        form=create.form,
        mode=create.mode,
        if_not_exists=create.if_not_exists,
        overwrite_schema=overwrite_schema,
    )
    before = around.before
    removed = before if replaces and create.form != "clone" else None
    target = target_of(looked)
    source = provided.source
    made = CreatePlan(
        plan_id=_plan_id(typed, target, source, confs, after, state),
        created_at=now(),
        engines=engines(spark),
        statement=typed,
        target=target,
        in_catalog=around.exists,
        by_path=create.path is not None,
        managed=around.managed,
        handler=handler_of(create),
        effect="refused" if looked.refused else looked.effect,
        because=because(looked),
        provided=None if looked.effect == "nothing" else provided.value(),
        metadata_replaced=replaces and create.form != "clone",
        before=before,
        after=after,
        files_removed=removed.num_files or 0 if removed else 0,
        bytes_removed=removed.num_bytes or 0 if removed else 0,
        source=source,
        operation=operation_of(looked),
        post_commit=post_commit(looked),
        promise=promise_of(looked),
        refused=looked.refused,
        warnings=warnings_of(looked),
        confs=confs,
        state=state,
        timings=clock.timings,
    )
    return made.model_copy(update={"undo": undo_of_create(spark, made)})


def look(
    spark: SparkSession, create: ParsedCreate, overwrite_schema: bool | None = None, *, count: bool = True
) -> Looked:
    """What is there, what the statement gives, and what both come to."""
    entry, name, location = place_of(spark, create)
    named = name if entry and entry.provider == "delta" else f"delta.{quote(location)}"
    found = delta_table_now(spark, named) if location and (entry is None or entry.provider == "delta") else None
    managed = entry.kind == "MANAGED" if entry else create.path is None and create.location is None
    confs = read_confs(spark, (ARBITRARY, CATALOG_MANAGED_DEFAULT))
    around = Surroundings(
        entry=entry,
        location=location,
        managed=managed,
        before=found.state if found else None,
        holds_data=found is None and entry is None and holds_data(spark, location),
        has_log_directory=found is not None or (entry is None and has_log_directory(spark, location)),
        catalog_managed=confs.get(CATALOG_MANAGED_DEFAULT, "").lower() == "supported",
        arbitrary_properties=is_on(confs, ARBITRARY, "false"),
    )
    effect = effect_of(create, around)
    check_provider(spark, create, effect)
    provided = provided_metadata(spark, create)
    refused = foresee_create(create, around, provided) or illegal_usage(create, overwrite_schema)
    if refused is None and effect == "replace" and around.before:
        refused = unwritable(around.before.min_writer_version, around.before.features)
    if count and refused is None and create.form == "as_select" and effect != "nothing":
        provided = with_counted_source(spark, create, provided)
        refused = broken_constraint(spark, create, provided)
    after = None
    if refused is None:
        after = (
            around.before
            if effect in ("nothing", "adopt")
            else state_after(spark, create, provided, around.before, location)
        )
    return Looked(create, name, around, found, provided, effect, after, refused)


def broken_constraint(spark: SparkSession, create: ParsedCreate, provided: Provided) -> Refused | None:
    """The CHECK constraint that a row of the query breaks: Delta looks while it writes, and NULL breaks one too."""
    for key, check in provided.configuration.items():
        if not key.lower().startswith(CHECK):
            continue
        try:
            broken = spark.sql(
                f"SELECT count(*) FROM ({create.query}\n) WHERE NOT coalesce(({check}\n), false)"
            ).collect()[0][0]
        except Exception as error:
            raise translate(error) from error
        if broken:
            return Refused(
                condition="DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
                message=f"{broken:,} rows of the query break the CHECK {key[len(CHECK) :]} ({check}).",
                hint="Filter them out, or leave the constraint out.",
            )
    return None


def place_of(spark: SparkSession, create: ParsedCreate) -> tuple[CatalogEntry | None, str, str]:
    """(the catalog entry of the name, the qualified name as SQL, the location as it is or will be)."""
    if create.path is not None:
        return None, create.name, plain(create.path)
    parts = qualified_name(spark, create.parts)
    name = table_sql(".".join(quote(part) for part in parts))
    entry = catalog_entry(spark, name)
    if entry is not None:
        return entry, name, plain(entry.location)
    return None, name, plain(create.location) if create.location else default_location(spark, parts)


def check_provider(spark: SparkSession, create: ParsedCreate, effect: Effect) -> None:
    """Refuse a statement that makes a table of another format."""
    if create.form == "clone" or effect == "nothing":
        return
    provider = create.provider
    if provider is None and create.form == "like":
        source = catalog_entry(spark, create.source or "")
        provider = source.provider if source else "delta"
    if provider is None:
        provider = read_confs(spark, (DEFAULT_SOURCE,)).get(DEFAULT_SOURCE, "parquet")
    if provider.lower() != "delta":
        raise UsageError(
            "NOT_A_DELTA_TABLE",
            f"The statement makes a table of format {provider}: only Delta tables are planned here.",
            "Write USING delta.",
        )


def create_confs(spark: SparkSession) -> dict[str, str]:
    """The confs that are set and change what a CREATE means."""
    defaults = tuple(sorted(key for key in spark.conf.getAll if key.startswith(DEFAULTS)))
    return {**kept_confs(spark), **read_confs(spark, (*defaults, DOWNGRADE, ARBITRARY, DEFAULT_SOURCE))}


def target_of(looked: Looked) -> Target:
    """The table as it is."""
    state, found = looked.around.before, looked.now
    return Target(
        name=looked.name,
        path=looked.around.location,
        table_id=found.table_id if found else "",
        version=found.version if found else -1,
        features=state.features if state else (),
        num_files=state.num_files or 0 if state else 0,
        num_bytes=state.num_bytes or 0 if state else 0,
        partition_columns=state.partition_columns if state else (),
        clustering_columns=state.clustering_columns if state else (),
    )


def handler_of(create: ParsedCreate) -> Handler:
    """CreateDeltaTableCommand: which handler the optional logical query plan leads to."""
    handlers: dict[str, Handler] = {"as_select": "handleCreateTableAsSelect", "clone": "handleClone"}
    return handlers.get(create.form, "handleCreateTable")


def operation_of(looked: Looked) -> str | None:
    """CreateDeltaTableCommand.getOperation: what DESCRIBE HISTORY will name, None where nothing is committed."""
    if looked.refused or looked.effect in ("nothing", "adopt"):
        return None
    return "CLONE" if looked.create.form == "clone" else OPERATIONS[looked.create.mode, looked.create.form]


def because(looked: Looked) -> str:
    """What is there and what that means, in a sentence."""
    create, around = looked.create, looked.around
    where = f"at {around.location}"
    if looked.refused:
        return looked.refused.message
    if looked.effect == "nothing":
        return f"{create.name} exists, and IF NOT EXISTS leaves it as it is."
    if looked.effect == "create":
        kind = "by path" if create.path else "managed" if around.managed else "external"
        return f"There is no such table: a new one is made, {kind}, {where}."
    if looked.effect == "adopt":
        entry = "no catalog entry is made" if create.path else "only its catalog entry is made"
        return f"There is a Delta table {where} already, and it fits: {entry}, nothing is committed."
    version = looked.now.version if looked.now else -1
    registered = "" if around.exists or create.path else ", which is in no catalog yet"
    return f"The table {where} is replaced at v{version}{registered}: its history stays, its files leave the version."


def post_commit(looked: Looked) -> tuple[str, ...]:
    """CreateDeltaTableCommand.runPostCommitUpdates: what happens after the commit."""
    if looked.refused or looked.effect == "nothing":
        return ()
    steps = ["nothing in the catalog: the table is by path"]
    if looked.create.path is None:
        steps = ["the catalog entry is altered" if looked.around.exists else "the catalog entry is created"]
    formats = (looked.after.properties if looked.after else {}).get("delta.universalFormat.enabledFormats") or ""
    if "iceberg" in formats.lower():
        steps.append("the table is converted to Iceberg (UniForm)")
    return tuple(steps)


def promise_of(looked: Looked) -> dict[str, int]:
    """The exact operationMetrics of the commit, by Delta's names."""
    create, provided = looked.create, looked.provided
    if looked.refused or looked.effect in ("nothing", "adopt"):
        return {}
    if create.form == "clone":
        zeros = dict.fromkeys(("numRemovedFiles", "removedFilesSize", "numCopiedFiles", "copiedFilesSize"), 0)
        return {"sourceTableSize": provided.num_bytes, "sourceNumOfFiles": provided.num_files, **zeros}
    if create.form != "as_select" or provided.source is None or provided.source.num_rows is None:
        return {}
    # what a volatile query gave once says nothing of the next time
    promise = {} if provided.source.volatile else {"numOutputRows": provided.source.num_rows}
    if create.mode != "Create":
        before = looked.around.before
        promise["numRemovedFiles"] = (before.num_files or 0) if before else 0
        promise["numRemovedBytes"] = (before.num_bytes or 0) if before else 0
    return promise


def warnings_of(looked: Looked) -> tuple[Remark, ...]:
    """What a person should know before it runs."""
    create, around, found = looked.create, looked.around, []
    before = around.before
    if looked.effect == "adopt" and create.mode == "CreateOrReplace" and not looked.refused:
        found.append(
            Remark(
                code="NOTHING_IS_REPLACED",
                sentence="CREATE OR REPLACE replaces nothing here: the table is in no catalog, so its log is only "
                "compared with the statement, and its rows stay.",
                evidence=f"{before.num_files or 0:,} files stay at {around.location}." if before else "",
            )
        )
    if looked.effect == "replace" and before and create.form != "clone" and before.num_files and not looked.refused:
        found.append(
            Remark(
                code="FILES_LEAVE_THE_VERSION",
                sentence=f"{before.num_files:,} files ({before.num_bytes or 0:,} bytes) leave the current version. "
                "They stay readable by time travel until VACUUM.",
                evidence=f"RESTORE TABLE {looked.name} TO VERSION AS OF {looked.now.version if looked.now else 0}",
            )
        )
    source = looked.provided.source
    if source and source.volatile and source.num_rows is not None:
        found.append(
            Remark(
                code="VOLATILE_QUERY",
                sentence=f"The query gives other values each time ({', '.join(source.volatile)}): the rows that are "
                "written are not those that were counted.",
            )
        )
    if looked.after is not None and looked.effect == "replace" and looked.after.columns != looked.provided.columns:
        found.append(
            Remark(
                code="GENERATED_COLUMNS_ARE_LOST",
                sentence=f"{create.name} was made without generated or identity columns: the clone has the source's "
                "columns, but Delta drops how their values are generated.",
                evidence="DROP TABLE it first, and clone into a new one.",
            )
        )
    if create.form == "clone" and not looked.refused:
        found.append(
            Remark(
                code="FILES_BELONG_TO_THE_SOURCE",
                sentence="A shallow clone reads the source's own files: VACUUM of the source breaks it.",
            )
        )
    return tuple(found)


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
