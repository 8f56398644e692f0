"""Rebuild a ledger that was damaged: read our commits from the logs of the tables.

A commit of ours names its plan and its operation in ``userMetadata``. What no log holds stays lost: the
statement, the promise, and operations that did not commit. Tables that no catalog lists are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.commit.commit_identity import own_commits
from engine.commit.promise_check import outcome_of_commit
from engine.ledger.history_rows import Subject
from engine.model.errors import ENDS_ALL, EngineError
from engine.table import tables
from engine.table.commits import commits, taken_back_by

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.ledger.history import History

KINDS = {"MERGE": "merge", "RESTORE": "restore"}
EVERY = 1_000_000_000
"""How many versions to list: with the number of those that were read, a commit that came in between would cut off the
oldest."""
UNKNOWN_SQL = "-- the ledger was damaged; this operation was read anew from the table's log, which has no statement"


def rebuild(spark: SparkSession, history: History, say: Callable[[str], None] = lambda _: None) -> int:
    """Put our commits in the tables' logs into a new ledger, and return how many there were; 0 also if no ledger was
    set aside."""
    if not history.needs_rebuild():
        return 0
    say("reading the history anew from the tables' logs: the ledger was damaged")
    count = 0
    for schema in tables.list_schemas(spark):
        with _left_out(f"the schema {schema}", say):
            for table in tables.list_tables(spark, schema):
                if table.is_delta is False:
                    continue
                with _left_out(table.name, say):
                    count += _rebuild_table(spark, history, table.name)
    history.rebuilt()
    return count


@contextmanager
def _left_out(what: str, say: Callable[[str], None]) -> Iterator[None]:
    """Say so if ``what`` cannot be read, unless nothing else can be either."""
    try:
        yield
    except EngineError as error:
        if error.condition in ENDS_ALL:
            raise
        say(f"{what} was left out: {error.message}")


def _rebuild_table(spark: SparkSession, history: History, table: str) -> int:
    every = commits(spark, table)
    candidates = [one for one in every if one.op_id and one.operation in KINDS]
    if not candidates:
        return 0
    detail = tables.table_detail(spark, table)
    ours = own_commits(spark, detail.path, candidates, *KINDS.values())
    times = {one.version: one.timestamp for one in tables.table_versions(spark, table, EVERY)}
    for one in reversed(ours):
        if one.version not in times:
            continue  # Delta has just deleted the entry of its log
        taken_back = taken_back_by(one, [later for later in every if later.version > one.version])
        plan_id = one.plan_id or ""
        subject = Subject(plan_id, KINDS[one.operation], table, detail.path, detail.table_id, UNKNOWN_SQL)
        outcome = outcome_of_commit(one, plan_id, one.op_id or "", table)
        history.add_found(subject, outcome, times[one.version], undone=taken_back is not None)
    return len(ours)
