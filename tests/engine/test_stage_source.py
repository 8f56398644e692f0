"""``plan --freeze``: the source as a Delta table, so that a plan outlives its session."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.commit import apply_plan
from engine.commit.apply_plan import apply
from engine.commit.policy import Policy
from engine.commit.staleness import Staleness
from engine.ledger.history import History
from engine.model.errors import EngineError, RefusedError, StalePlanError, UsageError
from engine.model.plan import Plan
from engine.model.progress import Progress
from engine.plan_merge import plan
from engine.plan_statement import plan as plan_statement
from engine.recovery.recover import recover
from engine.session.connect import Session
from engine.spark.confs import confs_set
from tests.conftest import TEST_CONFS, own_schema

CLAUSES = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
RANDOM = "(SELECT id, rand() AS v FROM range(5, 15))"
MERGE = f"MERGE INTO tgt AS t USING {RANDOM} AS s ON t.id = s.id {CLAUSES}"


@pytest.fixture
def shop(spark: Any) -> Iterator[Any]:
    """``tgt``, ids 0 to 9."""
    with own_schema(spark):
        spark.sql("CREATE TABLE tgt USING delta AS SELECT id, 0D AS v FROM range(0, 10, 1, 2)")
        yield spark


@pytest.fixture
def elsewhere(session: Session, shop: Any) -> Iterator[Any]:
    """A session that has never seen the plan, in the same schema."""
    schema = shop.sql("SELECT current_database()").collect()[0][0]
    with session.new_session(TEST_CONFS) as other:
        other.spark.sql(f"USE {schema}")
        yield other.spark


def staged(spark: Any) -> list[str]:
    return [row.tableName for row in spark.sql("SHOW TABLES LIKE 'deltamerge_*'").collect() if not row.isTemporary]


def frozen(spark: Any, sql: str = MERGE) -> Plan:
    """The plan, and one table beside it."""
    looked = plan(spark, sql, freeze=True)
    (table,) = staged(spark)
    assert looked.session.staged is not None
    assert looked.session.staged.endswith(f".`{table}`")
    return Plan.from_json(looked.to_json())


def values(spark: Any) -> dict[int, float]:
    return {row.id: row.v for row in spark.sql("SELECT id, v FROM tgt").collect()}


def test_random_rows_are_merged_in_another_session_as_they_were_planned(shop: Any, elsewhere: Any) -> None:
    looked = frozen(shop)
    promised = {row.id: row.v for row in shop.sql(f"SELECT * FROM {looked.session.staged}").collect()}
    assert len(set(promised.values())) == 10
    assert "NON_DETERMINISTIC_SOURCE" in looked.decision.reason
    assert not [one for one in looked.advice if "Delta table" in one.evidence], "it is in one already"
    outcome = apply(elsewhere, looked)
    assert outcome.kept
    assert values(shop) == {id: promised.get(id, 0.0) for id in range(15)}
    assert staged(shop) == [], "the table has served"
    assert apply(elsewhere, looked).already_applied


def test_without_it_they_are_refused_there(shop: Any, elsewhere: Any) -> None:
    looked = plan(shop, MERGE)
    with pytest.raises(StalePlanError, match="SOURCE_CHANGED") as refused:
        apply(elsewhere, looked)
    assert "--freeze" in refused.value.hint


def test_the_source_may_be_gone_by_then(shop: Any, elsewhere: Any) -> None:
    shop.sql("CREATE TABLE src USING delta AS SELECT id, 1D AS v FROM range(5, 15)")
    looked = frozen(shop, f"MERGE INTO tgt AS t USING src AS s ON t.id = s.id {CLAUSES}")
    assert not looked.decision.materialize
    assert looked.source.pinned_versions == {}
    shop.sql("DROP TABLE src")
    assert apply(elsewhere, looked).kept
    assert values(shop)[14] == 1


def test_a_column_may_have_any_name_and_hints_stay(shop: Any, elsewhere: Any) -> None:
    rows = "(SELECT id AS `i d`, 1D AS `v;` FROM range(5, 15) WHERE rand() >= 0)"
    source = f"(SELECT /*+ BROADCAST(r) */ * FROM {rows} AS r)"
    looked = frozen(
        shop,
        f"MERGE INTO tgt AS t USING {source} AS s ON t.id = s.`i d` WHEN MATCHED THEN UPDATE SET v = s.`v;`",
    )
    assert "/*+ BROADCAST(deltamerge_rows) */" in looked.splices[0].text
    assert apply(elsewhere, looked).kept
    assert sum(values(shop).values()) == 5


@pytest.mark.thorough
def test_a_change_data_feed_is_kept_where_each_new_table_gets_one(shop: Any) -> None:
    feed = "delta.enableChangeDataFeed"
    shop.sql(f"CREATE TABLE fed USING delta TBLPROPERTIES ('{feed}' = 'true') AS SELECT 3L AS id, 7D AS v")
    with confs_set(shop, {f"spark.databricks.delta.properties.defaults.{feed.split('.')[1]}": "true"}):
        looked = frozen(
            shop,
            "MERGE INTO tgt t USING (SELECT * FROM table_changes('fed', 0)) s ON t.id = s.id "
            "AND s._change_type = 'insert' WHEN MATCHED THEN UPDATE SET v = s.v",
        )
        assert apply(shop, looked).kept


@pytest.mark.parametrize(
    ("key", "confs"),
    [
        ("TIMESTAMP'2024-01-01 00:00:00.000001'", {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS"}),
        ("DATE'1582-10-10'", {"spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY"}),
        ("DATE'1582-10-10'", {"spark.sql.parquet.datetimeRebaseModeInWrite": "EXCEPTION"}),
        (
            "TIMESTAMP'1582-10-10 00:00:00'",
            {
                "spark.sql.parquet.outputTimestampType": "INT96",
                "spark.sql.parquet.int96RebaseModeInWrite": "LEGACY",
            },
        ),
    ],
)
def test_the_source_is_kept_as_it_is_whatever_the_session_does_to_times(
    shop: Any, key: str, confs: dict[str, str]
) -> None:
    shop.sql(f"CREATE TABLE old USING delta AS SELECT {key} AS k, 1 AS v")
    shop.sql(f"CREATE TABLE due USING delta AS SELECT {key} AS k")
    with confs_set(shop, confs):
        looked = frozen(shop, "MERGE INTO old t USING due s ON t.k = s.k WHEN MATCHED THEN DELETE")
        assert looked.promise["numTargetRowsDeleted"] == 1
        assert apply(shop, looked).kept
    assert shop.sql("SELECT count(*) FROM old").collect()[0][0] == 0


def test_a_source_without_rows_is_kept_too(shop: Any, elsewhere: Any) -> None:
    source = f"(SELECT * FROM {RANDOM} WHERE id < 0)"
    looked = frozen(
        shop, f"MERGE INTO tgt AS t USING {source} AS s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE"
    )
    shop.sql(f"INSERT INTO {looked.session.staged} VALUES (3)")
    assert apply(elsewhere, looked).kept
    assert values(shop) == {}


def test_what_is_done_to_it_afterwards_changes_nothing(shop: Any, elsewhere: Any) -> None:
    looked = frozen(shop)
    promised = {row.id: row.v for row in shop.sql(f"SELECT * FROM {looked.session.staged}").collect()}
    shop.sql(f"UPDATE {looked.session.staged} SET v = 7")
    assert apply(elsewhere, looked).kept
    assert values(shop)[14] == promised[14]


@pytest.mark.parametrize(
    ("done", "condition"),
    [
        (["DROP TABLE {}"], "SOURCE_GONE"),
        (["DROP TABLE {}", "CREATE TABLE {} USING delta AS SELECT 5L AS id, 7D AS v"], "SOURCE_CHANGED"),
    ],
)
def test_one_that_is_gone_or_another_is_refused(shop: Any, elsewhere: Any, done: list[str], condition: str) -> None:
    looked = frozen(shop)
    for one in done:
        shop.sql(one.format(looked.session.staged))
    with pytest.raises(StalePlanError, match=condition):
        apply(elsewhere, looked)
    assert values(shop) == dict.fromkeys(range(10), 0.0)
    assert len(staged(shop)) == len(done) - 1, "it is somebody's else now"


def test_what_may_be_applied_yet_keeps_it_and_what_is_stale_does_not(shop: Any, elsewhere: Any) -> None:
    looked = frozen(shop)
    with pytest.raises(RefusedError):
        apply(elsewhere, looked, policy=Policy(read_only=True))
    assert len(staged(shop)) == 1
    shop.sql("DELETE FROM tgt WHERE id = 6")
    with pytest.raises(StalePlanError):
        apply(elsewhere, looked)
    assert staged(shop) == []


def test_the_same_plan_applied_twice_at_once_is_committed_once(
    shop: Any, elsewhere: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = frozen(shop)

    def meanwhile(*given: Any) -> Staleness:
        monkeypatch.undo()
        assert apply(shop, looked).kept
        return Staleness("fresh", looked.target.version)

    monkeypatch.setattr(apply_plan, "check_staleness", meanwhile)
    outcome = apply(elsewhere, looked)
    assert outcome.already_applied
    assert outcome.version == looked.target.version + 1


@pytest.mark.parametrize(
    "source",
    ["(SELECT 1L AS id, rand() AS v UNION ALL SELECT 1L, 2D)", f"(SELECT * FROM {RANDOM} WHERE id < 0)"],
    ids=["refused", "changes nothing"],
)
def test_a_plan_of_which_nothing_is_merged_leaves_none(shop: Any, source: str) -> None:
    looked = plan(shop, f"MERGE INTO tgt AS t USING {source} AS s ON t.id = s.id {CLAUSES}", freeze=True)
    assert looked.refused is not None or not looked.changes_something
    assert looked.session.staged is None
    assert staged(shop) == []


def test_a_plan_that_fails_leaves_none(shop: Any) -> None:
    seen = []

    def say(step: Progress) -> None:
        if step.phase == "find touched files":
            seen.extend(staged(shop))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plan(shop, MERGE, freeze=True, on_progress=say)
    assert len(seen) == 1
    assert staged(shop) == []


@pytest.mark.parametrize(
    "name", ["`dear`", "dear", "{own}; DROP TABLE dear", "{own}.y", "`${{x.y}}`.{bare}", "{bare}", "`a`.`b", ""]
)
def test_a_forged_name_is_never_dropped(shop: Any, name: str) -> None:
    looked = frozen(shop)
    own = str(looked.session.staged)
    session = looked.session.model_copy(update={"staged": name.format(own=own, bare=own.rpartition(".")[2])})
    with pytest.raises(EngineError, match="PLAN_FILE_INVALID"):
        apply(shop, looked.model_copy(update={"session": session}))
    assert len(staged(shop)) == 1


def test_a_plan_that_drops_one_merges_it(shop: Any) -> None:
    looked = frozen(shop)
    own = next(one for one in looked.splices if one.part == "source")
    for forged in ((), (own.model_copy(update={"text": own.text.replace("VERSION AS OF 1", "VERSION AS OF 0")}),)):
        with pytest.raises(EngineError, match="PLAN_FILE_INVALID"):
            apply(shop, looked.model_copy(update={"splices": forged}))
    assert len(staged(shop)) == 1


def test_only_what_is_its_own_is_dropped(shop: Any, elsewhere: Any) -> None:
    looked = frozen(shop)
    forged = looked.model_copy(update={"source": looked.source.model_copy(update={"pinned_id": "another"})})
    shop.sql("DELETE FROM tgt WHERE id = 6")
    with pytest.raises(StalePlanError):
        apply(elsewhere, forged)
    assert len(staged(shop)) == 1


def test_it_is_beside_the_target_or_refused(shop: Any) -> None:
    looked = frozen(shop)
    own = str(looked.session.staged)
    there = f"`spark_catalog`.`default`.{own.rpartition('.')[2]}"
    shop.sql(f"CREATE TABLE {there} USING delta AS SELECT * FROM {own}")
    splices = tuple(one.model_copy(update={"text": one.text.replace(own, there)}) for one in looked.splices)
    forged = looked.model_copy(
        update={"splices": splices, "session": looked.session.model_copy(update={"staged": there})}
    )
    with pytest.raises(EngineError, match="PLAN_FILE_INVALID"):
        apply(shop, forged)
    assert shop.catalog.tableExists(there)
    shop.sql(f"DROP TABLE {there}")


def test_what_stands_before_the_merge_runs_again_in_another_schema(shop: Any, session: Session, elsewhere: Any) -> None:
    schema = shop.sql("SELECT current_database()").collect()[0][0]
    source = "CREATE TEMPORARY VIEW late AS SELECT id, 1D AS v FROM range(5, 15) WHERE rand() >= 0"
    merge = f"MERGE INTO {schema}.tgt AS t USING late AS s ON t.id = s.id {CLAUSES}"
    looked = frozen(shop, f"SET spark.sql.ansi.enabled = true; {source}; {merge}")
    shop.sql("DROP VIEW late")
    assert {one.part for one in looked.splices} == {"source", "condition"}
    with session.new_session(TEST_CONFS) as other:
        assert apply(other.spark, looked).kept
    assert sum(values(shop).values()) == 10
    assert staged(shop) == []


def test_a_private_plan_writes_no_rows_into_a_table(shop: Any) -> None:
    with pytest.raises(UsageError, match="FREEZE_IS_PRIVATE"):
        plan(shop, MERGE, freeze=True, private=True)


@pytest.mark.parametrize(
    "value", ["INTERVAL '1' DAY", "array(make_interval(1))", "TIME'10:00:00'", "struct(NULL AS n)", "map()"]
)
def test_a_source_that_no_delta_table_stores_is_refused_by_column(shop: Any, value: str) -> None:
    source = f"(SELECT 1L AS id, 1D AS v, {value} AS odd)"
    merge = f"MERGE INTO tgt AS t USING {source} AS s ON t.id = s.id AND s.odd IS NOT NULL {CLAUSES}"
    with pytest.raises(EngineError, match=r"FREEZE_UNSUPPORTED_TYPE.*its column odd") as refused:
        plan(shop, merge, freeze=True)
    assert "without --freeze" in refused.value.hint
    assert staged(shop) == []


def test_after_a_crash_it_goes_with_what_is_found_committed(
    shop: Any, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = History(tmp_path / "history.duckdb")
    looked = frozen(shop)
    monkeypatch.setattr(socket, "gethostname", lambda: "a-container")
    monkeypatch.setattr(History, "applied", lambda *_: None)
    monkeypatch.setattr(apply_plan, "drop_own", lambda *_: None)
    apply(shop, looked, history=ledger)
    monkeypatch.undo()
    assert len(staged(shop)) == 1
    assert [one.status for one in recover(session, ledger)] == ["applied"]
    assert staged(shop) == []


def test_a_target_by_its_path_has_it_in_the_current_schema(shop: Any, elsewhere: Any) -> None:
    path = shop.sql("DESCRIBE DETAIL tgt").collect()[0]["location"]
    looked = frozen(shop, MERGE.replace("tgt", f"delta.`{path}`"))
    assert apply(elsewhere, looked).kept
    assert staged(shop) == []


def test_a_create_has_no_source_to_freeze(shop: Any) -> None:
    with pytest.raises(UsageError, match="NOTHING_TO_FREEZE"):
        plan_statement(shop, "CREATE TABLE x (id BIGINT) USING delta", freeze=True)
