"""A statement of ours that commits: traceable and once, and known for what it did even where it ended in an error."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from engine.model.errors import CancelledError, EngineError, RefusedError
from engine.spark.confs import read_confs
from engine.table.commits import Commit, user_metadata

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.ledger.history import History
    from engine.sql.parse_create import ParsedCreate

TXN_APP_ID = "spark.databricks.delta.write.txnAppId"
TXN_VERSION = "spark.databricks.delta.write.txnVersion"
TXN_OPTIONS = ("txnappid", "txnversion")
"""The same as options of a write (DeltaOptions), in lower case."""
OPTION_PREFIX = "option."
"""A table property that begins so is an option of the write (AbstractDeltaCatalog.getTablePropsAndWriteOptions)."""
TXN_AUTO_RESET = "spark.databricks.delta.write.txnVersion.autoReset.enabled"
USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
APP = "deltamerge-console/"
"""How the application id of our transactions begins; the plan's id follows."""
APP_VERSION = "1"
RUN_CONFS = (TXN_APP_ID, TXN_VERSION, TXN_AUTO_RESET, USER_METADATA)
CHANGED_MEANWHILE = ("DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED")
COMPARING = "compare promise and actual"
"""The phase after the commit: nothing is left to cancel."""


def traced(spark: SparkSession, plan_id: str, op_id: str) -> dict[str, str]:
    """The conf that names the plan and the operation in the commit, beside what the operator has set there."""
    own = read_confs(spark, (USER_METADATA,)).get(USER_METADATA)
    return {USER_METADATA: user_metadata(plan_id, op_id, own)}


def once(plan_id: str) -> dict[str, str]:
    """The confs by which Delta commits a plan once (SetTransaction), for the commands that look at them."""
    return {TXN_APP_ID: f"{APP}{plan_id}", TXN_VERSION: APP_VERSION, TXN_AUTO_RESET: "true"}


def refuse_operator_txn(spark: SparkSession, options: Iterable[str] = ()) -> None:
    """Raise RefusedError where the operator has set a transaction of their own, in the session or in ``options``.

    Delta writes one transaction id with a commit and takes that of the options first. Ours would overwrite theirs, and
    commit what theirs makes Delta skip. What an apply of ours left behind, which died, is no operator's.
    """
    found = read_confs(spark, (TXN_APP_ID, TXN_VERSION))
    if found.get(TXN_APP_ID, "").startswith(APP):
        found = {}
    names = [*found, *(key for key in options if key.lower() in TXN_OPTIONS)]
    if names:
        raise RefusedError(
            "OPERATOR_TXN_ID",
            f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} set: Delta would commit the statement under "
            "that transaction id or skip it, and a plan is committed under its own.",
            "Unset it: a plan is committed once, whatever happens. To keep the id, run the statement without a plan.",
        )


def refuse_txn_of_create(spark: SparkSession, create: ParsedCreate) -> None:
    """The same for a CREATE. Delta looks at transaction ids for an AS SELECT alone."""
    if create.form == "as_select":
        through = [k.removeprefix(OPTION_PREFIX) for k in create.properties if k.startswith(OPTION_PREFIX)]
        refuse_operator_txn(spark, (*create.options, *through))


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

    An error is not proof that nothing was committed: the log is asked first. Where it cannot be asked ``error`` is
    raised, and the row stays "running" and is left to ``engine.recovery.recover``, once Spark is back.
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
    """Where what was committed cannot be asked or written down, the row is left to ``engine.recovery.recover``."""
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
