"""Races placed, not sampled: each foreign commit at each phase of an apply and of an undo.

Whatever comes, one of two things is true. Ours is in the log once and did exactly what a MERGE of the version that it
read does; ledger and outcome say so, and say it loudly where that is not the version that was checked. Or nothing of
ours is in the log.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine.commit.apply_plan import REWRITING, apply
from engine.commit.commit_identity import own_commits
from engine.commit.exactly_once import COMPARING
from engine.ledger.history import History
from engine.model.operation import Outcome, UndoPlan
from engine.model.plan import Plan
from engine.plan_merge import plan
from engine.recovery.undo import RESTORING, plan_undo, undo
from engine.table.commits import Commit, commits
from engine.table.logged_schema import logged_metadata
from tests.crash.placing import AFTER, BEFORE, CHECKED, PLACES, Placed, placed

CONFS = {
    # else whoever is stopped at the end of a commit keeps the others of its JVM from committing
    "spark.databricks.delta.commitLock.enabled": "false",
    "spark.databricks.delta.vacuum.logging.enabled": "true",
}
SOURCE = {1: "new", 100: "new"}
MERGE = (
    "MERGE INTO t USING (SELECT * FROM VALUES (1L, 'new'), (100L, 'new') AS s(id, v)) AS s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
)
MADE = (
    "CREATE TABLE t USING delta AS SELECT id, 'old' AS v FROM range(0, 30, 1, 3)",
    "INSERT INTO t VALUES (50, 'old')",
)
FOREIGN: dict[str, tuple[str, ...]] = {
    "append": ("INSERT INTO t VALUES (1000, 'theirs')",),
    "append of a matched key": ("INSERT INTO t VALUES (1, 'theirs')",),
    "append of an inserted key": ("INSERT INTO t VALUES (100, 'theirs')",),
    "optimize": ("OPTIMIZE t",),
    "restore": ("RESTORE TABLE t TO VERSION AS OF 0",),
    "set a property": ("ALTER TABLE t SET TBLPROPERTIES ('theirs' = 'x')",),
    "add a column": ("ALTER TABLE t ADD COLUMN w INT",),
    "delete elsewhere": ("DELETE FROM t WHERE id = 25",),
    "delete a neighbour": ("DELETE FROM t WHERE id = 2",),
    "delete what is updated": ("DELETE FROM t WHERE id = 1",),
    "delete all": ("DELETE FROM t",),
    "update a neighbour": ("UPDATE t SET v = 'theirs' WHERE id = 2",),
    "the same merge by hand": (MERGE,),
    "vacuum": ("VACUUM t",),
    "replace": ("CREATE OR REPLACE TABLE t USING delta AS SELECT id, 'theirs' AS v FROM range(0, 30, 1, 3)",),
    "drop": ("DROP TABLE t",),
    "make anew": ("DROP TABLE t", *(one.replace("'old'", "'theirs'") for one in MADE)),
    "make anew with one version more": (
        "DROP TABLE t",
        *(one.replace("'old'", "'theirs'") for one in MADE),
        "INSERT INTO t VALUES (51, 'theirs')",
    ),
}
GOING = ("drop", "make anew", "make anew with one version more")
"""The log goes as well, and with it what it told of ours."""
APPLYING = {BEFORE: "check that nothing moved", CHECKED: REWRITING, AFTER: COMPARING}
UNDOING = {BEFORE: "check that nothing moved", CHECKED: RESTORING, AFTER: COMPARING}
ALWAYS = {
    ("append", "the transaction starts"),
    ("append of a matched key", CHECKED),
    ("append of an inserted key", "it is checked"),
    ("optimize", "it has read and written"),
    ("make anew", CHECKED),
}
ALWAYS_UNDONE = {
    ("append", CHECKED),
    ("optimize", "it has read and written"),
    ("delete all", "it is checked"),
    ("append", "it is in the log"),
    ("make anew with one version more", CHECKED),
}
Rows = Counter[tuple[Any, ...]]


def cases(always: set[tuple[str, str]]) -> list[Any]:
    every = [(what, place) for what in FOREIGN for place in PLACES]
    assert always <= set(every)
    return [pytest.param(*one, marks=[] if one in always else [pytest.mark.thorough]) for one in every]


@dataclass
class Table:
    """``t``, as ours and theirs: two sessions of one driver."""

    ours: Any
    theirs: Any
    history: History

    def rows(self, version: int | None = None) -> Rows:
        at = "" if version is None else f" VERSION AS OF {version}"
        # a row is what it was before a column was added
        return Counter((row.id, row.v) for row in self.theirs.sql(f"SELECT id, v FROM t{at}").collect())

    def commits(self) -> list[Commit]:
        return commits(self.theirs, "t")

    def id_at(self, version: int) -> str:
        path = self.theirs.sql("DESCRIBE DETAIL t").collect()[0]["location"]
        return logged_metadata(self.theirs, path, version).table_id

    def make(self, what: str) -> None:
        for sql in FOREIGN[what]:
            self.theirs.sql(sql)


@pytest.fixture
def table(classic: Any, classic_schema: str, tmp_path: Path) -> Table:
    ours, theirs = classic.newSession(), classic.newSession()
    for each in (ours, theirs):
        for key, value in CONFS.items():
            each.conf.set(key, value)
        each.sql(f"USE {classic_schema}")
    for sql in MADE:
        theirs.sql(sql)
    return Table(ours, theirs, History(tmp_path / "history.duckdb"))


def merged(rows: Rows) -> Rows:
    """What the MERGE makes of ``rows``."""
    known = {id for id, _ in rows}
    after = Counter({(id, SOURCE.get(id, v)): 0 for id, v in rows})
    for (id, v), count in rows.items():
        after[id, SOURCE.get(id, v)] += count
    return after + Counter({(id, v): 1 for id, v in SOURCE.items() if id not in known})


def ours_in_log(table: Table, looked: Plan) -> list[Commit]:
    """Every commit that carries our plan, whatever made it, and holds it to be one of ours."""
    every = [one for one in table.commits() if one.plan_id == looked.plan_id]
    assert list(own_commits(table.theirs, looked.target.path, every, "merge")) == every
    assert len(every) <= 1
    return every


def told_of(met: Placed) -> str:
    if met.outcome is None:
        return str(met.error)
    return (
        f"v{met.outcome.version} {met.outcome.verdict} {met.outcome.kept} {[d.metric for d in met.outcome.deviations]}"
    )


def check_gone(table: Table, met: Placed) -> None:
    """Where the log is gone nothing can be asked: no promise is said to be kept, and what is not known is left to
    ``engine.recovery.recover``."""
    running = {one.op_id for one in table.history.running()}
    assert running == {one.op_id for one in table.history.abandoned()}
    if met.outcome is None:
        assert met.error is not None
    else:
        assert not running
        assert not met.outcome.kept
        assert met.outcome.version is None or "tableId" in [one.metric for one in met.outcome.deviations]


def check_apply(table: Table, looked: Plan, met: Placed, checked: int) -> None:
    assert not table.history.running()
    ledger = table.history.list()
    made = ours_in_log(table, looked)
    if met.error is not None:
        assert not made, met.error
        assert all(one.status == "failed" for one in ledger), ledger
        return
    assert met.outcome is not None
    outcome = met.outcome
    assert [(one.version, one.read_version, one.op_id) for one in made] == [
        (outcome.version, outcome.read_version, outcome.op_id)
    ]
    assert [(one.op_id, one.status, one.version, one.kept) for one in ledger] == [
        (outcome.op_id, "applied", outcome.version, outcome.kept)
    ]
    (commit,) = made
    assert commit.read_version is not None
    read, before, after = (table.rows(v) for v in (commit.read_version, commit.version - 1, commit.version))
    assert after - before == merged(read) - read, "it adds what a MERGE of what it read adds"
    assert before - after == read - merged(read)
    told = [one.metric for one in outcome.deviations]
    assert ("tableId" in told) == (table.id_at(commit.version) != looked.target.table_id), told
    assert ("readVersion" in told) == (commit.read_version != checked), told
    assert outcome.kept == (not told)
    if outcome.kept:
        planned = table.rows(looked.target.version)
        assert (merged(read) - read, read - merged(read)) == (merged(planned) - planned, planned - merged(planned))


@pytest.mark.parametrize(("what", "place"), cases(ALWAYS))
def test_a_commit_in_the_middle_of_an_apply(table: Table, what: str, place: str) -> None:
    looked = plan(table.ours, MERGE, rows=0)
    checked = looked.target.version

    def ours(say: Any) -> Outcome:
        return apply(table.ours, looked, history=table.history, on_progress=say)

    met = placed(table.ours, place, ours, lambda: table.make(what), APPLYING)
    assert met.reached
    print(what, "|", place, "|", told_of(met))
    if place == BEFORE and met.outcome is not None:
        checked = met.outcome.read_version or 0
    if what in GOING:
        check_gone(table, met)
    else:
        check_apply(table, looked, met, checked)


@dataclass
class Merged:
    table: Table
    outcome: Outcome
    looked: UndoPlan


@pytest.fixture
def merge(table: Table) -> Merged:
    """``t`` with a merge that is looked at to be taken back."""
    outcome = apply(table.ours, plan(table.ours, MERGE, rows=0), history=table.history)
    return Merged(table, outcome, plan_undo(table.ours, table.history.get(outcome.op_id)))


def check_undo(merge: Merged, met: Placed) -> None:
    table, looked, taken = merge.table, merge.looked, met.outcome
    assert not table.history.running()
    made = [one for one in table.commits() if one.plan_id == looked.undo_id]
    (undone,) = [one for one in table.history.list() if one.op_id == merge.outcome.op_id]
    if taken is None:
        assert met.error is not None
        assert not made, met.error
        assert undone.status == "applied"
        return
    assert [(one.operation, one.version, one.read_version, one.restored_to) for one in made] == [
        ("RESTORE", taken.version, taken.read_version, looked.to_version)
    ]
    assert undone.status == "undone"
    told = [one.metric for one in taken.deviations]
    assert ("readVersion" in told) == (taken.read_version != looked.version), told
    assert ("tableId" in told) == (table.id_at(taken.version or 0) != looked.table_id), told
    assert taken.kept == (not told)
    assert table.rows(taken.version) == table.rows(looked.to_version)


@pytest.mark.parametrize(("what", "place"), cases(ALWAYS_UNDONE))
def test_a_commit_in_the_middle_of_an_undo(merge: Merged, what: str, place: str) -> None:
    table = merge.table

    def ours(say: Any) -> Outcome:
        return undo(table.ours, merge.looked, history=table.history, on_progress=say)

    met = placed(table.ours, place, ours, lambda: table.make(what), UNDOING)
    assert met.reached
    print(what, "|", place, "|", told_of(met))
    if what in GOING:
        check_gone(table, met)
    else:
        check_undo(merge, met)
