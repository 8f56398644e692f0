"""A commit of ours is known by operation, operation id and transaction id together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.commit.commit_identity import own_commit
from engine.ledger.history import History
from engine.model.create_values import CreatePlan
from engine.model.errors import RefusedError, StalePlanError
from engine.model.operation import Outcome
from engine.model.plan import Plan
from engine.plan_merge import plan as plan_merge
from engine.plan_statement import plan as plan_statement
from engine.recovery.recover import recover
from engine.recovery.undo import LATER_COMMITS, commit_of, plan_undo, undo
from engine.spark.confs import confs_set
from engine.table.commits import commits, user_metadata
from engine.table.transaction import TXN_APP_ID, TXN_VERSION, USER_METADATA, once
from tests.conftest import TEST_CONFS

MERGE = "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
COMPACTION = {"spark.databricks.delta.autoCompact.minNumFiles": "2"}
COMPACTS = "ALTER TABLE t SET TBLPROPERTIES ('delta.autoOptimize.autoCompact' = 'true')"
CREATE = "CREATE TABLE made USING delta AS SELECT id FROM range(3)"
OPERATOR = {TXN_APP_ID: "nightly", TXN_VERSION: "7"}


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history.duckdb")


@pytest.fixture
def compacted(spark: Any, schema: str) -> Iterator[Any]:
    """``t``: ten rows in five files of a table that is compacted after each commit; ``s`` changes one, inserts one."""
    spark.sql("CREATE TABLE t USING delta AS SELECT id, 'old' AS v FROM range(0, 10, 1, 5)")
    spark.sql(COMPACTS)
    spark.sql("CREATE TABLE s USING delta AS SELECT * FROM VALUES (1L, 'new'), (20L, 'new') AS s(id, v)")
    with confs_set(spark, COMPACTION):
        yield spark


def operations(spark: Any) -> list[str]:
    return [one.operation for one in reversed(commits(spark, "t"))]


def rows(spark: Any, version: int | None = None) -> list[tuple[Any, ...]]:
    at = "" if version is None else f" VERSION AS OF {version}"
    return sorted(tuple(row) for row in spark.sql(f"SELECT * FROM t{at}").collect())


def test_the_compaction_after_a_merge_is_not_taken_for_it(compacted: Any, history: History) -> None:
    before = rows(compacted)
    looked = plan_merge(compacted, MERGE, rows=0)
    outcome = apply(compacted, looked, history=history)
    assert operations(compacted) == ["CREATE TABLE AS SELECT", "SET TBLPROPERTIES", "MERGE", "OPTIMIZE"]
    merge, compaction = (commits(compacted, "t")[at] for at in (1, 0))
    assert compaction.user_metadata == merge.user_metadata, "else this test tests nothing"
    assert (outcome.version, outcome.read_version, outcome.kept, outcome.deviations) == (2, 1, True, ())
    assert history.get(outcome.op_id).operation.version == 2

    again = apply(compacted, looked, history=history)
    assert (again.already_applied, again.version, again.kept) == (True, 2, True)

    found = plan_undo(compacted, history.get(outcome.op_id))
    assert (found.version, found.to_version, found.lost) == (3, 1, ()), "to compact is a part of what is taken back"
    taken = undo(compacted, found, history=history)
    assert taken.kept
    assert rows(compacted) == before
    with pytest.raises(StalePlanError, match="taken back by v4"):
        apply(compacted, looked, history=history)


def test_a_compaction_of_somebody_else_is_a_commit_that_would_be_lost(compacted: Any, history: History) -> None:
    outcome = apply(compacted, plan_merge(compacted, MERGE, rows=0), history=history)
    compacted.sql("INSERT INTO t VALUES (99, 'later')")
    found = plan_undo(compacted, history.get(outcome.op_id))
    assert [line.split()[:2] for line in found.lost] == [["v5", "OPTIMIZE"], ["v4", "WRITE"]]
    with pytest.raises(RefusedError, match=LATER_COMMITS):
        undo(compacted, found, history=history)


def test_what_became_of_a_merge_that_was_compacted_is_recovered(
    compacted: Any, session: Any, schema: str, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session.new_session({**TEST_CONFS, **COMPACTION}) as own, monkeypatch.context() as dead:
        own.spark.sql(f"USE {schema}")
        dead.setattr(History, "applied", lambda *_: None)
        op_id = apply(own.spark, plan_merge(own.spark, MERGE, rows=0), history=history).op_id
    assert operations(compacted)[-2:] == ["MERGE", "OPTIMIZE"]
    history.give_up(op_id)
    (found,) = recover(session, history)
    assert (found.op_id, found.status, found.version) == (op_id, "applied", 2)
    outcome = history.get(op_id).outcome
    assert outcome is not None
    assert (outcome.version, outcome.kept, outcome.deviations) == (2, True, ())


def test_a_ledger_is_rebuilt_from_merges_and_not_from_what_carries_their_metadata(
    compacted: Any, session: Any, history: History
) -> None:
    outcome = apply(compacted, plan_merge(compacted, MERGE, rows=0), history=history)
    forge(compacted, outcome.plan_id, outcome.op_id)
    before = {one.op_id: (one.kind, one.status, one.version) for one in history.list()}
    history.path.write_bytes(b"no ledger")
    assert history.list() == []
    recover(session, history)
    assert {one.op_id: (one.kind, one.status, one.version) for one in history.list(table=outcome.table)} == before


def forge(spark: Any, plan_id: str, op_id: str) -> int:
    """A MERGE by hand that carries our metadata, as in a session whose apply died between two of its confs."""
    with confs_set(spark, {USER_METADATA: user_metadata(plan_id, op_id, None)}):
        spark.sql("MERGE INTO t USING (SELECT 2L AS id) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'mine'")
    return next(one.version for one in commits(spark, "t") if one.operation == "MERGE")


def test_a_merge_by_hand_with_our_metadata_is_not_ours(compacted: Any, history: History) -> None:
    looked = plan_merge(compacted, MERGE, rows=0)
    op_id = "0123456789ab"
    forged = forge(compacted, looked.plan_id, op_id)
    path, every = looked.target.path, commits(compacted, "t")
    assert own_commit(compacted, path, every, "merge", plan_id=looked.plan_id) is None
    with pytest.raises(StalePlanError):
        apply(compacted, looked, history=history)  # its files are others now: it is not "applied already"
    outcome = apply(compacted, plan_merge(compacted, MERGE, rows=0), history=history)
    assert outcome.version is not None
    assert outcome.version > forged
    later = forge(compacted, outcome.plan_id, outcome.op_id)
    found = own_commit(compacted, path, commits(compacted, "t"), "merge", plan_id=outcome.plan_id)
    assert (found.version if found else None) == outcome.version < later
    assert own_commit(compacted, path, every, "merge", plan_id=outcome.plan_id, op_id="another") is None


def test_an_undo_is_known_by_where_it_went(compacted: Any, history: History) -> None:
    """A RESTORE writes no transaction id."""
    outcome = apply(compacted, plan_merge(compacted, MERGE, rows=0), history=history)
    found = plan_undo(compacted, history.get(outcome.op_id))
    with confs_set(compacted, {USER_METADATA: user_metadata(found.undo_id, "", None)}):
        compacted.sql("RESTORE TABLE t TO VERSION AS OF 0")
    assert commit_of(compacted, found, "") is None


def test_a_commit_whose_log_is_kept_elsewhere_is_known_by_what_it_names(compacted: Any) -> None:
    looked = plan_merge(compacted, MERGE, rows=0)
    outcome = apply(compacted, looked)
    every = commits(compacted, "t")
    found = own_commit(compacted, f"{looked.target.path}/elsewhere", every, "merge", plan_id=looked.plan_id)
    assert (found.version if found else None) == outcome.version


@pytest.mark.parametrize("option", ["", "OPTIONS (userMetadata 'of the operator')"])
def test_a_table_made_by_a_query_is_ours_whatever_is_committed_after_it(
    spark: Any, schema: str, history: History, option: str
) -> None:
    """Delta prefers the option ``userMetadata`` to the conf, and may compact what it wrote."""
    sql = (
        f"CREATE TABLE made USING delta {option} TBLPROPERTIES ('delta.autoOptimize.autoCompact' = 'true') "
        "AS SELECT id FROM range(0, 10, 1, 5)"
    )
    with confs_set(spark, COMPACTION):
        looked = plan_statement(spark, sql)
        outcome = apply(spark, looked, history=history)
    assert [one.operation for one in commits(spark, "made")] == ["OPTIMIZE", "CREATE TABLE AS SELECT"]
    told = [one.metric for one in outcome.deviations]
    assert outcome.version == 0
    assert not {"operation", "version"} & set(told), told
    again = apply(spark, looked, history=history)
    assert (again.already_applied, again.version) == (True, 0)


@pytest.mark.parametrize(
    "given", [OPERATOR, {TXN_APP_ID: "nightly"}, {TXN_VERSION: "7"}], ids=["both", "id", "version"]
)
def test_a_transaction_id_of_the_operator_is_refused(compacted: Any, history: History, given: dict[str, str]) -> None:
    """Overwritten, a MERGE would be committed that Delta skips."""
    looked = plan_merge(compacted, MERGE, rows=0)
    before = commits(compacted, "t")
    with confs_set(compacted, given):
        for refused in (
            lambda: plan_merge(compacted, MERGE, rows=0),
            lambda: plan_statement(compacted, CREATE),
            lambda: apply(compacted, looked, history=history),
        ):
            with pytest.raises(RefusedError) as raised:
                refused()
            assert raised.value.condition == "OPERATOR_TXN_ID"
            assert all(key in raised.value.message for key in given)
            assert raised.value.hint
        assert {key: compacted.conf.get(key, None) for key in given} == given, "the operator's are left as they were"
    assert commits(compacted, "t") == before
    assert not history.running()
    assert apply(compacted, looked, history=history).kept, "once it is unset, the same plan is applied"
    with confs_set(compacted, given):
        assert apply(compacted, looked, history=history).already_applied, "nothing is written any more"


@pytest.mark.parametrize("statement", [MERGE, CREATE])
def test_a_transaction_id_that_the_script_sets_is_refused(session: Any, schema: str, statement: str) -> None:
    with session.new_session(TEST_CONFS) as own:
        own.spark.sql(f"USE {schema}")
        own.spark.sql("CREATE TABLE t (id BIGINT, v STRING) USING delta")
        own.spark.sql("CREATE TABLE s USING delta AS SELECT 1L AS id, 'new' AS v")
        script = "".join(f"SET {key} = {value}; " for key, value in OPERATOR.items())
        with pytest.raises(RefusedError, match="OPERATOR_TXN_ID"):
            plan_statement(own.spark, script + statement)


def test_a_plan_whose_script_sets_one_is_refused_where_it_is_applied(session: Any, schema: str, spark: Any) -> None:
    """It was planned by an older version, or edited."""
    spark.sql("CREATE TABLE t (id BIGINT, v STRING) USING delta")
    spark.sql("CREATE TABLE s USING delta AS SELECT 1L AS id, 'new' AS v")
    script = tuple(f"SET {key} = {value}" for key, value in OPERATOR.items())
    for sql in (MERGE, CREATE):
        looked: Plan | CreatePlan = plan_statement(spark, sql)
        told = looked.statement.model_copy(update={"setup": (f"USE {schema}", *script)})
        with session.new_session(TEST_CONFS) as other, pytest.raises(RefusedError, match="OPERATOR_TXN_ID"):
            apply(other.spark, looked.model_copy(update={"statement": told, "plan_id": "1" * 32}))
    assert [one.version for one in commits(spark, "t")] == [0]
    assert not spark.catalog.tableExists("made")


@pytest.mark.parametrize(
    "options",
    [
        "OPTIONS (txnAppId 'nightly', txnVersion '7')",
        "OPTIONS (TXNAPPID 'nightly', txnversion '7')",
        "TBLPROPERTIES ('option.txnAppId' = 'nightly', 'option.txnVersion' = '7')",
    ],
)
def test_a_transaction_id_among_the_options_of_a_write_is_refused(spark: Any, schema: str, options: str) -> None:
    with pytest.raises(RefusedError, match="OPERATOR_TXN_ID"):
        plan_statement(spark, CREATE.replace("USING delta", f"USING delta {options}"))
    # a property of that name is a property, and Delta looks at no transaction where there is no query
    spark.sql("CREATE TABLE plain USING delta TBLPROPERTIES ('txnAppId' = 'x') AS SELECT 1L AS id")
    assert plan_statement(spark, CREATE.replace("USING delta", "USING delta TBLPROPERTIES ('txnAppId' = 'x')"))
    with confs_set(spark, OPERATOR):
        assert plan_statement(spark, "CREATE TABLE made (id BIGINT) USING delta")


def test_what_an_apply_that_died_left_in_the_session_is_no_operators(compacted: Any) -> None:
    looked = plan_merge(compacted, MERGE, rows=0)
    left: dict[str, str] = once("of the dead")
    with confs_set(compacted, left):
        outcome: Outcome = apply(compacted, looked)
    assert outcome.kept
    assert json.loads(commits(compacted, "t")[1].user_metadata or "")["deltamerge_console"]["plan_id"] == looked.plan_id
