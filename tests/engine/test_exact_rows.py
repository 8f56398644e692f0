"""What apply compares tells rows apart that differ in anything: NULLs, microseconds, nested values."""

from __future__ import annotations

from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.merge.prepare_source import source_fingerprint
from engine.model.checks import Checks
from engine.model.errors import EngineError, StalePlanError
from engine.plan_merge import plan
from engine.spark.schema import schema_of
from engine.table.tables import table_rows

PAIRS = {
    "microseconds in a struct": (
        "named_struct('a', TIMESTAMP'2024-01-01 00:00:00.123456')",
        "named_struct('a', TIMESTAMP'2024-01-01 00:00:00.123999')",
    ),
    "microseconds in a list, without a zone": (
        "array(TIMESTAMP_NTZ'2024-01-01 00:00:00.123456')",
        "array(TIMESTAMP_NTZ'2024-01-01 00:00:00.123999')",
    ),
    "microseconds in a map": (
        "map('k', TIMESTAMP'2024-01-01 00:00:00.123456')",
        "map('k', TIMESTAMP'2024-01-01 00:00:00.123999')",
    ),
    "microseconds": ("TIMESTAMP'2024-01-01 00:00:00.123456'", "TIMESTAMP'2024-01-01 00:00:00.123999'"),
    "which field is NULL": ("named_struct('a', 1, 'b', NULL)", "named_struct('a', NULL, 'b', 1)"),
    "the order of a list": ("array(1, 2)", "array(2, 1)"),
    "a zero's sign": ("0.0D", "-0.0D"),
    "a zero's sign in a struct": ("named_struct('a', 0.0D)", "named_struct('a', -0.0D)"),
    "a struct that is NULL": ("CAST(NULL AS STRUCT<a: INT>)", "named_struct('a', CAST(NULL AS INT))"),
    "text that is no UTF-8": ("CAST(X'FF' AS STRING)", "CAST(X'FE' AS STRING)"),
    "text that is no UTF-8 in a list of maps": (
        "array(named_struct('a', map('k', CAST(X'FF' AS STRING))))",
        "array(named_struct('a', map('k', CAST(X'FE' AS STRING))))",
    ),
    "the type of a variant": ("CAST(DATE'2024-01-01' AS VARIANT)", "parse_json('\"2024-01-01\"')"),
    "the type of a variant in a list": (
        "array(CAST(DATE'2024-01-01' AS VARIANT))",
        "array(parse_json('\"2024-01-01\"'))",
    ),
    "a variant that is NULL": ("CAST(NULL AS VARIANT)", "parse_json('null')"),
    "intervals in lists of lists": ("array(array(INTERVAL 1 DAY))", "array(array(INTERVAL 2 DAY))"),
    "bytes": ("named_struct('a', X'00FF')", "named_struct('a', X'00FE')"),
}


def fingerprint(spark: Any, value: str) -> str:
    query = f"SELECT {value} AS v"
    return source_fingerprint(spark, f"({query})", schema_of(spark, query), "s", ())[1]


@pytest.mark.parametrize("pair", PAIRS)
def test_rows_that_differ_have_other_fingerprints(spark: Any, pair: str) -> None:
    one, other = (fingerprint(spark, value) for value in PAIRS[pair])
    assert one != other
    assert one == fingerprint(spark, PAIRS[pair][0])


@pytest.mark.parametrize("pair", ["microseconds", "text that is no UTF-8"])
def test_a_subquery_that_gives_another_value_is_refused(spark: Any, schema: str, pair: str) -> None:
    before, after = PAIRS[pair]
    spark.sql(f"CREATE TABLE t USING delta AS SELECT 1 AS id, {before} AS v")
    spark.sql(f"CREATE TABLE o USING delta AS SELECT {before} AS v")
    sql = "MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = (SELECT max(v) FROM o)"
    merge_plan = plan(spark, sql)
    spark.sql(f"UPDATE o SET v = {after}")
    with pytest.raises(StalePlanError, match="gives something else than when planned"):
        apply(spark, merge_plan)


NO_UTF8 = "CAST(X'C3FF41' AS STRING)"


@pytest.mark.parametrize("rows", [1, 2], ids=["matched once", "matched twice"])
def test_keys_that_are_no_utf8_are_merged_and_shown(spark: Any, schema: str, rows: int) -> None:
    spark.sql(f"CREATE TABLE t USING delta AS SELECT {NO_UTF8} AS k, 'old' AS v UNION ALL SELECT 'zz', 'old'")
    source = " UNION ALL ".join(f"SELECT {NO_UTF8} AS k, 'new {n}' AS v" for n in range(rows))
    found = plan(
        spark,
        f"MERGE INTO t USING ({source}) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v",
        rows=5,
        checks=Checks(),
        changes=True,
    )
    if rows > 1:
        assert found.refused is not None
        assert found.find_touched_files.conflicts.keys[0].key == {"k": "\ufffd\ufffdA"}
        return
    assert apply(spark, found).kept
    assert [row[0] for row in spark.sql("SELECT hex(k) FROM t WHERE v = 'new 0'").collect()] == ["C3FF41"]
    assert ("\ufffd\ufffdA", "new 0") in [tuple(row) for row in table_rows(spark, "t").rows]


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_column_with_a_name_of_our_queries_is_refused_by_name(spark: Any, schema: str, side: str) -> None:
    ours, other = ("__dm_insert", "x") if side == "source" else ("x", "__DM_Insert")
    spark.sql(f"CREATE TABLE t USING delta AS SELECT 1 AS id, 'a' AS {other}")
    sql = f"MERGE INTO t USING (SELECT 1 AS id, 'b' AS {ours}) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET id = s.id"
    with pytest.raises(EngineError, match="this program's own queries") as told:
        plan(spark, sql)
    assert told.value.condition == "RESERVED_COLUMN_NAME"


def test_a_bound_in_the_log_that_is_no_utf8_hides_no_file(spark: Any, schema: str) -> None:
    # such bytes stand in the log as U+FFFD, which is greater than the é that the source's keys end with
    spark.sql("CREATE TABLE t (k STRING, v STRING) USING delta")
    spark.sql("INSERT INTO t SELECT /*+ COALESCE(1) */ * FROM VALUES ('é', 'old'), (CAST(X'C341' AS STRING), 'old')")
    spark.sql("INSERT INTO t VALUES ('a', 'old')")
    spark.sql("CREATE TABLE s USING delta AS SELECT k, 'new' AS v FROM t")
    merge = "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
    found = plan(spark, merge)
    assert found.promise["numTargetRowsUpdated"] == 3
    assert apply(spark, found).kept
    assert spark.sql("SELECT count(*), count_if(v = 'new') FROM t").collect()[0][:] == (3, 3)
