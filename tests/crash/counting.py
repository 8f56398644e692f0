"""A table that counts: each merge adds one to each of its rows, so a merge that ran twice or half can be seen."""

from __future__ import annotations

import contextlib
import itertools
import uuid
from pathlib import Path
from typing import Any

from engine.commit.apply_plan import apply
from engine.ledger.history import History
from engine.model.operation import Operation
from engine.model.plan import Plan
from engine.model.plan_file import write_plan
from engine.plan_merge import plan
from engine.recovery.recover import Recovered, recover
from engine.session.leases import left_sessions
from engine.table.commits import Commit, commits
from tests.conftest import TEST_CONFS

ROWS = 200
FILES = 4


class Counted:
    """``merge`` writes a file with a merge of its own; ``check`` looks at what a crash left of it."""

    def __init__(self, session: Any, home: Path, history: History, folder: Path) -> None:
        self.session = session
        self.spark = session.spark
        self.home = home
        self.history = history
        self.folder = folder
        self.schema = f"crash_{uuid.uuid4().hex[:8]}"
        self.table = f"{self.schema}.counted"
        self.merges = 0
        self._saved: Plan | None = None
        self._numbers = itertools.count()
        self.spark.sql(f"CREATE SCHEMA {self.schema}")
        self.spark.sql(f"CREATE TABLE {self.table} USING delta AS SELECT id, 0 AS n FROM range(0, {ROWS}, 1, {FILES})")

    def drop(self) -> None:
        self.spark.sql(f"DROP SCHEMA {self.schema} CASCADE")

    def command(self, *words: str) -> list[str]:
        """The arguments of the command line on the suite's server."""
        confs = [word for conf in TEST_CONFS.items() for word in ("--conf", "=".join(conf))]
        return ["--home", str(self.home), "--master", "local[2]", *confs, *words]

    def merge(self) -> Path:
        number = next(self._numbers)
        file = self.folder / f"merge-{number}.sql"
        file.write_text(
            f"MERGE INTO {self.table} AS t USING (SELECT id, {number} AS merge_number FROM range({ROWS})) AS s\n"
            "ON t.id = s.id WHEN MATCHED AND s.merge_number >= 0 THEN UPDATE SET n = t.n + 1"
        )
        return file

    def saved_plan(self) -> tuple[Path, Plan]:
        """A plan of the table as it is, in a file, its frozen source in a session of its own: it is made anew once it
        is applied, or another merge is."""
        if self._saved is None or self._saved.target.version != commits(self.spark, self.table, 1)[0].version:
            with contextlib.ExitStack() as closing:
                session = self.session.new_session(TEST_CONFS)
                closing.callback(session.close, keep=True)
                self._saved = plan(session.spark, self.merge().read_text(), rows=0)
            self.history.record_planned(self._saved)
            write_plan(self.folder / "saved.json", self._saved)
        return self.folder / "saved.json", self._saved

    def after_crash(self, sql: str, *, saving: bool = False) -> tuple[tuple[Recovered, ...], list[Operation]]:
        """Settle what a dead process left of the merge ``sql``; the ledger's rows of it."""
        dead = left_sessions(self.home)
        told = recover(self.session, self.history)
        assert not left_sessions(self.home)
        assert not [one for left in dead.values() for one in left if self.session.attach(*one) is not None]
        mine = [one for one in self.history.list(limit=10_000) if one.sql == sql]
        assert not [one for one in mine if one.status == "running"]
        assert saving or not self.half_files()
        return told, mine

    def commits_of(self, plan_id: str) -> list[Commit]:
        return [one for one in commits(self.spark, self.table) if one.plan_id == plan_id]

    def check(self, mine: list[Operation]) -> bool:
        """Whether the merge of these ledger rows is committed: the ledger and the table must say the same."""
        made = [commit for plan_id in {one.plan_id for one in mine} for commit in self.commits_of(plan_id)]
        assert len(made) <= 1, "committed twice"
        self.merges += len(made)
        assert self.counts() == {self.merges}, "every row counts every committed merge once"
        applied = [one for one in mine if one.status == "applied"]
        assert [(one.op_id, one.version) for one in applied] == [(commit.op_id, commit.version) for commit in made]
        return bool(made)

    def apply_again(self, plan: Plan, committed: bool) -> None:
        """Applied again, it is committed once in all."""
        with self.session.new_session(TEST_CONFS) as other:
            outcome = apply(other.spark, plan, history=self.history)
        assert outcome.already_applied == committed
        assert outcome.kept
        self.merges += not committed
        assert len(self.commits_of(plan.plan_id)) == 1
        assert self.counts() == {self.merges}

    def counts(self) -> set[int]:
        return {row.n for row in self.spark.sql(f"SELECT DISTINCT n FROM {self.table}").collect()}

    def half_files(self) -> list[Path]:
        """Files that are there only while something is written."""
        places = (*self.home.glob("*.new-*"), *self.home.glob("leases/.*"), *self.folder.glob(".*"))
        return [*places, *self.home.glob(".server.json*")]
