"""A statement of ours that commits: traceable and once, and known for what it did even where it ended in an error."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from engine.commits import Commit, user_metadata
from engine.confs import read_confs
from engine.errors import CancelledError, EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.history import History

TXN_APP_ID = "spark.databricks.delta.write.txnAppId"
TXN_VERSION = "spark.databricks.delta.write.txnVersion"
TXN_AUTO_RESET = "spark.databricks.delta.write.txnVersion.autoReset.enabled"
USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
RUN_CONFS = (TXN_APP_ID, TXN_VERSION, TXN_AUTO_RESET, USER_METADATA)
COMPARING = "compare promise and actual"
"""The phase after the commit: nothing is left to cancel."""


def traced(spark: SparkSession, plan_id: str, op_id: str) -> dict[str, str]:
    """The conf that names the plan and the operation in the commit, beside what the operator has set there."""
    own = read_confs(spark, (USER_METADATA,)).get(USER_METADATA)
    return {USER_METADATA: user_metadata(plan_id, op_id, own)}


def once(plan_id: str) -> dict[str, str]:
    """The confs by which Delta commits a plan once (SetTransaction), for the commands that look at them."""
    return {TXN_APP_ID: f"deltamerge-console/{plan_id}", TXN_VERSION: "1", TXN_AUTO_RESET: "true"}


def commit_despite(
    error: EngineError,
    cause: BaseException,
    committed: Callable[[], Commit | None],
    history: History | None,
    op_id: str,
) -> Commit | None:
    """The commit that was made although ``error`` came, or None: then the ledger has the failure.

    An error is not proof that nothing was committed: the log is asked first. Where it cannot be asked ``error`` is
    raised, and the row stays "running" and is left to ``engine.recover``, once Spark is back.
    """
    try:
        commit = _asked_twice(committed)
    except EngineError:
        if history:
            history.give_up(op_id)
        raise error from cause
    if commit is None and history:
        cancelled = isinstance(error, CancelledError)
        history.failed(op_id, error.message if cancelled else str(error), "cancelled" if cancelled else "failed")
    return commit


@contextlib.contextmanager
def given_up_if_unknown(history: History | None, op_id: str) -> Iterator[None]:
    """Where what was committed cannot be asked or written down, the row is left to ``engine.recover``."""
    try:
        yield
    except BaseException:
        if history:
            with contextlib.suppress(Exception):
                history.give_up(op_id)
        raise


def _asked_twice(question: Callable[[], Commit | None]) -> Commit | None:
    """The second time is for an interrupt that was meant for the statement and came late."""
    try:
        return question()
    except CancelledError:
        return question()
