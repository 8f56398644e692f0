"""Taking a merge back: looked at, checked, recorded, and not to be applied again unseen."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.ledger.history import History
from engine.model.errors import RefusedError, StalePlanError
from engine.model.operation import ColumnsChange, Outcome
from engine.model.plan import Plan
from engine.plan_merge import plan
from engine.recovery.undo import LATER_COMMITS, plan_undo, undo
from engine.sql.undo_statements import undo_statement
from engine.table import logged_schema
from engine.table.commits import Commit, commits, taken_back_by

MERGE = "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history.duckdb")


@pytest.fixture
def applied(spark: Any, schema: str, history: History) -> tuple[Plan, Outcome]:
    """``t``: ten rows in two files, one of them updated and two inserted by a merge."""
    spark.sql("CREATE TABLE t USING delta AS SELECT id, 'old' AS v FROM range(0, 10, 1, 2)")
    spark.sql("CREATE TABLE s USING delta AS SELECT * FROM VALUES (1L, 'new'), (20L, 'new'), (21L, 'new') AS s(id, v)")
    looked = plan(spark, MERGE, rows=0)
    return looked, apply(spark, looked, history=history)


def test_what_names_its_table_by_use_is_restored_by_hand_in_any_session(
    spark: Any, session: Any, schema: str, history: History
) -> None:
    spark.sql("CREATE TABLE of_use USING delta AS SELECT 1 AS id")
    with session.new_session({}) as other:
        # a table of that name in its own schema, too
        other.spark.sql("CREATE OR REPLACE TABLE default.of_use USING delta AS SELECT 1 AS id")
        merge = "MERGE INTO of_use AS t USING (SELECT 2 AS id) AS s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
        assert plan(other.spark, merge, rows=0).target.name == "default.of_use", "as History has its CREATE"
        text = f"USE {schema.upper()}; {merge}"
        looked = plan(other.spark, text, rows=0)
        assert looked.target.name == f"{schema}.of_use"
        outcome = apply(other.spark, looked, history=history)
    (listed,) = history.list(table=f"{schema}.of_use")
    assert (listed.op_id, history.list(table="default.of_use")) == (outcome.op_id, [])
    assert listed.sql == text.replace("; ", ";\n")
    with session.new_session({}) as new:
        found = plan_undo(new.spark, history.get(outcome.op_id))
        assert found.table == f"{schema}.of_use"
        new.spark.sql(undo_statement(found))
        assert new.spark.table(f"{schema}.of_use").count() == 1
        new.spark.sql("DROP TABLE default.of_use")


def test_a_merge_is_taken_back_exactly_as_promised(
    spark: Any, schema: str, history: History, applied: tuple[Plan, Outcome]
) -> None:
    made, outcome = applied
    looked = plan_undo(spark, history.get(outcome.op_id))
    assert (looked.version, looked.to_version, looked.lost) == (1, 0, ())
    assert (looked.rows_now, looked.rows_after) == (12, 10)
    assert undo_statement(looked) == f"RESTORE TABLE {schema}.t TO VERSION AS OF 0"
    assert looked.promise["numRestoredFiles"] == 1

    taken = undo(spark, looked, history=history)
    assert (taken.version, taken.read_version, taken.kept, taken.deviations) == (2, 1, True, ())
    assert spark.sql("SELECT count(*), count_if(v = 'new') FROM t").collect()[0][:] == (10, 0)
    rows = {one.op_id: (one.kind, one.status, one.version) for one in history.list()}
    assert rows == {outcome.op_id: ("merge", "undone", 1), taken.op_id: ("restore", "applied", 2)}

    with pytest.raises(StalePlanError, match="was committed as v1 and taken back by v2"):
        apply(spark, made, history=history)
    with pytest.raises(StalePlanError, match="taken back already"):
        plan_undo(spark, history.get(outcome.op_id))
    with pytest.raises(StalePlanError, match="ALREADY_UNDONE"):
        undo(spark, looked, history=history)  # as of a dialog that stayed open meanwhile
    with pytest.raises(RefusedError, match="is an undo itself"):
        plan_undo(spark, history.get(taken.op_id))
    # restored again by hand, the plan's rows are there: it is applied
    spark.sql("RESTORE TABLE t TO VERSION AS OF 1")
    assert apply(spark, made, history=history).already_applied


def test_later_commits_that_would_be_lost_are_named_and_must_be_accepted(
    spark: Any, history: History, applied: tuple[Plan, Outcome]
) -> None:
    _, outcome = applied
    spark.sql("INSERT INTO t VALUES (99, 'later')")
    looked = plan_undo(spark, history.get(outcome.op_id))
    assert [line.split()[:2] for line in looked.lost] == [["v2", "WRITE"]]
    with pytest.raises(RefusedError, match="1 later commit would be lost too: v2 WRITE"):
        undo(spark, looked, history=history)
    spark.sql("INSERT INTO t VALUES (100, 'even later')")
    with pytest.raises(StalePlanError, match="moved from v2 to v3 since it was looked at"):
        undo(spark, looked, history=history, accept=[LATER_COMMITS])
    assert [one.status for one in history.list()] == ["applied"], "nothing ran"
    taken = undo(spark, plan_undo(spark, history.get(outcome.op_id)), history=history, accept=[LATER_COMMITS])
    assert taken.kept
    assert spark.sql("SELECT count(*) FROM t").collect()[0][0] == 10
    assert len(commits(spark, "t")) == 5


def test_a_later_merge_that_was_taken_back_already_is_not_lost(
    spark: Any, history: History, applied: tuple[Plan, Outcome]
) -> None:
    _, outcome = applied
    spark.sql("INSERT INTO s VALUES (30L, 'newer')")
    later = apply(spark, plan(spark, MERGE, rows=0), history=history)
    undo(spark, plan_undo(spark, history.get(later.op_id)), history=history)
    looked = plan_undo(spark, history.get(outcome.op_id))
    assert (looked.lost, looked.taken_back) == ((), ("v2 MERGE, undone by v3",))
    # nothing is to be accepted
    assert undo(spark, looked, history=history).kept
    assert [one.status for one in history.list()] == ["applied", "overwritten", "undone", "undone"]
    assert spark.sql("SELECT count(*), count_if(v = 'new') FROM t").collect()[0][:] == (10, 0)


def test_a_vacuum_changes_no_row_that_would_be_lost_and_an_optimize_makes_files_that_would(
    spark: Any, history: History, applied: tuple[Plan, Outcome]
) -> None:
    _, outcome = applied
    spark.sql("OPTIMIZE t").collect()
    spark.sql("VACUUM t").collect()
    assert [one.operation for one in commits(spark, "t", 3)] == ["VACUUM END", "VACUUM START", "OPTIMIZE"]
    looked = plan_undo(spark, history.get(outcome.op_id))
    assert [line.split()[:2] for line in looked.lost] == [["v2", "OPTIMIZE"]]
    assert undo(spark, looked, history=history, accept=[LATER_COMMITS]).kept


@contextmanager
def in_zone(monkeypatch: pytest.MonkeyPatch, zone: str) -> Iterator[None]:
    """This program in another time zone than Spark."""
    with monkeypatch.context() as patched:
        patched.setenv("TZ", zone)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(("zone", "seconds"), [("America/New_York", -1), ("Asia/Tokyo", 0), ("UTC", 0)])
def test_a_restore_to_a_time_is_understood_in_any_time_zone(
    spark: Any,
    history: History,
    applied: tuple[Plan, Outcome],
    monkeypatch: pytest.MonkeyPatch,
    zone: str,
    seconds: int,
) -> None:
    looked, outcome = applied
    at = spark.sql("DESCRIBE HISTORY t").selectExpr("version", f"timestamp + INTERVAL '{seconds}' SECOND AS at")
    text = at.where(f"version = {outcome.version}").selectExpr("CAST(at AS STRING)").collect()[0][0]
    spark.sql("INSERT INTO t VALUES (99, 'later')")
    spark.sql(f"RESTORE TABLE t TO TIMESTAMP AS OF '{text}'")
    with in_zone(monkeypatch, zone):
        if seconds < 0:
            with pytest.raises(StalePlanError, match="taken back by v3"):
                apply(spark, looked, history=history)
        else:
            assert apply(spark, looked, history=history).already_applied


def commit(version: int, restored_to: int | str | None = None) -> Commit:
    return Commit(version, f"2026-11-21 10:0{version}:00", "X", version - 1, {}, None, restored_to)


@pytest.mark.parametrize(
    ("since", "taken_back"),
    [
        ([commit(3)], None),
        ([commit(3, 1)], 3),
        ([commit(3, 2)], None),
        ([commit(4, 2), commit(3, 1)], None),
        ([commit(5), commit(4, 3), commit(3, 0)], 3),
        ([commit(3, "2026-11-21 10:01:30")], 3),
        ([commit(4, "2026-11-21 10:02:30"), commit(3, 0)], None),
        ([commit(4, "2026-11-21 10:03:30"), commit(3, 0)], 3),
    ],
)
def test_a_restore_takes_a_commit_back_and_another_may_bring_it_back(
    since: list[Commit], taken_back: int | None
) -> None:
    found = taken_back_by(commit(2), since)
    assert (found.version if found else None) == taken_back


def test_columns_that_the_merge_added_go_with_it(
    spark: Any, schema: str, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark.sql("CREATE TABLE t USING delta AS SELECT id, 'old' AS v FROM range(3)")
    spark.sql("CREATE TABLE s USING delta AS SELECT 1L AS id, 'new' AS v, 'x' AS more")
    made = plan(
        spark, MERGE.replace("MERGE INTO", "MERGE WITH SCHEMA EVOLUTION INTO").replace("SET v = s.v", "SET *"), rows=0
    )
    outcome = apply(spark, made, history=history)
    actions, newest = [], logged_schema._newest
    monkeypatch.setattr(logged_schema, "_newest", lambda *of: actions.append(of[3]) or newest(*of))
    looked = plan_undo(spark, history.get(outcome.op_id))
    assert looked.columns == ColumnsChange(gone=("more",))
    assert actions == ["metaData", "metaData"], "each is a look at the log"
    undo(spark, looked, history=history)
    assert spark.table("t").columns == ["id", "v"]
