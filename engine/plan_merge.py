"""The whole chain, in order: text → … → Plan. Reads everything, writes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.expect.evaluate import check_declared
from engine.expect.target_name import of_table
from engine.merge.analyze import AnalyzedMerge
from engine.merge.check_reading import read_merge
from engine.merge.count_inserts import InsertedKeys
from engine.merge.find_touched_files import NOT_REFUSALS, Matches, find_seen_rows, find_touched_files
from engine.merge.join_of_match import Join, join_that_reads
from engine.merge.merge_scan import MergeScan, scan_as_typed, scan_with_bounds
from engine.merge.pinned_target import pinned_target
from engine.merge.plan_writes import plan_writes, runs_insert_only
from engine.merge.planning_state import Read, Surroundings, planning_state, session_confs
from engine.merge.prepare_delta_scan import merge_reads, prepare_delta_scan
from engine.merge.prepare_source import PreparedSource, free_source, new_view_name, prepare_source
from engine.merge.run_with_source_lost_retries import Attempt, lost_blocks, run_with_source_lost_retries
from engine.merge.running_statement import planned_splices, spliced, table_to_freeze_in
from engine.merge.should_materialize_source import should_materialize_source
from engine.merge.source_plan import SourcePlan, refuse_with_left_outside
from engine.merge.stage_source import drop_staged, without_staged
from engine.merge.subquery_values import subquery_values
from engine.merge.volatile_parts import volatile_source
from engine.model.checks import Checks
from engine.model.errors import CancelledError, EngineError, UnreachableError, UsageError
from engine.model.plan import Plan, PlanningState, Refused, Remark
from engine.model.progress import OnProgress
from engine.preflight.analysis import Analysis, analyze_merge
from engine.preflight.assemble_plan import assemble_plan
from engine.preflight.changes import with_changes
from engine.preflight.expected_rows import checked_table, expected_rows
from engine.preflight.find_conflicts import find_conflicts
from engine.preflight.findings import Basis, Findings
from engine.preflight.options import Options
from engine.preflight.refusals import refused_at_start, refused_while_writing
from engine.preflight.samples import sample_rows
from engine.preflight.silent_faults import silent_faults
from engine.preflight.target_reads import beside
from engine.preflight.updated_faults import compared_updates
from engine.preflight.written_keys import keys_to_count
from engine.spark.clock import Clock
from engine.spark.confs import (
    AS_WRITTEN,
    STATS_SKIPPING,
    confs_known,
    confs_set,
    for_files,
    for_rows,
    of_now,
    set_conf,
)
from engine.spark.explain import explain
from engine.spark.printed_whole import printed_whole
from engine.spark.session_state import KEPT_CONFS, PLANNED, kept_confs, refuse_unwritable, run_setup, tagged
from engine.spark.spark_errors import translate
from engine.spark.why_refused import says_why_refused
from engine.sql.parse import Script, filled_script
from engine.table.delta_log import live_rows
from engine.table.transaction import refuse_operator_txn
from engine.table.version_times import undo_of_merge

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.expect.read_expectations import Declared

WITHOUT_VALUES = "The rows that match cannot be found. Spark's message may hold values, and is left out."


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
    checks: Checks | None = Checks(),  # noqa: B008  a frozen value
    changes: bool = False,
    expectations: Sequence[Declared] = (),
) -> Plan:
    """Plan a MERGE: what it would do, exactly, without doing it.

    ``sql`` may hold SET, USE, CACHE and temporary views before the MERGE. ``rows`` samples are shown for each
    clause; ``private`` leaves values out of samples and conflict keys. ``freeze`` keeps the source in a Delta table
    beside the target until the plan is applied. ``tag`` marks the Spark work, so that ``spark.interruptTag(tag)`` from
    another thread cancels it. ``checks`` say of which silent faults it warns; None looks for none. ``changes`` adds
    what changes by column, which costs one more join. ``expectations`` (engine.expect.read_expectations) are checked on
    the rows that the MERGE would leave, those of them that are for its target. What Spark or Delta refuses at analysis
    raises an EngineError; what would fail only while running gives a plan that is ``refused``.
    """
    values = dict(params or {})
    options = Options(rows, freeze, prune, private, checks, changes, tuple(expectations))
    return plan_script(spark, filled_script(sql, values), values, options, tag=tag, on_progress=on_progress)


def of_target(spark: SparkSession, merge: AnalyzedMerge, around: Surroundings, options: Options) -> Options:
    """The options with the expectations of the target alone, which can all be computed, and what those say of it."""
    if not options.expectations:
        return options
    table = checked_table(spark, merge, around, options.expectations)
    declared = of_table(options.expectations, table.parts, merge.path)
    check_declared(spark, declared, table, merge.path, around.functions)
    has_history = any(one.expectation.history for one in declared)
    checks = replace(options.checks, history=True) if options.checks and has_history else options.checks
    return replace(options, expectations=declared, table=table, checks=checks)


@says_why_refused
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


def _plan(spark: SparkSession, script: Script, params: dict[str, str], options: Options, clock: Clock) -> Plan:
    run_setup(spark, script.setup)
    with confs_known(spark):
        refuse_unwritable(spark, params)
        refuse_operator_txn(spark)
        statement = read_merge(spark, script.statement)
        set_conf(spark, PLANNED, "1")
        # before another thread sets confs for its queries
        confs, others = kept_confs(spark), session_confs(spark, KEPT_CONFS)
        # each print would set the same conf, and put it back
        with printed_whole(spark), confs_set(spark, {**AS_WRITTEN, **of_now(spark)}), pinned_target(spark) as target:
            analysis = analyze_merge(spark, statement, others, confs, clock, target)
            try:
                return _plan_analyzed(spark, script, params, options, clock, analysis)
            except Exception as error:
                # that of a statement that is read wrongly goes first
                if not isinstance(translate(error), (CancelledError, UnreachableError)):
                    analysis.reading.result()
                raise


def _plan_analyzed(
    spark: SparkSession, script: Script, params: dict[str, str], options: Options, clock: Clock, analysis: Analysis
) -> Plan:
    merge, confs = analysis.merge, analysis.confs
    with clock.phase("should_materialize_source"):
        query, around = described_source(spark, analysis)
        options = of_target(spark, merge, around, options)
        state = state_of(spark, merge, query, around, options)
        # before explain_scans sets confs by which Spark would plan that join otherwise
        join = analysis.join.result()
        decision = should_materialize_source(spark, merge, query)
    clock.answer(decision=decision)
    if decision.materialize:
        # shown while the source is frozen, which may take long
        with clock.phase("describe_target"):
            scan = prepare_delta_scan(spark, merge, None, analysis.target_log())
        clock.answer(scan=scan.value())
    view = new_view_name()
    staged = table_to_freeze_in(spark, merge, view) if options.freeze else None

    def prepare(attempt: Attempt) -> PreparedSource:
        if staged:
            # before anything is written
            analysis.reading.result()
        with clock.phase("prepare_source"):
            level = attempt.storage_level
            return prepare_source(spark, merge, decision, query, view=view, level=level, staged=staged)

    def match_source(attempt: Attempt, source: PreparedSource) -> Findings:
        with clock.phase("describe_target"):
            log = analysis.target_log()
            basis = Basis(merge, decision, analysis.target.result(), confs, state, join, around.functions)
        # statistics on: AS_MERGE_READS says why
        with confs_set(spark, {STATS_SKIPPING: "true"}):
            with clock.phase("prepare_delta_scan"):
                scan = (
                    scan_with_bounds(spark, merge, source, log, basis.target.columns)
                    if options.derive
                    else scan_as_typed(spark, merge, source, log)
                )
            inserts = runs_insert_only(merge.typed, confs)
            reads = merge_reads(spark, merge, scan.scan.before, prunes=inserts)
            with confs_set(spark, {**reads, **for_files(len(scan.scan.after))}):
                with beside() as submit:
                    # asked while the rows are read, for Delta asks the store for the log again
                    accepted = submit(lambda: explain_with_bounds(spark, basis, source, scan))
                    findings = match(spark, basis, attempt, source, scan, options, clock)
                    with clock.phase("check_reading"):
                        # a question that was read wrongly reads, and answers nobody
                        analysis.reading.result()
                        accepted.result()
                return with_expectations(spark, findings, options, clock)

    try:
        findings = run_with_source_lost_retries(spark, prepare, match_source)
        plan = assemble_plan(spark, script, params, findings, options.expectations, clock)
        merges = plan.changes_something and not plan.refused
        if merges:
            plan = _with_undo_and_changes(spark, plan, findings, options)
    except BaseException as error:
        free_source(spark, view, error)
        drop_staged(spark, staged, error)
        raise
    return plan if merges else without_staged(spark, plan)


def described_source(spark: SparkSession, analysis: Analysis) -> tuple[SourcePlan, Surroundings]:
    merge, around = analysis.merge, analysis.surroundings.result()
    query = analysis.source.result()
    refuse_with_left_outside(merge.plan.analyzed, query.with_read)
    text = merge.statement.before_select + merge.source_sql
    return replace(query, volatile=volatile_source(spark, text, query.analyzed, around.functions)), around


def state_of(
    spark: SparkSession, merge: AnalyzedMerge, query: SourcePlan, around: Surroundings, options: Options
) -> PlanningState:
    read = Read(merge.plan, None if options.freeze else query.analyzed, "" if options.freeze else merge.typed.sql)
    state = planning_state(spark, around, read, private=options.private)
    return state.model_copy(update={"subqueries": subquery_values(spark, merge.typed)})


def _with_undo_and_changes(spark: SparkSession, plan: Plan, findings: Findings, options: Options) -> Plan:
    undo = undo_of_merge(spark, plan.target.name, findings.merge.version, findings.basis.target.detail)
    plan = plan.model_copy(update={"undo": undo})
    return with_changes(spark, plan, findings.planned, private=options.private) if options.changes else plan


def match(
    spark: SparkSession,
    basis: Basis,
    attempt: Attempt,
    source: PreparedSource,
    scan: MergeScan,
    options: Options,
    clock: Clock,
) -> Findings:
    """The steps that read the frozen source: they run again together if its blocks are lost."""
    merge, target = scan.merge, basis.target
    refused = refused_at_start(merge, target)
    target_rows = live_rows(scan.scan.after)
    matches, not_compared = Matches(), ""
    sizes = for_rows(source.num_rows, target_rows)
    keys = keys_to_count(basis.merge, target.rules, target.assigned, options.checks, private=options.private)
    try:
        with clock.phase("find_touched_files"):
            if runs_insert_only(merge.statement, basis.confs):
                with confs_set(spark, sizes):
                    matches = find_seen_rows(spark, merge, source, keys)
            else:
                flags, not_compared = compared_updates(scan, target, options.checks)
                matches, why = find_flagged_files(spark, merge, source, scan, flags, keys)
                not_compared = why or not_compared
    except EngineError as error:
        if error.condition in NOT_REFUSALS or lost_blocks(error):
            raise
        message = WITHOUT_VALUES if options.private else error.message
        refused = refused or Refused(condition=error.condition, message=message, hint=error.hint)
    join: Join = "by key"
    if refused is None and source.num_rows and scan.scan.after and not runs_insert_only(merge.statement, basis.confs):
        with clock.phase("find_touched_files"):
            join = join_that_reads(spark, merge, basis.join, matches)
    promise = plan_writes(merge, matches, source.num_rows, target.traits, basis.confs, join)
    with clock.phase("find_conflicts"):
        conflicts = find_conflicts(spark, merge, source, matches, options.rows, options.private)
    findings = Findings(basis, attempt, source, scan, matches, promise, conflicts, refused)
    # once for all of these, and not for the join before: its pairs may be more than the rows of both sides
    with confs_set(spark, sizes):
        if refused is None:
            with clock.phase("check_rows"):
                refused = refused_while_writing(spark, findings, private=options.private)
        with clock.phase("samples"):
            limit = 0 if refused or options.private else options.rows
            samples = sample_rows(spark, merge, source, matches, target.assigned, target_rows, limit)
        faults: tuple[Remark, ...] = ()
        if options.checks and refused is None:
            with clock.phase("silent_faults"):
                faults = silent_faults(spark, findings, options.checks, private=options.private)
    return replace(findings, refused=refused, samples=samples, faults=faults, not_compared=not_compared)


def explain_with_bounds(spark: SparkSession, basis: Basis, source: PreparedSource, scan: MergeScan) -> None:
    """Raise if Spark does not take the statement with what is derived of the source's keys."""
    if scan.splice is not None:
        splices = planned_splices(basis.merge, source, basis.decision, scan.splice)
        explain(spark, spliced(basis.merge.statement.sql, splices))


def with_expectations(spark: SparkSession, findings: Findings, options: Options, clock: Clock) -> Findings:
    if options.table is None or not options.expectations:
        return findings
    with clock.phase("expectations"):
        results = expected_rows(spark, findings, options.expectations, options.table, private=options.private)
    return replace(findings, expectations=results)


def find_flagged_files(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: PreparedSource,
    scan: MergeScan,
    flags: Mapping[str, str],
    keys: InsertedKeys | None,
) -> tuple[Matches, str]:
    """The matches, and why they have no flags. A flag must not make the join fail: it is left out, and tried again."""
    try:
        return find_touched_files(spark, merge, source, scan.scan, flags, keys), ""
    except EngineError as error:
        if not flags or error.condition in NOT_REFUSALS or lost_blocks(error):
            raise
        why = f"A value that an update assigns, or has, cannot be computed for some rows: [{error.condition}]."
        return find_touched_files(spark, merge, source, scan.scan, asked=keys), why
