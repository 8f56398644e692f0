"""The transaction id by which Delta commits a plan once (SetTransaction). An operator's own one is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from engine.model.errors import RefusedError
from engine.spark.confs import read_confs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
HISTORY_METRICS = "spark.databricks.delta.history.metricsEnabled"
"""Off, a commit tells no metrics, and nothing could be compared with the promise."""
RUN_CONFS = (TXN_APP_ID, TXN_VERSION, TXN_AUTO_RESET, USER_METADATA, HISTORY_METRICS)


def once(plan_id: str) -> dict[str, str]:
    """The confs by which Delta commits a plan once (SetTransaction), for the commands that read them."""
    return {TXN_APP_ID: f"{APP}{plan_id}", TXN_VERSION: APP_VERSION, TXN_AUTO_RESET: "true"}


def refuse_operator_txn(spark: SparkSession, options: Iterable[str] = ()) -> None:
    """Raise RefusedError if the operator has set a transaction id, in the session or in ``options``.

    Delta writes one transaction id with a commit and takes that of the options first. Ours would overwrite theirs, and
    commit what theirs makes Delta skip. An id that a dead apply of ours left behind does not count.
    """
    confs = read_confs(spark, (TXN_APP_ID, TXN_VERSION))
    if confs.get(TXN_APP_ID, "").startswith(APP):
        confs = {}
    names = [*confs, *(key for key in options if key.lower() in TXN_OPTIONS)]
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
