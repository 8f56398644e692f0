"""What makes a plan stale, told in words: each rule of DESIGN.md §7 on a real table."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine.commit.apply_plan import REWRITING, apply
from engine.commit.staleness import Staleness, check_staleness
from engine.model.errors import ConflictError, StalePlanError
from engine.model.plan import Plan
from engine.model.progress import OnProgress
from engine.plan_merge import plan
from engine.table.commits import commits_since
from tests.engine.some import every_nth

ROWS = "SELECT id, 'old' AS v, id % 2 AS part FROM range(0, 20, 1, 1)"
SLOWLY = "concat(s.v, coalesce(reflect('java.lang.Thread', 'sleep', 2000L), ''))"
MERGE = "MERGE INTO tgt t USING src s ON t.id = s.id AND t.part = 0 WHEN MATCHED THEN UPDATE SET v = s.v"


@pytest.fixture
def looked(spark: Any, schema: str) -> Plan:
    spark.sql(f"CREATE TABLE tgt USING delta PARTITIONED BY (part) AS {ROWS}")
    spark.sql("CREATE TABLE src USING delta AS SELECT id, 'new' AS v FROM range(5)")
    return plan(spark, MERGE, rows=0)


def stand(spark: Any, looked: Plan) -> Staleness:
    version, since = commits_since(spark, "tgt", looked.target.version)
    return check_staleness(spark, looked, version, since, lambda: None)


def test_what_changes_the_table_itself_is_named(spark: Any, looked: Plan) -> None:
    spark.sql("ALTER TABLE tgt SET TBLPROPERTIES ('delta.appendOnly' = 'true')")
    assert "the table itself changed: property delta.appendOnly is another" in stand(spark, looked).collides
    # evolution by a plain write, whose operation tells nothing of it
    spark.conf.set("spark.databricks.delta.schema.autoMerge.enabled", "true")
    spark.sql("INSERT INTO tgt BY NAME SELECT 100L AS id, 'x' AS v, 1L AS part, 2 AS extra")
    spark.conf.unset("spark.databricks.delta.schema.autoMerge.enabled")
    found = stand(spark, looked)
    assert "column extra is new" in found.collides
    assert [line.split()[1] for line in found.moved_by] == ["WRITE", "SET"]
    spark.sql("ALTER TABLE tgt SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    assert "its protocol is reader 3, writer 7, appendOnly, deletionVectors" in stand(spark, looked).collides
    with pytest.raises(StalePlanError, match=r"moved from v0 to v3 since the plan \(v3 SET TBLPROPERTIES .*; v2 WRITE"):
        apply(spark, looked)


@pytest.mark.parametrize(
    ("since", "collides"),
    [
        (("INSERT INTO tgt VALUES (50, 'x', 1)", "OPTIMIZE tgt WHERE part = 1"), ""),
        (("UPDATE tgt SET v = 'x' WHERE part = 1",), ""),
        (("DELETE FROM tgt WHERE id = 7",), ""),
        (("OPTIMIZE tgt ZORDER BY (id)",), "1 of the files it would touch changed: part=0/"),
        (("UPDATE tgt SET id = 4, part = 0 WHERE id = 7",), "a row of the new file part=0/"),
    ],
)
def test_files_beside_the_plans_may_be_rewritten_where_none_of_their_rows_matches(
    spark: Any, looked: Plan, since: tuple[str, ...], collides: str
) -> None:
    for statement in since:
        spark.sql(statement)
    found = stand(spark, looked)
    assert found.collides.startswith(collides)
    assert found.verdict == ("stale" if collides else "disjoint")
    if not collides:
        assert apply(spark, looked).kept


INSERT = "WHEN NOT MATCHED THEN INSERT (id, v, part) VALUES (s.id, s.v, 0)"
WITH_INSERT = (f"WHEN MATCHED THEN UPDATE SET v = s.v {INSERT}", INSERT)
SINCE = ("DELETE FROM tgt WHERE id = 7", "OPTIMIZE tgt WHERE part = 1")


@pytest.mark.parametrize(
    ("clauses", "since", "vectors"),
    every_nth({str(case): case for case in itertools.product(WITH_INSERT, SINCE, (False, True))}, 3),
)
def test_a_merge_that_inserts_is_applied_to_what_others_made_of_other_files(
    spark: Any, schema: str, clauses: str, since: str, vectors: bool
) -> None:
    properties = f"TBLPROPERTIES ('delta.enableDeletionVectors' = '{str(vectors).lower()}')"
    for name in ("tgt", "twin"):
        spark.sql(f"CREATE TABLE {name} USING delta PARTITIONED BY (part) {properties} AS {ROWS}")
        spark.sql(f"INSERT INTO {name} VALUES (50, 'x', 1)")
    spark.sql("CREATE TABLE src USING delta AS SELECT id, 'new' AS v FROM range(0, 62, 20)")
    merge = f"MERGE INTO {{}} t USING src s ON t.id = s.id {clauses}"
    planned = plan(spark, merge.format("tgt"), rows=0)
    spark.sql(since)
    spark.sql(since.replace("tgt", "twin"))
    outcome = apply(spark, planned)
    assert (outcome.verdict, outcome.kept) == ("disjoint", True)
    spark.sql(merge.format("twin")).collect()
    rows = [sorted(map(tuple, spark.table(name).collect())) for name in ("tgt", "twin")]
    assert rows[0] == rows[1]


INSERT_ONLY = (
    "MERGE INTO tgt t USING src s ON t.id = s.id AND s.id <> 1 "
    "WHEN NOT MATCHED AND s.id <> 1 THEN INSERT (id) VALUES (s.id)"
)


@pytest.mark.parametrize("vectors", [False, True])
def test_a_row_that_keeps_a_source_row_from_being_inserted_is_missed_where_it_is_gone(
    spark: Any, looked: Plan, vectors: bool
) -> None:
    spark.sql(f"ALTER TABLE tgt SET TBLPROPERTIES ('delta.enableDeletionVectors' = '{str(vectors).lower()}')")
    inserting = plan(spark, INSERT_ONLY, rows=0)
    assert inserting.refused is None
    assert inserting.promise["numTargetRowsInserted"] == 0
    spark.sql("DELETE FROM tgt WHERE id = 3")
    assert stand(spark, inserting).collides.startswith("a row of the file part=1/")
    # MERGE of today inserts it
    spark.sql(INSERT_ONLY)
    assert spark.sql("SELECT count(*) FROM tgt WHERE id = 3").collect()[0][0] == 1


def test_files_that_went_and_were_vacuumed_make_a_plan_stale(spark: Any, looked: Plan) -> None:
    inserting = plan(spark, INSERT_ONLY, rows=0)
    (rewritten,) = spark.table("tgt").where("part = 1").inputFiles()
    spark.sql("DELETE FROM tgt WHERE part = 1")
    Path(rewritten.removeprefix("file:")).unlink()
    found = stand(spark, inserting)
    assert found.verdict == "stale"
    assert found.collides.startswith("file went that cannot be read any more: part=1/")


@contextmanager
def appended_meanwhile(session: Any, schema: str, row: str) -> Iterator[OnProgress]:
    """Another session appends ``row`` while the MERGE runs that tells of itself by what is given."""
    merging, reads = threading.Event(), threading.Event()
    stop = session.on_progress(lambda told: reads.set() if merging.is_set() and told.tasks else None)
    with session.new_session() as other:

        def append() -> None:
            reads.wait(60)
            other.spark.sql(f"INSERT INTO {schema}.tgt VALUES {row}").collect()

        writer = threading.Thread(target=append)
        writer.start()
        try:
            yield lambda step: merging.set() if step.phase.startswith(REWRITING) else None
        finally:
            writer.join()
            stop()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("row", "safe"),
    [("(101, 'elsewhere', 1)", True), ("(2, 'twin', 0)", False)],
)
def test_a_commit_that_was_faster_becomes_advice(
    spark: Any, session: Any, schema: str, looked: Plan, row: str, safe: bool
) -> None:
    """Delta refuses what was appended while it ran; the same plan is applied again where that is safe."""
    # where ON names no partition, Delta takes any append for a conflict
    wide = plan(spark, MERGE.replace(" AND t.part = 0", "").replace("s.v", SLOWLY), rows=0)
    with (
        appended_meanwhile(session, schema, row) as told,
        pytest.raises(ConflictError if safe else StalePlanError) as raised,
    ):
        apply(spark, wide, on_progress=told)
    assert raised.value.condition.startswith("DELTA_CONCURRENT_APPEND")
    assert "Another commit was faster" in raised.value.message
    if safe:
        assert "apply the same plan again" in raised.value.hint
        assert apply(spark, wide).kept
    else:
        assert "matches the source" in raised.value.message


@pytest.mark.thorough
@pytest.mark.parametrize("prune", [True, False])
def test_what_the_keys_say_of_the_partition_lets_others_append_to_another(
    spark: Any, session: Any, schema: str, looked: Plan, prune: bool
) -> None:
    """Delta checks what was appended against the predicates that the MERGE read by: those that are derived are among
    them, and without them any append is a conflict."""
    spark.sql("CREATE TABLE daily USING delta AS SELECT id * 2 AS id, 'new' AS v, 0L AS part FROM range(3)")
    text = MERGE.replace("USING src s", "USING daily s").replace("t.part = 0", "t.part = s.part")
    keyed = plan(spark, text.replace("s.v", SLOWLY), rows=0, prune=prune)
    assert [one.text for one in keyed.scan.derived if one.column == "t.part"] == (["t.part = 0L"] if prune else [])
    with appended_meanwhile(session, schema, "(101, 'elsewhere', 1)") as told:
        if prune:
            assert apply(spark, keyed, on_progress=told).kept
        else:
            with pytest.raises(ConflictError, match="Another commit was faster"):
                apply(spark, keyed, on_progress=told)
    assert [row["v"] for row in spark.sql("SELECT v FROM tgt WHERE id = 101").collect()] == ["elsewhere"]
