"""A commit that Delta reported and the table's log does not hold: another driver has overwritten it.

Delta's own log store for S3 keeps writers apart in one JVM only (S3SingleDriverLogStore): two drivers may write the
same version, and the later one wins without an error.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from engine.commit.commit_identity import of_another_table, transactions_of
from engine.model.errors import EngineError, LostCommitError
from engine.table.commits import Commit, commits_since
from engine.table.transaction import APP, APP_VERSION

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.ledger.history import History

UNNAMED: Final = "None"
"""The operation of a commit without commitInfo, in DESCRIBE HISTORY: whose it is shows in its transaction alone."""
NAMED: Final = 3
"""How many of the log's entries the error names."""


def lost_commit(
    spark: SparkSession, table: str, path: str, checked: int, since: Sequence[Commit], transaction: str | None
) -> LostCommitError | None:
    """The error to raise if Delta reported a commit to ``table`` and it is not in the log after version ``checked``.

    ``since`` are the log's commits after that, newest first, of which none is known as ours by its commitInfo.
    ``transaction`` is the plan's id if the operation writes a transaction id. None if the log cannot tell: a catalog
    keeps it elsewhere, or its commits have no commitInfo. Raises EngineError if the log cannot be read.
    """
    if transaction is None:
        if any(one.operation == UNNAMED for one in since):
            return None
    else:
        logged = transactions_of(spark, path, [one.version for one in since])
        if logged is None or any((f"{APP}{transaction}", int(APP_VERSION)) in one for one in logged.values()):
            return None
    there = ", ".join(f"v{one.version} {one.operation}" for one in reversed(since[-NAMED:]))
    return LostCommitError(
        "COMMIT_LOST",
        f"The commit is LOST. Delta reported it, but the log of {table} does not hold it: "
        f"{f'it has {there}' if there else 'it has no commit'} after v{checked}. Another driver has overwritten it, so "
        "none of its rows are in the table.",
        "Let one driver alone write to this table, or every one with the log store of --store s3. Then plan again "
        "and apply that.",
    )


def lost_since(
    spark: SparkSession, table: str, path: str, table_id: str, checked: int, transaction: str | None
) -> LostCommitError | None:
    """The same for ``table`` as it is now, unless it is another than the one that had ``table_id``."""
    if of_another_table(spark, table, table_id, checked):
        return None
    return lost_commit(spark, table, path, checked, commits_since(spark, table, checked)[1], transaction)


def raise_lost(lost: LostCommitError | None, history: History | None, op_id: str) -> None:
    """Raise ``lost``, if it is one, once the ledger has it."""
    if lost is None:
        return
    if history:
        with contextlib.suppress(EngineError):  # that it is lost matters more than that the ledger cannot be written
            history.failed(op_id, lost.message, "lost")
    raise lost
