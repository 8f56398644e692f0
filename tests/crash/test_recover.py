"""What is found out of operations whose program is gone, and what is left alone."""

from __future__ import annotations

import os
import signal
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.ledger.history import History
from engine.model.operation import UndoPlan
from engine.model.plan import RaisedProperty
from engine.plan_merge import plan
from engine.plan_statement import plan as plan_any
from engine.recovery.recover import NOT_COMMITTED, recover, sentence
from engine.recovery.undo import plan_undo, undo
from engine.session.home import ledger_path
from engine.session.leases import left_sessions
from engine.spark.session_state import Whereabouts, whereabouts
from engine.sql.undo_statements import raise_retention_statement
from engine.table.tables import table_versions
from engine.table.undo_possible import RETENTION
from tests.cli.running import Shell
from tests.conftest import TEST_CONFS
from tests.crash.counting import Counted
from tests.crash.dying import run_and_die
from tests.engine.plans import make_plan


@pytest.fixture
def ledger(tmp_path: Path) -> History:
    return History(tmp_path / "history.duckdb")


def abandoned(ledger: History, table: str, path: str, where: Whereabouts) -> str:
    plan = make_plan(table=table)
    target = plan.target.model_copy(update={"path": path, "version": 0})
    op_id = ledger.begin(plan.model_copy(update={"target": target}), where=where, checked=0)
    ledger.give_up(op_id)
    return op_id


def test_a_server_that_is_gone_is_not_asked(session: Any, schema: str, ledger: History) -> None:
    session.spark.sql("CREATE TABLE t (id INT) USING delta")
    path = session.spark.sql("DESCRIBE DETAIL t").collect()[0]["location"]
    op_id = abandoned(ledger, f"{schema}.t", path, Whereabouts("127.0.0.1:1", "s", "u"))
    (found,) = recover(session, ledger)
    assert (found.op_id, found.status) == (op_id, "not_committed")
    assert "it is not committed, and will not be" in sentence(found)
    operation = ledger.get(op_id).operation
    assert (operation.status, operation.finished_at) == ("not_committed", None), "nobody saw when it ended"
    assert recover(session, ledger) == ()


def test_a_table_that_is_gone_holds_no_commit(session: Any, ledger: History) -> None:
    op_id = abandoned(ledger, "default.gone", "file:/nowhere/gone", Whereabouts())
    (found,) = recover(session, ledger)
    assert (found.op_id, found.status) == (op_id, "not_committed")


@pytest.mark.parametrize("dropped", [True, False])
def test_an_undo_by_drop_is_done_where_the_table_is_gone(
    session: Any, schema: str, ledger: History, dropped: bool
) -> None:
    spark = session.spark
    made = plan_any(spark, f"CREATE TABLE {schema}.n USING delta AS SELECT 1 AS a")
    created = apply(spark, made, history=ledger)
    op_id = ledger.begin_undo(plan_undo(spark, ledger.get(created.op_id)))
    ledger.give_up(op_id)
    if dropped:
        spark.sql(f"DROP TABLE {schema}.n")
    (found,) = recover(session, ledger)
    assert (found.op_id, found.status) == (op_id, "applied" if dropped else "not_committed")
    assert ledger.get(created.op_id).operation.status == ("undone" if dropped else "applied")
    if dropped:
        assert sentence(found).endswith("it is done.")


@pytest.mark.parametrize("before", [None, "interval 9 days"])
def test_the_retention_that_an_undo_raised_before_it_died_is_put_back(
    session: Any, schema: str, ledger: History, before: str | None
) -> None:
    spark = session.spark
    was = f"TBLPROPERTIES ('{RETENTION}' = '{before}')" if before else ""
    spark.sql(f"CREATE TABLE t USING delta {was} AS SELECT 1 AS a")
    path, table_id = spark.sql("DESCRIBE DETAIL t").select("location", "id").collect()[0]
    raised = (RaisedProperty(name=RETENTION, before=before, after="interval 20 days"),)
    undoing = UndoPlan(
        undo_id="u", op_id="merge", table="t", path=path, table_id=table_id, version=0, to_version=0,
        raise_retention=raised,
    )  # fmt: skip
    op_id = ledger.begin_undo(undoing)
    ledger.give_up(op_id)
    spark.sql(raise_retention_statement(undoing))
    (found,) = recover(session, ledger)
    assert sentence(found).endswith("will not be. The retention that it had raised is put back.")
    assert ledger.get(op_id).operation.error == f"{NOT_COMMITTED} {found.why}"
    properties = spark.sql("DESCRIBE DETAIL t").collect()[0]["properties"]
    assert properties.get(RETENTION) == before


@pytest.mark.thorough
def test_a_damaged_ledger_is_read_anew_from_the_tables_logs(session: Any, schema: str, ledger: History) -> None:
    spark = session.spark
    spark.sql("CREATE TABLE t USING delta AS SELECT id, 0 AS v FROM range(5)")
    merge = "MERGE INTO t USING (SELECT 1L AS id) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = t.v + 1"
    kept, undone = (apply(spark, plan(spark, merge, rows=0), history=ledger) for _ in range(2))
    taken = undo(spark, plan_undo(spark, ledger.get(undone.op_id)), history=ledger)
    before = {one.op_id: (one.kind, one.status, one.version) for one in ledger.list()}
    ledger.path.write_bytes(b"hello, this was a ledger once")
    assert ledger.list() == []
    recover(session, ledger)
    found = {one.op_id: (one.kind, one.status, one.version) for one in ledger.list(table=f"{schema}.t")}
    assert found == before
    assert set(found) == {kept.op_id, undone.op_id, taken.op_id}
    assert ledger.get(kept.op_id).outcome.metrics == kept.metrics  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("statement", "version"),
    [
        ("MERGE INTO t USING (SELECT 2 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *", 1),
        ("CREATE OR REPLACE TABLE t USING delta AS SELECT 2 AS id", 1),
    ],
)
def test_a_saved_plan_that_another_program_applied_is_found(
    session: Any, schema: str, ledger: History, tmp_path: Path, statement: str, version: int
) -> None:
    spark = session.spark
    spark.sql(f"CREATE TABLE {schema}.t (id INT) USING delta")
    made = plan_any(spark, statement.replace(" t ", f" {schema}.t ", 1))
    op_id = ledger.record_planned(made)
    ledger.saved(made)
    assert recover(session, ledger) == (), "nobody has applied it yet"
    theirs = apply(spark, made, history=History(tmp_path / "theirs.duckdb"))
    (found,) = recover(session, ledger)
    assert (found.op_id, found.status, found.version) == (op_id, "applied", version)
    assert "was applied by another program" in sentence(found)
    detail = ledger.get(op_id)
    assert (detail.operation.status, detail.operation.version, detail.operation.kept) == ("applied", version, True)
    assert detail.outcome is not None
    assert detail.outcome.metrics == theirs.metrics
    assert recover(session, ledger) == ()
    undone = undo(spark, plan_undo(spark, detail), history=ledger)
    assert undone.kept
    assert ledger.get(op_id).operation.status == "undone"


def test_a_saved_plan_that_others_applied_and_took_back_is_undone(
    session: Any, schema: str, ledger: History, tmp_path: Path
) -> None:
    spark, theirs = session.spark, History(tmp_path / "theirs.duckdb")
    spark.sql(f"CREATE TABLE {schema}.t (id INT) USING delta")
    sql = f"MERGE INTO {schema}.t t USING (SELECT {{}} AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    made, other = plan(spark, sql.format(2)), plan(spark, sql.format(3))
    for one in (made, other):
        ledger.record_planned(one)
        ledger.saved(one)
    outcome = apply(spark, made, history=theirs)
    undo(spark, plan_undo(spark, theirs.get(outcome.op_id)), history=theirs)
    (found,) = recover(session, ledger)
    assert sentence(found).endswith("by another program. The plan was committed as v1 and taken back by v2.")
    assert {one.plan_id: (one.status, one.version) for one in ledger.list()} == {
        made.plan_id: ("undone", 1),
        other.plan_id: ("planned", None),
    }


def test_a_plan_that_is_applied_again_is_known_by_who_planned_it(
    session: Any, schema: str, ledger: History, tmp_path: Path
) -> None:
    spark = session.spark
    spark.sql(f"CREATE TABLE {schema}.t (id INT) USING delta")
    made = plan(
        spark, f"MERGE INTO {schema}.t t USING (SELECT 2 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    )
    op_id = ledger.record_planned(made)
    apply(spark, made, history=History(tmp_path / "theirs.duckdb"))
    again = apply(spark, made, history=ledger)
    assert (again.already_applied, again.op_id) == (True, op_id)
    assert [one.status for one in ledger.list()] == ["applied"]


def test_what_runs_on_another_server_is_left_to_that(session: Any, ledger: History) -> None:
    op_id = abandoned(ledger, "default.t", "file:/nowhere/t", Whereabouts("spark.example.org:15002", "s", "u"))
    (found,) = recover(session, ledger)
    assert (found.status, found.why) == (
        "running",
        "It ran on the Spark at spark.example.org:15002, and only that can tell.",
    )
    assert ledger.get(op_id).operation.status == "running"
    assert [one.op_id for one in ledger.abandoned()] == [op_id], "whoever reaches that server finds it"


def test_what_was_begun_under_another_host_name_is_settled_by_its_commit_alone(
    session: Any, schema: str, ledger: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container's ledger outlives it; but its process may as well be alive, and commit yet."""
    spark = session.spark
    spark.sql("CREATE TABLE t USING delta AS SELECT 1L AS id, 0 AS v")
    looked = plan(spark, "MERGE INTO t USING (SELECT 1L AS id) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 1")
    monkeypatch.setattr(socket, "gethostname", lambda: "a-container")
    monkeypatch.setattr(History, "applied", lambda *_: None)
    apply(spark, looked, history=ledger)
    (begun,) = ledger.running()
    committed, waiting = begun.op_id, ledger.begin(looked, where=whereabouts(spark), checked=0)
    monkeypatch.undo()
    (found,) = recover(session, ledger)
    newest = table_versions(spark, "t", 1)[0]
    assert ledger.get(committed).operation.finished_at == newest.timestamp, "as long as the commit took"
    assert (found.op_id, found.status, found.version) == (committed, "applied", 1)
    assert (
        sentence(found)
        == f"Operation {committed} on {looked.target.name} was begun under another host name: it is committed, as v1."
    )
    assert ledger.get(committed).outcome.kept  # type: ignore[union-attr]
    assert ledger.get(waiting).operation.status == "running"
    assert recover(session, ledger) == ()


def test_a_session_of_the_living_is_left_alone(session: Any, spark_home: Path, ledger: History) -> None:
    with session.new_session(TEST_CONFS) as other:
        recover(session, ledger)
        assert other.is_alive()
    where = whereabouts(session.spark)
    assert where.session_id == session.session_id
    assert "token" not in (where.endpoint or "")
    assert left_sessions(spark_home) == {}


def test_the_next_command_settles_it_and_says_so(counted: Counted, capsys: pytest.CaptureFixture[str]) -> None:
    file, plan = counted.saved_plan()
    run_and_die(counted.command("apply", str(file), "--yes"), "the MERGE has returned")
    shell = Shell(capsys, counted.home, *counted.command()[2:])
    (row,) = [one for one in shell("history", "--json").json if one["plan_id"] == plan.plan_id][:1]
    assert row["status"] == "running"
    assert "gone" in shell("history", "--table", counted.table).out
    ran = shell("describe", counted.table)
    assert (
        f"Operation {row['op_id']} on {counted.table} was begun by a program that is gone, or lost Spark: "
        "it is committed"
    ) in ran.err
    (row,) = [one for one in shell("history", "--json").json if one["plan_id"] == plan.plan_id][:1]
    assert (row["status"], row["kept"]) == ("applied", True)
    counted.check([counted.history.get(row["op_id"]).operation])


@pytest.mark.thorough
def test_a_server_killed_with_its_client_is_asked_through_the_next(tmp_path: Path) -> None:
    """The driver dies in the middle of a MERGE, and the client with it: the next server's log tells."""
    from engine.processes import wait_gone
    from engine.session.connect import connect
    from engine.session.server import find_server, stop_server

    home = tmp_path / "home"
    with ExitStack() as sessions:
        session = sessions.enter_context(connect("local[2]", home=home, confs=TEST_CONFS))
        counted = Counted(session, home, History(ledger_path(home)), tmp_path)
        for point in ("the MERGE runs", "the MERGE has returned"):
            file, plan = counted.saved_plan()
            run_and_die(counted.command("apply", str(file), "--yes"), point)
            server = find_server(home)
            assert server is not None
            os.kill(server.pid, signal.SIGKILL)
            assert wait_gone(server.pid, server.process_started, 10)
            session = sessions.enter_context(connect("local[2]", home=home, confs=TEST_CONFS))
            counted.session, counted.spark = session, session.spark
            _, mine = counted.after_crash(plan.statement.sql)
            committed = counted.check(mine)
            print(f"server killed where {point}: {[one.status for one in mine]}")
            counted.apply_again(plan, committed)
    stop_server(home)
