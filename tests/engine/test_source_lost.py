"""The frozen source: kept by attempts where its blocks are lost, pruned, hinted as written, and freed at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.merge.prepare_source import free_source, free_sources, get_merge_source
from engine.merge.run_with_source_lost_retries import (
    BLOCK_LOST,
    FAILED_REPEATEDLY,
    LEVELS,
    Attempt,
    NotOurBlocksError,
    reading_what_is_not_ours,
    run_with_source_lost_retries,
)
from engine.merge.running_statement import running_sql
from engine.model.errors import EngineError, RefusedError, StalePlanError
from engine.model.progress import Progress
from engine.plan_merge import plan
from engine.spark.confs import confs_set
from engine.table.commits import commits

UPDATE = "WHEN MATCHED THEN UPDATE SET v = s.v"
FROM_PARQUET = f"MERGE INTO tgt t USING pq s ON t.id = s.id {UPDATE}"
RANDOM = f"MERGE INTO tgt t USING (SELECT id, uuid() AS v FROM pq) s ON t.id = s.id {UPDATE}"
SCANNING = "find touched files"


def build(spark: Any) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT id, 'old' AS v FROM range(0, 10, 1, 1)")
    spark.sql("CREATE TABLE pq USING parquet AS SELECT id, 'new' AS v, id * 2 AS unused FROM range(0, 5, 1, 1)")


@pytest.fixture
def shop(spark: Any, schema: str) -> Any:
    del schema
    drop_frozen_views(spark)
    build(spark)
    return spark


@pytest.fixture
def losing(classic: Any, classic_schema: str) -> Iterator[Any]:
    """A classic session, whose blocks a test can take away in the JVM."""
    del classic_schema
    drop_frozen_views(classic)
    build(classic)
    yield classic
    assert frozen_views(classic) == []


def lose_blocks(classic: Any) -> None:
    """What the loss of an executor does: the checkpoints are there, their blocks are not."""
    for rdd in classic.sparkContext._jsc.getPersistentRDDs().values():
        rdd.unpersist(True)


def frozen_views(spark: Any) -> list[str]:
    return [row["viewName"] for row in spark.sql("SHOW VIEWS").collect() if row["viewName"].startswith("deltamerge_")]


def drop_frozen_views(spark: Any) -> None:
    """Those of plans of other tests, which nobody applied."""
    for view in frozen_views(spark):
        spark.sql(f"DROP VIEW {view}")


def lost() -> EngineError:
    error = EngineError("", "Job aborted.")
    error.__cause__ = RuntimeError(f"[{BLOCK_LOST}] Checkpoint block rdd_7_0 not found!")
    return error


# run_with_source_lost_retries


def test_each_attempt_keeps_more_copies_and_the_last_failure_is_deltas(spark: Any) -> None:
    attempts: list[Attempt] = []

    def run(_: Attempt, __: None) -> None:
        raise lost()

    with pytest.raises(EngineError) as raised:
        run_with_source_lost_retries(spark, attempts.append, run)
    assert [(a.attempt, a.storage_level) for a in attempts] == [
        (1, "DISK_ONLY"),
        (2, "DISK_ONLY_2"),
        (3, "DISK_ONLY_3"),
        (4, "DISK_ONLY_3"),
    ]
    assert raised.value.condition == FAILED_REPEATEDLY


def test_the_storage_levels_are_deltas_confs(spark: Any) -> None:
    levels = dict(zip((key for key, _ in LEVELS), ("MEMORY_ONLY", "MEMORY_AND_DISK", "DISK_ONLY"), strict=True))
    seen: list[str] = []

    def run(attempt: Attempt, _: None) -> int:
        seen.append(attempt.storage_level)
        if attempt.attempt < 3:
            raise lost()
        return attempt.attempt

    with confs_set(spark, levels):
        assert run_with_source_lost_retries(spark, lambda _: None, run) == 3
    assert seen == list(levels.values())


def test_blocks_that_are_lost_while_the_source_is_summed_up_are_made_again(spark: Any) -> None:
    def prepare(attempt: Attempt) -> int:
        if attempt.attempt == 1:
            raise lost()
        return attempt.attempt

    assert run_with_source_lost_retries(spark, prepare, lambda _, prepared: prepared) == 2


def test_any_other_failure_is_raised_at_once(spark: Any) -> None:
    attempts: list[Attempt] = []

    def run(_: Attempt, __: None) -> None:
        raise EngineError("CAST_INVALID_INPUT", "no")

    with pytest.raises(EngineError, match="CAST_INVALID_INPUT"):
        run_with_source_lost_retries(spark, attempts.append, run)
    assert len(attempts) == 1


def test_blocks_that_are_lost_while_preparing_are_the_sources_own(spark: Any) -> None:
    """A source that reads a lost checkpoint of somebody else cannot be prepared again."""

    attempts: list[Attempt] = []

    def prepare(attempt: Attempt) -> None:
        attempts.append(attempt)
        with reading_what_is_not_ours():
            raise lost()

    with pytest.raises(NotOurBlocksError, match="Job aborted") as raised:
        run_with_source_lost_retries(spark, prepare, lambda _, __: None)
    assert len(attempts) == 1
    assert "make that anew" in raised.value.hint


# in a plan and in apply, with blocks that are really lost


def test_a_plan_looks_again_at_a_source_whose_blocks_were_lost(losing: Any) -> None:
    times: list[str] = []

    def lose_once(step: Progress) -> None:
        if step.phase == SCANNING and not times:
            times.append(step.phase)
            lose_blocks(losing)

    looked = plan(losing, FROM_PARQUET, rows=0, on_progress=lose_once)
    assert (looked.decision.attempt, looked.decision.storage_level) == (2, "DISK_ONLY_2")
    assert looked.promise["numTargetRowsUpdated"] == 5
    assert apply(losing, looked).kept


def test_a_plan_whose_blocks_are_always_lost_fails_with_deltas_error(losing: Any) -> None:
    def lose(step: Progress) -> None:
        if step.phase == SCANNING:
            lose_blocks(losing)

    with pytest.raises(EngineError) as raised:
        plan(losing, FROM_PARQUET, rows=0, on_progress=lose)
    assert raised.value.condition == FAILED_REPEATEDLY


def test_apply_prepares_a_lost_source_again_and_commits_what_was_planned(losing: Any) -> None:
    looked = plan(losing, FROM_PARQUET, rows=0)
    lose_blocks(losing)
    said: list[str] = []
    outcome = apply(losing, looked, on_progress=lambda step: said.append(step.phase))
    assert outcome.kept
    assert any("attempt 2 (DISK_ONLY_2)" in phase for phase in said)
    assert [c.operation for c in commits(losing, "tgt")].count("MERGE") == 1


def test_apply_refuses_a_lost_source_that_is_another_one_now(losing: Any) -> None:
    looked = plan(losing, RANDOM, rows=0)
    lose_blocks(losing)
    with pytest.raises(StalePlanError) as raised:
        apply(losing, looked)
    assert raised.value.condition == "SOURCE_CHANGED"
    assert len(commits(losing, "tgt")) == 1


# freed at the end


@pytest.mark.thorough
def test_apply_frees_the_frozen_source(shop: Any) -> None:
    looked = plan(shop, FROM_PARQUET, rows=0)
    assert frozen_views(shop)
    apply(shop, looked)
    assert frozen_views(shop) == []


def test_apply_frees_the_frozen_source_after_a_failure(shop: Any) -> None:
    looked = plan(shop, FROM_PARQUET, rows=0)
    shop.sql("ALTER TABLE tgt ADD CONSTRAINT old CHECK (v = 'old')")
    with pytest.raises(StalePlanError):
        apply(shop, looked)
    assert frozen_views(shop) == []


@pytest.mark.thorough
def test_a_plan_that_is_only_refused_keeps_its_source(shop: Any) -> None:
    shop.sql("INSERT INTO pq VALUES (1, 'twice', 0)")
    looked = plan(shop, FROM_PARQUET, rows=0)
    with pytest.raises(RefusedError):
        apply(shop, looked)
    assert frozen_views(shop)
    free_source(shop, looked.session.source_view)


def test_a_plan_that_fails_frees_what_it_froze(shop: Any) -> None:
    def fail(step: Progress) -> None:
        if step.phase == SCANNING:
            raise RuntimeError("stop")

    with pytest.raises(EngineError, match="stop"):
        plan(shop, FROM_PARQUET, rows=0, on_progress=fail)
    assert frozen_views(shop) == []


def test_a_source_that_is_not_prepared_cannot_be_asked_for(spark: Any) -> None:
    with pytest.raises(RuntimeError, match=r"not initialized! Call prepare_source before"):
        get_merge_source(spark, "deltamerge_source_never")


# pruned, timed and hinted


def test_only_referenced_columns_are_frozen_in_the_order_of_the_source(shop: Any) -> None:
    shop.sql("CREATE TABLE wide USING parquet AS SELECT 'a' AS a, 'x' AS unused, 'v' AS v, 1L AS id")
    looked = plan(
        shop, "MERGE INTO tgt t USING wide s ON s.id = t.id WHEN MATCHED AND s.a = 'a' THEN UPDATE SET v = s.v", rows=0
    )
    assert looked.source.columns_used == ("a", "v", "id")
    assert get_merge_source(shop, looked.session.source_view).columns == ["a", "v", "id"]


@pytest.mark.thorough
def test_the_time_that_it_took_to_materialize_is_in_the_plan(shop: Any) -> None:
    assert plan(shop, FROM_PARQUET, rows=0).timings["prepare_source"] > 0


def test_a_hint_at_the_root_of_the_source_is_put_back_on_the_frozen_one(shop: Any) -> None:
    hinted = FROM_PARQUET.replace("USING pq s", "USING (SELECT /*+ BROADCAST(pq) */ * FROM pq) s")
    looked = plan(shop, hinted, rows=0)
    view = looked.session.source_view
    assert f"USING (SELECT /*+ BROADCAST({view}) */ * FROM {view}) AS s ON" in running_sql(looked)
    assert apply(shop, looked).kept


def test_a_hint_below_a_join_is_lost_as_in_delta(shop: Any) -> None:
    joined = "(SELECT /*+ MERGE(a) */ a.id, a.v FROM pq a JOIN pq b ON a.id = b.id)"
    looked = plan(shop, FROM_PARQUET.replace("USING pq s", f"USING {joined} s"), rows=0)
    assert "MERGE(" not in running_sql(looked)


# Spark keeps of a checkpoint the size that it estimated before it ran, and shuffles the target to join a small one


def test_a_small_frozen_source_is_broadcast_and_the_plan_says_why(shop: Any) -> None:
    looked = plan(shop, FROM_PARQUET, rows=0)
    view = looked.session.source_view
    assert f"USING (SELECT /*+ BROADCAST({view}) */ * FROM {view}) AS s ON" in running_sql(looked)
    assert "it is small" in looked.splices[0].why
    assert apply(shop, looked).kept


@pytest.mark.parametrize(
    ("threshold", "on"),
    [("-1", "t.id = s.id"), ("40b", "t.id = s.id"), ("10MB", "t.id < s.id")],
    ids=[
        "where Spark broadcasts nothing",
        "where it is larger than Spark broadcasts",
        "where ON has no key to join by",
    ],
)
def test_a_frozen_source_is_left_to_spark(shop: Any, threshold: str, on: str) -> None:
    text = FROM_PARQUET.replace("t.id = s.id", on)
    assert on in text
    with confs_set(shop, {"spark.sql.autoBroadcastJoinThreshold": threshold}):
        looked = plan(shop, text, rows=0)
    assert f"USING {looked.session.source_view} AS s ON" in running_sql(looked)


def test_another_hint_of_the_operator_stays(shop: Any) -> None:
    hinted = FROM_PARQUET.replace("USING pq s", "USING (SELECT /*+ SHUFFLE_HASH(pq) */ * FROM pq) s")
    looked = plan(shop, hinted, rows=0)
    assert "BROADCAST" not in running_sql(looked)
    assert "SHUFFLE_HASH(" in running_sql(looked)


def test_a_session_that_is_about_to_close_frees_every_frozen_source(shop: Any) -> None:
    shop.sql("CREATE OR REPLACE TEMPORARY VIEW dear AS SELECT 1 AS id")
    for _ in range(2):
        plan(shop, FROM_PARQUET, rows=0)
    assert len(frozen_views(shop)) >= 2
    free_sources(shop)
    assert frozen_views(shop) == []
    assert shop.catalog.dropTempView("dear")
