"""The whole chain, in order: text → … → Plan. Looks at everything, writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from engine.merge.analyze import AnalyzedMerge, aliased, analyze
from engine.merge.check_reading import check_reading, read_merge
from engine.merge.derive_conjuncts import (
    NO_VALUE,
    ODD_PARTITION,
    condition_splice,
    derive_conjuncts,
    leave_gaps_out,
    not_derived,
    with_conjuncts,
)
from engine.merge.find_touched_files import Matches, find_seen_rows, find_touched_files
from engine.merge.plan_values import engines, plan_id, schema_after, source_value, statement_value, target_value
from engine.merge.plan_writes import Promise, plan_writes, runs_insert_only
from engine.merge.planning_state import Read, Surroundings, planning_state, session_confs, surroundings
from engine.merge.prepare_delta_scan import DeltaScan, merge_reads, prepare_delta_scan
from engine.merge.prepare_source import PreparedSource, free_source, new_view_name, prepare_source
from engine.merge.run_with_source_lost_retries import Attempt, lost_blocks, run_with_source_lost_retries
from engine.merge.running_statement import named_in_full, source_splice, spliced
from engine.merge.should_materialize_source import should_materialize_source
from engine.merge.source_plan import source_plan
from engine.merge.stage_source import drop_staged, staged_name
from engine.merge.subquery_values import subquery_values
from engine.model.conflicts import Conflicts
from engine.model.errors import EngineError, UsageError
from engine.model.plan import Decision, Plan, PlanningState, Refused, Sample, Splice
from engine.model.progress import OnProgress
from engine.model.scan import DerivedConjunct, Scan, TouchedFiles
from engine.preflight.advice import advise
from engine.preflight.check_rows import check_rows, first_of
from engine.preflight.duplicate_keys import find_conflicts
from engine.preflight.evolution_errors import new_columns
from engine.preflight.failing_conditions import failing_condition
from engine.preflight.generated_column_advice import generated_predicate
from engine.preflight.metadata_errors import (
    ambiguity,
    append_only,
    changed_types,
    dotted_partitions,
    not_boolean,
    reserved_names,
    unwritable,
)
from engine.preflight.samples import sample_rows
from engine.preflight.target_reads import (
    DescribedTarget,
    beside,
    describe_detail,
    describe_target,
    target_columns,
    target_detail,
    target_files,
)
from engine.preflight.unmatched_dv_rows import unexpected_rows
from engine.spark.clock import Clock
from engine.spark.confs import STATS_SKIPPING, confs_set, for_rows, is_on
from engine.spark.explain import explain
from engine.spark.schema import schema_of
from engine.spark.session_state import KEPT_CONFS, PLANNED, kept_confs, run_setup, session_ref, tagged
from engine.spark.spark_errors import WITHOUT_CLASS, WRAPPERS, translate
from engine.sql.params import fill
from engine.sql.parse import MergeStatement, Script, parse_script
from engine.table.delta_log import live_rows
from engine.table.log_file import LogFile
from engine.table.transaction import refuse_operator_txn
from engine.table.version_times import undo_of_merge

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def plan(
    spark: SparkSession,
    sql: str,
    *,
    params: Mapping[str, str] | None = None,
    rows: int = 5,
    freeze: bool = False,
    prune: bool = True,
    tag: str | None = None,
    on_progress: OnProgress | None = None,
    private: bool = False,
) -> Plan:
    """Plan a MERGE: what it would do, exactly, without doing it.

    ``sql`` may hold SET, USE, CACHE and temporary views before the MERGE. ``rows`` samples are shown for each
    clause; ``private`` leaves values out of samples and conflict keys. ``freeze`` keeps the source in a Delta table
    beside the target until the plan is applied. ``tag`` marks the Spark work, so that ``spark.interruptTag(tag)`` from
    another thread cancels it. What Spark or Delta refuses at analysis raises an EngineError; what would fail only while
    running gives a plan that is ``refused``.
    """
    values = dict(params or {})
    options = Options(rows, freeze, prune, private)
    return plan_script(spark, parse_script(fill(sql, values)), values, options, tag=tag, on_progress=on_progress)


@dataclass(frozen=True)
class Options:
    """What a plan of a MERGE may do and show: see ``plan``."""

    rows: int = 5
    freeze: bool = False
    prune: bool = True
    private: bool = False

    @property
    def derive(self) -> bool:
        """Whether ON gets the bounds of the source's keys, which are values of it."""
        return self.prune and not self.private


def plan_script(
    spark: SparkSession,
    script: Script,
    params: dict[str, str],
    options: Options,
    *,
    tag: str | None = None,
    on_progress: OnProgress | None = None,
) -> Plan:
    """Plan the MERGE of ``script``, in which ``params`` are filled in already."""
    if options.freeze and options.private:
        raise UsageError(
            "FREEZE_IS_PRIVATE",
            "private keeps the values of rows out of plans, and --freeze would write them into a table.",
            "Plan without --freeze, or in a profile that is not private.",
        )
    with tagged(spark, tag):
        try:
            return _plan(spark, script, params, options, Clock(on_progress or (lambda _: None)))
        except EngineError:
            raise
        except Exception as error:
            raise translate(error) from error


def _plan(
    spark: SparkSession,
    script: Script,
    params: dict[str, str],
    options: Options,
    clock: Clock,
) -> Plan:
    run_setup(spark, script.setup)
    refuse_operator_txn(spark)
    statement = read_merge(spark, script.statement)
    spark.conf.set(PLANNED, "1")
    # before the thread beside sets any for its queries
    confs, others = kept_confs(spark), session_confs(spark, KEPT_CONFS)
    begun = begin(spark, statement, others, clock)
    merge, listing = begun.merge, begun.listing
    with clock.phase("should_materialize_source"):
        planned = source_plan(spark, merge)
        read = Read(merge.plan, None if options.freeze else planned.analyzed, "" if options.freeze else statement.sql)
        state = planning_state(spark, begun.around.result(), read, private=options.private)
        state = state.model_copy(update={"subqueries": subquery_values(spark, statement)})
        decision = should_materialize_source(spark, merge, planned)
    with clock.phase("check_reading"):
        begun.reading.result()
    clock.answer(decision=decision)
    if decision.materialize:
        # to be looked at while the source is frozen, which may take long
        with clock.phase("describe_target"):
            scan = scan_of(spark, merge, None, listing, begun.detail.result(), confs)
        clock.answer(scan=scan.value())
    view = new_view_name()
    if options.freeze and named_in_full(merge):
        raise UsageError(
            "SOURCE_WITHOUT_ALIAS", "A frozen source needs an alias.", "Write USING name AS s, and s.column."
        )
    staged = staged_name(spark, statement.target, view) if options.freeze else None

    def prepare(attempt: Attempt) -> PreparedSource:
        with clock.phase("prepare_source", "MERGE operation - materialize source"):
            level = attempt.storage_level
            return prepare_source(spark, merge, decision, planned, view=view, level=level, staged=staged)

    def look(attempt: Attempt, source: PreparedSource) -> Looked:
        with clock.phase("describe_target"):
            known = Known(merge, decision, begun.describing.result(), listing, confs, state)
        # statistics on: AS_MERGE_READS tells why
        with confs_set(spark, {STATS_SKIPPING: "true"}):
            merge_scan = scan_with_bounds(spark, known, source, options, clock)
            # inserting alone, a MERGE prunes partitions as a read does, and fails like one
            files = () if runs_insert_only(statement, confs) else merge_scan.scan.before
            with confs_set(spark, merge_reads(spark, merge, files)):
                return look_at(spark, known, attempt, source, merge_scan, options, clock)

    try:
        looked = run_with_source_lost_retries(spark, prepare, look)
        known = Known(merge, decision, begun.describing.result(), listing, confs, state)
        made = plan_of(spark, script, params, known, looked, clock)
        if made.changes_something and not made.refused:
            undo = undo_of_merge(spark, made.target.name, merge.version, known.target.detail)
            return made.model_copy(update={"undo": undo})
    except BaseException as error:
        free_source(spark, view, error)
        drop_staged(spark, staged, error)
        raise
    return without_staged(spark, made)


@dataclass(frozen=True)
class Begun:
    """The analyzed MERGE, and what is asked beside: our reading of it, its target, the session around it."""

    merge: AnalyzedMerge
    reading: Future[None]
    around: Future[Surroundings]
    detail: Future[Any]
    listing: Future[tuple[LogFile, ...]]
    describing: Future[DescribedTarget]


def begin(spark: SparkSession, statement: MergeStatement, others: Mapping[str, str], clock: Clock) -> Begun:
    """Analyze the MERGE, and have the log read meanwhile. ``others`` are the session's confs."""
    with beside() as submit, beside() as judge:
        typed = submit(lambda: describe_detail(spark, statement.target.text))
        around = submit(lambda: surroundings(spark, others))
        with clock.phase("analyze"):
            merge = analyzed(spark, statement)
        detail = submit(lambda: target_detail(spark, merge, typed))
        columns = submit(lambda: target_columns(spark, merge, detail.result()))
        return Begun(
            merge=merge,
            reading=judge(lambda: check_reading(spark, merge)),
            around=around,
            detail=detail,
            listing=submit(lambda: target_files(spark, merge, columns.result())),
            describing=submit(lambda: describe_target(spark, merge, detail.result(), columns.result())),
        )


def analyzed(spark: SparkSession, statement: MergeStatement) -> AnalyzedMerge:
    """Analyze. EXPLAIN prints no causes: where its error is only what was under way, the source is asked by itself."""
    try:
        return analyze(spark, statement)
    except EngineError as error:
        if not error.condition.startswith(WRAPPERS):
            raise
        schema_of(spark, f"{statement.before_select}SELECT * FROM {aliased(statement.source)}")
        raise


def without_staged(spark: SparkSession, made: Plan) -> Plan:
    """The plan without the table that keeps its source: one of which nothing will be merged keeps none."""
    if made.session.staged is None:
        return made
    drop_staged(spark, made.session.staged)
    return made.model_copy(
        update={
            "source": made.source.model_copy(update={"pinned_id": None}),
            "session": made.session.model_copy(update={"staged": None}),
            "splices": tuple(one for one in made.splices if one.part != "source"),
        }
    )


def plan_of(
    spark: SparkSession, script: Script, params: dict[str, str], known: Known, looked: Looked, clock: Clock
) -> Plan:
    """All that was found, as the plan that is shown, saved and applied."""
    merge, decision, target, confs = known.merge, known.decision, known.target, known.confs
    statement = merge.statement
    source, scan, matches, promise = looked.source, looked.scan, looked.matches, looked.promise
    if decision.materialize:
        decision = decision.model_copy(update=asdict(looked.attempt))
    narrowed = derived_splice(looked)
    put = source_splice(merge, source, decision, narrows=narrowed is not None)
    splices = tuple(one for one in (put, narrowed) if one)
    if looked.merge is not merge:
        explain(spark, spliced(statement.sql, splices))
    typed = statement_value(merge.typed, script, params)
    read = target_value(merge, target.detail, scan)
    frozen = source_value(merge, source)
    warnings, advice = advise(
        merge,
        source,
        decision,
        matches,
        promise,
        looked.conflicts,
        target.assigned,
        target.properties,
        confs,
    )
    implied = generated_predicate(spark, merge, looked.scan_as_typed, matches, target.columns)
    return Plan(
        plan_id=plan_id(typed, read, frozen, confs, known.state),
        created_at=datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        engines=engines(spark),
        statement=typed,
        target=read,
        source=frozen,
        decision=decision,
        scan=scan_value(looked),
        executor=promise.executor,
        find_touched_files=TouchedFiles(
            join_type=matches.join_type,
            matched_predicate=matches.matched_predicate,
            files=promise.files,
            conflicts=looked.conflicts,
            partitions_removed_from=promise.partitions_removed_from,
        ),
        write=promise.write.model_copy(update={"schema_after": schema_after(merge)}),
        promise=promise.metrics,
        estimates=promise.estimates,
        refused=looked.refused,
        warnings=warnings,
        advice=(*advice, implied) if implied else advice,
        samples=looked.samples,
        confs=dict(confs),
        state=known.state,
        splices=splices,
        session=session_ref(spark, source.view, source.staged),
        timings=clock.timings,
    )


@dataclass(frozen=True)
class Known:
    """What the steps that read no source gave."""

    merge: AnalyzedMerge
    decision: Decision
    target: DescribedTarget
    listing: Future[tuple[LogFile, ...]]
    confs: Mapping[str, str]
    state: PlanningState


@dataclass(frozen=True)
class Looked:
    """What the frozen source showed, in the attempt that kept its blocks. ``merge`` has the ``derived`` conjuncts in
    its ON where they let Delta skip files that it keeps under the text as typed."""

    attempt: Attempt
    source: PreparedSource
    merge: AnalyzedMerge
    scan_as_typed: DeltaScan
    scan: DeltaScan
    derived: tuple[DerivedConjunct, ...]
    matches: Matches
    promise: Promise
    conflicts: Conflicts
    refused: Refused | None
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class MergeScan:
    """What data skipping leaves under the text as typed, and with the ``derived`` conjuncts in the ON of ``merge``."""

    merge: AnalyzedMerge
    as_typed: DeltaScan
    scan: DeltaScan
    derived: tuple[DerivedConjunct, ...] = ()


def scan_with_bounds(
    spark: SparkSession, known: Known, source: PreparedSource, options: Options, clock: Clock
) -> MergeScan:
    """What Delta keeps of the target, narrowed by the frozen source's keys where that lets it skip more files."""
    merge, target = known.merge, known.target

    def scan(merge: AnalyzedMerge) -> DeltaScan:
        return scan_of(spark, merge, source.view, known.listing, target.detail, known.confs)

    def narrowed(found: MergeScan, derived: tuple[DerivedConjunct, ...]) -> MergeScan:
        with_bounds = with_conjuncts(merge, derived)
        try:
            after = scan(with_bounds) if with_bounds is not merge else found.as_typed
        except EngineError as error:
            if error.condition != NO_VALUE:
                raise
            return MergeScan(merge, found.as_typed, found.as_typed, not_derived(derived, ODD_PARTITION))
        fewer = len(after.after) < len(found.scan.after)
        return MergeScan(with_bounds, found.as_typed, after, derived) if fewer else found

    with clock.phase("prepare_delta_scan"):
        as_typed = scan(merge)
        if not options.derive or len(as_typed.after) < 2 or named_in_full(merge):
            return MergeScan(merge, as_typed, as_typed)
        keys = (spark, merge, source.view, source.bounds)
        derived = derive_conjuncts(*keys, target.columns, target.partition_columns)
        found = narrowed(MergeScan(merge, as_typed, as_typed, derived), derived)
        if len(found.scan.after) > 1:
            apart = leave_gaps_out(*keys, derived, target.partition_columns)
            found = narrowed(found, apart) if apart != derived else found
        return found


def look_at(
    spark: SparkSession,
    known: Known,
    attempt: Attempt,
    source: PreparedSource,
    found: MergeScan,
    options: Options,
    clock: Clock,
) -> Looked:
    """The steps that read the frozen source: they run again together where its blocks were lost."""
    merge, scan, target = found.merge, found.scan, known.target
    rules, assigned = target.rules, target.assigned
    statement = merge.statement
    refused = (
        unwritable(int(target.detail["minWriterVersion"]), target.features)
        or changed_types(rules)
        or not_boolean(merge)
        or new_columns(merge.target_type, merge.type_after, target)
    )
    target_rows = live_rows(scan.after)
    matches = Matches()
    try:
        with clock.phase("find_touched_files", "MERGE operation - scanning files for matches"):
            if runs_insert_only(statement, known.confs):
                with confs_set(spark, for_rows(source.num_rows, target_rows)):
                    matches = find_seen_rows(spark, merge, source)
            else:
                matches = find_touched_files(spark, merge, source, scan)
    except EngineError as error:
        if error.condition in NOT_REFUSALS:
            raise
        if lost_blocks(error):
            raise
        refused = refused or Refused(condition=error.condition, message=error.message, hint=error.hint)
    promise = plan_writes(merge, matches, source.num_rows, target.traits, known.confs)
    with clock.phase("find_conflicts"):
        conflicts = find_conflicts(spark, merge, source, matches, options.rows, options.private)
    if refused is None:
        with clock.phase("check_rows"):
            narrowed = found.scan is not found.as_typed
            pruned = known.decision.materialize or source.staged is not None or narrowed
            copies = promise.write.unmodified_rows_written and bool(promise.metrics["numTargetRowsCopied"])
            refused = (
                reserved_names(merge, pruned, matches, promise.write)
                or ambiguity(statement, conflicts)
                or dotted_partitions(merge, matches, target.detail, known.confs)
                or failing_condition(spark, merge, source, matches, promise.write, private=options.private)
                or first_of(
                    check_rows(spark, merge, source, matches, rules, assigned, copies=copies, private=options.private),
                    unexpected_rows(spark, merge, source, matches, promise.write, private=options.private),
                )
                or (append_only(promise.metrics) if rules.append_only else None)
            )
    with clock.phase("samples"):
        hidden = refused or options.private
        samples = () if hidden else sample_rows(spark, merge, source, matches, assigned, target_rows, options.rows)
    return Looked(
        attempt=attempt,
        source=source,
        merge=merge,
        scan_as_typed=found.as_typed,
        scan=scan,
        derived=found.derived,
        matches=matches,
        promise=promise,
        conflicts=conflicts,
        refused=refused,
        samples=samples,
    )


def scan_of(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source_view: str | None,
    listing: Future[tuple[LogFile, ...]],
    detail: Any,
    confs: Mapping[str, str],
) -> DeltaScan:
    return prepare_delta_scan(
        spark,
        merge,
        source_view,
        listing,
        tuple(detail["partitionColumns"] or ()),
        tuple(detail["tableFeatures"] or ()),
        statistics=is_on(confs, STATS_SKIPPING),
    )


def scan_value(looked: Looked) -> Scan:
    told = {"derived": looked.derived, "files_after_as_typed": len(looked.scan_as_typed.after)}
    return looked.scan.value().model_copy(update=told)


# what says nothing of the MERGE: a query of ours that does not parse is our fault, not the operator's
NOT_REFUSALS = (
    "CANCELLED",
    "SPARK_UNREACHABLE",
    "MATERIALIZE_SOURCE_OUT_OF_DISK",
    "PARSE_SYNTAX_ERROR",
    *WITHOUT_CLASS,
)


def derived_splice(looked: Looked) -> Splice | None:
    """What is added to ON, None where it would skip nothing."""
    return condition_splice(looked.merge, looked.derived) if looked.scan is not looked.scan_as_typed else None
