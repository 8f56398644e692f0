"""Apply commits what was planned, or refuses: the rules of DESIGN.md §5 to §8, one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.commit.policy import Policy
from engine.commit.rehearse import rehearse
from engine.commit.staleness import BEYOND_RETENTION
from engine.explore.find_key import find_key
from engine.ledger.history import History
from engine.model.errors import CancelledError, EngineError, RefusedError, SessionChangedError, StalePlanError
from engine.model.plan import Plan
from engine.plan_merge import plan
from engine.plan_statement import plan as plan_statement
from engine.session.connect import connect
from engine.spark.confs import TRAVEL_ENFORCED, confs_set
from engine.table.commits import commits
from engine.table.transaction import HISTORY_METRICS, TXN_APP_ID, TXN_VERSION, USER_METADATA
from tests.conftest import TEST_CONFS
from tests.engine.old_versions import directory, make_old
from tests.engine.some import some

DATED = "MERGE INTO tgt t USING src s ON t.id = s.id AND t.d = DATE'2026-01-01' WHEN MATCHED THEN UPDATE SET v = s.v"


@pytest.fixture
def shop(spark: Any, schema: str) -> Any:
    """``tgt``: 20 rows in two partitions; ``src``: ids 0 to 4 as Delta; ``pq``: the same as Parquet."""
    del schema
    spark.sql(
        "CREATE TABLE tgt USING delta PARTITIONED BY (d) AS SELECT id, 'old' AS v, "
        "DATE'2026-01-01' + CAST(id % 2 AS INT) AS d FROM range(0, 20, 1, 1)"
    )
    spark.sql("CREATE TABLE src USING delta AS SELECT id, 'new' AS v FROM range(5)")
    return spark


def test_the_session_is_left_as_it_was(shop: Any) -> None:
    """Left set, the transaction confs would make Delta skip every later write of the session."""
    apply(shop, plan(shop, DATED, rows=0))
    assert [shop.conf.get(key, None) for key in (TXN_APP_ID, TXN_VERSION, USER_METADATA)] == [None, None, None]
    shop.sql("INSERT INTO tgt VALUES (100, 'later', DATE'2026-01-01')")
    assert commits(shop, "tgt")[0].operation == "WRITE"


def test_a_promise_is_compared_though_the_session_lets_commits_tell_no_metrics(shop: Any) -> None:
    with confs_set(shop, {HISTORY_METRICS: "false"}):
        outcome = apply(shop, plan(shop, DATED, rows=0))
        assert shop.conf.get(HISTORY_METRICS) == "false", "the operator's own is put back"
    assert (outcome.kept, outcome.metrics["numTargetRowsUpdated"]) == (True, 3)


def test_disjoint_commits_are_shown_and_let_pass(shop: Any) -> None:
    looked = plan(shop, DATED, rows=0)
    shop.sql("INSERT INTO tgt VALUES (101, 'elsewhere', DATE'2026-03-01')")
    outcome = apply(shop, looked)
    assert (outcome.verdict, outcome.kept) == ("disjoint", True)
    assert [d.metric for d in outcome.deviations] == []
    assert outcome.read_version == looked.target.version + 1
    assert outcome.moved_by[0].startswith(f"v{looked.target.version + 1} WRITE")


def test_new_rows_that_the_source_matches_make_it_stale(shop: Any) -> None:
    looked = plan(shop, DATED, rows=0)
    shop.sql("INSERT INTO tgt VALUES (2, 'twin', DATE'2026-01-01')")
    with pytest.raises(StalePlanError, match="matches the source"):
        apply(shop, looked)


def test_a_touched_file_that_changed_makes_it_stale(shop: Any) -> None:
    looked = plan(shop, DATED, rows=0)
    shop.sql("DELETE FROM tgt WHERE id = 2")
    with pytest.raises(StalePlanError, match="files it would touch changed"):
        apply(shop, looked)


def test_the_history_says_of_a_plan_that_it_went_stale_once(shop: Any, schema: str, tmp_path: Path) -> None:
    history, looked = History(tmp_path / "history.duckdb"), plan(shop, DATED, rows=0)
    create = plan_statement(shop, "CREATE TABLE made (id INT) USING delta")
    history.record_planned(looked)
    shop.sql("USE default")
    with pytest.raises(SessionChangedError):
        apply(shop, looked, history=history)
    shop.sql(f"USE {schema}")
    assert [one.status for one in history.list()] == ["planned"], "the session can be put back"
    shop.sql("DELETE FROM tgt WHERE id = 2")
    for _ in range(2):
        with pytest.raises(StalePlanError) as raised:
            apply(shop, looked, history=history)
    (operation,) = history.list()
    assert (operation.status, operation.error) == ("failed", str(raised.value))
    shop.sql("CREATE TABLE made (id INT) USING delta")
    with pytest.raises(StalePlanError):
        apply(shop, create, history=history)
    assert [(one.kind, one.status) for one in history.list()] == [("create_table", "failed"), ("merge", "failed")]


def test_a_table_that_was_made_anew_is_another_table(shop: Any) -> None:
    looked = plan(shop, DATED, rows=0)
    shop.sql("DROP TABLE tgt")
    shop.sql("CREATE TABLE tgt USING delta AS SELECT id, 'x' AS v, DATE'2026-01-01' AS d FROM range(5)")
    with pytest.raises(StalePlanError, match=r"is not as it was planned: .* another table"):
        apply(shop, looked)


def test_a_table_that_is_gone_is_told(shop: Any, tmp_path: Path) -> None:
    history, looked = History(tmp_path / "history.duckdb"), plan(shop, DATED, rows=0)
    history.record_planned(looked)
    shop.sql("DROP TABLE tgt")
    with pytest.raises(EngineError) as raised:
        apply(shop, looked, history=history)
    assert "NOT_FOUND" in raised.value.condition
    (operation,) = history.list()
    assert (operation.status, operation.error) == ("failed", str(raised.value))


def test_what_the_policy_forbids_is_in_the_history(shop: Any, tmp_path: Path) -> None:
    history, looked = History(tmp_path / "history.duckdb"), plan(shop, DATED, rows=0)
    history.record_planned(looked)
    with pytest.raises(RefusedError) as raised:
        apply(shop, looked, history=history, policy=Policy(read_only=True))
    (operation,) = history.list()
    assert (operation.status, operation.error) == ("failed", str(raised.value))
    assert apply(shop, looked, history=history).kept
    assert [one.status for one in history.list()] == ["applied", "failed"]


def test_a_delta_source_that_moves_on_is_merged_as_it_was_planned(shop: Any) -> None:
    looked = plan(shop, DATED, rows=0)
    assert looked.source.pinned_versions == {"src": 0}
    for done in (
        "UPDATE src SET v = 'newer'",
        "CREATE OR REPLACE TABLE src USING delta AS SELECT 1L AS id, 'late' AS v",
    ):
        shop.sql(done)
    assert apply(shop, looked).kept
    assert {
        row.v for row in shop.sql("SELECT DISTINCT v FROM tgt WHERE id < 5 AND d = DATE'2026-01-01'").collect()
    } == {"new"}


def test_what_was_planned_is_read_though_delta_calls_its_version_too_old(shop: Any) -> None:
    for table in ("src", "tgt"):
        make_old(shop, table, days=10)
    looked = plan(shop, DATED, rows=0)
    shop.sql("UPDATE src SET v = 'newer'")
    shop.sql("INSERT INTO tgt VALUES (101, 'elsewhere', DATE'2026-03-01')")
    with pytest.raises(Exception, match=BEYOND_RETENTION):
        shop.sql("SELECT * FROM src VERSION AS OF 0").collect()
    assert rehearse(shop, looked).kept
    assert apply(shop, looked).kept
    assert [row.v for row in shop.sql("SELECT v FROM tgt WHERE id IN (0, 2, 4)").collect()] == ["new"] * 3
    assert shop.conf.get(TRAVEL_ENFORCED, None) is None


def test_a_delta_source_whose_log_was_cleaned_up_is_gone(shop: Any) -> None:
    shop.sql("ALTER TABLE src SET TBLPROPERTIES ('delta.checkpointInterval' = '2')")
    looked = plan(shop, DATED, rows=0)
    for _ in range(2):
        shop.sql("UPDATE src SET v = 'newer'")
    log = directory(shop, "src") / "_delta_log"
    assert [*log.glob("*2.checkpoint*")]
    for version in (0, 1):
        (log / f"{version:020}.json").unlink()
    for run in (rehearse, apply):
        with pytest.raises(StalePlanError, match="cleanup of its log") as raised:
            run(shop, looked)
        assert raised.value.condition == "SOURCE_GONE"


@pytest.mark.parametrize(
    ("done", "condition"),
    [
        (["DROP TABLE src"], "SOURCE_GONE"),
        (
            ["DROP TABLE src", "CREATE TABLE src USING delta AS SELECT id, 'foreign' AS v FROM range(9)"],
            "SOURCE_CHANGED",
        ),
    ],
)
def test_a_delta_source_that_is_gone_or_another_is_refused(shop: Any, done: list[str], condition: str) -> None:
    looked = plan(shop, DATED, rows=0)
    before = shop.sql("SELECT * FROM tgt").collect()
    for one in done:
        shop.sql(one)
    with pytest.raises(StalePlanError, match=condition):
        apply(shop, looked)
    assert shop.sql("SELECT * FROM tgt").collect() == before


@pytest.mark.parametrize(
    ("done", "condition"),
    [
        (["DROP TABLE src"], "SOURCE_GONE"),
        (["DROP TABLE src", "CREATE TABLE src USING delta AS SELECT id, 'x' AS w FROM range(9)"], "SOURCE_CHANGED"),
    ],
)
def test_a_query_whose_table_is_gone_or_another_is_stale(shop: Any, done: list[str], condition: str) -> None:
    of_two = "(SELECT s.id, s.v FROM src AS s LEFT SEMI JOIN tgt AS o ON s.id = o.id)"
    looked = plan(shop, f"MERGE INTO tgt AS t USING {of_two} AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v")
    shop.catalog.dropTempView(looked.session.source_view)
    for one in done:
        shop.sql(one)
    with pytest.raises(StalePlanError, match=condition):
        apply(shop, looked)


def test_a_delta_source_whose_files_were_vacuumed_is_gone(shop: Any) -> None:
    looked = plan(shop, DATED, rows=0)
    place = shop.sql("DESCRIBE DETAIL src").collect()[0]["location"].removeprefix("file:")
    for file in Path(place).glob("*.parquet"):
        file.unlink()
    with pytest.raises(StalePlanError, match="SOURCE_GONE") as raised:
        apply(shop, looked)
    assert "File does not exist" in raised.value.message
    assert "FAILED_READ_FILE.FILE_NOT_EXIST" in str(raised.value.__cause__)


@pytest.mark.parametrize("before", some(["", "CREATE TEMPORARY VIEW few AS SELECT * FROM src WHERE id < 3; "], [""]))
def test_the_setup_of_a_plan_is_run_where_another_session_applies_it(
    shop: Any, schema: str, spark_home: Path, before: str
) -> None:
    merge = DATED.replace("USING src", "USING few") if before else DATED
    looked = plan(shop, f"USE {schema}; {before}{merge}", rows=0)
    with connect("local[2]", home=spark_home, confs=TEST_CONFS) as other:
        assert apply(other.spark, looked).kept
        assert apply(other.spark, looked).already_applied


@pytest.mark.thorough
def test_a_parquet_source_that_moves_on_is_merged_as_it_was_frozen(shop: Any) -> None:
    shop.sql("CREATE TABLE pq USING parquet AS SELECT id, v FROM src")
    looked = plan(shop, DATED.replace("USING src", "USING pq"), rows=0)
    shop.sql("INSERT INTO pq VALUES (6, 'late')")
    outcome = apply(shop, Plan.from_json(looked.to_json()))
    assert (outcome.kept, outcome.metrics["numTargetRowsUpdated"]) == (True, 3)


def test_what_was_frozen_is_kept_if_the_commit_is_cancelled(shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = plan(shop, DATED, rows=0)
    with monkeypatch.context() as patch:
        patch.setattr("engine.commit.apply_plan._run", some_cancel)
        with pytest.raises(CancelledError):
            apply(shop, looked)
    assert len(commits(shop, "tgt")) == 1
    assert [row.kind for row in find_key(shop, looked, "2").rows] == ["matched"]
    assert apply(shop, looked).kept


def some_cancel(*_: Any) -> Any:
    raise CancelledError("CANCELLED", "Cancelled.")


def test_several_source_rows_for_one_target_row_are_foreseen_with_their_keys(shop: Any) -> None:
    shop.sql("INSERT INTO src VALUES (2, 'twice'), (4, 'twice')")
    looked = plan(shop, DATED, rows=0)
    assert looked.refused is not None
    assert looked.refused.condition == "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
    assert sorted(key.key["id"] for key in looked.find_touched_files.conflicts.keys) == ["2", "4"]
    with pytest.raises(RefusedError):
        apply(shop, looked)
    assert len(commits(shop, "tgt")) == 1


def test_what_would_fail_while_running_is_foreseen(shop: Any) -> None:
    failing = DATED.replace("t.id = s.id", "t.id = CAST(concat('x', s.id) AS BIGINT)")
    looked = plan(shop, failing, rows=0)
    assert looked.refused is not None
    assert looked.refused.condition == "CAST_INVALID_INPUT"


def test_a_table_whose_path_is_long(spark: Any, schema: str, tmp_path: Path) -> None:
    """Spark prints the last hundred characters of a path: the others are asked for."""
    spark.sql(f"CREATE TABLE far (id BIGINT) USING delta LOCATION '{tmp_path}/{'a_long_name_' * 12}/t'")
    spark.sql("INSERT INTO far VALUES (1)")
    merge = "MERGE INTO far t USING (SELECT 1L AS id) AS s ON t.id = s.id WHEN MATCHED THEN DELETE"
    outcome = apply(spark, plan(spark, merge, rows=0))
    assert (outcome.kept, outcome.metrics["numTargetRowsDeleted"]) == (True, 1)
