"""Writers that race a merge: appends, deletes, compaction and other merges. Nothing is lost and nothing comes twice."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engine.commit.apply_plan import REWRITING, apply
from engine.ledger.history import History
from engine.model.errors import ConflictError, EngineError, StalePlanError
from engine.model.progress import Progress
from engine.plan_merge import plan
from engine.session.connect import Session
from tests.conftest import TEST_CONFS

ROWS = 40
TRIES = 20


@pytest.fixture
def two(session: Any, schema: str) -> Iterator[tuple[Session, Session]]:
    """Two sessions, as two operators have them, current in the same schema."""
    with session.new_session(TEST_CONFS) as one, session.new_session(TEST_CONFS) as other:
        for each in (one, other):
            each.spark.sql(f"USE {schema}")
        yield one, other


def increment(low: int, high: int, who: str) -> str:
    """Not the same text for both: the same statement at the same version is the same plan, and that is applied once."""
    source = f"(SELECT id FROM range({low}, {high})) /* {who} */"
    return f"MERGE INTO t USING {source} AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = t.n + 1"


class Race:
    """One merge against one writer, and what the table must hold afterwards."""

    def __init__(self, two: tuple[Session, Session], history: History) -> None:
        self.ours, self.theirs = (each.spark for each in two)
        self.history = history
        self.expected = dict.fromkeys(range(ROWS), 0)
        self.next_id = 1000
        self.met: Counter[str] = Counter()
        self.ours.sql(f"CREATE TABLE t USING delta AS SELECT id, CAST(0 AS INT) AS n FROM range(0, {ROWS}, 1, 4)")

    def merge(self, spark: Any, low: int, high: int, start: Callable[[], None] = lambda: None) -> None:
        """Plan and apply until it is committed, doing what the errors advise."""
        looked = None
        for _ in range(TRIES):
            try:
                looked = looked or plan(spark, increment(low, high, spark.session_id), rows=0)
                outcome = apply(spark, looked, history=self.history, on_progress=lambda step: self._at(step, start))
            except ConflictError:
                self.met["retried as it was"] += 1
            except StalePlanError:
                self.met["planned again"] += 1
                looked = None
            except EngineError as error:
                # OPTIMIZE may remove a file under a plan that is being made
                self.met[error.condition] += 1
                looked = None
            else:
                self.met[outcome.verdict] += 1
                # Delta takes no version to merge into: a commit between the check and the MERGE is told afterwards
                told = [one.metric for one in outcome.deviations]
                assert not told or "readVersion" in told, outcome.deviations
                self.met["told of a commit in between"] += bool(told)
                for number in range(low, high):
                    self.expected[number] += 1
                return
        pytest.fail(f"not committed in {TRIES} tries")

    def _at(self, step: Progress, start: Callable[[], None]) -> None:
        if step.phase.startswith(REWRITING):
            start()

    def append(self) -> None:
        self._until(f"INSERT INTO t VALUES ({self.next_id}, 7)")
        self.expected[self.next_id] = 7
        self.next_id += 1

    def delete(self) -> None:
        """One of the rows that no merge changes."""
        mine = [number for number in self.expected if number >= 1000]
        if not mine:
            return self.append()
        self._until(f"DELETE FROM t WHERE id = {mine[0]}")
        del self.expected[mine[0]]
        return None

    def optimize(self) -> None:
        self._until("OPTIMIZE t")

    def other_merge(self) -> None:
        self.merge(self.theirs, ROWS // 2, ROWS)

    def same_rows(self) -> None:
        self.merge(self.theirs, 0, ROWS // 2)

    def _until(self, sql: str) -> None:
        for _ in range(TRIES):
            try:
                self.theirs.sql(sql).collect()
            except Exception as error:
                if "CONCURRENT" not in str(error):
                    raise
                self.met["the writer tried again"] += 1
            else:
                return
        pytest.fail(f"not committed in {TRIES} tries: {sql}")

    def run(self, writer: Callable[[], None]) -> None:
        failures: list[BaseException] = []

        def write() -> None:
            try:
                writer()
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=write)
        self.merge(self.ours, 0, ROWS // 2, start=lambda: None if thread.ident else thread.start())
        thread.join()
        assert not failures, failures
        found = sorted((row.id, row.n) for row in self.ours.sql("SELECT id, n FROM t").collect())
        assert found == sorted(self.expected.items()), f"after {writer.__name__}"


def test_nothing_is_lost_and_nothing_comes_twice(
    two: tuple[Session, Session], tmp_path: Any, request: pytest.FixtureRequest
) -> None:
    rounds = request.config.getoption("--races")
    history = History(tmp_path / "history.duckdb")
    race = Race(two, history)
    writers = [race.append, race.same_rows, race.delete, race.optimize, race.other_merge]
    for number in range(rounds):
        race.run(writers[number] if number < len(writers) else random.choice(writers))
    assert not history.running()
    print(f"{rounds} races: {dict(race.met)}; nothing lost, nothing twice")


@pytest.mark.thorough
def test_the_same_plan_applied_twice_at_once_is_committed_once(two: tuple[Session, Session], tmp_path: Any) -> None:
    ours, theirs = (each.spark for each in two)
    history = History(tmp_path / "history.duckdb")
    race = Race(two, history)
    looked = plan(ours, increment(0, ROWS, ""), rows=0)
    outcomes: list[Any] = []

    def again() -> None:
        try:
            outcomes.append(apply(theirs, looked, history=history))
        except EngineError as error:
            outcomes.append(error)

    thread = threading.Thread(target=again)
    thread.start()
    try:
        outcomes.append(apply(ours, looked, history=history))
    except EngineError as error:
        outcomes.append(error)
    thread.join()
    assert {row.n for row in race.ours.sql("SELECT n FROM t").collect()} == {1}
    statuses = [one.status for one in history.find_by_plan(looked.plan_id)]
    assert statuses.count("applied") == 1, (statuses, outcomes)
    assert apply(ours, looked, history=history).already_applied
