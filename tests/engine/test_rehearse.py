"""The rehearsal: Delta's own MERGE on a clone, beside the plan, and nothing left behind."""

from __future__ import annotations

import json
import os
import socket
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from engine import apply, plan, rehearse
from engine.commit import rehearsal_clone
from engine.commit import rehearse as rehearse_module
from engine.commit.rehearsal_clone import OWNER, SCHEMA, cloned, drop_left_over
from engine.commit.rehearse import why_stale
from engine.expect.read_expectations import read_expectations
from engine.model.errors import EngineError, StalePlanError
from engine.model.plan import Plan
from engine.preflight.advice import MUST_ACCEPT
from engine.processes import start_time
from engine.spark.confs import confs_set
from engine.sql.names import string
from engine.table.commits import commits_since, current_version
from tests.conftest import own_schema
from tests.engine.fidelity import footprint
from tests.engine.random_merges import Story, stories
from tests.engine.random_tables import make_sources

CLAUSES = """WHEN MATCHED AND {t}.id = 1 THEN DELETE
WHEN MATCHED THEN UPDATE SET {t}.v = s.v + {t}.v
WHEN NOT MATCHED THEN INSERT (id, v, day) VALUES (s.id, s.v, s.day)
WHEN NOT MATCHED BY SOURCE AND {t}.id = 3 THEN UPDATE SET v = NULL"""
RANDOM = "(SELECT id, rand() AS v, DATE'2026-01-02' AS day FROM VALUES (0L), (1L), (7L) AS s(id))"


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[str]:
    """A schema with ``tgt`` (ids 0 to 4, with a change feed and deletion vectors)."""
    with own_schema(spark) as schema:
        spark.sql(
            "CREATE TABLE tgt USING delta PARTITIONED BY (day) TBLPROPERTIES ("
            "'delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true') "
            "AS SELECT id, id * 10D AS v, DATE'2026-01-01' AS day FROM range(0, 5, 1, 1)"
        )
        yield schema


def merge(schema: str, source: str, target: str = "t", alias: str = " AS t") -> str:
    """All kinds of clauses; ``target`` qualifies the target's columns."""
    return f"MERGE INTO {schema}.tgt{alias} USING {source} AS s ON {target}.id = s.id\n{CLAUSES.format(t=target)}"


def schemas_of(spark: Any, plan: Plan) -> list[str]:
    """The schemas of ours that rehearsals of ``plan`` have."""
    names = [str(row[0]) for row in spark.sql("SHOW SCHEMAS LIKE 'deltamerge_rehearsal_*'").collect()]
    return sorted(name for name in names if SCHEMA.fullmatch(name) and plan.plan_id in name)


def check_nothing_left(spark: Any, schema: str, plan: Plan) -> None:
    assert schemas_of(spark, plan) == []
    rows = spark.sql(f"DESCRIBE SCHEMA EXTENDED {schema}").collect()
    location = next(row[1] for row in rows if row[0] == "Location")
    assert not list(Path(unquote(location.removeprefix("file:"))).parent.glob(f"*{plan.plan_id}*"))


def test_a_promise_that_is_not_kept_shows(spark: Any, shop: str) -> None:
    foreseen = plan(spark, merge(shop, "(SELECT 0L AS id, 5D AS v, DATE'2026-01-02' AS day)"))
    wrong = {"numTargetRowsInserted": 2, "numTargetRowsUpdated": 3}
    rehearsal = rehearse(
        spark,
        foreseen.model_copy(update={"promise": {**foreseen.promise, **wrong}}),
        expectations=tuple(read_expectations("{tgt: [{unique: [id]}, {not_null: [v]}], other: [{unique: [id]}]}")),
    )
    # the clause for rows that the source lacks writes a NULL
    assert [(one.status, one.value) for one in rehearsal.expectations] == [("pass", "0"), ("fail", "1")]
    assert not rehearsal.kept
    assert {one.metric: (one.promised, one.actual) for one in rehearsal.deviations} == {
        "numTargetRowsInserted": (2, 0),
        "numTargetRowsUpdated": (3, 2),
        "rows": (7, 5),
        "change feed: insert": (2, 0),
        "change feed: update_preimage": (3, 2),
        "change feed: update_postimage": (3, 2),
    }


def test_what_cannot_be_rehearsed_leaves_nothing(spark: Any, shop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spark.sql(f"CREATE SCHEMA {shop}_2")
    spark.sql(f"CREATE TABLE {shop}_2.tgt USING delta AS SELECT * FROM {shop}.tgt")
    # under the last name as alias both sides would be called tgt
    on = f"{shop}.tgt.id = {shop}_2.tgt.id"
    foreseen = plan(spark, f"MERGE INTO {shop}.tgt USING {shop}_2.tgt ON {on} WHEN MATCHED THEN DELETE")
    with pytest.raises(EngineError, match="SCHEMA_NOT_FOUND") as missing:
        rehearse(spark, foreseen, clone_schema="no_such_schema")
    assert "--clone-schema" in missing.value.hint
    with pytest.raises(EngineError, match="STATEMENT_NOT_UNDERSTOOD"):
        rehearse(spark, foreseen)
    monkeypatch.setattr(rehearse_module, "retargeted", lambda statement, *_: statement.sql)
    with pytest.raises(EngineError, match="OTHER_TARGET"):
        rehearse(spark, foreseen)
    assert current_version(spark, f"{shop}.tgt") == 0
    check_nothing_left(spark, shop, foreseen)
    spark.sql(f"DROP SCHEMA {shop}_2 CASCADE")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("ADD COLUMN w INT", "column w is new"),
        ("RENAME COLUMN v TO w", "column v is gone"),
    ],
)
def test_a_table_that_has_other_columns_by_now_is_no_refusal_of_delta(
    spark: Any, shop: str, change: str, why: str
) -> None:
    table = f"columns_{change.split(maxsplit=1)[0].lower()}"
    spark.sql(f"CREATE TABLE {table} USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name') AS TABLE tgt")
    source = "(SELECT 1L AS id, 5D AS v) s"
    sql = f"MERGE INTO {table} t USING {source} ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v"
    foreseen = plan(spark, sql, rows=0)
    spark.sql(f"ALTER TABLE {table} {change}")
    with pytest.raises(StalePlanError, match=f"STALE_PLAN.*{table} moved from v0 to v1 .*{why}"):
        rehearse(spark, foreseen)
    check_nothing_left(spark, shop, foreseen)


def test_planned_rows_that_were_vacuumed_make_a_plan_stale(spark: Any, shop: str) -> None:
    spark.sql("CREATE TABLE old USING delta AS SELECT id, 0 AS v FROM range(0, 4, 1, 1)")
    foreseen = plan(spark, "MERGE INTO old t USING (SELECT 1L AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE")
    (file,) = spark.table("old").inputFiles()
    spark.sql("UPDATE old SET v = 1")
    Path(unquote(file.removeprefix("file:"))).unlink()
    with pytest.raises(StalePlanError, match=r"STALE_PLAN.*old moved from v0 to v1 .*: file went that cannot be read"):
        rehearse(spark, foreseen)
    check_nothing_left(spark, shop, foreseen)


def test_a_refusal_is_rehearsed_too(spark: Any, shop: str) -> None:
    spark.sql("CREATE TABLE log USING delta TBLPROPERTIES ('delta.appendOnly' = 'true') AS SELECT * FROM tgt")
    foreseen = plan(spark, "MERGE INTO log t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE")
    spark.sql("INSERT INTO log SELECT * FROM tgt WHERE id = 1")
    rehearsal = rehearse(spark, foreseen)
    assert foreseen.refused is not None
    assert "log moved from v0 to v1 since the plan (v1 WRITE" in rehearsal.stale
    assert "a row of the new file " in rehearsal.stale
    assert (rehearsal.kept, rehearsal.refused) == (True, foreseen.refused.condition)


def test_it_does_what_the_plan_says_and_the_plan_is_applied_after_it(
    spark: Any, shop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreseen = plan(spark, merge(shop, RANDOM, f"spark_catalog.{shop}.tgt", ""))
    before = footprint(spark, "tgt")
    with mock.patch.object(rehearse_module, "commits_since", wraps=commits_since) as asked:
        rehearsal = rehearse(spark, foreseen)
    assert asked.call_count == 1
    assert rehearsal.kept, rehearsal.deviations
    assert rehearsal.rows_compared
    assert rehearsal.metrics.items() >= foreseen.promise.items()
    assert rehearsal.metrics["numTargetRowsDeleted"] == rehearsal.metrics["numTargetRowsInserted"] == 1
    assert foreseen.plan_id in rehearsal.clone
    assert f"{rehearsal.clone} AS `tgt` USING" in rehearsal.sql
    assert "SET tgt.v = s.v + tgt.v" in rehearsal.sql
    assert footprint(spark, "tgt") == before
    check_nothing_left(spark, shop, foreseen)
    assert rehearsal.stale == ""
    assert apply(spark, foreseen).kept
    since = commits_since(spark, "tgt", 0)
    assert why_stale(spark, foreseen, *since) == "", "its own commit makes no plan stale"
    with monkeypatch.context() as patch:
        patch.setattr(rehearse_module, "of_plan", lambda *_: None)
        moved = why_stale(spark, foreseen, *since)
    assert "tgt moved from v0 to v1 since the plan (v1 MERGE" in moved
    assert "with NOT MATCHED BY SOURCE every row of the table matters" in moved
    spark.sql("RESTORE TABLE tgt TO VERSION AS OF 0")
    since = commits_since(spark, "tgt", 0)
    assert why_stale(spark, foreseen, *since) == "The plan was committed as v1 and taken back by v2."


@pytest.mark.thorough
def test_rehearsals_of_random_merges_equal_the_plan(
    spark: Any, shop: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    make_sources(spark)
    wanted, log = request.config.getoption("--rehearsals"), request.config.getoption("--merges-log")
    seen: Counter[str] = Counter()

    @settings(
        max_examples=wanted,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(stories(1))
    def run(story: Story) -> None:
        table = f"t_{uuid.uuid4().hex[:10]}"
        ran = story.table.statements(table, str(tmp_path))
        for statement in ran:
            spark.sql(statement)
        (merge,) = story.merges
        script = merge.script(table, str(tmp_path))
        with confs_set(spark, dict(merge.confs)):
            try:
                foreseen = plan(spark, script, rows=0)
            except EngineError:
                return  # there is nothing to rehearse
            if {warning.code for warning in foreseen.warnings} & MUST_ACCEPT:
                return
            to_repeat = ";\n".join((*ran, script))
            try:
                rehearsal = rehearse(spark, foreseen)
            except EngineError as error:
                raise AssertionError(f"{error}\n{to_repeat}") from error
        assert rehearsal.kept, (rehearsal.deviations, to_repeat)
        check_nothing_left(spark, shop, foreseen)
        said = "refused" if rehearsal.refused else "rows compared" if rehearsal.rows_compared else "metrics alone"
        seen[said] += 1
        if log:
            with log.open("a") as file:
                file.write(f"{said}\n")

    run()
    print(f"{seen.total()} rehearsals, {dict(seen)}")


def test_a_clone_of_a_dead_process_is_dropped_and_others_are_not(spark: Any, shop: str) -> None:
    place = f"{shop}_clones"

    def table(name: str, *owner: object) -> str:
        properties = f"TBLPROPERTIES ('{OWNER}' = '{json.dumps(owner)}')" if owner else ""
        spark.sql(f"CREATE TABLE {place}.{name} (id INT) USING delta {properties}")
        return name

    spark.sql(f"CREATE SCHEMA {place}")
    host, pid = socket.gethostname(), os.getpid()
    stem = f"deltamerge_clone_{'0' * 32}_00000"
    dead = table(f"{stem}a", host, pid, "another start", 0)
    lives = table(f"{stem}b", host, pid, start_time(pid), 0)
    theirs = table(f"{stem}c")
    # not in the schemas where every process that starts looks for what dead ones left
    assert [name.rpartition(".")[2].strip("`") for name in drop_left_over(spark, schema=place)] == [dead]
    rows = spark.sql(f"SHOW TABLES IN {place}").collect()
    assert sorted(row["tableName"] for row in rows if not row["isTemporary"]) == [lives, theirs]
    spark.sql(f"DROP SCHEMA {place} CASCADE")


def test_the_schema_of_a_dead_rehearsal_is_dropped_and_that_of_another_is_not(
    spark: Any, shop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreseen = plan(spark, merge(shop, "(SELECT 1L AS id, 5D AS v, DATE'2026-01-02' AS day)"), rows=0)

    def schema_of(clone: str) -> str:
        return clone.split(".")[1].strip("`")

    with cloned(spark, foreseen, None) as first:
        with cloned(spark, foreseen, None) as second:
            drop_left_over(spark)
            assert schemas_of(spark, foreseen) == sorted((schema_of(first), schema_of(second)))
        with monkeypatch.context() as patch:
            # a process that is killed drops nothing
            patch.setattr(rehearsal_clone, "drop_staged", lambda *_: None)
            patch.setattr(rehearsal_clone, "drop_if_empty", lambda *_: None)
            with cloned(spark, foreseen, None) as left:
                # and one of another start is gone; the schema first: from then on, other tests may drop it, too
                patch.setattr(rehearsal_clone, "start_time", lambda _: "another start")
                owner = rehearsal_clone._owner()
                spark.sql(f"COMMENT ON SCHEMA {left.rpartition('.')[0]} IS {string('A rehearsal: ' + owner)}")
                spark.sql(f"ALTER TABLE {left} SET TBLPROPERTIES ({string(OWNER)} = {string(owner)})")
        drop_left_over(spark, foreseen)
        assert schemas_of(spark, foreseen) == [schema_of(first)]
        assert spark.sql(f"SELECT count(*) FROM {first}").collect()[0][0] == 5
    check_nothing_left(spark, shop, foreseen)
