"""A statement of ours that commits: traceable, once, and its commit is found even if it ended in an error."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from engine.ledger.history_store import now
from engine.model.errors import (
    NOT_CONFIRMED,
    CancelledError,
    EngineError,
    LostCommitError,
    SessionChangedError,
    StalePlanError,
    UnreachableError,
)
from engine.spark.confs import is_connect, read_confs
from engine.table.commits import Commit, taken_back_by, user_metadata
from engine.table.delta_log import INCOMPLETE
from engine.table.transaction import HISTORY_METRICS, USER_METADATA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.ledger.history import History
    from engine.model.operation import Operation, Outcome
    from engine.model.plans import AnyPlan

CHANGED_MEANWHILE = ("DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED")
COMPARING = "compare promise and actual"
"""The phase after the commit: nothing is left to cancel."""
FOUND_OUT = "The commit may be there: the next command that uses this Spark reads the table's log and finds out."
RECORDED_LATER = "The next command that uses this Spark reads the table's log and records it."
LOOK = "The commit may be there: read the table's history before you run the statement again."


def traced(spark: SparkSession, plan_id: str, op_id: str) -> dict[str, str]:
    """The confs that let the commit name the plan and the operation, beside what the operator has set there, and tell
    its metrics."""
    own = read_confs(spark, (USER_METADATA,)).get(USER_METADATA)
    return {USER_METADATA: user_metadata(plan_id, op_id, own), HISTORY_METRICS: "true"}


def is_conflict(error: EngineError) -> bool:
    """Whether Delta refused to commit because another commit was faster (ConflictChecker)."""
    return error.condition.startswith("DELTA_CONCURRENT") or error.condition in CHANGED_MEANWHILE


def commit_despite(
    error: EngineError,
    cause: BaseException,
    committed: Callable[[], Commit | None],
    history: History | None,
    op_id: str,
) -> Commit | None:
    """The commit that was made although ``error`` came, or None: then the ledger has the failure.

    An error does not prove that nothing was committed: the log is read first. If it cannot be read, ``error`` is
    raised and says so, and the row stays "running" until ``engine.recovery.recover`` finds Spark again.
    """
    try:
        commit = _asked_twice(committed)
    except EngineError:
        _give_up(history, op_id)
        raise _unknown(error, history) from cause
    if commit is None and history:
        with given_up_if_not_recorded(history, op_id):
            history.failed_by(op_id, error)
    return commit


@contextlib.contextmanager
def given_up_if_unknown(history: History | None, op_id: str, *, known: str = "") -> Iterator[None]:
    """If the commit cannot be read or recorded, the row is left to ``engine.recovery.recover``, and the error says what
    is ``known`` of the commit: without it, that it may be there."""
    try:
        yield
    except BaseException as error:
        _give_up(history, op_id)
        if isinstance(error, EngineError) and not isinstance(error, LostCommitError):
            _unknown(error, history, known)
        raise


def as_done(commit: Commit | None) -> str:
    """What is known of a statement that has run, in a sentence; "" without its commit."""
    return "" if commit is None else f"It is committed, as v{commit.version}."


@contextlib.contextmanager
def given_up_if_interrupted(spark: SparkSession, history: History | None, op_id: str) -> Iterator[None]:
    """If Ctrl-C ends the body, the row is left to ``engine.recovery.recover``: a notebook lives on, and would own it
    without knowing what became of it. On a classic session nobody else can tell when its work has ended."""
    try:
        yield
    except Exception:
        raise
    except BaseException:
        if is_connect(spark):
            _give_up(history, op_id)
        raise


@contextlib.contextmanager
def given_up_if_not_recorded(history: History, op_id: str) -> Iterator[None]:
    """What happened is told, and not that the ledger cannot be written: the row is left to the next command."""
    try:
        yield
    except EngineError:
        _give_up(history, op_id)


def _give_up(history: History | None, op_id: str) -> None:
    if history:
        with contextlib.suppress(Exception):
            history.give_up(op_id)


def _unknown(error: EngineError, history: History | None, known: str = "") -> EngineError:
    """``error``, whose hint now says what is ``known`` of the commit, or that it may be there."""
    found_out = f"{known} {RECORDED_LATER}" if known else FOUND_OUT
    error.hint = f"{found_out if history else known or LOOK} {error.hint}".strip()
    return error


def operation_of(history: History | None, plan_id: str, commit: Commit | None) -> Operation | None:
    """The operation of the ledger that ``commit`` of the plan is: the one that it names, else one that is applied, else
    what is planned, which another program has applied. None if the ledger has none."""
    known = history.find_by_plan(plan_id) if history else []
    named = [one for one in known if commit is not None and one.op_id == commit.op_id]
    applied, planned = ([one for one in known if one.status == status] for status in ("applied", "planned"))
    return next(iter([*named, *applied, *planned]), None)


def refuse_undone(done: Commit, since: Sequence[Commit]) -> None:
    """Raise if this plan was committed and taken back: its rows are not there, so it does not count as applied."""
    if why := why_undone(done, since):
        raise plan_undone(why)


def why_undone(done: Commit, since: Sequence[Commit]) -> str:
    """What took the commit of a plan back, in a sentence; "" if nothing did."""
    taken_back = taken_back_by(done, since)
    if taken_back is None:
        return ""
    return f"The plan was committed as v{done.version} and taken back by v{taken_back.version}."


def as_recorded(history: History | None, plan_id: str, error: EngineError) -> Outcome | None:
    """What the ledger has of a plan's commit where the log does not reach back to the plan; None if it has none.

    Raises StalePlanError if the commit is not there any more.
    """
    from engine.ledger.history_rows import COMMITTED

    if history is None or error.condition != INCOMPLETE:
        return None
    done = next((one for one in history.find_by_plan(plan_id) if one.status in COMMITTED), None)
    if done is None:
        return None
    if done.status != "applied":
        raise plan_undone(f"The plan was committed as v{done.version}, which is {done.status}, as the history says.")
    outcome = history.get(done.op_id).outcome
    return None if outcome is None else outcome.model_copy(update={"already_applied": True})


def plan_undone(message: str) -> StalePlanError:
    return StalePlanError("PLAN_UNDONE", message, "Plan again, and apply that.")


@contextlib.contextmanager
def refusal_is_recorded(history: History | None, plan: AnyPlan) -> Iterator[None]:
    """The history says why an apply of the plan ran nothing."""
    began = now()
    try:
        yield
    except EngineError as error:
        if history and _is_refusal(error):
            with contextlib.suppress(EngineError):
                history.ran_nothing(plan, error, began)
        raise


def _is_refusal(error: EngineError) -> bool:
    """Not a person's no, and not what says nothing of the plan: its session, Spark or the ledger was not there."""
    if isinstance(error, (SessionChangedError, CancelledError, UnreachableError)):
        return False
    return error.condition != NOT_CONFIRMED and not error.condition.startswith("LEDGER_")


def _asked_twice(question: Callable[[], Commit | None]) -> Commit | None:
    """Asked again if a late interrupt, which was meant for the statement, hit the question."""
    try:
        return question()
    except CancelledError:
        return question()
