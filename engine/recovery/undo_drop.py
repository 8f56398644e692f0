"""Take a CREATE back: DROP of the table that it made, if the place was empty and nobody committed since."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

from engine.commit.commit_identity import later_than, own_commit
from engine.commit.exactly_once import COMPARING, given_up_if_not_recorded, given_up_if_unknown
from engine.commit.staleness import commit_line
from engine.model.create_values import CreatePlan
from engine.model.errors import EngineError, RefusedError, StalePlanError
from engine.model.operation import Operation, Outcome, UndoPlan
from engine.model.progress import OnProgress, Progress
from engine.spark.session_state import tagged
from engine.spark.spark_errors import collected
from engine.sql.undo_statements import undo_statement
from engine.table.commits import commits, current_version
from engine.table.table_state import catalog_entry, plain, table_id

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.ledger.history import History

DROPPED = "The table is dropped."
MAY_BE_DROPPED = "The table may be dropped."


def plan_drop(spark: SparkSession, operation: Operation, plan: CreatePlan) -> UndoPlan:
    """What dropping the table would do. Raises RefusedError if it must not be dropped, StalePlanError if it is not the
    one that the operation made. Only reads."""
    name = plan.target.name
    if plan.effect != "create" or plan.in_catalog or plan.target.version >= 0:
        raise RefusedError("NOT_OURS", f"{name} was there before operation {operation.op_id}: it is not dropped.")
    if plan.by_path:
        raise RefusedError(
            "NOT_IN_CATALOG",
            f"{name} is in no catalog, and DROP leaves its files where they are.",
            f"If the table is to go, delete the directory {plan.target.path}.",
        )
    entry = catalog_entry(spark, name)
    if entry is None:
        raise not_there(f"{name} is in the catalog no more", "look at its history by the new name, then DROP TABLE it.")
    if entry.provider != "delta" or plain(entry.location) != plain(plan.target.path):
        raise _another(name)
    every = commits(spark, name)
    first = [one for one in every if one.version == 0]
    mine = own_commit(spark, plan.target.path, first, plan.kind, plan_id=plan.plan_id)
    if mine is None:
        raise _another(name)
    later = later_than(mine, [one for one in every if one.version > 0])
    if later:
        raise RefusedError(
            "COMMITTED_SINCE",
            f"{name} has commits since it was made ({commit_line(later[-1])}{', …' if len(later) > 1 else ''}): "
            "DROP would lose them.",
            f"If the table is to go all the same: DROP TABLE {name}.",
        )
    detail = collected(spark, f"DESCRIBE DETAIL {name}")[0]
    new_id = str(detail["id"])
    return UndoPlan(
        undo_id=hashlib.sha256(f"drop {new_id} 0".encode()).hexdigest()[:32],
        op_id=operation.op_id,
        kind="drop",
        table=name,
        path=plan.target.path,
        table_id=new_id,
        version=every[0].version,
        to_version=-1,
        files_stay=entry.kind != "MANAGED",
    )


def not_there(what: str, otherwise: str) -> StalePlanError:
    """No log and no catalog says which it was, and only what was dropped is undone."""
    return StalePlanError("NOT_THERE", f"{what}: it was dropped, or renamed.", f"If it was renamed: {otherwise}")


def check_still_ours(spark: SparkSession, undo_plan: UndoPlan) -> None:
    """Raise StalePlanError if the table is not as ``undo_plan`` says. DROP checks nothing: a commit after this is lost
    with the table."""
    try:
        now = (table_id(spark, undo_plan.table), current_version(spark, undo_plan.table))
    except EngineError as error:
        raise StalePlanError("STALE_UNDO", f"{undo_plan.table} cannot be looked at: {error.message}") from error
    if now != (undo_plan.table_id, undo_plan.version):
        raise StalePlanError(
            "STALE_UNDO", f"{undo_plan.table} is not as it was looked at any more.", "Look again at what would be lost."
        )


def dropped(spark: SparkSession, undo_plan: UndoPlan, history: History | None, op_id: str, say: OnProgress) -> Outcome:
    """Drop the table as ``undo_plan`` says, and record it in the row ``op_id``."""
    began = time.monotonic()
    try:
        with tagged(spark, undo_plan.undo_id):
            collected(spark, undo_statement(undo_plan))
        say(Progress(phase=COMPARING, stage="committed"))
    except EngineError as error:
        with given_up_if_unknown(history, op_id, known=MAY_BE_DROPPED):
            is_gone = is_dropped(spark, undo_plan.table)
        if not is_gone:
            if history:
                with given_up_if_not_recorded(history, op_id):
                    history.failed_by(op_id, error)
            raise
    with given_up_if_unknown(history, op_id, known=DROPPED):
        outcome = Outcome(
            plan_id=undo_plan.undo_id,
            op_id=op_id,
            table=undo_plan.table,
            verdict="fresh",
            version=None,
            read_version=None,
            kept=is_dropped(spark, undo_plan.table),
            duration_ms=round((time.monotonic() - began) * 1000),
        )
        if history:
            history.undone(op_id, outcome)
    return outcome


def is_dropped(spark: SparkSession, name: str) -> bool:
    return catalog_entry(spark, name) is None


def _another(name: str) -> StalePlanError:
    return StalePlanError("ANOTHER_COMMIT", f"{name} is not the table that this operation made.")
