"""Findings → Plan: the plan that is shown, saved and applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from engine.ledger.history_store import now
from engine.merge.plan_values import plan_id, schema_after, source_value, statement_value, target_value
from engine.merge.running_statement import planned_splices
from engine.model.plan import Plan
from engine.model.scan import TouchedFiles
from engine.preflight.advice import advice_of, warnings_of
from engine.preflight.findings import Findings
from engine.preflight.generated_column_advice import generated_predicate
from engine.preflight.log_store_warning import log_store_warnings
from engine.preflight.untested_confs import untested_confs
from engine.preflight.untested_engines import ROWS_ALONE, is_tested, rows_alone, untested_engines
from engine.preflight.written_times import time_warnings
from engine.spark.clock import Clock
from engine.spark.engine_versions import engine_versions
from engine.spark.session_state import session_ref
from engine.sql.parse import Script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.expect.read_expectations import Declared


def assemble_plan(
    spark: SparkSession,
    script: Script,
    params: dict[str, str],
    findings: Findings,
    expectations: Sequence[Declared],
    clock: Clock,
) -> Plan:
    """``expectations``: what the plan was checked by."""
    basis, source, matches, promise = findings.basis, findings.source, findings.matches, findings.promise
    merge, decision, target = basis.merge, basis.decision, basis.target
    if decision.materialize:
        decision = decision.model_copy(update=asdict(findings.attempt))
    statement = statement_value(merge.typed, script, params)
    table = target_value(merge, target.detail, findings.scan.scan)
    frozen = source_value(merge, source)
    versions = engine_versions(spark)
    if not is_tested(versions):
        promise = rows_alone(promise)
    expected = [one.expectation.model_dump(mode="json", exclude_none=True) for one in expectations]
    implied = generated_predicate(spark, merge, findings.scan.as_typed, matches, target.columns)
    return Plan(
        plan_id=plan_id(statement, table, frozen, basis.confs, basis.state, expected),
        created_at=now(),
        engines=versions,
        statement=statement,
        target=table,
        source=frozen,
        decision=decision,
        scan=findings.scan.value(),
        executor=promise.executor,
        find_touched_files=TouchedFiles(
            join_type=matches.join_type,
            matched_predicate=matches.matched_predicate,
            files=promise.files,
            conflicts=findings.conflicts,
            partitions_removed_from=promise.partitions_removed_from,
        ),
        write=promise.write.model_copy(update={"schema_after": schema_after(merge)}),
        promise=promise.metrics,
        estimates=promise.estimates,
        refused=findings.refused,
        warnings=(
            *untested_engines(versions, ROWS_ALONE),
            *untested_confs(basis.state),
            *warnings_of(findings),
            *time_warnings(findings, versions.spark),
            *log_store_warnings(spark, table.path),
            *findings.faults,
        ),
        advice=(*advice_of(findings), *((implied,) if implied else ())),
        expectations=findings.expectations,
        samples=findings.samples,
        confs=dict(basis.confs),
        state=basis.state,
        splices=planned_splices(merge, source, decision, findings.scan.splice),
        session=session_ref(spark, source.view, source.staged),
        timings=clock.timings,
    )
