"""Which commits are ours: by operation, operation id and transaction id together.

``userMetadata`` alone tells too little. It is a conf of the session, so whatever else commits there while a statement
of ours runs carries it too: auto-compaction's OPTIMIZE does, right after the MERGE. And a CREATE TABLE AS SELECT may
have an option ``userMetadata`` of its own, which Delta prefers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from engine.model.errors import EngineError
from engine.model.operation import Deviation
from engine.spark.spark_errors import is_missing
from engine.table.commits import Commit
from engine.table.delta_log import logged_transactions
from engine.table.table_state import table_id as now_id
from engine.table.transaction import APP, APP_VERSION

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OPTIMIZE: Final = "OPTIMIZE"
EMPTY: Final = frozenset({"VACUUM START", "VACUUM END", "Empty Commit"})
"""The operations that write no action: a record of VACUUM, and what DROP FEATURE commits to have a checkpoint."""
PROPERTIES: Final = frozenset({"SET TBLPROPERTIES", "UNSET TBLPROPERTIES"})
"""What an undo of ours commits beside its RESTORE: it raises a retention, and puts it back if it fails."""
AS_SELECT: Final = frozenset({"CREATE TABLE AS SELECT", "REPLACE TABLE AS SELECT", "CREATE OR REPLACE TABLE AS SELECT"})
TRANSACTIONAL: Final = AS_SELECT | {"MERGE"}
"""The operations that write the transaction id (DeltaCommand.createSetTransaction)."""
OPERATIONS: Final = {
    "merge": frozenset({"MERGE"}),
    "create_table": AS_SELECT | {"CREATE TABLE", "REPLACE TABLE", "CREATE OR REPLACE TABLE", "CLONE"},
    "restore": frozenset({"RESTORE"}),
}
"""What DESCRIBE HISTORY names the commit of an operation, by its kind in the ledger."""


def own_commit(
    spark: SparkSession, path: str, commits: Iterable[Commit], kind: str, *, plan_id: str, op_id: str | None = None
) -> Commit | None:
    """The newest of ``commits`` that ``plan_id`` made, None where it made none; by the operation ``op_id``, if given.

    ``path`` is the table's. Raises EngineError.
    """

    def may_be(one: Commit) -> bool:
        if one.plan_id is None:
            return one.operation in AS_SELECT
        return one.plan_id == plan_id and op_id in (None, one.op_id)

    mine = [one for one in commits if one.operation in OPERATIONS[kind] and may_be(one)]
    return next(iter(_with_transaction(spark, path, mine, plan_id)), None)


def own_commits(spark: SparkSession, path: str, commits: Iterable[Commit], *kinds: str) -> tuple[Commit, ...]:
    """Those of ``commits`` that operations of these kinds made, in the same order. ``path`` is the table's. Raises
    EngineError."""
    operations = frozenset[str]().union(*(OPERATIONS[kind] for kind in kinds))
    return _with_transaction(spark, path, [one for one in commits if one.op_id and one.operation in operations])


def later_than(commit: Commit, since: Iterable[Commit]) -> list[Commit]:
    """What is lost of ``since``, the commits after ``commit``, which is ours, if the table goes back to before it."""
    return [
        one
        for one in since
        if one.operation not in EMPTY
        and not _is_compaction_of(commit, one)
        and not (one.operation in PROPERTIES and one.plan_id is not None)
    ]


def _is_compaction_of(commit: Commit, one: Commit) -> bool:
    """Whether ``one`` is the auto-compaction that ran after ``commit``, which is ours: it moves rows, no more."""
    ids = (one.plan_id, one.op_id)
    return one.operation == OPTIMIZE and commit.plan_id is not None and ids == (commit.plan_id, commit.op_id)


def of_another_table(
    spark: SparkSession, name: str, table_id: str, version: int, *, is_restored: bool = False
) -> tuple[Deviation, ...]:
    """What tells that a commit went into another table than the one that had ``table_id`` at ``version``, which was
    dropped and made anew between the last look and the commit: neither MERGE nor RESTORE takes a table's id.
    ``is_restored``: the commit is a RESTORE. Raises EngineError."""
    try:
        actual = now_id(spark, name, (table_id, version), is_restored=is_restored)
    except EngineError as error:
        if is_missing(error):
            return ()  # dropped since
        raise
    return (Deviation(metric="tableId", promised=table_id, actual=actual),) if actual != table_id else ()


def _with_transaction(
    spark: SparkSession, path: str, entries: Sequence[Commit], plan_id: str | None = None
) -> tuple[Commit, ...]:
    """Those whose transaction id is that of their plan, which is ``plan_id`` where they name none, and those of
    operations that write no such id. A commit whose log file is not at ``path``, because a catalog keeps it elsewhere,
    is known by what it names alone."""
    logged = transactions_of(spark, path, [one.version for one in entries if one.operation in TRANSACTIONAL])

    def is_ours(one: Commit) -> bool:
        if logged is None or one.operation not in TRANSACTIONAL:
            return one.plan_id is not None
        return (f"{APP}{one.plan_id or plan_id}", int(APP_VERSION)) in logged.get(one.version, ())

    return tuple(one for one in entries if is_ours(one))


def transactions_of(
    spark: SparkSession, path: str, versions: Sequence[int]
) -> dict[int, frozenset[tuple[str, int]]] | None:
    """(application id, version) of the transactions that these versions hold; None if a catalog keeps their files
    elsewhere than at ``path``. Raises EngineError."""
    if not versions:
        return {}
    try:
        return logged_transactions(spark, path, versions)
    except EngineError as error:
        if is_missing(error):
            return None
        raise
