"""What a read would keep, what helps a MERGE to do the same, and why each file was kept or skipped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.explore.scan_explorer import explore
from engine.plan_merge import plan
from engine.preflight.generated_column_advice import CODE, GROWING
from engine.spark.confs import confs_set
from tests.conftest import own_schema

SINCE = "t.ts >= '2024-01-09'"
DAY = "timestamp_millis(1704067200000 + id * 86400000)"
UPSERT = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, ts, v) VALUES (s.id, s.ts, s.v)"


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[Any]:
    """The Connect session in a schema with ``src`` and the tables below; no test but one's own table is changed."""
    with own_schema(spark):
        build_days(spark, "days")
        spark.sql(f"CREATE TABLE src USING delta AS SELECT id, {DAY} AS ts, 'new' AS v FROM range(10, 13)")
        build_ranges(spark, "ranges")
        yield spark


def build_days(spark: Any, table: str) -> None:
    """12 days, a file each, partitioned by the generated date of ``ts``, no statistics. ``src`` has the last two days
    and a new one."""
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, ts TIMESTAMP, v STRING, d DATE GENERATED ALWAYS AS (CAST(ts AS DATE))) "
        "USING delta PARTITIONED BY (d) TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0')"
    )
    spark.sql(f"INSERT INTO {table} (id, ts, v) SELECT id, {DAY}, 'old' FROM range(0, 12, 1, 1)")


def build_ranges(spark: Any, table: str) -> None:
    """Three files of ten ids under mapped names, in two partitions; the last file has no statistics."""
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, `long name` STRING, at TIMESTAMP, p INT) USING delta PARTITIONED BY (p) "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true')"
    )
    for first in (0, 10, 20):
        with confs_set(spark, {"spark.databricks.delta.stats.collect": "false" if first == 20 else "true"}):
            spark.sql(
                f"INSERT INTO {table} SELECT id, CASE WHEN id > {first} THEN concat(repeat('x', 40), id) END, "
                f"timestamp_micros(1704067200000000 + id * 1000001), {first // 20} "
                f"FROM range({first}, {first + 10}, 1, 1)"
            )


def merge(on: str, clauses: str = UPSERT, table: str = "days") -> str:
    return f"MERGE INTO {table} t USING src s ON t.id = s.id AND {on} {clauses}"


def test_a_read_skips_by_generated_columns_and_a_merge_does_not(shop: Any) -> None:
    looked = plan(shop, merge(SINCE), rows=0, prune=False)
    scan = looked.scan
    assert (scan.files_before, scan.files_after, scan.files_after_of_a_read) == (12, 12, 4)
    assert (scan.partitions_before, scan.partitions_after) == (12, 12)
    assert looked.find_touched_files.partitions_removed_from == 2


@pytest.mark.thorough
def test_the_advised_predicate_makes_the_merge_skip_as_a_read_does_and_changes_nothing_else(shop: Any) -> None:
    build_days(shop, "mine")
    looked = plan(shop, merge(SINCE, table="mine"), rows=0, prune=False)
    advised = next(one for one in looked.advice if one.code == CODE)
    text = advised.evidence.partition("Add AND ")[2].partition(" to ON")[0]
    assert text == "t.`d` >= CAST(CAST('2024-01-09' AS timestamp) AS DATE)"
    helped = plan(shop, merge(f"{SINCE} AND {text}", table="mine"), rows=0, prune=False)
    assert (helped.scan.files_after, helped.scan.files_after_of_a_read) == (4, 4)
    assert helped.promise == looked.promise
    assert not [one for one in helped.advice if one.code == CODE]
    assert apply(shop, helped).kept
    assert shop.sql("SELECT count(*) - count(DISTINCT id) FROM mine").collect()[0][0] == 0


def test_a_target_without_an_alias_may_be_named_with_its_schema(shop: Any) -> None:
    table = f"{shop.catalog.currentDatabase()}.days"
    on = f"{table}.id = src.id AND {table}.ts >= '2024-01-09'"
    looked = plan(shop, f"MERGE INTO {table} USING src ON {on} WHEN MATCHED THEN DELETE", rows=2, prune=False)
    assert looked.scan.predicates == (f"{table}.ts >= '2024-01-09'",)
    assert (looked.scan.files_after_of_a_read, looked.promise["numTargetRowsDeleted"]) == (4, 2)
    assert "Add AND `days`.`d` >= " in next(one.evidence for one in looked.advice if one.code == CODE)


@pytest.mark.parametrize(
    ("on", "advised"),
    [
        ("t.ts BETWEEN '2024-01-11' AND '2024-01-12'", True),
        ("TIMESTAMP'2024-01-09 00:00:00' < t.ts", True),
        ("t.ts = TIMESTAMP'2024-01-11 00:00:00'", True),
        ("t.ts >= s.ts", False),
        ("(t.ts >= '2024-01-09' OR s.id = 11)", False),
        ("t.id >= 9", False),
    ],
)
def test_only_what_on_implies_of_a_generated_column_is_advised(shop: Any, on: str, advised: bool) -> None:
    looked = plan(shop, merge(on), rows=0, prune=False)
    assert bool([one for one in looked.advice if one.code == CODE]) is advised


@pytest.mark.parametrize(
    ("generated_as", "growing"),
    [
        ("CAST(ts AS DATE)", True),
        ("year(ts)", True),
        ("date_trunc('HOUR', ts)", True),
        ("trunc(d, 'MONTH')", True),
        ("date_format(ts, 'yyyy-MM')", True),
        ("date_format(ts, 'yyyy-mm')", False),
        ("month(ts)", False),
        ("CAST(ts AS STRING)", False),
    ],
)
def test_a_bound_carries_over_to_what_grows_with_its_column_alone(generated_as: str, growing: bool) -> None:
    assert bool(GROWING.match(generated_as)) is growing


@pytest.mark.thorough
def test_a_base_column_that_is_bounded_in_a_clause_alone_is_no_reason_to_narrow_on(shop: Any) -> None:
    """Narrowing ON would turn the rows outside into inserts."""
    clauses = f"WHEN MATCHED AND {SINCE} THEN DELETE WHEN NOT MATCHED THEN INSERT (id, ts) VALUES (s.id, s.ts)"
    looked = plan(shop, f"MERGE INTO days t USING src s ON t.id = s.id {clauses}", rows=0, prune=False)
    assert not [one for one in looked.advice if one.code == CODE]


def test_with_not_matched_by_source_every_file_is_read_and_the_scan_says_why(shop: Any) -> None:
    looked = plan(shop, merge(SINCE, "WHEN NOT MATCHED BY SOURCE AND t.id = 0 THEN DELETE"), rows=0, prune=False)
    assert (looked.scan.predicates, looked.scan.files_after) == ((), 12)
    assert "NOT MATCHED BY SOURCE" in looked.scan.why
    assert not [one for one in looked.advice if one.code == CODE]


def file_name(path: str) -> str:
    return path.rpartition("/")[2]


def explained(spark: Any, on: str, table: str = "ranges") -> list[tuple[bool, list[str]]]:
    """(kept, evidence) of each file, by its first id; Delta's MERGE keeps the files that are said to be kept."""
    looked = plan(spark, merge(on, "WHEN MATCHED THEN DELETE", table), rows=0, prune=False)
    found = [*explore(spark, table, on.replace("t.", "")).files]
    assert sum(file.kept for file in found) == looked.scan.files_after
    rows = spark.sql(
        f"SELECT _metadata.file_name AS file, min(id) AS first, min(p) AS p FROM {table} GROUP BY 1"
    ).collect()
    of_file = {row.file: row for row in rows}
    for touched in looked.find_touched_files.files:
        assert touched.partition == {"p": str(of_file[file_name(touched.path)].p)}
    ordered = sorted(found, key=lambda file: of_file[file_name(file.path)].first)
    return [(file.kept, [str(one) for one in file.evidence]) for file in ordered]


def test_a_file_is_kept_by_its_bounds_and_one_without_statistics_always(shop: Any) -> None:
    assert explained(shop, "t.id >= 10") == [
        (False, ["skipped by id >= 10: id from 0 to 9"]),
        (True, ["kept by id >= 10: id from 10 to 19"]),
        (True, ["kept by id >= 10: id (no statistics, so it is kept)"]),
    ]


def test_a_partition_value_is_evidence_under_the_name_that_people_know(shop: Any) -> None:
    assert explained(shop, "t.p = 1") == [
        (False, ["skipped by p = 1: p = 0"]),
        (False, ["skipped by p = 1: p = 0"]),
        (True, ["kept by p = 1: p = 1"]),
    ]


def test_each_predicate_has_a_verdict_of_its_own(shop: Any) -> None:
    kept, evidence = explained(shop, "t.id < 10 AND t.p = 1")[0]
    assert not kept
    assert [one.partition(" ")[0] for one in evidence] == ["kept", "skipped"]


@pytest.mark.thorough
def test_a_long_string_is_compared_as_far_as_the_log_keeps_it(shop: Any) -> None:
    """All values share the 32 characters that are kept, so a bound beyond them skips nothing."""
    value = "x" * 39 + "a"
    found = explained(shop, f"t.`long name` < '{value}'")
    assert [kept for kept, _ in found] == [True, True, True]
    assert "1 NULL of 10 rows, cut at 32 characters" in found[0][1][0]


@pytest.mark.thorough
def test_a_timestamp_is_compared_with_the_millisecond_that_the_log_cut_off(shop: Any) -> None:
    """The last row of the first file is 9 µs past the millisecond that its maximum shows."""
    found = explained(shop, "t.at > TIMESTAMP'2024-01-01 00:00:09.000001'")
    assert found[0][0]
    assert "to 2024-01-01T00:00:09.000Z (Delta adds 1 ms to the maximum)" in found[0][1][0]
    assert not explained(shop, "t.at > TIMESTAMP'2024-01-01 00:00:09.002'")[0][0]


@pytest.mark.thorough
def test_bounds_of_a_file_with_a_deletion_vector_may_be_wider_than_its_rows(shop: Any) -> None:
    build_ranges(shop, "marked")
    shop.sql("DELETE FROM marked WHERE id = 9")
    kept, evidence = explained(shop, "t.id >= 9", "marked")[0]
    assert kept
    assert evidence == ["kept by id >= 9: id from 0 to 9 (wider than the live rows: a deletion vector marks some)"]
