"""What Delta would raise only while running is foreseen: the plan is refused with Delta's very condition and some of
the rows, and the plain MERGE then raises it. Each has a twin that is allowed, and commits as promised."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from engine.commit.apply_plan import apply
from engine.model.errors import EngineError, RefusedError
from engine.model.plan import Plan
from engine.plan_merge import plan
from engine.preflight.metadata_errors import NOT_BOOLEAN
from engine.preflight.target_rules import BY_NAME
from engine.spark.confs import confs_set
from tests.conftest import own_schema
from tests.engine.fidelity import check_merge, refused_by_delta
from tests.engine.some import every_nth

NOT_NULL = "DELTA_NOT_NULL_CONSTRAINT_VIOLATED"
VIOLATED = "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
TOO_LONG = "DELTA_EXCEED_CHAR_VARCHAR_LIMIT"
OVERFLOW = "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE"
INVALID = "CAST_INVALID_INPUT"


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[Any]:
    """``src``: a Delta table of five rows, each column with a value that some target column cannot hold."""
    with own_schema(spark):
        spark.sql(
            "CREATE TABLE src USING delta AS SELECT id, CAST(id AS INT) AS n, id * 1000000000 AS big, "
            "IF(id = 3, 'x', concat('', id)) AS txt, repeat('a', CAST(id AS INT)) AS word, 3 - id AS zero, "
            "nullif(id, 3) AS hole, IF(id = 3, -5L, id) AS neg FROM range(5)"
        )
        make_target(spark, "base")
        yield spark


def make_target(spark: Any, table: str) -> None:
    """Three rows under every kind of constraint."""
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, n INT NOT NULL, dec DECIMAL(4, 2), v VARCHAR(3), c CHAR(3), "
        "st STRUCT<a: INT, b: INT>, twice BIGINT GENERATED ALWAYS AS (id * 2)) USING delta"
    )
    spark.sql(f"ALTER TABLE {table} ADD CONSTRAINT positive CHECK (coalesce(n, 0) >= 0 AND id < 1000)")
    spark.sql(
        f"INSERT INTO {table} (id, n, dec, v, c, st) VALUES (2, 2, 2, 'b', 'b', named_struct('a', 1, 'b', 1)), "
        "(3, 3, 3, 'c', 'c', named_struct('a', 1, 'b', 1)), (50, 5, 5, 'z', 'z', named_struct('a', 1, 'b', 1))"
    )


def a_target(spark: Any) -> str:
    """A table like ``base``, rows and constraints and all, in one commit."""
    table = f"tgt_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE TABLE {table} SHALLOW CLONE base")
    return table


def merge(table: str, clauses: str, source: str = "src") -> str:
    return f"MERGE INTO {table} t USING {source} s ON t.id = s.id {clauses}"


UPDATE = "WHEN MATCHED THEN UPDATE SET "
INSERT = "WHEN NOT MATCHED THEN INSERT "
DELETE = "WHEN MATCHED THEN DELETE"
SEVERAL = (
    "WHEN NOT MATCHED AND s.id > 3 THEN INSERT (id) VALUES (s.id) "
    "WHEN NOT MATCHED AND s.id > 2 THEN INSERT (id) VALUES (s.id)"
)
REFUSED = {
    "not null": (UPDATE + "n = s.hole", NOT_NULL, {"id": "3", "n": None}),
    "not null by omission": (INSERT + "(id) VALUES (s.id)", NOT_NULL, {"id": "0", "n": None}),
    "check": (UPDATE + "n = s.neg", VIOLATED, {"id": "3", "n": "-5"}),
    "check of an insert": (INSERT + "(id, n) VALUES (s.id, s.n - 1)", VIOLATED, {"id": "0", "n": "-1"}),
    "check not matched by source": (
        "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = t.n - 6",
        VIOLATED,
        {"id": "50", "n": "-1"},
    ),
    "varchar": (UPDATE + "v = concat(s.word, ' ')", TOO_LONG, {"id": "3", "v": "aaa "}),
    "char": (INSERT + "(id, n, c) VALUES (s.id, 1, s.word)", TOO_LONG, {"id": "4", "c": "aaaa"}),
    "overflow": (UPDATE + "n = s.big", OVERFLOW, {"id": "3", "n": "3000000000"}),
    "overflow of a decimal": (UPDATE + "dec = s.big", OVERFLOW, {"id": "2", "dec": "2000000000"}),
    "invalid input": (UPDATE + "n = s.txt", INVALID, {"id": "3", "n": "x"}),
    "division by zero below a cast": (UPDATE + "n = 1 / s.zero", OVERFLOW, None),
    "division by zero": (UPDATE + "v = 1 DIV s.zero", "DIVIDE_BY_ZERO", None),
    "the statement's own cast": (UPDATE + "n = CAST(s.txt AS INT)", INVALID, None),
    "generated mismatch": (UPDATE + "twice = s.id * 3", VIOLATED, {"id": "2", "twice": "6"}),
}
ALLOWED = (
    "WHEN MATCHED AND s.id = 2 THEN UPDATE SET n = s.hole, dec = s.id, v = s.txt, twice = s.id * 2 "
    "WHEN MATCHED THEN UPDATE SET n = abs(s.neg), v = s.word, dec = s.big / 1000000000, st.b = s.hole "
    "WHEN NOT MATCHED AND s.id < 4 THEN INSERT (id, n, c) VALUES (s.id, 1 DIV s.zero, s.word) "
    "WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, CAST(s.txt AS INT)) "
    "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = t.n - 5"
)


@pytest.mark.parametrize(
    ("clauses", "condition", "row"),
    every_nth(REFUSED, 18),
)
def test_what_a_written_row_would_raise_is_foreseen(
    shop: Any, clauses: str, condition: str, row: dict[str, str | None] | None
) -> None:
    table = a_target(shop)
    looked = foreseen(shop, merge(table, clauses), condition)
    assert looked.refused is not None
    if row is not None:
        assert any(row.items() <= shown.items() for shown in looked.refused.rows), looked.refused.rows


@pytest.mark.thorough
def test_the_same_assignments_over_rows_that_they_suit_commit(shop: Any) -> None:
    """The twin of all of them: each clause could break something, and none of its rows does."""
    commits(shop, merge(a_target(shop), ALLOWED))


def foreseen(spark: Any, sql: str, condition: str, **options: Any) -> Plan:
    """The plan is refused with ``condition``, apply will not run it, and the plain MERGE raises the same."""
    looked = plan(spark, sql, rows=1, **options)
    assert looked.refused is not None
    assert looked.refused.condition == condition
    assert looked.refused.hint
    assert looked.samples == ()
    with pytest.raises(RefusedError):
        apply(spark, looked)
    assert refused_by_delta(spark, sql) == condition
    return looked


def commits(spark: Any, sql: str) -> None:
    looked = plan(spark, sql, rows=1)
    assert looked.refused is None, looked.refused
    assert apply(spark, looked).kept


def test_an_insert_generates_a_column_from_what_is_given_before_its_cast(shop: Any) -> None:
    """Delta stores 1 of 1.7 and generates 17, which it then checks against 10."""
    shop.sql("CREATE TABLE generates (id BIGINT, k INT, ten INT GENERATED ALWAYS AS (k * 10)) USING delta")
    inserts = "WHEN NOT MATCHED THEN INSERT (id, k) VALUES (s.id, s.id + {more}D)"
    foreseen(shop, merge("generates", inserts.format(more=0.7)), VIOLATED)
    foreseen(shop, merge("generates", "WHEN NOT MATCHED THEN INSERT (id, k) VALUES (s.id, s.txt)"), INVALID)
    commits(shop, merge("generates", inserts.format(more=2)))
    commits(shop, merge("generates", UPDATE + "k = s.id + 0.7D"))


def test_what_is_generated_from_an_identity_comes_before_its_value(shop: Any) -> None:
    shop.sql(
        "CREATE TABLE bucketed (key BIGINT GENERATED BY DEFAULT AS IDENTITY, id BIGINT, "
        "bucket BIGINT GENERATED ALWAYS AS (key % 16)) USING delta"
    )
    foreseen(shop, merge("bucketed", INSERT + "(id) VALUES (s.id)"), VIOLATED)
    commits(shop, merge("bucketed", INSERT + "(key, id) VALUES (s.id, s.id)"))


def test_whether_an_identity_keeps_to_the_rules_is_not_known(shop: Any) -> None:
    generated = "bucket BIGINT GENERATED ALWAYS AS (key % 16)"
    shop.sql(f"CREATE TABLE counts (key BIGINT GENERATED ALWAYS AS IDENTITY, id BIGINT, {generated}) USING delta")
    shop.sql("ALTER TABLE counts ADD CONSTRAINT positive CHECK (key > 0)")
    looked = plan(shop, merge("counts", "WHEN NOT MATCHED AND s.id = 4 THEN INSERT (id, bucket) VALUES (4, 1)"))
    assert looked.refused is None
    (warning,) = (w for w in looked.warnings if w.code == "VALUES_UNKNOWN")
    assert warning.sentence.endswith("is not known: positive (key > 0), bucket (key % 16).")
    assert apply(shop, looked).kept


def test_what_is_known_of_a_rule_over_an_identity_is_foreseen(shop: Any) -> None:
    """The other half of a CHECK; and that NULL may be the right value."""
    late = "late BIGINT GENERATED ALWAYS AS (CASE WHEN key > 1000 THEN key END)"
    more = "more BIGINT GENERATED ALWAYS AS (key + id)"
    shop.sql(
        f"CREATE TABLE halves (key BIGINT GENERATED ALWAYS AS IDENTITY, id BIGINT, n INT, {late}, {more}) USING delta"
    )
    shop.sql("ALTER TABLE halves ADD CONSTRAINT positive CHECK (key > 0 AND n > 0)")
    insert = "WHEN NOT MATCHED AND s.id = 4 THEN INSERT (id, n) VALUES ({})"
    foreseen(shop, merge("halves", insert.format("NULL, -1")), VIOLATED)
    foreseen(shop, merge("halves", insert.format("4, 1")), VIOLATED)
    commits(shop, merge("halves", insert.format("NULL, 1")))


def test_of_what_a_check_calls_without_brackets_a_write_makes_null(shop: Any) -> None:
    """It holds for the query that ALTER TABLE asks, and for no row that is written or copied."""
    shop.sql("CREATE TABLE timely USING delta AS SELECT /*+ COALESCE(1) */ id FROM range(3)")
    shop.sql("ALTER TABLE timely SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')")
    shop.sql("ALTER TABLE timely ADD CONSTRAINT early CHECK (current_date < DATE'2999-01-01')")
    sql = "MERGE INTO timely t USING src s ON t.id = s.id AND s.id = 1 WHEN MATCHED THEN DELETE"
    foreseen(shop, sql, VIOLATED)
    with confs_set(shop, {"spark.sql.ansi.enforceReservedKeywords": "true"}):
        commits(shop, sql)


def test_a_check_with_a_dot_behind_a_map_stops_each_write(shop: Any) -> None:
    shop.sql("CREATE TABLE mapped (id BIGINT, m MAP<STRING, INT>) USING delta")
    shop.sql("ALTER TABLE mapped ADD CONSTRAINT positive CHECK (m.k > 0)")
    insert = "WHEN NOT MATCHED {} THEN INSERT (id, m) VALUES (s.id, map('k', 1))"
    foreseen(shop, merge("mapped", insert.format("AND s.id = 99")), "DELTA_UNSUPPORTED_INVARIANT_NON_STRUCT")


def test_names_in_rules_are_of_any_case_in_any_session(shop: Any) -> None:
    """Delta looks them up by itself, not as spark.sql.caseSensitive says."""
    twice = "twice BIGINT GENERATED ALWAYS AS (ID * 2)"
    shop.sql(f"CREATE TABLE cased (id BIGINT, n INT, st STRUCT<a: INT>, {twice}) USING delta")
    shop.sql("ALTER TABLE cased ADD CONSTRAINT positive CHECK (N >= 0 AND St.A > 0)")
    insert = INSERT + "(id, n, st, twice) VALUES (s.id, s.n, named_struct('a', {}), {})"
    with confs_set(shop, {"spark.sql.caseSensitive": "true"}):
        foreseen(shop, merge("cased", insert.format("s.n", "s.id * 2")), VIOLATED)
        foreseen(shop, merge("cased", insert.format("1", "s.id * 3")), VIOLATED)
        commits(shop, merge("cased", insert.format("1", "s.id * 2")))
    shop.sql("CREATE TABLE odd (id BIGINT) USING delta TBLPROPERTIES ('delta.constraints.c' = 'nope > 0')")
    foreseen(shop, merge("odd", INSERT + "(id) VALUES (s.id)"), VIOLATED)


@pytest.mark.parametrize(
    ("properties", "condition"),
    [
        ("'delta.enableRowTracking' = 'true'", "DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS"),
        ("'delta.columnMapping.mode' = 'name', 'delta.enableIcebergCompatV2' = 'true'", "SPARK_ERROR"),
    ],
)
def test_some_tables_take_no_files_of_which_the_log_does_not_count_the_rows(
    shop: Any, properties: str, condition: str
) -> None:
    table = f"tgt_{uuid.uuid4().hex[:8]}"
    shop.sql(f"CREATE TABLE {table} USING delta TBLPROPERTIES ({properties}) AS SELECT 2L AS id, 2 AS n")
    sql = merge(table, UPDATE + "n = s.n")
    with confs_set(shop, {"spark.databricks.delta.stats.collect": "false"}):
        foreseen(shop, sql, condition)
        commits(shop, merge(table, DELETE.replace("THEN", "AND s.id > 7 THEN")))
    commits(shop, sql)


def test_an_empty_text_that_names_a_partition_is_null_before_it_is_checked(shop: Any) -> None:
    shop.sql("CREATE TABLE named (id BIGINT, p STRING NOT NULL) USING delta PARTITIONED BY (p)")
    insert = "WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, coalesce(IF(s.id = 3, NULL, s.txt), ''))"
    foreseen(shop, merge("named", insert), NOT_NULL)
    shop.sql("CREATE TABLE checked (id BIGINT, p STRING) USING delta PARTITIONED BY (p)")
    shop.sql("ALTER TABLE checked ADD CONSTRAINT long CHECK (p IS NULL OR length(p) > 0)")
    commits(shop, merge("checked", insert))
    by_length = "n INT GENERATED ALWAYS AS (length(p))"
    shop.sql(f"CREATE TABLE counted (id BIGINT, p STRING, {by_length}) USING delta PARTITIONED BY (p)")
    foreseen(shop, merge("counted", insert), VIOLATED)
    commits(shop, merge("counted", "WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, s.txt)"))


def test_an_empty_text_that_may_be_checked_before_it_is_null_is_refused_either_way(shop: Any) -> None:
    """Which of them Delta checks hangs on what Spark's optimizer makes of the source."""
    shop.sql("CREATE TABLE empties (id BIGINT, p STRING NOT NULL) USING delta PARTITIONED BY (p)")
    shop.sql("CREATE TABLE longer (id BIGINT, p STRING) USING delta PARTITIONED BY (p)")
    shop.sql("ALTER TABLE longer ADD CONSTRAINT long CHECK (p IS NULL OR length(p) > 0)")
    shop.sql("CREATE TABLE texts USING delta AS SELECT * FROM VALUES (5L, ''), (6L, 'k') AS x(id, p)")
    alone = "WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, {})"
    for source in ("texts", "(SELECT 5L AS id, '' AS p)"):
        for table, condition in (("empties", NOT_NULL), ("longer", VIOLATED)):
            refused = plan(shop, merge(table, alone.format("s.p"), source)).refused
            assert refused is not None
            assert refused.condition == condition
    assert refused_by_delta(shop, merge("longer", alone.format("s.p"), "texts")) == VIOLATED
    commits(shop, merge("longer", alone.format("s.p"), "(SELECT * FROM texts WHERE id = 6)"))
    commits(shop, merge("longer", alone.format("lower(s.p)"), "texts"))
    shop.sql("ALTER TABLE longer SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    foreseen(shop, merge("longer", UPDATE + "p = s.p", "(SELECT 6L AS id, p FROM texts WHERE id = 5)"), VIOLATED)


def test_an_invariant_in_a_column_s_metadata_is_a_check(shop: Any) -> None:
    """Old writers put them there, and so may a DataFrame."""
    rule = {"delta.invariants": json.dumps({"expression": {"expression": "n < 35"}})}
    types = StructType([StructField("id", LongType()), StructField("n", IntegerType(), metadata=rule)])
    shop.createDataFrame([(1, 10), (2, 20)], types).write.format("delta").saveAsTable("ruled")
    foreseen(shop, merge("ruled", UPDATE + "n = 40"), VIOLATED)
    commits(shop, merge("ruled", UPDATE + "n = 30"))


def test_a_variant_that_does_not_fit_its_column_is_foreseen(shop: Any) -> None:
    source = "(SELECT id, parse_json(IF(txt = 'x', '\"x\"', txt)) AS v FROM src WHERE id > 1)"
    foreseen(shop, merge(a_target(shop), UPDATE + "n = s.v", source), "INVALID_VARIANT_CAST")


def test_a_not_null_field_asks_for_its_struct_as_well(shop: Any) -> None:
    shop.sql("CREATE TABLE nested (id BIGINT, st STRUCT<a: INT NOT NULL, b: INT>) USING delta")
    foreseen(shop, merge("nested", INSERT + "(id, st) VALUES (s.id, named_struct('a', s.hole, 'b', 1))"), NOT_NULL)
    commits(shop, merge("nested", INSERT + "(id, st) VALUES (s.id, named_struct('a', 1, 'b', s.hole))"))


def test_where_rows_fail_in_several_ways_the_plan_names_them_all(shop: Any) -> None:
    # 1 has no n, the word of 4 is too long: which of them is written first nobody knows
    sql = merge(a_target(shop), INSERT + "(id, n, v) VALUES (s.id, nullif(s.n, 1), s.word)")
    looked = plan(shop, sql, rows=1)
    assert looked.refused is not None
    assert {looked.refused.condition, *looked.refused.also} == {NOT_NULL, TOO_LONG}
    assert looked.refused.message.endswith(f"Other rows may fail before them, with {looked.refused.also[0]}.")
    assert refused_by_delta(shop, sql) in (NOT_NULL, TOO_LONG)


@pytest.mark.thorough
def test_lengths_are_checked_at_any_depth(shop: Any) -> None:
    shop.sql(
        "CREATE TABLE deep (id BIGINT, st STRUCT<a: STRUCT<c: CHAR(2)>>, arr ARRAY<VARCHAR(2)>, "
        "mp MAP<VARCHAR(2), STRUCT<v: VARCHAR(3)>>) USING delta"
    )
    for value in (
        "(id, st) VALUES (s.id, named_struct('a', named_struct('c', s.word)))",
        "(id, arr) VALUES (s.id, array(NULL, s.word))",
        "(id, mp) VALUES (s.id, map(s.word, NULL))",
        "(id, mp) VALUES (s.id, map(s.id, named_struct('v', s.word)))",
    ):
        foreseen(shop, merge("deep", INSERT + value), TOO_LONG)
    commits(shop, merge("deep", "WHEN NOT MATCHED AND s.id < 3 THEN INSERT (id, arr) VALUES (s.id, array(s.word))"))


def test_an_append_only_table_takes_inserts_only(shop: Any) -> None:
    shop.sql("CREATE TABLE log (id BIGINT, n INT) USING delta TBLPROPERTIES ('delta.appendOnly' = 'true')")
    commits(shop, merge("log", UPDATE + "n = 1 " + INSERT + "(id) VALUES (s.id)"))
    foreseen(shop, merge("log", UPDATE + "n = s.n"), "DELTA_CANNOT_MODIFY_APPEND_ONLY")


@pytest.mark.parametrize(
    ("name", "side", "condition"),
    [
        ("_row_id_", "source", "AMBIGUOUS_REFERENCE"),
        *(
            pytest.param(*case, marks=pytest.mark.thorough)
            for case in (
                ("_file_name_", "source", "AMBIGUOUS_REFERENCE"),
                ("_source_row_present_", "target", "AMBIGUOUS_REFERENCE"),
                ("_row_dropped_", "target", "AMBIGUOUS_REFERENCE"),
                ("_target_row_present_", "target", "MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_APPEAR_IN_OPERATION"),
                ("_source_row_present_", "source", "MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_APPEAR_IN_OPERATION"),
            )
        ),
    ],
)
def test_reserved_names_break_a_merge_that_updates_and_not_one_that_inserts(
    shop: Any, name: str, side: str, condition: str
) -> None:
    table = f"named_{uuid.uuid4().hex[:8]}"
    shop.sql(f"CREATE TABLE {table} USING delta AS SELECT id, id AS {name if side == 'target' else 'x'} FROM range(2)")
    other = f"(SELECT id, n AS {name if side == 'source' else 'x'} FROM src)"
    sets = f"{name} = s.x" if side == "target" else f"x = s.{name}"
    foreseen(shop, merge(table, UPDATE + sets, other), condition)
    commits(shop, merge(table, INSERT + "(id) VALUES (s.id)", other))


@pytest.mark.parametrize(
    ("clauses", "source", "target"),
    [
        ("WHEN MATCHED AND s.id > 0 THEN UPDATE SET x = 1", "_update_condition_0_", "x"),
        pytest.param(
            "WHEN NOT MATCHED BY SOURCE AND t.id > 0 THEN DELETE",
            "y",
            "x, id AS _delete_condition_0_",
            marks=pytest.mark.thorough,
        ),
        (SEVERAL, "_insert_condition_1_", "x"),
        pytest.param(SEVERAL, "y", "x, id AS _row_dropped_", marks=pytest.mark.thorough),
    ],
)
def test_the_names_that_delta_gives_conditions_break_a_merge(shop: Any, clauses: str, source: str, target: str) -> None:
    table = f"computed_{uuid.uuid4().hex[:8]}"
    shop.sql(f"CREATE TABLE {table} USING delta AS SELECT id, id AS {target} FROM range(2)")
    foreseen(shop, merge(table, clauses, f"(SELECT id, n AS {source} FROM src)"), "AMBIGUOUS_REFERENCE")


@pytest.mark.parametrize(
    ("source", "target", "condition"),
    [
        ("FILEPATH", "filePath", "AMBIGUOUS_REFERENCE"),
        ("x", "deletionVectorId", "AMBIGUOUS_REFERENCE"),
        ("filePath", "rowIndexCol", ""),
        *(
            pytest.param(*case, "AMBIGUOUS_REFERENCE", marks=pytest.mark.thorough)
            for case in (
                ("rowIndexCol", "rowIndexCol"),
                ("deletionVectorId", "x"),
                ("x", "dvFilePath"),
                ("dvFilePath", "x"),
                ("_metadata", "x"),
                ("x", "_metadata"),
            )
        ),
    ],
)
def test_names_of_deletion_vectors_break_a_merge_that_writes_them(
    shop: Any, source: str, target: str, condition: str
) -> None:
    """Delta finds out when the rows are written."""
    table = f"vectors_{uuid.uuid4().hex[:8]}"
    shop.sql(f"CREATE TABLE {table} USING delta AS SELECT id, id AS {target} FROM range(2)")
    sql = merge(table, UPDATE + f"{target} = s.{source}", f"(SELECT id, n AS {source} FROM src)")
    vectors = f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableDeletionVectors' = '{{}}')"
    shop.sql(vectors.format("true"))
    if condition:
        foreseen(shop, sql, condition)
        shop.sql(vectors.format("false"))
    commits(shop, sql)


def test_reserved_names_are_those_of_the_source_however_apply_freezes_it(shop: Any) -> None:
    shop.sql("CREATE TABLE wide USING delta AS SELECT id, 1 AS x FROM range(0, 5, 1, 1)")
    shop.sql("INSERT INTO wide SELECT id, 1 FROM range(5, 10, 1, 1)")
    shop.sql("CREATE TABLE numbered USING delta AS SELECT id, 2 AS x, 3 AS _row_id_ FROM range(3)")
    sets = UPDATE + "x = s.x"
    looked = foreseen(shop, merge("wide", sets, "numbered"), "AMBIGUOUS_REFERENCE")
    assert any(splice.part == "condition" for splice in looked.splices), "its ON is narrowed"
    query = "(SELECT id, x, 'f' AS _file_name_ FROM numbered)"
    foreseen(shop, merge("wide", sets, query), "AMBIGUOUS_REFERENCE")
    foreseen(shop, merge("wide", sets, "numbered"), "AMBIGUOUS_REFERENCE", freeze=True)
    commits(shop, merge("wide", sets, "(SELECT id, x FROM numbered)"))
    # Delta materializes this one, and takes what is used of it
    commits(shop, merge("wide", sets, "(SELECT * FROM numbered LIMIT 2)"))


def test_a_column_that_delta_drops_is_refused_though_nothing_matches(shop: Any) -> None:
    shop.sql("CREATE TABLE far USING delta AS SELECT id + 1000 AS id, 1 AS x FROM range(3)")
    shop.sql("CREATE TABLE present USING delta AS SELECT id, id AS _source_row_present_ FROM range(3)")
    missing = "MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT"
    search = "s._source_row_present_ > 0"
    conditional = f"WHEN MATCHED AND {search} THEN UPDATE SET x = 2 "
    foreseen(
        shop, merge("far", UPDATE + "x = 2", "present").replace("t.id = s.id", f"t.id = s.id AND {search}"), missing
    )
    foreseen(shop, merge("far", conditional, "present"), missing)
    shop.sql("CREATE TABLE both_have USING delta AS SELECT id + 1000 AS id, 1 AS _source_row_present_ FROM range(3)")
    of_both = merge("both_have", f"WHEN MATCHED AND {search} THEN DELETE", "present")
    foreseen(shop, of_both, "MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_APPEAR_IN_OPERATION")
    commits(shop, merge("far", conditional + INSERT + "(id) VALUES (s.id)", "present"))


@pytest.mark.thorough
def test_no_type_is_widened_that_a_rule_rests_on(shop: Any) -> None:
    shop.sql(
        "CREATE TABLE growing (id BIGINT, n INT, m INT, st STRUCT<a: INT, b: INT>, g INT GENERATED ALWAYS AS (m + 1)) "
        "USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"
    )
    shop.sql("ALTER TABLE growing ADD CONSTRAINT c CHECK (n > 0 AND coalesce(st.a, 1) > 0)")
    for columns, condition in (
        ("id, id AS n", "DELTA_CONSTRAINT_DATA_TYPE_MISMATCH"),
        ("id, 1 AS n, named_struct('a', id) AS st", "DELTA_CONSTRAINT_DATA_TYPE_MISMATCH"),
        ("id, 1 AS n, id AS m", "DELTA_GENERATED_COLUMNS_DATA_TYPE_MISMATCH"),
        ("id, 1 AS n, named_struct('b', id) AS st, 2 AS m", ""),
    ):
        sql = merge("growing", INSERT + "*", f"(SELECT {columns} FROM src)").replace(
            "INTO", "WITH SCHEMA EVOLUTION INTO"
        )
        if condition:
            foreseen(shop, sql, condition)
        else:
            commits(shop, sql)


def test_a_table_of_partitions_and_of_nothing_with_a_type_is_not_written(shop: Any) -> None:
    shop.sql("CREATE TABLE bare (id BIGINT, v VOID) USING delta PARTITIONED BY (id)")
    foreseen(shop, merge("bare", INSERT + "(id) VALUES (s.id)"), "DELTA_NON_PARTITION_COLUMN_ABSENT")
    assert plan(shop, merge("bare", UPDATE + "v = NULL")).refused is None


@pytest.mark.thorough
def test_a_partition_column_with_a_dot_in_its_name_breaks_every_write(shop: Any) -> None:
    shop.sql(
        "CREATE TABLE dotted (id BIGINT, n BIGINT, `p.q` BIGINT) USING delta PARTITIONED BY (`p.q`) "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    shop.sql("INSERT INTO dotted VALUES (1, 1, 1), (2, 2, 2)")
    foreseen(shop, merge("dotted", UPDATE + "n = s.n"), "UNRESOLVED_COLUMN.WITH_SUGGESTION")
    foreseen(shop, merge("dotted", INSERT + "(id) VALUES (s.id)"), "UNRESOLVED_COLUMN.WITH_SUGGESTION")
    shop.conf.set("spark.databricks.delta.merge.repartitionBeforeWrite.enabled", "false")
    try:
        commits(shop, merge("dotted", UPDATE + "n = 5 " + INSERT + "(id) VALUES (s.id)"))
    finally:
        shop.conf.unset("spark.databricks.delta.merge.repartitionBeforeWrite.enabled")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("source", "target", "clauses", "condition"),
    [
        ("_target_row_index_", "x", DELETE, "AMBIGUOUS_REFERENCE"),
        ("x", "_target_row_index_", DELETE, "MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_APPEAR_IN_OPERATION"),
        (
            "_source_row_index",
            "x",
            f"{DELETE} {INSERT} (id) VALUES (s.id)",
            "MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_APPEAR_IN_OPERATION",
        ),
        ("x", "_source_row_index", f"{DELETE} {INSERT} (id) VALUES (s.id)", "AMBIGUOUS_REFERENCE"),
    ],
)
def test_the_numbers_that_keep_a_delete_from_the_feed_twice_break_a_merge(
    shop: Any, source: str, target: str, clauses: str, condition: str
) -> None:
    table = f"twice_{uuid.uuid4().hex[:8]}"
    feed = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
    shop.sql(f"CREATE TABLE {table} USING delta {feed} AS SELECT id, id AS {target} FROM range(2)")
    twice = f"(SELECT explode(array(1L, 1L, 2L)) AS id, 5 AS {source})"
    foreseen(shop, merge(table, clauses, twice).replace("ON", f"ON s.{source} > 1 AND"), condition)


@pytest.mark.thorough
def test_an_input_file_is_known_where_delta_materializes_the_source(shop: Any) -> None:
    shop.sql("CREATE TABLE files USING delta AS SELECT id, '' AS f FROM range(2)")
    of_file = INSERT + "(id, f) VALUES (s.id, input_file_name())"
    foreseen(shop, merge("files", of_file), "MULTI_SOURCES_UNSUPPORTED_FOR_EXPRESSION")
    commits(shop, merge("files", f"{UPDATE} f = 'x' {of_file}", "(SELECT id FROM src LIMIT 2)"))
    commits(
        shop, merge("files", UPDATE + "f = input_file_name()", "(SELECT id + rand() * 0 AS id FROM VALUES 1L AS x(id))")
    )


@pytest.mark.parametrize(
    ("partitioned", "feed", "clauses", "condition"),
    [
        ("", "true", UPDATE + "n = 1", "INVALID_ATTRIBUTE_NAME_SYNTAX"),
        pytest.param(
            "PARTITIONED BY (`a``b`)",
            "false",
            INSERT + "(id) VALUES (s.id)",
            "INVALID_ATTRIBUTE_NAME_SYNTAX",
            marks=pytest.mark.thorough,
        ),
        pytest.param("", "true", INSERT + "(id) VALUES (s.id)", "", marks=pytest.mark.thorough),
    ],
)
def test_a_back_tick_in_a_name_breaks_a_change_data_feed_and_a_partition(
    shop: Any, partitioned: str, feed: str, clauses: str, condition: str
) -> None:
    table = f"ticked_{uuid.uuid4().hex[:8]}"
    shop.sql(
        f"CREATE TABLE {table} (id BIGINT, n BIGINT, `a``b` BIGINT) USING delta {partitioned} TBLPROPERTIES "
        f"('delta.columnMapping.mode' = 'name', 'delta.enableChangeDataFeed' = '{feed}')"
    )
    shop.sql(f"INSERT INTO {table} VALUES (1, 1, 1)")
    if condition:
        foreseen(shop, merge(table, clauses), condition)
    else:
        commits(shop, merge(table, clauses))


@pytest.mark.thorough
def test_a_check_over_the_clock_is_asked_of_copied_rows_too(shop: Any) -> None:
    """Delta checks every row that it writes again, and this one has grown old since."""
    shop.sql("CREATE TABLE clock USING delta AS SELECT id, current_timestamp() AS at FROM range(2, 6, 1, 1)")
    shop.sql("ALTER TABLE clock ADD CONSTRAINT fresh CHECK (at > current_timestamp() - INTERVAL 5 SECONDS)")
    young = "SELECT 1 FROM clock WHERE at > current_timestamp() - INTERVAL 5 SECONDS"
    while shop.sql(young).collect():
        pass  # each question takes its time
    fresh = UPDATE + "at = current_timestamp()"
    looked = foreseen(shop, merge("clock", fresh), VIOLATED)
    assert looked.refused is not None
    assert looked.refused.message.startswith("1 row violate")
    shop.sql("ALTER TABLE clock SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    commits(shop, merge("clock", fresh))


@pytest.mark.parametrize(
    ("policy", "condition"),
    [pytest.param("LEGACY", "", marks=pytest.mark.thorough), ("STRICT", "CANNOT_UP_CAST_DATATYPE")],
)
def test_the_store_assignment_policy_says_what_fits(shop: Any, policy: str, condition: str) -> None:
    """LEGACY cuts what does not fit, STRICT refuses at analysis what might not."""
    sql = merge(a_target(shop), UPDATE + "dec = s.big")
    shop.conf.set("spark.sql.storeAssignmentPolicy", policy)
    try:
        if condition:
            with pytest.raises(EngineError) as refused:
                plan(shop, sql)
            assert refused.value.condition == condition == refused_by_delta(shop, sql)
        else:
            commits(shop, sql)
    finally:
        shop.conf.unset("spark.sql.storeAssignmentPolicy")


@pytest.mark.parametrize(
    ("clauses", "on", "condition"),
    [
        (UPDATE + "n = 1", "t.c = s.word", "DELTA_MERGE_RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT"),
        ("WHEN MATCHED AND t.c = 'b' THEN DELETE", "t.id = s.id", "DELTA_MERGE_RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT"),
        (UPDATE + "n = 1", "t.id IN (SELECT id FROM src)", "DELTA_UNSUPPORTED_SUBQUERY"),
        ("WHEN MATCHED AND rand() < 2 THEN DELETE", "t.id = s.id", "DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED"),
    ],
)
def test_what_delta_refuses_at_analysis_is_an_error_at_once(shop: Any, clauses: str, on: str, condition: str) -> None:
    sql = f"MERGE INTO base t USING src s ON {on} {clauses}"
    with pytest.raises(EngineError) as refused:
        plan(shop, sql)
    assert refused.value.condition == condition == refused_by_delta(shop, sql)


@pytest.mark.parametrize(
    ("on", "clauses"),
    [("NULL", DELETE), ("1", UPDATE + "n = 1 WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, 1)"), ("s.n", DELETE)],
)
def test_on_that_is_not_boolean_is_refused_by_the_class_of_the_plain_merge(shop: Any, on: str, clauses: str) -> None:
    sql = merge("base", clauses).replace("t.id = s.id", on)
    found = plan(shop, sql)
    assert found.refused is not None
    assert found.refused.condition == refused_by_delta(shop, sql)


INSERT_ALL = " WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, 1)"


@pytest.mark.parametrize(
    ("clauses", "outcome"),
    [
        (f"WHEN MATCHED AND NULL THEN DELETE{INSERT_ALL}", "committed"),
        (f"{UPDATE}n = 1 WHEN NOT MATCHED AND NULL THEN INSERT (id) VALUES (s.id)", "committed"),
        ("WHEN NOT MATCHED BY SOURCE AND NULL THEN DELETE", "committed"),
        ("WHEN MATCHED AND NULL THEN DELETE WHEN NOT MATCHED BY SOURCE AND NULL THEN DELETE", "committed"),
        ("WHEN MATCHED AND NULL THEN DELETE", "refused"),
        (f"WHEN MATCHED AND NULL THEN DELETE {UPDATE}n = 1{INSERT_ALL}", "refused"),
        ("WHEN NOT MATCHED AND NULL THEN INSERT (id) VALUES (s.id)", "refused"),
    ],
)
@pytest.mark.parametrize("vectors", [False, True])
def test_a_condition_that_is_null_alone(shop: Any, clauses: str, outcome: str, vectors: bool) -> None:
    table = a_target(shop)
    if vectors:
        shop.sql(f"ALTER TABLE {table} SET TBLPROPERTIES (delta.enableDeletionVectors = true)")
    became = check_merge(shop, table, merge(table, clauses))
    # what only marks rows writes nothing where it marks none
    assert ("refused" if became in NOT_BOOLEAN else became.replace("nothing to do", "committed")) == outcome


def test_identity_columns_take_no_values_of_ours(shop: Any) -> None:
    shop.sql("CREATE TABLE counting (key BIGINT GENERATED ALWAYS AS IDENTITY, id BIGINT, n INT) USING delta")
    for clauses, condition in (
        (UPDATE + "key = s.id", "DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED"),
        (INSERT + "(key, id) VALUES (s.id, s.id)", "DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED"),
    ):
        with pytest.raises(EngineError) as refused:
            plan(shop, merge("counting", clauses))
        assert refused.value.condition == condition == refused_by_delta(shop, merge("counting", clauses))
    sql = merge("counting", INSERT + "(id, n) VALUES (s.id, s.n)")
    assert {sample.unknown for sample in plan(shop, sql, rows=1).samples} == {("key",)}
    commits(shop, sql)


def test_values_that_differ_each_time_are_unknown_and_warned_of(shop: Any) -> None:
    looked = plan(shop, merge(a_target(shop), UPDATE + "n = CAST(rand() * 9 AS INT), v = upper(s.txt)"), rows=1)
    (sample,) = looked.samples
    assert sample.unknown == ("n",)
    assert sample.after is not None
    assert "n" not in sample.after
    assert sample.after["v"] in ("2", "X")
    (warning,) = (w for w in looked.warnings if w.code == "VALUES_UNKNOWN")
    assert "n" in warning.sentence
    assert "rand()" in warning.evidence


def test_what_is_generated_from_an_unknown_value_is_unknown(shop: Any) -> None:
    shop.sql("CREATE TABLE thrown (id BIGINT, v DOUBLE, twice DOUBLE GENERATED ALWAYS AS (v * 2)) USING delta")
    shop.sql("INSERT INTO thrown (id, v) VALUES (1, 1)")
    shop.sql("CREATE OR REPLACE TEMPORARY VIEW dice AS SELECT rand() AS v")
    (sample,) = plan(shop, merge("thrown", UPDATE + "v = (SELECT v FROM dice)"), rows=1).samples
    assert sample.unknown == ("v", "twice")


@pytest.mark.thorough
def test_it_is_the_same_on_a_classic_session(classic: Any, classic_schema: str) -> None:
    classic.sql("CREATE TABLE src USING delta AS SELECT id, IF(id = 3, 'x', '1') AS txt FROM range(5)")
    classic.sql("CREATE TABLE tgt (id BIGINT, n INT) USING delta")
    classic.sql("ALTER TABLE tgt ADD CONSTRAINT small CHECK (id < 4)")
    foreseen(classic, merge("tgt", INSERT + "(id) VALUES (s.id)"), VIOLATED)
    foreseen(classic, merge("tgt", INSERT + "(id, n) VALUES (0, s.txt)"), INVALID)
    commits(classic, merge("tgt", INSERT + "(id, n) VALUES (s.id % 4, length(s.txt))"))


IN_FILES, VECTORS, FEED = (
    "'delta.enableDeletionVectors' = 'false'",
    "'delta.enableDeletionVectors' = 'true'",
    "'delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true'",
)


BY_PLACE = {
    "updated": ("STRUCT<a: INT{}>", IN_FILES, f"{UPDATE}*", True),
    "deleted beside an insert": ("ARRAY<STRUCT<a: INT{}>>", IN_FILES, f"{DELETE} {INSERT}*", True),
    "in the change data feed": ("MAP<STRING, STRUCT<a: INT{}>>", FEED, f"{UPDATE}*", True),
    "behind deletion vectors": ("STRUCT<a: INT{}>", VECTORS, f"{UPDATE}* {INSERT}*", False),
    "inserted alone": ("ARRAY<STRUCT<a: INT{}>>", IN_FILES, f"{INSERT}*", False),
}


@pytest.mark.parametrize(("kind", "properties", "clauses", "is_refused"), every_nth(BY_PLACE, 9))
def test_a_struct_by_place_gets_no_field_where_rows_are_copied(
    shop: Any, kind: str, properties: str, clauses: str, is_refused: bool
) -> None:
    table = f"by_place_{uuid.uuid4().hex}"
    shop.sql(f"CREATE TABLE {table} (id INT, st {kind.format('')}) USING delta TBLPROPERTIES ({properties})")
    shop.sql(f"INSERT INTO {table} VALUES (2, NULL), (9, NULL)")
    longer = f"(SELECT id, CAST(NULL AS {kind.format(', b: INT')}) AS st FROM src)"
    sql = merge(table, clauses, longer).replace("MERGE", "MERGE WITH SCHEMA EVOLUTION", 1)
    with confs_set(shop, {BY_NAME: "false"}):
        if is_refused:
            foreseen(shop, sql, "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION")
            # where nothing matches, nothing is copied
            sql = sql.replace("t.id = s.id", "t.id = s.id + 90")
        commits(shop, sql)
