"""Whether a version can be restored: Delta's rules over numbers, and on real tables whose versions are made old."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from engine.commit.apply_plan import apply
from engine.commit.policy import Policy, check_policy
from engine.ledger.history import History
from engine.model.create_values import CreatePlan
from engine.model.errors import EngineError, RefusedError, StalePlanError
from engine.model.operation import Outcome
from engine.model.plan import Plan
from engine.plan_statement import plan as plan_any
from engine.recovery import undo as undo_module
from engine.recovery.recover import recover
from engine.recovery.undo import LATER_COMMITS, RAISE_RETENTION, plan_undo, raised_retention, undo
from engine.spark.confs import TRAVEL_ENFORCED, confs_set
from engine.sql.undo_statements import undo_statement, undo_statements
from engine.table.calendar_interval import milliseconds
from engine.table.commits import commits
from engine.table.table_state import catalog_entry
from engine.table.undo_possible import (
    CHECKPOINT_INTERVAL,
    LOG_RETENTION,
    RETENTION,
)
from tests.engine.old_versions import directory, make_old

MERGE = "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"


@pytest.mark.parametrize(
    "text",
    [
        "interval 1 week",
        "2 days 3 hours 1.5 seconds",
        "INTERVAL 36 hours",
        "1 week -1 day",
        "- 1 day",
        ".5 second",
        "1. second",
        "-0.001500999 seconds",
    ],
)
def test_delta_reads_the_same_interval(classic: Any, text: str) -> None:
    configs = classic._jvm.org.apache.spark.sql.delta.DeltaConfigs
    assert configs.getMilliSeconds(configs.parseCalendarInterval(text)) == milliseconds(text)


# On real tables


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history.duckdb")


@pytest.fixture
def source(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE s USING delta AS SELECT * FROM VALUES (1L, 'new'), (20L, 'new') AS s(id, v)")


@pytest.fixture
def tables(spark: Any, source: None) -> None:
    spark.sql("CREATE TABLE t USING delta AS SELECT id, 'old' AS v FROM range(0, 10, 1, 2)")


def merged(spark: Any, history: History) -> tuple[Plan, Outcome]:
    looked = plan_any(spark, MERGE, rows=0)
    assert isinstance(looked, Plan)
    return looked, apply(spark, looked, history=history)


def read(spark: Any) -> tuple[int, int]:
    return tuple(spark.sql("SELECT count(*), count_if(v = 'new') FROM t").collect()[0])  # type: ignore[return-value]


def properties(spark: Any, table: str) -> dict[str, str]:
    return dict(spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["properties"])


@pytest.mark.parametrize(("days", "raised"), [(10, (RETENTION,)), (45, (RETENTION, LOG_RETENTION))])
def test_an_old_table_is_taken_back_after_its_property_is_raised(
    spark: Any, source: None, history: History, days: int, raised: tuple[str, ...]
) -> None:
    # what raises the property is a checkpoint: the log is cleaned up by the property as it is raised
    spark.sql(
        f"CREATE TABLE t USING delta TBLPROPERTIES ('{CHECKPOINT_INTERVAL}' = '2') AS "
        "SELECT id, 'old' AS v FROM range(0, 10, 1, 2)"
    )
    make_old(spark, "t", days)
    looked, outcome = merged(spark, history)
    assert looked.undo is not None
    assert looked.undo.possible
    assert tuple(one.name for one in looked.undo.raise_retention) == raised
    with pytest.raises(Exception, match="DELETED_FILE_RETENTION_DURATION"):
        spark.sql("RESTORE TABLE t TO VERSION AS OF 0").collect()

    found = plan_undo(spark, history.get(outcome.op_id))
    assert tuple(one.name for one in found.raise_retention) == raised
    assert undo_statements(found)[0].startswith(
        f"ALTER TABLE {looked.target.name} SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = "
    )
    with pytest.raises(RefusedError, match="by its age") as refused:
        undo(spark, found, history=history, accept=[LATER_COMMITS])
    assert refused.value.condition == RAISE_RETENTION
    assert len(commits(spark, "t")) == 2, "nothing ran"

    taken = undo(spark, found, history=history, accept=[RAISE_RETENTION])
    assert (taken.version, taken.read_version, taken.kept, taken.deviations) == (3, 2, True, ())
    assert read(spark) == (10, 0)
    # the properties of the version came back with it
    assert not {RETENTION, LOG_RETENTION} & set(properties(spark, "t"))
    assert history.get(taken.op_id).operation.sql == ";\n".join(undo_statements(found))


def test_where_the_restore_fails_the_property_is_put_back(spark: Any, tables: None, history: History) -> None:
    spark.sql(f"ALTER TABLE t SET TBLPROPERTIES ('{RETENTION}' = 'interval 3 days')")
    make_old(spark, "t", 5)
    _, outcome = merged(spark, history)
    found = plan_undo(spark, history.get(outcome.op_id))
    (raised,) = found.raise_retention
    assert (raised.before, raised.after) == ("interval 3 days", "interval 7 days")
    broken = found.model_copy(update={"to_version": 77})
    with pytest.raises(EngineError, match="77"):
        undo(spark, broken, history=history, accept=[RAISE_RETENTION])
    assert properties(spark, "t")[RETENTION] == "interval 3 days"
    assert read(spark) == (11, 2)
    assert [one.status for one in history.list()] == ["failed", "applied"]


def test_what_an_undo_raised_before_it_was_killed_is_no_later_commit(
    spark: Any, session: Any, tables: None, history: History
) -> None:
    _, first = merged(spark, history)
    make_old(spark, "t", 10)
    _, second = merged(spark, history)
    found = plan_undo(spark, history.get(second.op_id))
    op_id = history.begin_undo(found)
    with (
        mock.patch.object(undo_module, "put_back"),
        pytest.raises(KeyboardInterrupt),
        raised_retention(spark, found, op_id),
    ):
        raise KeyboardInterrupt
    history.give_up(op_id)
    assert recover(session, history)[0].why == "The retention that it had raised is put back."
    assert [one.operation for one in commits(spark, "t", 3)] == ["UNSET TBLPROPERTIES", "SET TBLPROPERTIES", "MERGE"]
    again = plan_undo(spark, history.get(second.op_id))
    assert again.lost == ()
    assert undo(spark, again, history=history, accept=[RAISE_RETENTION]).kept
    before = plan_undo(spark, history.get(first.op_id))
    assert (before.lost, before.taken_back) == ((), ("v2 MERGE, undone by v6",))
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('theirs' = 'x')")
    assert [line.partition(" 20")[0] for line in plan_undo(spark, history.get(first.op_id)).lost] == [
        "v7 SET TBLPROPERTIES"
    ]


def test_the_checkpoint_of_auto_compaction_keeps_the_version_before_the_merge(
    spark: Any, tables: None, history: History
) -> None:
    compacts = f"'delta.autoOptimize.autoCompact' = 'true', '{CHECKPOINT_INTERVAL}' = '3'"
    spark.sql(f"ALTER TABLE t SET TBLPROPERTIES ({compacts})")
    make_old(spark, "t", 45)
    with confs_set(spark, {"spark.databricks.delta.autoCompact.minNumFiles": "2"}):
        looked, outcome = merged(spark, history)
    assert [(one.version, one.operation) for one in commits(spark, "t")][:2] == [(3, "OPTIMIZE"), (2, "MERGE")]
    assert list(directory(spark, "t").glob("_delta_log/*3.checkpoint.parquet")), "else this test tests nothing"
    assert looked.undo is not None
    assert looked.undo.possible
    check_policy(Policy(require_undo=True), looked, reviewed=False)
    assert undo(spark, plan_undo(spark, history.get(outcome.op_id)), history=history, accept=[RAISE_RETENTION]).kept
    assert read(spark) == (10, 0)


def test_a_table_that_was_renamed_is_not_called_another_or_undone(spark: Any, tables: None, history: History) -> None:
    _, outcome = merged(spark, history)
    spark.sql("ALTER TABLE t RENAME TO moved")
    with pytest.raises(StalePlanError, match=r"t is there no more.*: it was dropped, or renamed") as gone:
        plan_undo(spark, history.get(outcome.op_id))
    assert gone.value.condition == "NOT_THERE"
    assert "TO VERSION AS OF 0" in gone.value.hint
    spark.sql("RESTORE TABLE moved TO VERSION AS OF 0").collect()
    assert spark.table("moved").count() == 10


def test_a_young_table_is_foreseen_as_it_comes(spark: Any, tables: None, history: History) -> None:
    looked, outcome = merged(spark, history)
    assert looked.undo is not None
    assert (looked.undo.possible, looked.undo.raise_retention) == (True, ())
    found = plan_undo(spark, history.get(outcome.op_id))
    assert (found.raise_retention, found.until) == ((), looked.undo.until)


def test_in_commit_timestamps_count_where_the_table_has_them(spark: Any, tables: None, history: History) -> None:
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')")
    make_old(spark, "t", 20)
    looked, outcome = merged(spark, history)
    assert looked.undo is not None
    assert looked.undo.raise_retention == (), "the commit itself says when it was made"
    found = plan_undo(spark, history.get(outcome.op_id))
    assert found.raise_retention == ()
    assert undo(spark, found, history=history).kept


def test_a_session_without_the_check_restores_any_age(spark: Any, tables: None, history: History) -> None:
    make_old(spark, "t", 10)
    spark.conf.set(TRAVEL_ENFORCED, "false")
    try:
        looked, outcome = merged(spark, history)
        assert looked.undo is not None
        assert looked.undo.raise_retention == ()
        assert undo(spark, plan_undo(spark, history.get(outcome.op_id)), history=history).kept
    finally:
        spark.conf.unset(TRAVEL_ENFORCED)


def vacuum(spark: Any, table: str) -> None:
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    try:
        spark.sql(f"VACUUM {table} RETAIN 0 HOURS").collect()
    finally:
        spark.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")


def impossible(spark: Any, history: History, outcome: Outcome, why: str) -> None:
    with pytest.raises(RefusedError, match=why) as refused:
        plan_undo(spark, history.get(outcome.op_id), history=history)
    assert refused.value.condition == "UNDO_NOT_POSSIBLE"
    known = history.get(outcome.op_id).undo_refused
    assert known is not None
    assert known.why == refused.value.message


def test_after_vacuum_it_is_not_possible(spark: Any, tables: None, history: History) -> None:
    _, outcome = merged(spark, history)
    vacuum(spark, "t")
    impossible(spark, history, outcome, r"1 of its files is deleted: .*\.parquet\.")
    assert [one.status for one in history.list()] == ["applied"]


def test_a_deletion_vector_that_vacuum_deleted_is_missed_before_the_table_is_broken(
    spark: Any, source: None, history: History
) -> None:
    spark.sql(
        "CREATE TABLE t USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true') AS "
        "SELECT id, 'old' AS v FROM range(0, 10, 1, 1)"
    )
    spark.sql("DELETE FROM t WHERE id = 3")
    _, outcome = merged(spark, history)
    # the data file is in both versions, its vector is not
    vacuum(spark, "t")
    impossible(spark, history, outcome, r"1 of its files is deleted: .*deletion_vector_.*\.bin\.")


def test_files_with_odd_names_are_found(spark: Any, schema: str, history: History) -> None:
    spark.sql(
        "CREATE TABLE t USING delta PARTITIONED BY (p) AS "
        "SELECT id, 'old' AS v, concat('a, [x] {', id, '} *é%20 ^') AS p FROM range(3)"
    )
    spark.sql("CREATE TABLE s USING delta AS SELECT 1L AS id, 'new' AS v, 'q' AS p")
    _, outcome = merged(spark, history)
    found = plan_undo(spark, history.get(outcome.op_id))
    assert found.promise["numRestoredFiles"] == 1
    vacuum(spark, "t")
    impossible(spark, history, outcome, "1 of its files is deleted")


def test_a_commit_that_deletes_the_log_before_it_is_foreseen(spark: Any, tables: None, history: History) -> None:
    spark.sql(f"ALTER TABLE t SET TBLPROPERTIES ('{CHECKPOINT_INTERVAL}' = '2')")
    make_old(spark, "t", 45)
    looked = plan_any(spark, MERGE, rows=0)
    assert looked.undo is not None
    assert looked.undo.possible is False
    assert "v2 is a checkpoint" in looked.undo.why
    with pytest.raises(RefusedError, match="cannot be taken back: v2 is a checkpoint") as refused:
        check_policy(Policy(require_undo=True), looked, reviewed=False)
    assert refused.value.condition == "POLICY_REQUIRE_UNDO"

    outcome = apply(spark, looked, history=history)
    assert outcome.version == 2
    impossible(spark, history, outcome, "v1 cannot be restored: Cannot time travel Delta table to version 1")
    # the checkpoint after the next commit deletes the entry of this one too
    make_old(spark, "t", 45)
    spark.sql("INSERT INTO t VALUES (7, 'x')")
    make_old(spark, "t", 45)
    spark.sql("INSERT INTO t VALUES (8, 'x')")
    impossible(spark, history, outcome, "the log holds no entry of v2 any more")


# CREATE, REPLACE and CLONE


def created(spark: Any, history: History, sql: str) -> tuple[CreatePlan, Outcome]:
    looked = plan_any(spark, sql)
    assert isinstance(looked, CreatePlan)
    return looked, apply(spark, looked, history=history)


def not_applied_again(spark: Any, history: History, looked: CreatePlan) -> None:
    """A plan that was taken back is neither committed nor called applied."""
    with pytest.raises(StalePlanError, match=r"was committed .*and taken back") as again:
        apply(spark, looked, history=history)
    assert again.value.condition == "PLAN_UNDONE"


@pytest.mark.parametrize(
    "form",
    ["n (id BIGINT) USING delta", "n USING delta AS SELECT id FROM s", "n LIKE s USING delta", "n SHALLOW CLONE s"],
)
def test_a_table_that_was_created_is_dropped(spark: Any, source: None, history: History, form: str) -> None:
    looked, outcome = created(spark, history, f"CREATE TABLE {form}")
    assert looked.undo is not None
    assert looked.undo.possible
    where = directory(spark, "n")
    found = plan_undo(spark, history.get(outcome.op_id))
    assert (found.kind, undo_statement(found), found.files_stay) == ("drop", f"DROP TABLE {looked.target.name}", False)
    taken = undo(spark, found, history=history)
    assert (taken.version, taken.kept) == (None, True)
    assert catalog_entry(spark, "n") is None
    assert not where.exists()
    assert [(one.kind, one.status) for one in history.list()] == [("drop", "applied"), ("create_table", "undone")]
    with pytest.raises(StalePlanError, match="taken back already"):
        plan_undo(spark, history.get(outcome.op_id))
    not_applied_again(spark, history, looked)
    again = plan_any(spark, f"CREATE TABLE {form}")
    assert again.plan_id == looked.plan_id
    assert apply(spark, again, history=history).kept, "planned again it has the same id"


def test_the_files_of_an_external_table_stay(spark: Any, schema: str, history: History, tmp_path: Path) -> None:
    place = tmp_path / "place"
    looked, outcome = created(spark, history, f"CREATE TABLE n USING delta LOCATION '{place}' AS SELECT 1 AS a")
    assert looked.undo is not None
    assert f"its files stay at {place}" in looked.undo.why
    found = plan_undo(spark, history.get(outcome.op_id))
    assert found.files_stay
    undo(spark, found, history=history)
    assert catalog_entry(spark, "n") is None
    assert list(place.glob("*.parquet"))


def test_a_table_by_path_is_not_dropped(spark: Any, schema: str, history: History, tmp_path: Path) -> None:
    looked, outcome = created(spark, history, f"CREATE TABLE delta.`{tmp_path}/p` USING delta AS SELECT 1 AS a")
    assert looked.undo is not None
    assert looked.undo.possible is False
    with pytest.raises(RefusedError, match="in no catalog"):
        plan_undo(spark, history.get(outcome.op_id))


def test_what_was_committed_since_is_not_dropped(spark: Any, schema: str, history: History) -> None:
    _, outcome = created(spark, history, "CREATE TABLE n USING delta AS SELECT 1 AS a")
    found = plan_undo(spark, history.get(outcome.op_id))
    spark.sql("INSERT INTO n VALUES (2)")
    with pytest.raises(RefusedError, match=r"has commits since it was made \(v1 WRITE") as refused:
        plan_undo(spark, history.get(outcome.op_id))
    assert refused.value.condition == "COMMITTED_SINCE"
    with pytest.raises(StalePlanError, match="not as it was looked at"):
        undo(spark, found, history=history)
    assert spark.sql("SELECT count(*) FROM n").collect()[0][0] == 2


def test_a_vacuum_is_nothing_that_a_drop_would_lose(spark: Any, schema: str, history: History) -> None:
    _, outcome = created(spark, history, "CREATE TABLE n USING delta AS SELECT 1 AS a")
    spark.sql("VACUUM n").collect()
    assert len(commits(spark, "n")) == 3, "else this test tests nothing"
    assert undo(spark, plan_undo(spark, history.get(outcome.op_id)), history=history).kept


def test_a_table_that_is_not_ours_is_not_dropped(spark: Any, schema: str, history: History) -> None:
    _, outcome = created(spark, history, "CREATE TABLE n USING delta AS SELECT 1 AS a")
    found = plan_undo(spark, history.get(outcome.op_id))
    spark.sql("DROP TABLE n")
    with pytest.raises(StalePlanError, match="in the catalog no more: it was dropped, or renamed") as gone:
        plan_undo(spark, history.get(outcome.op_id))
    assert gone.value.condition == "NOT_THERE"
    spark.sql("CREATE TABLE n USING delta AS SELECT 2 AS a")
    with pytest.raises(StalePlanError, match="not the table that this operation made"):
        plan_undo(spark, history.get(outcome.op_id))
    with pytest.raises(StalePlanError, match="not as it was looked at"):
        undo(spark, found, history=history)
    assert spark.sql("SELECT a FROM n").collect()[0][0] == 2


def test_a_catalog_entry_over_a_table_that_was_there_is_not_dropped(
    spark: Any, schema: str, history: History, tmp_path: Path
) -> None:
    place = tmp_path / uuid.uuid4().hex
    spark.sql(f"CREATE TABLE delta.`{place}` USING delta AS SELECT 1 AS a")
    looked, outcome = created(spark, history, f"CREATE TABLE n USING delta LOCATION '{place}'")
    assert looked.effect == "adopt"
    assert looked.undo is not None
    assert looked.undo.possible is False
    with pytest.raises(RefusedError, match="committed nothing"):
        plan_undo(spark, history.get(outcome.op_id))


REPLACING = ("REPLACE TABLE t (a INT) USING delta", "CREATE OR REPLACE TABLE t USING delta AS SELECT 'x' AS a")


@pytest.mark.parametrize(("sql", "days"), [(REPLACING[0], 0), (REPLACING[1], 10)])
def test_a_table_that_was_replaced_is_restored(spark: Any, tables: None, history: History, sql: str, days: int) -> None:
    make_old(spark, "t", days)
    looked, outcome = created(spark, history, sql)
    assert looked.undo is not None
    assert looked.undo.possible
    assert bool(looked.undo.raise_retention) is bool(days)
    found = plan_undo(spark, history.get(outcome.op_id))
    assert (found.kind, found.table, found.to_version) == ("restore", looked.target.name, 0)
    assert bool(found.raise_retention) is bool(days)
    taken = undo(spark, found, history=history, accept=[RAISE_RETENTION])
    assert taken.kept
    assert read(spark) == (10, 0)
    not_applied_again(spark, history, looked)


@pytest.mark.parametrize(
    ("before", "after", "possible"), [("id", "none", False), ("name", "none", True), ("none", "name", True)]
)
def test_a_table_is_restored_where_a_commit_may_map_its_columns_so(
    spark: Any, source: None, history: History, before: str, after: str, possible: bool
) -> None:
    spark.sql(
        f"CREATE TABLE t (id BIGINT, v STRING) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = '{before}')"
    )
    spark.sql("INSERT INTO t SELECT id, 'old' FROM range(10)")
    looked, outcome = created(
        spark,
        history,
        f"CREATE OR REPLACE TABLE t (id BIGINT) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = '{after}')",
    )
    assert looked.undo is not None
    assert looked.undo.possible is possible
    # the undo alone says whether it is
    assert "RESTORE" not in " ".join(one.evidence for one in looked.warnings)
    if possible:
        assert undo(spark, plan_undo(spark, history.get(outcome.op_id)), history=history).kept
        assert read(spark) == (10, 0)
        return
    impossible(spark, history, outcome, "from none to id, which Delta lets no commit do")
    with pytest.raises(Exception, match="DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"):
        spark.sql("RESTORE TABLE t TO VERSION AS OF 1").collect()


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("PARTITIONED BY (v)", "COMMENT 'new'", (("partitioned by", "", "v"), ("comment", "new", "old"))),
        ("CLUSTER BY (id, v)", "CLUSTER BY (id) COMMENT 'old'", (("clustered by", "id", "id, v"),)),
        ("", "PARTITIONED BY (id) COMMENT 'old'", (("partitioned by", "id", ""),)),
        ("", "CLUSTER BY (v) COMMENT 'old'", (("clustered by", "v", ""),)),
    ],
)
def test_the_layout_that_comes_back_with_a_replaced_table_is_told(
    spark: Any, source: None, history: History, before: str, after: str, told: tuple[tuple[str, str, str], ...]
) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, v STRING) USING delta {before} COMMENT 'old'")
    spark.sql("INSERT INTO t SELECT id, 'old' FROM range(10)")
    _, outcome = created(spark, history, f"REPLACE TABLE t (id BIGINT, v STRING) USING delta {after}")
    found = plan_undo(spark, history.get(outcome.op_id))
    assert tuple((one.name, one.now, one.before) for one in found.parts) == told
    assert undo(spark, found, history=history).kept
    detail = spark.sql("DESCRIBE DETAIL t").collect()[0]
    restored = {
        "partitioned by": ", ".join(detail["partitionColumns"]),
        "clustered by": ", ".join(detail["clusteringColumns"]),
        "comment": detail["description"],
    }
    assert [restored[one.name] for one in found.parts] == [one.before for one in found.parts]


def test_an_empty_table_that_was_cloned_over_is_restored(spark: Any, tables: None, history: History) -> None:
    spark.sql("DELETE FROM t")
    make_old(spark, "t", 10)
    looked, outcome = created(spark, history, "CREATE OR REPLACE TABLE t SHALLOW CLONE s")
    assert read(spark) == (2, 2)
    found = plan_undo(spark, history.get(outcome.op_id))
    assert (found.kind, found.to_version, len(found.raise_retention)) == ("restore", 1, 1)
    assert undo(spark, found, history=history, accept=[RAISE_RETENTION]).kept
    assert read(spark) == (0, 0)
    not_applied_again(spark, history, looked)


def test_a_replaced_table_is_judged_by_the_properties_that_it_gets(spark: Any, tables: None, history: History) -> None:
    spark.sql(f"ALTER TABLE t SET TBLPROPERTIES ('{RETENTION}' = 'interval 20 days')")
    make_old(spark, "t", 10)
    looked, outcome = created(spark, history, "REPLACE TABLE t (a INT) USING delta")
    assert looked.undo is not None
    assert looked.undo.raise_retention, "the new table has the default again"
    assert plan_undo(spark, history.get(outcome.op_id)).raise_retention
