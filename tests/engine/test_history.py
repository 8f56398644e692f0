"""The ledger: what it remembers."""

from __future__ import annotations

import stat
from pathlib import Path
from time import sleep

import pytest

from console.spark_tables import SparkTables
from engine.commit.exactly_once import as_recorded, refusal_is_recorded
from engine.ledger.history import History
from engine.ledger.history_store import now
from engine.ledger.look import look
from engine.model.browse import TableRef, TableVersion
from engine.model.errors import CancelledError, EngineError, RefusedError, StalePlanError, UnreachableError
from engine.model.expectation import ExpectationResult
from engine.model.operation import UndoPlan
from engine.model.plan import Refused
from engine.recovery.undo import plan_undo
from engine.recovery.undo_refusal import undo_refusal_is_recorded
from engine.spark.session_state import Whereabouts
from engine.table.delta_log import INCOMPLETE
from tests.console.samples import an_undo
from tests.engine.plans import SQL, make_outcome, make_plan, make_rehearsal


@pytest.fixture
def ledger(tmp_path: Path) -> History:
    return History(tmp_path / "home" / "history.duckdb")


def test_an_operation_from_plan_to_commit(ledger: History) -> None:
    plan = make_plan()
    op_id = ledger.record_planned(plan)
    (planned,) = ledger.list()
    assert (planned.op_id, planned.status, planned.sql, planned.plan_id) == (op_id, "planned", SQL, "plan-1")
    assert planned.started_at.endswith("Z")

    assert ledger.begin(plan) == op_id, "the planned row is taken over"
    assert [one.op_id for one in ledger.running()] == [op_id]
    assert ledger.abandoned() == [], "this process is alive"

    ledger.applied(op_id, make_outcome(op_id))
    detail = ledger.get(op_id)
    assert detail.plan == plan
    assert detail.outcome == make_outcome(op_id)
    assert (detail.operation.status, detail.operation.version, detail.operation.kept) == ("applied", 8, True)
    assert detail.operation.finished_at is not None
    assert ledger.running() == []

    undo = UndoPlan(
        undo_id="u", op_id=op_id, table=plan.target.name, path=plan.target.path, table_id=plan.target.table_id,
        version=8, to_version=7, promise={}, rows_now=2, rows_after=1,
    )  # fmt: skip
    restore = ledger.begin_undo(undo)
    assert ledger.get(op_id).operation.status == "applied", "not yet"
    assert ledger.get(op_id).taken_back_by is None
    ledger.undone(restore, make_outcome(restore))
    assert (ledger.get(op_id).operation.status, ledger.get(op_id).operation.version) == ("undone", 8)
    assert ledger.get(op_id).taken_back_by == ledger.get(restore).operation
    assert (ledger.get(restore).operation.kind, ledger.get(restore).operation.status) == ("restore", "applied")


def test_a_verification_adds_its_results_to_the_outcome_and_changes_nothing_else(ledger: History) -> None:
    results = (ExpectationResult(name="unique", kind="unique", status="pass", sentence="Every key is unique."),)
    outcome = make_outcome(op_id := ledger.begin(make_plan())).model_copy(update={"duration_ms": 1200})
    ledger.applied(op_id, outcome, "2026-11-21T10:00:00.000Z")
    ledger.verified(op_id, results)
    detail = ledger.get(op_id)
    assert detail.outcome == outcome.model_copy(update={"expectations": results})
    assert detail.operation.finished_at == "2026-11-21T10:00:00.000Z"
    ledger.verified("of another ledger", results)
    assert [one.op_id for one in ledger.list()] == [op_id]


def test_rehearsals_are_kept_with_the_plan_through_its_apply(ledger: History) -> None:
    plan, later = make_plan(), "2026-11-21T11:00:00.000Z"
    ledger.rehearsed(plan, make_rehearsal())
    (planned,) = ledger.list()
    assert (planned.status, planned.rehearsed) == ("planned", True)
    op_id = ledger.begin(plan)
    assert op_id == planned.op_id
    ledger.applied(op_id, make_outcome(op_id))
    again = ledger.begin(plan)
    ledger.rehearsed(plan, make_rehearsal(kept=False, started_at=later))
    for one in (op_id, again):
        detail = ledger.get(one)
        assert [found.kept for found in detail.rehearsals] == [False, True]
        assert detail.operation.rehearsed is False
    after = "2999-11-21T11:00:00.000Z"
    ledger.failed(again, "it broke")
    ledger.rehearsed(plan, make_rehearsal(started_at=after))
    assert [found.started_at == after for found in ledger.get(op_id).rehearsals] == [False, False], "it had ended"
    assert [found.started_at == after for found in ledger.get(again).rehearsals] == [True, False, False]
    assert {one.op_id: one.rehearsed for one in ledger.list()} == {op_id: False, again: True}
    assert ledger.record_planned(make_plan("plan-2")) != op_id
    assert ledger.list()[0].rehearsed is None


def test_planning_twice_keeps_one_row_and_applying_twice_makes_two(ledger: History) -> None:
    plan = make_plan()
    first = ledger.record_planned(plan)
    assert ledger.record_planned(plan) == first
    assert ledger.begin(plan) == first
    ledger.failed(first, "it broke")
    second = ledger.begin(plan)
    assert second != first
    assert [(one.op_id, one.status) for one in ledger.find_by_plan("plan-1")] == [
        (second, "running"),
        (first, "failed"),
    ]
    third = ledger.begin(plan, op_id=first)
    assert third not in (first, second), "a row that was begun is history"


def test_one_process_alone_finds_out_what_became_of_an_abandoned_operation(ledger: History) -> None:
    where = Whereabouts("127.0.0.1:15002", "0b5c1c1e-7b1d-4b7f-9d0c-3f4a5b6c7d8e", "ann")
    op_id = ledger.begin(make_plan(), where=where, checked=7)
    assert not ledger.take_over(op_id), "its process is alive"
    ledger.give_up(op_id)
    (left,) = ledger.abandoned()
    assert (left.op_id, left.plan_id, left.table_path, left.checked) == (op_id, "plan-1", "/data/orders", 7)
    assert left.where == where
    assert ledger.take_over(op_id)
    assert not ledger.take_over(op_id)
    assert ledger.abandoned() == []


def test_of_what_is_planned_the_newest_that_were_saved_may_be_applied_elsewhere(ledger: History) -> None:
    plans = [make_plan(f"plan-{number}") for number in range(12)]
    for plan in plans:
        ledger.record_planned(plan)
    assert ledger.unsettled() == [], "nobody else has it"
    for plan in plans:
        ledger.saved(plan)
    applied = ledger.begin(plans[11])
    ledger.applied(applied, make_outcome(applied))
    saved = ledger.unsettled()
    assert [one.plan_id for one in saved] == [f"plan-{number}" for number in range(1, 11)]
    assert {(one.is_saved, one.checked) for one in saved} == {(True, plans[0].target.version)}
    assert ledger.abandoned() == [], "none was begun"
    assert look(ledger.path, 1).abandoned == ()


def test_begin_with_an_id(ledger: History) -> None:
    plan = make_plan()
    older = ledger.record_planned(plan)
    assert ledger.begin(plan, op_id=older) == older
    assert ledger.begin(plan, op_id="0123456789ab") == "0123456789ab"


@pytest.mark.parametrize("status", ["failed", "cancelled", "not_committed"])
def test_failures(ledger: History, status: str) -> None:
    op_id = ledger.begin(make_plan())
    ledger.failed(op_id, "gone: sc://h/;token=abcdef", status=status)  # type: ignore[arg-type]
    operation = ledger.get(op_id).operation
    assert (operation.status, operation.error) == (status, "gone: sc://h/;token=***")


def test_the_clock_of_an_apply_that_ran_nothing_begins_with_the_apply(
    ledger: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as yesterday:
        yesterday.setattr("engine.ledger.history_rows.now", lambda: "2020-01-01T00:00:00.000Z")
        planned = ledger.record_planned(make_plan())
        ledger.record_planned(make_plan("plan-2"))
    began = now()
    with pytest.raises(StalePlanError), refusal_is_recorded(ledger, make_plan()):
        raise StalePlanError("STALE_PLAN", "The table moved.", "Plan again.")
    newest, _ = ledger.list()
    assert (newest.op_id, newest.status) == (planned, "failed")
    assert newest.finished_at is not None
    assert began <= newest.started_at <= newest.finished_at


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RefusedError("POLICY_READ_ONLY", "The policy forbids it."), "failed"),
        (EngineError("TABLE_OR_VIEW_NOT_FOUND", "The table is gone."), "failed"),
        (RefusedError("NOT_CONFIRMED", "Nobody confirmed it."), "planned"),
        (CancelledError("CANCELLED", "The work was cancelled."), "planned"),
        (UnreachableError("SPARK_UNREACHABLE", "Spark is gone."), "planned"),
        (EngineError("LEDGER_LOCKED", "Others hold the ledger."), "planned"),
    ],
)
def test_a_plan_that_was_refused_at_apply_says_why(ledger: History, error: EngineError, status: str) -> None:
    ledger.record_planned(make_plan())
    with pytest.raises(EngineError), refusal_is_recorded(ledger, make_plan()):
        raise error
    (operation,) = ledger.list()
    assert (operation.status, operation.error) == (status, str(error) if status == "failed" else None)


def test_each_refusal_of_a_plan_is_recorded_and_its_id_names_the_newest(ledger: History) -> None:
    plan = make_plan("feed1234")
    ledger.record_planned(plan)
    for reason in ("POLICY_READ_ONLY", "STALE_PLAN"):
        with pytest.raises(RefusedError), refusal_is_recorded(ledger, plan):
            raise RefusedError(reason, "No.")
    newest, oldest = ledger.list()
    assert ["READ_ONLY" in str(oldest.error), "STALE" in str(newest.error)] == [True, True]
    assert ledger.get("feed").operation == ledger.get("feed1234").operation == newest


def test_where_the_log_does_not_reach_back_the_ledger_says_that_a_plan_is_committed(ledger: History) -> None:
    plan, gone = make_plan(), EngineError(INCOMPLETE, "The log has no commit 1.")
    assert as_recorded(ledger, plan.plan_id, gone) is None
    op_id = ledger.begin(plan)
    ledger.applied(op_id, make_outcome(op_id))
    assert as_recorded(ledger, plan.plan_id, EngineError("X", "Another error.")) is None
    found = as_recorded(ledger, plan.plan_id, gone)
    assert found is not None
    assert (found.already_applied, found.version) == (True, make_outcome(op_id).version)
    undo = ledger.begin_undo(an_undo(op_id))
    ledger.undone(undo, make_outcome(undo))
    with pytest.raises(StalePlanError, match="PLAN_UNDONE"):
        as_recorded(ledger, plan.plan_id, gone)


def test_a_refusal_of_a_plan_whose_apply_was_cancelled_before_is_recorded(ledger: History) -> None:
    plan = make_plan()
    ledger.failed(ledger.begin(plan), "cancelled", "cancelled")
    with pytest.raises(RefusedError), refusal_is_recorded(ledger, plan):
        raise RefusedError("STALE_PLAN", "No.")
    assert [(one.status, "STALE" in str(one.error)) for one in ledger.list()] == [
        ("failed", True),
        ("cancelled", False),
    ]


def test_a_commit_that_loses_a_conflict_is_one_operation_with_the_reason_that_helps(ledger: History) -> None:
    plan = make_plan()

    def commit() -> None:
        sleep(0.002)
        ledger.failed_by(ledger.begin(plan), EngineError("DELTA_CONCURRENT_DELETE_READ", "Please retry the operation."))
        raise StalePlanError("DELTA_CONCURRENT_DELETE_READ", "Another commit was faster.", "Plan again.")

    with pytest.raises(StalePlanError), refusal_is_recorded(ledger, plan):
        commit()
    (one,) = ledger.list()
    assert one.status == "failed"
    assert "Another commit was faster." in str(one.error)


def test_many_tries_of_one_plan_hide_no_other_plan_whose_id_begins_so(ledger: History) -> None:
    ledger.begin(make_plan("feed0000"), op_id="dd0000000000")
    for number in range(1, 9):
        ledger.failed(ledger.begin(make_plan("feed1111"), op_id=f"dd000000000{number}"), "No.")
    assert ledger.get("feed1").operation.op_id == "dd0000000008"
    with pytest.raises(EngineError, match="Several operations begin with feed"):
        ledger.get("feed")


def test_a_plan_that_delta_would_refuse_keeps_its_own_reason(ledger: History) -> None:
    refused = make_plan(refused=Refused(condition="X", message="Several rows match.", hint=""))
    for _ in range(2):
        with pytest.raises(RefusedError), refusal_is_recorded(ledger, refused):
            raise RefusedError("X", "The plan cannot be applied: Several rows match.")
    assert [one.status for one in ledger.list()] == ["refused"]


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (EngineError("CAST_INVALID_INPUT", "The value 'secret' cannot be cast."), "[CAST_INVALID_INPUT] "),
        (CancelledError("CANCELLED", "The work was cancelled."), "The work was cancelled."),
    ],
)
def test_a_private_ledger_keeps_the_class_of_an_error_and_not_its_message(
    tmp_path: Path, error: EngineError, kept: str
) -> None:
    for private in (False, True):
        ledger = History(tmp_path / "history.duckdb", private=private)
        op_id = ledger.begin(make_plan())
        ledger.failed_by(op_id, error)
        operation = ledger.get(op_id).operation
        assert operation.status == ("cancelled" if isinstance(error, CancelledError) else "failed")
        assert operation.error is not None
        assert operation.error.startswith(kept)
        assert ("secret" in operation.error) is ("secret" in error.message and not private)


def test_a_commit_is_a_fact(ledger: History) -> None:
    op_id = ledger.begin(make_plan())
    ledger.failed(op_id, "lost the connection", status="not_committed")
    ledger.applied(op_id, make_outcome(op_id))
    ledger.failed(op_id, "too late")
    operation = ledger.get(op_id).operation
    assert (operation.status, operation.error) == ("applied", None)


def test_the_list_is_newest_first_and_can_be_narrowed(ledger: History) -> None:
    ids = [ledger.record_planned(make_plan(f"p{n}", table=f"demo.t{n % 2}")) for n in range(6)]
    assert [one.op_id for one in ledger.list()] == ids[::-1]
    assert [one.op_id for one in ledger.list(limit=2)] == ids[:3:-1]
    assert ledger.list(limit=0) == []
    ledger.begin(make_plan("p0", table="demo.t0"))
    assert ledger.list()[0].op_id == ids[0], "what was begun last comes first"
    for name in ("demo.t1", "t1", "`demo`.`t1`", "DEMO.T1"):
        assert {one.op_id for one in ledger.list(table=name)} == set(ids[1::2]), name
    for path in ("/data/orders", "file:/data/orders", "delta.`/data/orders`"):
        assert len(ledger.list(table=path)) == 6
    assert ledger.list(table="1") == []
    by_path = ledger.record_planned(make_plan("p6", table="delta.`/data/orders`"))
    assert by_path in {one.op_id for one in ledger.list(table="t1")}, "it is a name of the same table"
    assert ledger.list(table="demo.t1' OR 1=1 --") == []


def test_a_name_without_a_schema_is_that_of_a_table_of_default(ledger: History) -> None:
    bare, of_shop = (ledger.record_planned(make_plan(name, table=name)) for name in ("t", "shop.t"))
    assert {one.op_id for one in ledger.list(table="default.t")} == {bare}
    assert {one.op_id for one in ledger.list(table="spark_catalog.default.t")} == {bare}
    assert {one.op_id for one in ledger.list(table="shop.t")} == {of_shop}
    assert {one.op_id for one in ledger.list(table="t")} == {bare, of_shop}


def test_the_statement_of_an_operation_has_what_runs_before_it(ledger: History) -> None:
    plan = make_plan()
    op_id = ledger.record_planned(
        plan.model_copy(update={"statement": plan.statement.model_copy(update={"setup": ("USE shop",)})})
    )
    assert ledger.get(op_id).operation.sql == f"USE shop;\n{SQL}"


def test_outcomes_are_those_of_commits_newest_first_without_their_plans(ledger: History) -> None:
    assert ledger.outcomes() == []
    for number in range(3):
        op_id = ledger.begin(make_plan(f"plan-{number}"))
        ledger.applied(op_id, make_outcome(op_id, f"plan-{number}"))
    ledger.failed(ledger.begin(make_plan("plan-3")), "it broke")
    found = ledger.outcomes()
    assert [one.operation.plan_id for one in found] == ["plan-2", "plan-1", "plan-0"]
    assert [one.outcome and one.outcome.metrics for one in found] == [{"numTargetRowsUpdated": 900}] * 3
    assert {one.plan for one in found} == {None}
    assert [one.operation.plan_id for one in ledger.outcomes(limit=1)] == ["plan-2"]


def test_get_by_the_beginning_of_an_id(ledger: History) -> None:
    ledger.begin(make_plan("a"), op_id="aabb00000001")
    ledger.begin(make_plan("b"), op_id="aabc00000002")
    assert ledger.get("aabb").operation.plan_id == "a"
    assert ledger.get("AABC00000002").operation.plan_id == "b"
    ledger.begin(make_plan("d"), op_id="aabb00000003")
    with pytest.raises(EngineError, match="Several operations begin with aabb") as caught:
        ledger.get("aabb")
    assert caught.value.condition == "OPERATION_AMBIGUOUS"
    with pytest.raises(EngineError, match="no operation aab") as caught:
        ledger.get("aab")
    assert "at least 4 characters" in caught.value.hint, "a slip of the finger is no id"
    ledger.begin(make_plan("fedc01"), op_id="dd0000000003")
    assert ledger.get("fedc").operation.op_id == "dd0000000003", "the id that the console shows of a plan"
    for missing in ("ffff", "", "%", "_abb00000001"):
        with pytest.raises(EngineError) as caught:
            ledger.get(missing)
        assert caught.value.condition == "OPERATION_NOT_FOUND"
    for call in (
        lambda op: ledger.undone(op, make_outcome(op)),
        lambda op: ledger.failed(op, "x"),
        lambda op: ledger.applied(op, make_outcome(op)),
    ):
        with pytest.raises(EngineError) as caught:
            call("ff")
        assert caught.value.condition == "OPERATION_NOT_FOUND"


def test_no_secret_reaches_the_file(ledger: History, tmp_path: Path) -> None:
    secret = "Zx81hunter2abcdef"
    plan = make_plan(confs={"spark.hadoop.fs.s3a.secret.key": secret})
    statement = plan.statement.model_copy(
        update={"sql": f"{SQL} -- password={secret}", "setup": (f"SET spark.x.password={secret}",)}
    )
    op_id = ledger.begin(plan.model_copy(update={"statement": statement}))
    ledger.failed(op_id, f"sc://h/;token={secret}")
    ledger.cache_tables(f"sc://h/;token={secret}", [])
    ledger.cache_versions("t", [TableVersion(version=1, timestamp="", operation="x", parameters={"token": secret})])
    assert secret not in ledger.get(op_id).model_dump_json()
    assert secret not in ledger.cached_versions("t")[0].model_dump_json()
    assert ledger.get(op_id).plan is not None, "a masked plan is a plan"
    for file in tmp_path.rglob("*"):
        assert file.is_dir() or secret.encode() not in file.read_bytes()


def test_files_are_private(ledger: History, tmp_path: Path) -> None:
    ledger.record_planned(make_plan())
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700
    assert sorted(file.name for file in (tmp_path / "home").iterdir()) == [
        "history.duckdb",
        "history.duckdb.changed",
        "history.duckdb.lock",
    ]
    for file in (tmp_path / "home").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_table_versions_are_remembered(ledger: History) -> None:
    def version(number: int, operation: str = "MERGE") -> TableVersion:
        return TableVersion(
            version=number,
            timestamp="2026-11-21T10:00:00Z",
            operation=operation,
            metrics={"numOutputRows": "5"},
            user_metadata='{"plan": "\\"quoted\\" ünïcode"}',
        )

    assert ledger.cached_versions("t-1") == []
    ledger.cache_versions("t-1", [])
    ledger.cache_versions("t-1", [version(2), version(1), version(0, "CREATE TABLE")])
    ledger.cache_versions("t-1", [version(3), version(2, "WRITE")])
    ledger.cache_versions("t-2", [version(9)])
    assert ledger.cached_versions("t-1") == [
        version(3),
        version(2, "WRITE"),
        version(1),
        version(0, "CREATE TABLE"),
    ]


def test_tables_are_remembered_for_each_endpoint(ledger: History) -> None:
    orders = TableRef(name="`demo`.`orders`", schema_name="demo", table="orders", is_delta=True)
    path = TableRef(name="delta.`/data/it's`", table="it's", path="/data/it's")
    assert ledger.cached_tables("local[*]") == []
    ledger.cache_tables("local[*]", [orders])
    ledger.cache_tables("local[*]", [orders, path])
    ledger.cache_tables("sc://h:1", [])
    assert ledger.cached_tables("local[*]") == [orders, path]
    assert ledger.cached_tables("sc://h:1") == []


def test_duckdb_is_imported_by_the_first_call_only() -> None:
    import subprocess
    import sys

    code = "import sys, engine.ledger.history as h; h.History('x'); sys.exit('duckdb' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_refused_plan_is_listed_as_refused(ledger: History) -> None:
    refused = Refused(condition="DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", message="ambiguous")
    op_id = ledger.record_planned(make_plan(refused=refused))
    assert ledger.record_planned(make_plan(refused=refused)) == op_id
    assert [one.status for one in ledger.list()] == ["refused"]


def test_a_refused_plan_keeps_its_reason_until_it_is_tried(ledger: History) -> None:
    refused = make_plan(refused=Refused(condition="DELTA_X", message="It is read as token=abc"))
    op_id = ledger.record_planned(refused)
    assert ledger.get(op_id).operation.error == "[DELTA_X] It is read as token=***"
    assert ledger.begin(refused) == op_id
    assert ledger.get(op_id).operation.error is None


def committed(ledger: History, plan_id: str, version: int) -> str:
    op_id = ledger.begin(make_plan(plan_id))
    ledger.applied(op_id, make_outcome(op_id, plan_id).model_copy(update={"version": version}))
    return op_id


def restored(ledger: History, undoes: str, version: int) -> str:
    path = ledger.get(undoes).plan.target.path  # type: ignore[union-attr]
    restore = ledger.begin_undo(an_undo(undoes).model_copy(update={"path": path}))
    ledger.undone(restore, make_outcome(restore).model_copy(update={"version": version}))
    return restore


def test_a_restore_undoes_one_and_overwrites_what_came_after(ledger: History) -> None:
    before, wrong, later = (committed(ledger, f"p{version}", version) for version in (7, 8, 9))
    failed = ledger.begin(make_plan("p4"))
    ledger.failed(failed, "[X] no")
    restore = restored(ledger, wrong, 10)
    after = committed(ledger, "p5", 11)
    statuses = {one.op_id: one.status for one in ledger.list()}
    assert [statuses[one] for one in (before, wrong, later, failed, restore, after)] == [
        "applied", "undone", "overwritten", "failed", "applied", "applied",
    ]  # fmt: skip
    # they were committed, whatever became of them
    assert {one.operation.op_id for one in ledger.outcomes()} == {before, wrong, later, restore, after}
    # who finds out late that it committed brings nothing back
    ledger.applied(later, make_outcome(later).model_copy(update={"version": 9}))
    ledger.failed(later, "[X] late")
    assert ledger.get(later).operation.status == "overwritten"
    assert ledger.get(later).overwritten_by == ledger.get(restore).operation
    assert {ledger.get(one).overwritten_by for one in (before, wrong, failed, restore, after)} == {None}
    with pytest.raises(StalePlanError, match="gone already"):
        plan_undo(None, ledger.get(later))  # type: ignore[arg-type]  the ledger alone knows


def test_a_restore_overwrites_a_restore_that_came_after_what_it_takes_back(ledger: History) -> None:
    first, second = committed(ledger, "p1", 7), committed(ledger, "p2", 8)
    of_second = restored(ledger, second, 9)
    assert ledger.get(of_second).operation.status == "applied"
    of_first = restored(ledger, first, 10)
    statuses = {one.op_id: one.status for one in ledger.list()}
    assert [statuses[one] for one in (first, second, of_second, of_first)] == [
        "undone", "undone", "overwritten", "applied",
    ]  # fmt: skip
    assert ledger.get(second).taken_back_by == ledger.get(of_second).operation, "still by that one"
    assert ledger.get(first).taken_back_by == ledger.get(of_first).operation
    assert ledger.get(of_second).overwritten_by == ledger.get(of_first).operation


def test_an_undo_that_is_not_possible_is_known_until_one_is(ledger: History, tmp_path: Path) -> None:
    op_id = committed(ledger, "p1", 7)
    assert ledger.get(op_id).undo_refused is None
    assert "undo_refused" not in ledger.get(op_id).model_dump()

    def look(history: History, *error: EngineError) -> None:
        with undo_refusal_is_recorded(history, history.get(op_id)):
            for one in error:
                raise one

    for error, known in (
        (RefusedError("UNDO_NOT_POSSIBLE", "v6 cannot be restored."), "v6 cannot be restored."),
        (RefusedError("LATER_COMMITS", "Later commits."), "v6 cannot be restored."),
        (StalePlanError("ANOTHER_COMMIT", "v7 is not the commit."), "v7 is not the commit."),
        (StalePlanError("ALREADY_UNDONE", "v7 is taken back."), "v7 is taken back."),
        (StalePlanError("NOT_THERE", "The table is gone."), "The table is gone."),
    ):
        with pytest.raises(EngineError):
            look(ledger, error)
        refused = ledger.get(op_id).undo_refused
        assert refused is not None
        assert refused.why == known
    private = History(ledger.path, private=True)
    with pytest.raises(RefusedError):
        look(private, RefusedError("UNDO_NOT_POSSIBLE", "p=secret/a.parquet is deleted."))
    assert "secret" not in ledger.get(op_id).model_dump_json()
    look(ledger)
    assert ledger.get(op_id).undo_refused is None


def test_who_watches_the_ledger_sees_what_is_recorded_and_not_what_is_read(ledger: History, tmp_path: Path) -> None:
    tables = SparkTables("local[2]", tmp_path / "home")
    stamps = [tables.ledger_stamp()]

    def looked() -> bool:
        stamps.append(tables.ledger_stamp())
        return stamps[-1] != stamps[-2]

    op_id = ledger.begin(make_plan())
    assert looked()
    for read in (ledger.list, ledger.outcomes, ledger.running, lambda: ledger.get(op_id)):
        read()
        assert not looked()
    ledger.cache_tables("local", [TableRef(name="a.t", table="t")])
    ledger.cache_versions("t", [TableVersion(version=1, timestamp="", operation="WRITE")])
    assert not looked()
    ledger.applied(op_id, make_outcome(op_id))
    assert looked()
