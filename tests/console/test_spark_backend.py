"""What the backend remembers in the ledger, for the next launch and for as long as Spark is not up."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from console.plan_sessions import KEPT_PLANS
from console.spark_backend import SparkBackend
from engine.commit.policy import Policy
from engine.model.browse import TableRef
from engine.model.errors import CancelledError, UnreachableError, UsageError
from engine.model.operation import Outcome
from engine.model.plan import Engines
from tests.conftest import TEST_CONFS
from tests.console.samples import a_plan, an_outcome


def test_tables_are_remembered_by_endpoint(tmp_path: Path) -> None:
    orders = TableRef(name="sales.orders", schema_name="sales", table="orders", is_delta=True)
    SparkBackend("local[*]", tmp_path).remember_tables([orders])
    assert SparkBackend("local[*]", tmp_path).remembered_tables() == [orders]
    assert SparkBackend("sc://host:15002/;token=secret", tmp_path).remembered_tables() == []


def test_the_versions_that_were_looked_at_are_remembered(spark: Any, schema: str, spark_home: Path) -> None:
    spark.sql("CREATE TABLE t (x INT) USING delta")
    spark.sql("INSERT INTO t VALUES (1)")
    backend = SparkBackend("local[2]", spark_home, TEST_CONFS)
    assert backend.remembered_versions(f"{schema}.t") == []
    backend.connect(lambda _: None)
    try:
        seen = backend.table_versions(f"{schema}.t")
    finally:
        backend.close()
    assert [version.version for version in seen] == [1, 0]
    assert SparkBackend("local[2]", spark_home).remembered_versions(f"{schema}.t") == seen


def test_a_check_sees_the_statements_before_its_own_merge_and_no_others(
    spark: Any, schema: str, spark_home: Path
) -> None:
    spark.sql("CREATE TABLE checked (k INT) USING delta")
    merge = "MERGE INTO checked AS t USING {source} AS s ON t.k = s.k WHEN MATCHED THEN DELETE"
    before = f"USE {schema}; CREATE TEMPORARY VIEW given AS SELECT 1 AS k; "
    backend = SparkBackend("local[2]", spark_home, TEST_CONFS)
    backend.connect(lambda _: None)
    try:
        # as typed on: the same statements begin the text again and again
        for clause in ("", " WHEN NOT MATCHED THEN INSERT *"):
            found = backend.validate(before + merge.format(source="given") + clause, {})
            assert (found.ok, found.target) == (True, f"{schema}.checked"), found.message
        for source in ("given", "(SELECT 1 AS k)"):
            found = backend.validate(merge.format(source=source), {})
            assert (found.ok, found.condition) == (False, "TABLE_OR_VIEW_NOT_FOUND"), found.message
        other = f"USE {schema}; " + merge.format(source="given")
        found = backend.validate(other, {})
        assert (found.ok, found.condition) == (False, "TABLE_OR_VIEW_NOT_FOUND"), found.message
    finally:
        backend.close()


class Kept:
    """A session that knows whether it was closed."""

    spark: Any = None
    server: Any = None
    closed = False

    def __init__(self) -> None:
        self._turn = threading.Lock()

    @contextlib.contextmanager
    def turn(self, waits: Callable[[], object]) -> Iterator[None]:
        while not self._turn.acquire(timeout=0.05):
            waits()
        with contextlib.closing(SimpleNamespace(close=self._turn.release)):
            yield

    def on_progress(self, _: object) -> Any:
        return lambda: None

    def close(self, **_: bool) -> None:
        self.closed = True


@pytest.fixture
def keeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("engine.merge.prepare_source.free_sources", lambda _: None)
    return SparkBackend("local[*]", tmp_path)


def test_in_one_session_work_waits_for_its_turn_and_can_be_cancelled_meanwhile(keeper: Any) -> None:
    """Each piece of work sets confs of the session for its queries, and puts back what it found."""
    session, other, told = Kept(), Kept(), []
    began, held = threading.Event(), threading.Event()

    def question(_: object) -> None:
        began.set()
        held.wait(10)
        told.append("question")

    with ThreadPoolExecutor(3) as threads:
        running = threads.submit(keeper._sessions.run, session, "question", print, question)
        began.wait(10)
        commit = threads.submit(keeper._sessions.run, session, "commit", print, lambda _: told.append("commit"))
        lookup = threads.submit(keeper._sessions.run, session, "lookup", print, lambda _: told.append("lookup"))
        keeper._sessions.run(other, "elsewhere", print, lambda _: told.append("elsewhere"))
        keeper._sessions._cancelled.add("lookup")
        with pytest.raises(CancelledError):
            lookup.result(10)
        held.set()
        running.result(10)
        commit.result(10)
    assert told == ["elsewhere", "question", "commit"]


def test_a_session_in_which_a_commit_runs_is_not_closed_for_a_newer_plan(keeper: Any) -> None:
    sessions = [Kept() for _ in range(KEPT_PLANS + 1)]
    for number, session in enumerate(sessions[:-1]):
        keeper._sessions.keep(str(number), session)

    def commit(_: object) -> None:
        keeper._sessions.keep("newest", sessions[-1])
        assert [session.closed for session in sessions] == [False, True, False, False, False]

    keeper._sessions.run(sessions[0], "commit", lambda _: None, commit)
    assert not sessions[0].closed


def test_more_plans_are_kept_while_all_of_them_run_and_no_more_once_one_ends(keeper: Any) -> None:
    sessions = [Kept() for _ in range(KEPT_PLANS + 1)]
    for number, session in enumerate(sessions[:-1]):
        keeper._sessions.keep(str(number), session)
        keeper._sessions._running[str(number)] = session

    def commit(_: object) -> None:
        keeper._sessions.keep("newest", sessions[-1])
        assert not any(session.closed for session in sessions)

    keeper._sessions.run(sessions[0], "0", lambda _: None, commit)
    assert [session.closed for session in sessions] == [True, False, False, False, False]


def test_a_plan_made_again_closes_the_session_of_the_commit_only_when_that_has_ended(keeper: Any) -> None:
    first, again = Kept(), Kept()
    keeper._sessions.keep("same", first)

    def commit(_: object) -> None:
        keeper._sessions.keep("same", again)
        assert not first.closed

    keeper._sessions.run(first, "commit", lambda _: None, commit)
    assert first.closed
    assert not again.closed


def test_what_is_cancelled_as_the_console_ends_is_interrupted_before_its_session_is_let_go(
    keeper: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session of a plan in a file stays open on the server."""
    session, told, ends = Kept(), [], threading.Event()

    def interrupt(tag: str) -> bool:
        told.append(tag)
        ends.wait(0.3)  # on its way
        told.append("it is there")
        return True

    monkeypatch.setattr(session, "interrupt_tag", interrupt, raising=False)
    monkeypatch.setattr(session, "close", lambda **_: told.append("let go"))
    keeper._sessions.keep("plan", session)
    keeper._sessions._running["commit"] = session
    keeper._sessions.cancel("commit")
    keeper._sessions.close()
    assert told == ["commit", "it is there", "let go"]


def test_expectations_that_are_broken_leave_the_session_of_the_plan_to_be_closed(tmp_path: Path, keeper: Any) -> None:
    keeper.policy = Policy(verify=True)
    (tmp_path / "expect").mkdir()
    (tmp_path / "expect" / "broken.yml").write_text("expect: [")
    plan, session = a_plan(), Kept()
    keeper._sessions.keep(plan.plan_id, session)
    with pytest.raises(UsageError):
        keeper.apply(plan, accept=(), operation_id="commit", on_progress=print)
    for number in range(KEPT_PLANS):
        keeper._sessions.keep(str(number), Kept())
    assert session.closed


OLDER = Engines(spark="4.0.1", delta="4.3.1", deltamerge="0.1.0")


def facts_of(keeper: Any, monkeypatch: pytest.MonkeyPatch, confs: dict[str, str]) -> Any:
    """What Session shows of a Spark of older releases with these settings."""
    session = Kept()
    session.endpoint, session.embedded, session.session_id = "sc://x", False, "1"  # type: ignore[attr-defined]
    answers = iter([OLDER, confs])
    monkeypatch.setattr(keeper, "_main", session)
    monkeypatch.setattr(keeper, "_ask", lambda _: next(answers))
    return keeper.describe_session()


def test_the_session_shows_no_conf_that_is_named_like_a_secret(keeper: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    confs = {"spark.sql.catalog.unity.token": "abc", "spark.sql.ansi.enabled": "true"}
    facts = facts_of(keeper, monkeypatch, confs)
    assert facts["spark.sql.catalog.unity.token"] == "***"
    assert facts["spark.sql.ansi.enabled"] == "true"


def test_the_session_shows_the_delta_of_its_spark(keeper: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = facts_of(keeper, monkeypatch, {})
    assert (facts["Spark"], facts["Delta"]) == ("4.0.1", "4.3.1")


def test_a_policy_verifies_each_commit(keeper: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be checked is told, for the commit is there all the same."""
    plan, outcome = a_plan(), an_outcome(a_plan())
    monkeypatch.setattr("engine.commit.apply_plan.apply", lambda *_, **__: outcome)
    verified: list[str] = []

    def cancelled(*_: Any, **__: Any) -> None:
        verified.append("asked")
        raise CancelledError("CANCELLED", "", "")

    monkeypatch.setattr("engine.commit.verify.verify", cancelled)
    keeper._sessions.keep(plan.plan_id, Kept())
    (keeper.home / "expect").mkdir()
    (keeper.home / "expect" / "a.yml").write_text(
        f"{plan.target.name}: [{{unique: [id]}}]\nother.t: [{{rows: {{min: 1}}}}]"
    )

    def apply() -> Outcome:
        return keeper.apply(plan, accept=(), operation_id="1", on_progress=lambda _: None)

    assert apply() == outcome
    assert not verified
    keeper.policy = Policy(verify=True)
    (found,) = apply().expectations
    assert (found.name, found.status) == ("unique_id", "error")
    assert found.sentence == "It is committed, and not verified: CANCELLED."
    (keeper.home / "expect" / "a.yml").write_text("other.t: [{uniqe: [id]}]")
    with pytest.raises(UsageError, match="an expectation has one kind"):
        apply()
    assert verified == ["asked"]


def test_a_look_at_an_undo_can_be_cancelled_by_its_id(keeper: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session, tags = Kept(), []

    def plan_undo(*_: Any, tag: str, **__: Any) -> None:
        assert keeper._sessions._running == {"look": session}
        tags.append(tag)

    monkeypatch.setattr("engine.recovery.undo.plan_undo", plan_undo)
    monkeypatch.setattr(keeper, "_main", session)
    monkeypatch.setattr(keeper, "_ledger", lambda: SimpleNamespace(get=lambda op_id: op_id))
    keeper.plan_undo("op", operation_id="look")
    assert tags == ["look"]


def test_the_expectations_beside_the_file_of_a_plan_hold_for_it_and_those_of_the_home_for_others(
    keeper: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As on the command line."""
    for place, name in ((keeper.home, "home"), (tmp_path / "merges", "beside")):
        (place / "expect").mkdir(parents=True)
        (place / "expect" / "a.yml").write_text(f"a.t: [{{name: {name}, rows: {{min: 1}}}}]")
    (tmp_path / "alone").mkdir()
    session = Kept()
    monkeypatch.setattr(session, "new_session", lambda _: Kept(), raising=False)
    monkeypatch.setattr(keeper, "_main", session)
    names: list[str] = []

    def planned(*_: Any, expectations: Any, **__: Any) -> Any:
        names.append(expectations[0].expectation.name)
        return a_plan().model_copy(update={"plan_id": str(len(names))})

    monkeypatch.setattr("engine.plan_statement.plan", planned)
    for file in (tmp_path / "merges" / "m.sql", tmp_path / "alone" / "m.sql", ""):
        keeper.plan("MERGE", {}, rows=0, operation_id="1", on_progress=print, file=str(file))
    assert names == ["beside", "home", "home"]
    # for the rehearsal and for the check of the commit, too
    assert [keeper._expectations(plan)[0].expectation.name for plan in ("1", "2", "3")] == names


def test_what_is_asked_of_a_server_that_was_stopped_elsewhere_starts_no_other_one(
    keeper: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Kept()
    session.server = SimpleNamespace(is_running=lambda: False)
    monkeypatch.setattr(keeper, "_main", session)
    with pytest.raises(UnreachableError, match="The Spark server was stopped"):
        keeper.plan("MERGE", {}, rows=0, operation_id="1", on_progress=print)


def test_a_new_connection_closes_the_sessions_of_the_one_before(keeper: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost Spark that answers again may be another one, which knows none of them."""
    monkeypatch.setattr("engine.session.connect.connect", lambda *_, **__: Kept())
    monkeypatch.setattr(keeper, "_recover", lambda *_: ())
    keeper.connect(lambda _: None)
    first, of_plan = keeper._main, Kept()
    keeper._sessions.keep("p", of_plan)
    keeper.connect(lambda _: None)
    assert (first.closed, of_plan.closed, keeper._main.closed) == (True, True, False)
    assert keeper._sessions.get("p") is None
