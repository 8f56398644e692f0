"""The scan explorer leaves the files that the same read leaves, and says why: row by row of PrepareDeltaScanBase."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.explore.scan_explorer import NO_SKIPPING, explore, explore_query, is_query
from engine.model.errors import EngineError
from tests.conftest import own_schema

TABLES = {
    "plain": "(k INT, v STRING, ts TIMESTAMP, n DOUBLE) USING delta",
    "parted": "(k INT, v STRING, ts TIMESTAMP, n DOUBLE) USING delta PARTITIONED BY (v)",
    "generated": "(k INT, v STRING, ts TIMESTAMP, n DOUBLE, d DATE GENERATED ALWAYS AS (CAST(ts AS DATE))) USING delta "
    "PARTITIONED BY (d)",
    "mapped": "(k INT, v STRING, ts TIMESTAMP, n DOUBLE) USING delta "
    "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    "no_stats": "(k INT, v STRING, ts TIMESTAMP, n DOUBLE) USING delta "
    "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '1')",
}
QUICK = ("k < 15", "v = 'b' AND k > 25", "ts >= '2024-01-03 12:00:00'", "n IS NULL OR k = 7", "abs(k) < 5")
PREDICATES = (
    *QUICK,
    *("k = 11", "k IN (1, 35)", "NOT (k < 30)", "k BETWEEN 8 AND 12", "k <=> 20", "k IS NULL", "k IS NOT NULL"),
    *("v LIKE 'a%'", "v > 'b'", "v IN ('a', 'c')", "v IS NULL", "ts < '2024-01-02'", "ts = '2024-01-02 05:00:00'"),
    *("date(ts) = '2024-01-02'", "n > 30", "n = 0 AND v = 'a'", "k % 2 = 0", "true", "false", "k + 1 = 5", "k = n"),
    *("(k < 5 AND v = 'a') OR (k > 35 AND v = 'd')", "v = 'a' OR k > 38", "year(ts) = 2024 AND k < 9"),
    *("ts IS NULL", "ts < '2024-01-02' AND k < 5"),
    *("coalesce(v, 'x') = 'x'", "k > (SELECT 30)"),
)


def make(spark: Any, name: str) -> None:
    """A table of 40 rows in four files or more: k rises with the file, v changes every ten rows, n has NULLs."""
    spark.sql(f"CREATE TABLE {name} {TABLES[name]}").collect()
    for start in (0, 10, 20, 30):
        spark.sql(
            f"INSERT INTO {name} (k, v, ts, n) SELECT /*+ COALESCE(1) */ CAST(id AS INT), "
            "substring('abcd', CAST(id DIV 10 AS INT) + 1, 1), "
            "timestamp'2024-01-01' + make_interval(0, 0, 0, 0, id * 3), "
            f"IF(id < 20, id, NULL) FROM range({start}, {start + 10})"
        ).collect()


@pytest.fixture(scope="module")
def made(spark: Any) -> Iterator[str]:
    """The schema of the tables of the short tests, made once."""
    with own_schema(spark) as name:
        for table in ("plain", "parted", "generated"):
            make(spark, table)
        yield name


@pytest.fixture
def tables(spark: Any, made: str) -> None:
    spark.sql(f"USE {made}")


def check(spark: Any, table: str, predicate: str) -> None:
    found = explore(spark, table, predicate)
    read = spark.sql(f"SELECT * FROM {table} WHERE {predicate}")
    kept = {path.rpartition("/")[2] for path in read.inputFiles()}
    told = {one.path.rpartition("/")[2] for one in found.files if one.kept}
    assert told == kept
    assert found.after_statistics.files == len(kept)
    assert found.before.files >= found.after_partitions.files >= found.after_statistics.files
    assert len(found.pruned) == found.before.files - found.after_partitions.files
    assert not found.pruned & {one.path for one in found.files if one.kept}
    # no row is lost: what holds one that the predicate takes is kept
    holding = spark.sql(f"SELECT DISTINCT _metadata.file_name FROM {table} WHERE {predicate}").collect()
    assert {row[0] for row in holding} <= kept
    for one in found.files:
        # a file that one conjunct skips is skipped
        assert not one.kept or all(evidence.kept for evidence in one.evidence)


def test_the_files_are_those_of_the_same_read(spark: Any, tables: None) -> None:
    for predicate in (*QUICK[1:4], "true"):
        check(spark, "generated", predicate)


@pytest.mark.thorough
@pytest.mark.parametrize("table", TABLES)
def test_the_files_are_those_of_the_same_read_for_many_predicates(spark: Any, schema: str, table: str) -> None:
    make(spark, table)
    for predicate in PREDICATES:
        check(spark, table, predicate)


def test_filters_on_partitions_are_generated_and_why_is_told(spark: Any, tables: None) -> None:
    found = explore(spark, "generated", "ts >= '2024-01-03 12:00:00' AND k < 32")
    assert found.generated == ("((d >= 2024-01-03) OR isnull((d >= 2024-01-03)))",)
    assert found.after_partitions.files < found.before.files
    assert found.after_statistics.files < found.after_partitions.files
    skipped = next(one for one in found.files if one.evidence[0].kept and not one.kept)
    assert str(skipped.evidence[1]).startswith("skipped by k < 32: k from 32 to 39")
    spark.conf.set("spark.databricks.delta.generatedColumn.partitionFilterOptimization.enabled", "false")
    try:
        assert explore(spark, "generated", "ts >= '2024-01-03 12:00:00'").generated == ()
    finally:
        spark.conf.unset("spark.databricks.delta.generatedColumn.partitionFilterOptimization.enabled")


MONTHS = "y INT GENERATED ALWAYS AS (year(ts)), m INT GENERATED ALWAYS AS (month(ts))"
MONTH = "m STRING GENERATED ALWAYS AS (date_format(ts, 'yyyy-MM'))"


def make_months(spark: Any, name: str, generated: str) -> None:
    """A table of a file for each of three months, and one for a time that is NULL, partitioned by the months."""
    by = ", ".join(column.strip().split(" ")[0] for column in generated.split("), "))
    columns = f"(k INT, ts TIMESTAMP, {generated})"
    spark.sql(f"CREATE TABLE {name} {columns} USING delta PARTITIONED BY ({by})").collect()
    for at, time in enumerate(("NULL", "'2023-12-05'", "'2024-01-05'", "'2024-02-05'")):
        spark.sql(f"INSERT INTO {name} (k, ts) SELECT {at}, CAST({time} AS TIMESTAMP)").collect()


@pytest.mark.parametrize(
    ("generated", "predicate", "sizes", "skipped_by_statistics"),
    [
        ("d DATE GENERATED ALWAYS AS (CAST(ts AS DATE))", "ts >= '2024-01-05'", (4, 3, 2), ["NULL"]),
        ("d DATE GENERATED ALWAYS AS (CAST(ts AS DATE))", "ts IS NULL", (4, 1, 1), []),
        # several columns together do not keep NULL
        (MONTHS, "ts >= '2024-01-05'", (4, 2, 2), []),
        ("kk INT GENERATED ALWAYS AS (k)", "k > 1", (4, 2, 2), []),
    ],
)
def test_the_partition_of_null_is_kept_where_the_derived_filter_keeps_it(
    spark: Any, schema: str, generated: str, predicate: str, sizes: tuple[int, ...], skipped_by_statistics: list[str]
) -> None:
    make_months(spark, "months", generated)
    found = explore(spark, "months", predicate)
    assert (found.before.files, found.after_partitions.files, found.after_statistics.files) == sizes
    assert (len(found.generated), found.unasked) == (1, ())
    by_statistics = [one for one in found.files if not one.kept and one.path not in found.pruned]
    assert len(by_statistics) == len(skipped_by_statistics)
    assert all("ts (only NULLs)" in str(one.evidence[0]) for one in by_statistics)
    assert found.derived == found.pruned
    check(spark, "months", predicate)


def test_what_a_derived_filter_leaves_is_unknown_where_delta_cannot_be_asked_for_it(spark: Any, schema: str) -> None:
    make_months(spark, "months", MONTH)
    found = explore(spark, "months", "ts >= '2024-01-05'")
    assert found.unasked == found.generated != ()
    assert found.after_partitions.files >= found.after_statistics.files == 2


def test_what_is_typed_of_a_partition_is_not_derived(spark: Any, schema: str) -> None:
    """A year may be derived of a day that is a partition itself."""
    columns = "(k INT, d DATE, y INT GENERATED ALWAYS AS (year(d)))"
    spark.sql(f"CREATE TABLE years {columns} USING delta PARTITIONED BY (d, y)").collect()
    spark.sql("INSERT INTO years (k, d) VALUES (1, DATE'2023-01-01'), (2, DATE'2024-01-01')").collect()
    found = explore(spark, "years", "d >= '2024-01-01'")
    assert (len(found.generated), len(found.pruned), found.derived) == (1, 1, frozenset())


def test_the_filters_of_a_subquery_are_not_those_of_the_table(spark: Any, tables: None) -> None:
    inner = "SELECT max(k) FROM generated WHERE ts >= '2024-01-04'"
    found = explore(spark, "generated", f"k < ({inner}) AND ts >= '2024-01-02'")
    assert found.generated == ("((d >= 2024-01-02) OR isnull((d >= 2024-01-02)))",)


def test_with_stats_skipping_off_the_rule_does_not_apply(spark: Any, tables: None) -> None:
    spark.conf.set("spark.databricks.delta.stats.skipping", "false")
    try:
        found = explore(spark, "plain", "k < 15")
    finally:
        spark.conf.unset("spark.databricks.delta.stats.skipping")
    assert found.note == NO_SKIPPING
    assert found.after_statistics.files == found.before.files == 4


def test_a_query_has_an_entry_for_each_scan_and_equal_ones_share_it(spark: Any, tables: None) -> None:
    found = explore_query(
        spark,
        "SELECT * FROM plain WHERE k < 5 UNION ALL SELECT * FROM plain WHERE k < 5 "
        "UNION ALL SELECT * FROM parted WHERE v = 'c'",
    )
    by_table = {one.table.rpartition(".")[2]: one for one in found}
    assert set(by_table) == {"plain", "parted"}
    assert (by_table["plain"].times, by_table["plain"].version, by_table["plain"].accuracy) == (2, 4, "exact")
    assert by_table["plain"].after.files == 1
    assert by_table["plain"].filters == ("isnotnull(k)", "(k < 5)")
    assert by_table["parted"].after.files == 1
    assert by_table["parted"].filters == ("isnotnull(v)", "(v = c)")


def test_scans_of_a_table_that_differ_are_told_together(spark: Any, tables: None) -> None:
    found = explore_query(spark, "SELECT * FROM plain WHERE k < 5 UNION ALL SELECT * FROM plain WHERE k > 35")
    assert [(one.accuracy, one.after.files) for one in found] == [("estimated", 2), ("estimated", 2)]


def test_the_scan_in_a_subquery_is_prepared_with_its_query(spark: Any, tables: None) -> None:
    found = explore_query(spark, "SELECT * FROM plain WHERE k < (SELECT max(k) FROM parted WHERE v = 'a')")
    plain, parted = sorted(found, key=lambda one: one.table, reverse=True)
    # what a subquery gives is not known when files are skipped, and Spark tells no files of the subquery itself
    assert (plain.accuracy, plain.after.files if plain.after else None) == ("exact", 4)
    assert (parted.accuracy, parted.after, parted.filters) == ("unknown", None, ("isnotnull(v)", "(v = a)"))
    assert parted.before is not None


@pytest.mark.parametrize("write", ["INSERT INTO plain SELECT * FROM plain", "DELETE FROM plain", "DROP TABLE plain"])
def test_a_write_is_no_query_and_is_not_run(spark: Any, tables: None, write: str) -> None:
    with pytest.raises(EngineError) as caught:
        explore_query(spark, write)
    assert caught.value.condition == "PARSE_SYNTAX_ERROR"
    assert spark.sql("DESCRIBE HISTORY plain").count() == 5


def test_the_limit_of_files_for_scan_is_not_used(spark: Any, tables: None) -> None:
    (limited,) = explore_query(spark, "SELECT * FROM plain WHERE k < 15 LIMIT 1")
    (whole,) = explore_query(spark, "SELECT * FROM plain WHERE k < 15")
    assert limited.after == whole.after
    assert whole.after
    assert whole.after.files == 2


def test_one_version_of_a_table_is_pinned_for_a_query(spark: Any, tables: None) -> None:
    found = explore_query(spark, "SELECT * FROM plain AS a JOIN plain AS b ON a.k = b.k WHERE a.n = 1 AND b.v = 'b'")
    assert [one.version for one in found] == [4, 4]


def test_partition_filters_are_extracted_before_the_index_is_prepared(spark: Any, tables: None) -> None:
    # "Partition filters should have been extracted by DeltaAnalysis": getPreparedIndex asserts it, on any read
    found = explore(spark, "parted", "v = 'c' AND k = 21")
    assert (found.after_partitions.files, found.after_statistics.files) == (1, 1)
    (scan,) = explore_query(spark, "SELECT * FROM (SELECT * FROM parted WHERE v = 'c') WHERE k = 21")
    assert scan.after.files == 1
    assert set(scan.filters) == {"isnotnull(v)", "(v = c)", "isnotnull(k)", "(k = 21)"}


def test_a_version_of_the_past_is_explored_as_it_was(spark: Any, tables: None) -> None:
    found = explore(spark, "plain", "k < 15", version=1)
    assert (found.version, found.before.files, found.after_statistics.files) == (1, 1, 1)


def test_what_is_no_predicate_is_refused_in_sparks_words(spark: Any, tables: None) -> None:
    with pytest.raises(EngineError) as caught:
        explore(spark, "plain", "nosuch = 1")
    assert caught.value.condition == "UNRESOLVED_COLUMN.WITH_SUGGESTION"


@pytest.mark.parametrize(
    ("typed", "condition", "said"),
    [
        ("k =", "PARSE_SYNTAX_ERROR", "at the end: expected an expression"),
        ("k = 1 ORDER BY k", "PARSE_SYNTAX_ERROR", "near 'ORDER'"),
        ("(k = 1", "PARSE_SYNTAX_ERROR", "near '('"),
        ("n = 1 OR k", "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES", '"((n = 1) OR k)"'),
        ("n = 1 AND k", "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", 'Cannot resolve "k"'),
        ("SELECT k FROM plain WHERE n =", "PARSE_SYNTAX_ERROR", "near end of input"),
        ("SELECT\n nosuch FROM plain", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "`nosuch`"),
    ],
)
def test_an_error_names_nothing_but_what_was_typed(
    spark: Any, tables: None, typed: str, condition: str, said: str
) -> None:
    with pytest.raises(EngineError) as caught:
        explore_query(spark, typed) if is_query(typed) else explore(spark, "plain", typed)
    assert caught.value.condition == condition
    assert said in caught.value.message
    assert not [ours for ours in ("'AND'", "')'", "true") if ours in caught.value.message]
    assert caught.value.counted_in in ("", typed), "its place is one in that"


@pytest.mark.parametrize(
    ("typed", "column"), [("nosuch = 1", 1), ("k = 1 AND (nosuch = 1)", 12), ("k = 1 AND n >", 14), ("k = 1 ORDER", 7)]
)
def test_an_error_has_its_place_in_the_predicate(spark: Any, tables: None, typed: str, column: int) -> None:
    with pytest.raises(EngineError) as caught:
        explore(spark, "plain", typed)
    assert (caught.value.line, caught.value.column) == (1, column)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("view", "version"),
    [
        ("SELECT * FROM plain", 4),
        ("SELECT * FROM plain VERSION AS OF 1", None),
        ("SELECT * FROM inner_view", None),
        ("SELECT * FROM delta.`{path}@v1`", None),
    ],
)
def test_a_view_may_read_another_version(spark: Any, tables: None, view: str, version: int | None) -> None:
    path = spark.sql("DESCRIBE DETAIL plain").collect()[0]["location"].removeprefix("file:")
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW inner_view AS SELECT * FROM plain VERSION AS OF 2")
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW seen AS {view.format(path=path)}")
    (scan,) = explore_query(spark, "SELECT * FROM seen")
    assert (scan.version, scan.before is None) == (version, version is None)
    assert scan.accuracy == ("estimated" if version is None else "exact")
