"""Bounds in the log that another writer rounded, cut off or left out: no row is missed, and no promise broken."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from engine.commit.staleness import first_match
from engine.explore.changes import changes
from engine.explore.find_key import find_key
from engine.explore.layout_advice import no_statistics
from engine.explore.skipping import facts
from engine.merge.derive_conjuncts import ODD_BOUND
from engine.merge.exact_statistics import why_not_exact
from engine.model.browse import Column
from engine.plan_merge import plan
from engine.table.commits import commits
from engine.table.delta_log import list_files
from engine.table.log_file import LogFile
from engine.table.logged_schema import LoggedColumn, logical_names
from tests.conftest import own_schema
from tests.engine.logs_of_others import (
    UPSERT,
    Stats,
    copy_of,
    derived,
    edited,
    name_of,
    same_as_typed,
    with_stats,
    write_delta_rs,
)
from tests.engine.some import some

UTC = dt.timezone.utc
LONG = "x" * 70
# column: its Arrow type, the keys of two files, the SQL type and a key of the first file as SQL
LISTED: dict[str, tuple[Any, tuple[Any, Any], tuple[Any, Any], str]] = {
    "i8": (pa.int8(), (-128, 0), (1, 127), "CAST(-128 AS TINYINT)"),
    "i16": (pa.int16(), (-32768, 0), (1, 32767), "CAST(-32768 AS SMALLINT)"),
    "i32": (pa.int32(), (-(2**31), 0), (1, 2**31 - 1), "CAST(-2147483648 AS INT)"),
    "i64": (pa.int64(), (2**53 + 1, 2**53 + 3), (2**53 + 5, 2**63 - 1), "9007199254740995L"),
    "d": (
        pa.date32(),
        (dt.date(1582, 10, 15), dt.date(2023, 12, 31)),
        (dt.date(2024, 1, 1), dt.date(9999, 12, 31)),
        "DATE'1582-10-15'",
    ),
    "at": (
        pa.timestamp("us", "UTC"),
        (dt.datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), dt.datetime(2024, 1, 1, 0, 0, 0, 999999, UTC)),
        (dt.datetime(2024, 1, 1, 0, 0, 5, 1, UTC), dt.datetime(2025, 1, 1, 0, 0, 0, 1, UTC)),
        "timestamp_micros(1704067200999999L)",
    ),
    "s": (pa.string(), ("a", f"{LONG}a"), (f"y{LONG}b", f"y{LONG}\U0010ffff"), "repeat('x', 70) || 'a'"),
    "b": (pa.bool_(), (False, False), (True, True), "false"),
    "dec15": (
        pa.decimal128(15, 2),
        (Decimal("-9999999999999.99"), Decimal("1234567890123.45")),
        (Decimal("1234567890123.46"), Decimal("9999999999999.99")),
        "CAST('1234567890123.45' AS DECIMAL(15, 2))",
    ),
    "dec15_15": (
        pa.decimal128(15, 15),
        (Decimal("-0.999999999999999"), Decimal("0.000000000000001")),
        (Decimal("0.000000000000002"), Decimal("0.999999999999999")),
        "CAST('0.000000000000001' AS DECIMAL(15, 15))",
    ),
}
UNLISTED: dict[str, tuple[Any, tuple[Any, Any], tuple[Any, Any], str]] = {
    "dec20": (
        pa.decimal128(20, 0),
        (Decimal("12345678901234567891"), Decimal("12345678901234567892")),
        (Decimal("12345678901234567893"), Decimal("12345678901234567894")),
        "CAST('12345678901234567891' AS DECIMAL(20, 0))",
    ),
    "dec38": (
        pa.decimal128(38, 0),
        (Decimal("12345678901234567890123"), Decimal("12345678901234567890124")),
        (Decimal("12345678901234567890125"), Decimal("12345678901234567890126")),
        "CAST('12345678901234567890123' AS DECIMAL(38, 0))",
    ),
    "dec18": (
        pa.decimal128(18, 2),
        (Decimal("1234567890123456.45"), Decimal("1234567890123456.46")),
        (Decimal("1234567890123456.47"), Decimal("9999999999999999.99")),
        "CAST('1234567890123456.45' AS DECIMAL(18, 2))",
    ),
    "f64": (pa.float64(), (-0.0, math.nan), (0.5, 1.0), "CAST('NaN' AS DOUBLE)"),
    "f32": (pa.float32(), (-0.0, math.nan), (0.5, 1.0), "CAST(0 AS FLOAT)"),
    "bin": (pa.binary(), (b"\x00", b"\xff"), (b"\xff\x00", b"\xff\xff"), "X'FF'"),
    "local": (
        pa.timestamp("us"),
        (dt.datetime(2024, 1, 1, 0, 0, 0, 1), dt.datetime(2024, 1, 1, 0, 0, 0, 999999)),
        (dt.datetime(2024, 1, 1, 0, 0, 5, 1), dt.datetime(2025, 1, 1)),
        "TIMESTAMP_NTZ'2024-01-01 00:00:00.999999'",
    ),
}


@pytest.fixture(scope="module")
def others(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Path]]:
    """The session in a schema of its own, and a table of delta-rs with a column of each type, in two files."""
    path = tmp_path_factory.mktemp("others") / "rs"
    columns = {**LISTED, **UNLISTED}
    files = [{"v": ["old", "old"], **{name: column[at] for name, column in columns.items()}} for at in (1, 2)]
    write_delta_rs(path, {"v": pa.string(), **{name: column[0] for name, column in columns.items()}}, files)
    with own_schema(spark):
        yield spark, path


def a_source(spark: Any, column: str, key: str) -> str:
    name = f"src_{column}"
    spark.sql(
        f"CREATE OR REPLACE TABLE {name} USING delta AS SELECT {key} AS {column}, 'new' AS v "
        f"UNION ALL SELECT NULL, 'none'"
    )
    return name


INSERT_ONE = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT ({0}, v) VALUES (s.{0}, s.v)"


@pytest.mark.parametrize("column", some(LISTED, ("i64", "at", "s", "dec15")))
def test_keys_of_the_listed_types_skip_files_of_delta_rs_and_miss_no_row(others: tuple[Any, Path], column: str) -> None:
    spark, path = others
    source = a_source(spark, column, LISTED[column][3])
    looked = same_as_typed(spark, path, f"t.{column} = s.{column}", source, INSERT_ONE.format(column))
    assert looked.promise["numTargetRowsInserted"] == 1
    assert derived(looked)[0].startswith(f"t.{column} ")
    # Delta keeps no bounds of booleans
    assert looked.scan.files_after == (2 if column == "b" else 1)


@pytest.mark.parametrize("column", some(UNLISTED, ("dec20", "dec38")))
def test_nothing_is_derived_from_keys_of_other_types(others: tuple[Any, Path], column: str) -> None:
    spark, path = others
    source = a_source(spark, column, UNLISTED[column][3])
    looked = same_as_typed(spark, path, f"t.{column} = s.{column}", source, INSERT_ONE.format(column))
    (why,) = derived(looked)
    assert why in (why_not_exact(why.partition(" ")[0]), f"{why.partition(' ')[0]} {why.partition(' ')[2]}")
    assert looked.scan.files_after == 2
    # skipping by what delta-rs wrote of decimals misses the row, which is why nothing is derived
    if column.startswith("dec"):
        with_it = plan(spark, f"MERGE INTO {name_of(copy_of(path))} t USING {source} s ON t.{column} = s.{column} AND "
                       f"t.{column} = {UNLISTED[column][3]} {INSERT_ONE.format(column)}", rows=0)  # fmt: skip
        assert with_it.promise["numTargetRowsInserted"] == 2


CLAUSES = {
    "upsert": INSERT_ONE,
    "insert": "WHEN NOT MATCHED THEN INSERT ({0}, v) VALUES (s.{0}, s.v)",
    "delete": "WHEN MATCHED AND t.v = 'old' THEN DELETE",
    "by source": "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED BY SOURCE THEN DELETE",
}


@pytest.mark.parametrize("clauses", some(CLAUSES, ("insert",)))
def test_the_preview_infers_nothing_from_the_source_that_rounded_bounds_deny(
    others: tuple[Any, Path], clauses: str
) -> None:
    """The checkpoint of a filtered source carries its filter, which Spark puts on the target of a join as well."""
    spark, path = others
    key = UNLISTED["dec38"][3]
    source = f"(SELECT * FROM {a_source(spark, 'dec38', key)} WHERE dec38 = {key})"
    looked = same_as_typed(spark, path, "t.dec38 = s.dec38", source, CLAUSES[clauses].format("dec38"), sampled=2)
    assert looked.promise["numTargetRowsInserted"] == 0
    # samples show every column, bytes that are no text among them
    assert {sample.before["bin"] for sample in looked.samples if sample.before} <= {"00", "FF", "FF00", "FFFF"}


@pytest.mark.parametrize("clauses", some(CLAUSES, ("upsert",)))
def test_what_the_operator_writes_skips_as_delta_skips(others: tuple[Any, Path], clauses: str) -> None:
    """Rounded bounds make Delta miss the row: the plan promises just that."""
    spark, path = others
    key = UNLISTED["dec18"][3]
    on = f"t.dec18 = s.dec18 AND t.dec18 = {key}"
    looked = same_as_typed(spark, path, on, a_source(spark, "dec18", key), CLAUSES[clauses].format("dec18"))
    # the other file's greatest value is rounded to one of too many digits, which Delta takes for none
    assert looked.scan.files_after == (2 if clauses == "by source" else 1)


def test_rows_that_came_since_are_compared_whatever_the_bounds_of_their_files_say(
    others: tuple[Any, Path], tmp_path: Path
) -> None:
    spark, _ = others
    table = tmp_path / "t"
    type_, (first, _), (second, _), key = UNLISTED["dec38"]
    write_delta_rs(table, {"dec38": type_, "v": pa.string()}, [{"dec38": [second], "v": ["a"]}])
    source = f"(SELECT * FROM {a_source(spark, 'dec38', key)} WHERE dec38 = {key})"
    looked = plan(spark, f"MERGE INTO {name_of(table)} t USING {source} s ON t.dec38 = s.dec38 {UPSERT}", rows=0)
    write_delta_rs(table, {"dec38": type_, "v": pa.string()}, [{"dec38": [first], "v": ["b"]}])
    assert (found := first_match(spark, looked, 1, list_files(spark, looked.target.path, 1)))
    assert spark.sql(f"SELECT v FROM parquet.`{table / found.path}`").collect()[0][0] == "b"


# what a hand has made of the statistics: of all columns, or of one whose name it is given
EDITS: dict[str, Callable[[Stats, str], Stats | str | None]] = {
    "none": lambda _stats, _column: None,
    "empty": lambda _stats, _column: {},
    "no JSON": lambda _stats, _column: '{"numRecords":2,"minValues":{',
    "no numRecords": lambda stats, _column: {k: v for k, v in stats.items() if k != "numRecords"},
    "no nullCount": lambda stats, _column: {k: v for k, v in stats.items() if k != "nullCount"},
    "no minValues": lambda stats, _column: {k: v for k, v in stats.items() if k != "minValues"},
    "no maxValues": lambda stats, _column: {k: v for k, v in stats.items() if k != "maxValues"},
    "none of the column": lambda stats, column: {
        k: {name: one for name, one in v.items() if name != column} if isinstance(v, dict) else v
        for k, v in stats.items()
    },
    "NULL bounds": lambda stats, column: of_column(stats, column, lambda _: None),
    "another type": lambda stats, column: of_column(stats, column, other_type),
    "text of the count": lambda stats, _column: {**stats, "numRecords": str(stats["numRecords"])},
    "one file only": lambda stats, _column: stats if stats["minValues"]["i64"] == 2**53 + 1 else None,
    "the other file only": lambda stats, _column: None if stats["minValues"]["i64"] == 2**53 + 1 else stats,
    "wide": lambda stats, _column: {**stats, "tightBounds": False},
    "cut": lambda stats, column: of_column(stats, column, cut),
}


def of_column(stats: Stats, column: str, change: Callable[[Any], Any]) -> Stats:
    bounds = {k: {**stats[k], column: change(stats[k].get(column))} for k in ("minValues", "maxValues")}
    return {**stats, **bounds}


def other_type(value: Any) -> Any:
    return str(value) if isinstance(value, (int, float)) else {"text": value}


def cut(value: Any) -> Any:
    """As a writer might that keeps 32 characters of texts and whole seconds, and makes no maximum greater."""
    if isinstance(value, str):
        return f"{value[:19]}Z" if value.endswith("Z") and "T" in value else value[:32]
    return value


PAIRS = {f"{edit} {column}": (edit, column) for edit in EDITS for column in ("i64", "d", "at", "s", "dec15")}


@pytest.mark.parametrize(
    "pair", some(PAIRS, ("cut s", "cut at", "another type i64", "another type s", "no numRecords s", "none d"))
)
def test_statistics_that_lack_something_keep_their_files(others: tuple[Any, Path], pair: str) -> None:
    spark, path = others
    edit, column = PAIRS[pair]
    table = with_stats(path, lambda stats: EDITS[edit](stats, column))
    source = a_source(spark, column, LISTED[column][3])
    looked = same_as_typed(spark, table, f"t.{column} = s.{column}", source, INSERT_ONE.format(column))
    assert looked.promise["numTargetRowsUpdated"] == 1


ODD_BOUNDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "an object for a text": ("s", lambda value: {"text": value}),
    "a number for a text": ("s", lambda _: 7),
    "a number with a point for a text": ("s", lambda _: 0.5),
    "milliseconds for a time": ("at", lambda _: 1_704_067_200_999),
}


@pytest.mark.parametrize("clauses", some(CLAUSES, ("upsert",)))
@pytest.mark.parametrize("bound", some(ODD_BOUNDS, ("an object for a text", "milliseconds for a time")))
def test_a_bound_that_is_no_text_skips_no_file_by_a_key(others: tuple[Any, Path], bound: str, clauses: str) -> None:
    """Nor in the preview, where Spark puts the filter of the source on the target of a join as well."""
    spark, path = others
    column, change = ODD_BOUNDS[bound]
    table = with_stats(path, lambda stats: of_column(stats, column, change))
    key = LISTED[column][3]
    source = f"(SELECT * FROM {a_source(spark, column, key)} WHERE {column} = {key})"
    looked = same_as_typed(spark, table, f"t.{column} = s.{column}", source, CLAUSES[clauses].format(column))
    assert looked.scan.files_after == 2
    assert clauses == "by source" or derived(looked) == [ODD_BOUND]


PARTITIONS: dict[str, tuple[str, list[str | None], str]] = {
    "int": ("INT", ["007", "8", "", None], "(7), (8), (9)"),
    "int, not one": ("INT", ["7.0", "8"], "(7), (8)"),
    "string": (
        "STRING",
        ["", "%41", "a/b", "a ", None],
        "(''), ('__HIVE_DEFAULT_PARTITION__'), ('%41'), ('A'), ('a/b'), ('a')",
    ),
    "date": ("DATE", ["2024-1-5", "2024-01-06T00:00:00", "1500-01-01"], "('2024-01-05'), ('2024-01-06')"),
    "date, not one": ("DATE", ["20240107", "2024-01-08"], "('2024-01-07'), ('2024-01-08')"),
    "timestamp": (
        "TIMESTAMP",
        ["2024-01-01T00:00:00Z", "2024-01-02 00:00:00", "2024-01-03T00:00:00.000001Z", "2024-01-04 00:00:00+02:00"],
        "('2024-01-01'), ('2024-01-02'), ('2024-01-03 00:00:00.000001'), ('2024-01-03 22:00:00')",
    ),
    "decimal": ("DECIMAL(10, 2)", ["1.5", "2.50", "3.505", "4e0", "05.00"], "(1.5), (2.5), (3.51), (4), (5)"),
    "boolean": ("BOOLEAN", ["TRUE", "false", "t"], "(true), (NULL)"),
}


@pytest.mark.parametrize("of", some(PARTITIONS, ("int", "string")))
def test_partition_values_of_another_hand_are_what_a_merge_reads(
    others: tuple[Any, Path], tmp_path: Path, of: str
) -> None:
    spark, _ = others
    type_, values, keys = PARTITIONS[of]
    table = tmp_path / "t"
    spark.sql(f"CREATE TABLE {name_of(table)} (k {type_}, v STRING) USING delta PARTITIONED BY (k)")
    for at in range(len(values)):
        spark.sql(f"INSERT INTO {name_of(table)} SELECT NULL, 'old{at}'")
    written = iter(values)
    odd = edited(table, lambda add: add["partitionValues"].update(k=next(written)))
    spark.sql(f"CREATE OR REPLACE TABLE src_k USING delta AS SELECT CAST(k AS {type_}) AS k, 'new' AS v "
              f"FROM VALUES {keys} AS x(k)")  # fmt: skip
    same_as_typed(spark, odd, "t.k = s.k", "src_k", sampled=2)


def test_later_questions_read_partition_values_as_the_merge_does(others: tuple[Any, Path], tmp_path: Path) -> None:
    spark, _ = others
    table = name_of(tmp_path / "t")
    spark.sql(f"CREATE TABLE {table} (k INT, v STRING) USING delta PARTITIONED BY (k)")
    for at in range(2):
        spark.sql(f"INSERT INTO {table} SELECT NULL, 'old{at}'")
    written = iter(("7.0", "8"))
    odd = name_of(edited(tmp_path / "t", lambda add: add["partitionValues"].update(k=next(written))))
    spark.sql("CREATE OR REPLACE TABLE src_k USING delta AS SELECT * FROM VALUES (7, 'new'), (8, 'new') AS x(k, v)")
    looked = plan(spark, f"MERGE INTO {odd} t USING src_k s ON t.k = s.k {UPSERT}", changes=True)
    assert looked.changes is not None
    assert looked.changes.updated == looked.promise["numTargetRowsUpdated"] == 2
    assert changes(spark, looked.model_copy(update={"changes": None})) == looked.changes
    assert [one.kind for one in find_key(spark, looked, "t.v = 'old1'").rows][:1] == ["matched"]


VECTORS = ("without", "with", "with some already")
DELETES = {
    "all": "WHEN MATCHED THEN DELETE",
    "some": "WHEN MATCHED AND t.id < 5 THEN DELETE",
    "all by source": "WHEN NOT MATCHED BY SOURCE THEN DELETE",
    "update": "WHEN MATCHED THEN UPDATE SET v = s.v",
    "both": "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *",
}
CASES = {f"{vectors}: {clauses}": (vectors, clauses) for vectors in VECTORS for clauses in DELETES}


@pytest.mark.parametrize("case", some(CASES, ("with: all", "with some already: all", "without: all")))
def test_deletes_in_files_without_statistics_are_promised_as_committed(
    others: tuple[Any, Path], tmp_path: Path, case: str
) -> None:
    spark, _ = others
    vectors, clauses = CASES[case]
    table = tmp_path / "t"
    spark.sql(f"CREATE TABLE {name_of(table)} (id BIGINT, v STRING) USING delta "
              f"TBLPROPERTIES ('delta.enableDeletionVectors' = '{str(vectors != 'without').lower()}')")  # fmt: skip
    for first in (0, 10):
        spark.sql(f"INSERT INTO {name_of(table)} SELECT id, 'old' FROM range({first}, {first + 10}, 1, 1)")
    if vectors == "with some already":
        spark.sql(f"DELETE FROM {name_of(table)} WHERE id = 3")
    spark.sql("CREATE OR REPLACE TABLE src_id USING delta AS SELECT id, 'new' AS v FROM range(10)")
    looked = same_as_typed(spark, with_stats(table, lambda _: None), "t.id = s.id", "src_id", DELETES[clauses])
    if case == "with: all":
        assert (looked.promise["numTargetFilesRemoved"], looked.promise["numTargetDeletionVectorsAdded"]) == (0, 1)


COLLECT = "spark.databricks.delta.stats.collect"
LAYOUTS = {f"{layout or 'plain'}: {n}": (layout, n) for layout in ("", "PARTITIONED BY (p)") for n in ("all", "update")}


@pytest.mark.parametrize("case", some(LAYOUTS, ("plain: all",)))
def test_files_added_are_bounded_where_none_has_statistics(others: tuple[Any, Path], case: str) -> None:
    """A file without rows is written, and only its statistics would have it dropped."""
    spark, _ = others
    layout, clauses = LAYOUTS[case]
    table = f"tgt_{clauses}_{bool(layout)}"
    spark.sql(f"CREATE TABLE {table} (id BIGINT, p INT, v STRING) USING delta {layout}")
    spark.sql(f"INSERT INTO {table} SELECT id, 1, 'old' FROM range(0, 10, 1, 1)")
    spark.sql("CREATE OR REPLACE TABLE src_id USING delta AS SELECT id, 'new' AS v FROM range(10)")
    spark.conf.set(COLLECT, "false")
    try:
        looked = plan(spark, f"MERGE INTO {table} t USING src_id s ON t.id = s.id {DELETES[clauses]}", rows=0)
        spark.sql(looked.statement.sql).collect()
    finally:
        spark.conf.unset(COLLECT)
    assert looked.confs[COLLECT] == "false"
    (commit, *_) = commits(spark, table, 1)
    told = looked.estimates["numTargetFilesAdded"]
    low, high = (told, told) if isinstance(told, int) else (told.low, told.high)
    assert low <= commit.metrics["numTargetFilesAdded"] <= high
    if case == "plain: all":
        assert commit.metrics["numTargetFilesAdded"] == 1
        assert "numTargetBytesAdded" not in looked.estimates


ODD_STATISTICS = [
    None,
    "",
    "{",
    "[]",
    "7",
    '{"numRecords": "2", "minValues": [], "maxValues": 7, "nullCount": null}',
    '{"numRecords": "2", "minValues": {"k": {"x": []}}, "maxValues": {"k": null}, "nullCount": {"k": "none"}}',
]


@pytest.mark.parametrize("text", ODD_STATISTICS)
def test_statistics_that_are_none_are_shown_as_missing(text: str | None) -> None:
    file = LogFile("f.parquet", 1, {}, None, 0, "", 0, 0, text)
    column = Column(name="k", type="string", nullable=True)
    renamed = LoggedColumn("k", "col-1")
    shown = facts(file, column, "k", (), "")
    assert (shown.low, shown.high, shown.nulls) == (None, None, None)
    assert not file.value().null_counts
    assert not [one.code for one in no_statistics("t", [file], ["k"], ["k"]) if one.code != "NO_STATISTICS"]
    assert logical_names((file,), [renamed])[0].physical_rows is None


def test_numbers_with_a_point_are_shown_as_they_are_written() -> None:
    stats = '{"numRecords": 1, "minValues": {"k": 1.10}, "maxValues": {"k": 1e-15}, "nullCount": {"k": 0}}'
    file = LogFile("f.parquet", 1, {}, 1, 0, "", 0, 0, stats).value()
    assert (file.min_values["k"], file.max_values["k"], file.null_counts["k"]) == ("1.10", "1e-15", 0)


def test_null_partitions_of_a_converted_table_are_refused_where_their_rows_are_written(
    spark: Any, schema: str, tmp_path: Path
) -> None:
    """CONVERT TO DELTA names them as the folder is called; a write makes them NULL, also in copied rows."""
    rows = "SELECT * FROM VALUES (1, 10, 'a'), (2, 20, NULL), (3, 30, NULL) AS x(id, v, p)"
    spark.sql(f"CREATE TABLE t USING parquet PARTITIONED BY (p) LOCATION '{tmp_path / 'converted'}' AS {rows}")
    spark.sql("CONVERT TO DELTA t")
    merge = "MERGE INTO t USING (SELECT {} AS id, 9 AS v) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v"
    assert plan(spark, merge.format(1)).refused is None
    refused = plan(spark, merge.format(2)).refused
    assert refused is not None
    assert refused.condition == "PARTITION_NULL_AS_TEXT"
    spark.sql(refused.hint.partition(",")[0])
    assert plan(spark, merge.format(2)).refused is None
    assert spark.sql("SELECT count(*) FROM t WHERE p IS NULL").collect()[0][0] == 2
