"""Outcome → the same with the results of the expectations, on the rows that were committed."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.expect.evaluate import Relations, evaluate, results_for
from engine.expect.queries import Around, table_of
from engine.expect.read_expectations import Declared
from engine.expect.target_name import is_path, of_table, target_parts
from engine.model.errors import ENDS_ALL, EngineError
from engine.model.expectation import ACCEPTED_BY, ExpectationResult
from engine.model.operation import Outcome
from engine.model.plan import Plan
from engine.model.progress import OnProgress, Progress
from engine.preflight.updated_faults import comparable
from engine.spark.checkpoint import checkpoint
from engine.spark.confs import AS_WRITTEN, AT_ANY_AGE, confs_set
from engine.spark.schema import schema_of
from engine.spark.session_state import tagged
from engine.spark.spark_errors import translate
from engine.sql.names import quote
from engine.sql.store_types import ddl

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from engine.ledger.history import History

VERIFYING = "verify expectations"
NO_SOURCE = "The frozen source is dropped once it is merged."
UNPAIRED = (
    "Of two versions an updated row is a delete and an insert: its _change_type is not known to be that of the MERGE."
)
NO_DIFFERENCE = "The table has a column whose values cannot be compared: which rows changed is not known."


def expected_of(declared: Sequence[Declared], plan: Plan, spark: SparkSession | None = None) -> tuple[Declared, ...]:
    """The expectations that are for the target of ``plan``; without Spark, those that may be."""
    if spark is None and is_path(plan.target.name):
        return tuple(declared)
    return of_table(declared, _parts(plan, declared, spark), plan.target.path)


def _parts(plan: Plan, declared: Sequence[Declared], spark: SparkSession | None) -> tuple[str, ...]:
    return target_parts(spark, plan.target.name, plan.target.path, _around(plan), declared)


def _around(plan: Plan) -> Around:
    return (plan.state.catalog, plan.state.schema_name) if plan.state is not None else (None, None)


def as_accepted(declared: Sequence[Declared], accept: Collection[str]) -> tuple[Declared, ...]:
    """``declared``, those whose failure was accepted before the commit only warned of after it."""
    return tuple(
        replace(one, expectation=one.expectation.model_copy(update={"severity": "warn"}))
        if f"{ACCEPTED_BY}{one.expectation.name}" in accept
        else one
        for one in declared
    )


def verify(
    spark: SparkSession,
    plan: Plan,
    outcome: Outcome,
    declared: Sequence[Declared],
    *,
    history: History | None = None,
    private: bool = False,
    tag: str | None = None,
    on_progress: OnProgress | None = None,
) -> Outcome:
    """Check the expectations (those for the target of ``plan``) on the version that was committed, and record the
    results in the outcome of the operation.

    ``before`` is the version that the MERGE read, ``changes`` the difference of the two versions: an updated row is
    one of ``delete`` and one of ``insert``. Nothing is checked if nothing was committed. Never raises for an
    expectation: one that cannot be computed does not hold.
    """
    if outcome.version is None:
        return outcome
    (on_progress or (lambda _: None))(Progress(phase=VERIFYING))
    name = plan.target.name
    read = plan.target.version if outcome.read_version is None else outcome.read_version
    versions = f"{name} VERSION AS OF {read}", f"{name} VERSION AS OF {outcome.version}"
    try:
        # a MERGE into an old table is verified too: the version that it read is no longer the newest
        with tagged(spark, tag), confs_set(spark, {**AT_ANY_AGE, **AS_WRITTEN}):
            results = check_versions(spark, plan, versions, declared, NO_SOURCE, private=private)
    except EngineError:
        raise
    except Exception as error:
        raise translate(error) from error
    if history is not None and outcome.op_id:
        history.verified(outcome.op_id, results)
    return outcome.model_copy(update={"expectations": results})


def not_verified(outcome: Outcome, declared: Sequence[Declared], error: EngineError) -> Outcome:
    """The outcome if ``verify`` raised, such as after a cancel: each expectation says why. The commit is there all the
    same."""
    why = f"It is committed, and not verified: {error.condition}."
    return outcome.model_copy(update={"expectations": results_for(declared, "error", why)})


def check_versions(
    spark: SparkSession,
    plan: Plan,
    versions: tuple[str, str],
    declared: Sequence[Declared],
    no_source: str,
    *,
    private: bool,
) -> tuple[ExpectationResult, ...]:
    """The expectations (those for the target of ``plan``) on two ``versions``, the one before the MERGE and the one
    after it: SQL to be read in a FROM. ``no_source`` says why the source cannot be read."""
    before, after = versions
    parts = _parts(plan, declared, spark)
    declared = of_table(declared, parts, plan.target.path)
    if not declared:
        return ()
    try:
        old, new = (schema_of(spark, f"SELECT * FROM {one}") for one in (before, after))
        with _changes(spark, (before, old), (after, new)) as (changes, missing):
            table = table_of(parts, old, new, _around(plan))
            relations = Relations(before, after, changes, missing={"source": no_source, **missing}, unpaired=UNPAIRED)
            found = evaluate(spark, declared, table, relations, private=private)
            return tuple(_as_seen(one, plan) for one in found)
    except EngineError as error:
        if error.condition in ENDS_ALL:
            raise
        return results_for(declared, "error", f"The committed rows cannot be read: {error.condition}.")


def _as_seen(found: ExpectationResult, plan: Plan) -> ExpectationResult:
    """A row that is written again as it was is no difference of two versions: whether what the plan found wrong
    in such a row is still there is unknown."""
    planned = next((one for one in plan.expectations if (one.name, one.kind) == (found.name, found.kind)), None)
    if planned is None or planned.status != "fail" or (found.status, found.checked) != ("pass", "changes"):
        return found
    unseen = f"Rows that are written again as they were cannot be told from others; of the plan: {planned.sentence}"
    return found.model_copy(update={"status": "unknown", "value": None, "sentence": unseen})


@contextmanager
def _changes(
    spark: SparkSession, before: tuple[str, StructType], after: tuple[str, StructType]
) -> Iterator[tuple[str, dict[str, str]]]:
    """(A relation of the rows that differ, computed once; what cannot be read, and why)."""
    (old, old_type), (new, new_type) = before, after
    if not all(comparable(field.dataType) for field in new_type.fields):
        # nothing reads it
        yield f"(SELECT *, 'insert' AS _change_type FROM {new})", {"changes": NO_DIFFERENCE}
        return
    had = {field.name.lower(): field.name for field in old_type.fields}
    items = ", ".join(
        f"CAST({quote(had[field.name.lower()]) if field.name.lower() in had else 'NULL'} AS {ddl(field.dataType)}) "
        f"AS {quote(field.name)}"
        for field in new_type.fields
    )
    rows_before, rows_after = f"SELECT {items} FROM {old}", f"SELECT * FROM {new}"
    view = f"deltamerge_changes_{uuid.uuid4().hex[:12]}"
    query = (
        f"SELECT *, 'insert' AS _change_type FROM ({rows_after} EXCEPT ALL {rows_before}) UNION ALL "
        f"SELECT *, 'delete' AS _change_type FROM ({rows_before} EXCEPT ALL {rows_after})"
    )
    try:
        checkpoint(spark, query, "DISK_ONLY", view)
        yield view, {}
    finally:
        with contextlib.suppress(Exception):
            spark.sql(f"DROP VIEW IF EXISTS {view}").collect()
