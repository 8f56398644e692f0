"""Each column gets what Delta gives it: every rule by a MERGE that is computed, run, and compared row for row."""

from __future__ import annotations

from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.expect.read_expectations import read_expectations
from engine.plan_merge import plan
from engine.spark.confs import confs_set
from engine.spark.spark_errors import translate
from engine.table.delta_log import listed_log
from engine.table.logged_schema import logged_schema
from tests.engine.fidelity import check_merge
from tests.engine.some import some
from tests.engine.test_rows_after import check

WIDE = (
    "CREATE TABLE tgt (id BIGINT NOT NULL, k INT, v STRING DEFAULT 'dflt', c CHAR(3), price DECIMAL(6,2), "
    "st STRUCT<a: INT, b: STRUCT<x: INT, y: STRING>>, twice BIGINT GENERATED ALWAYS AS (id * 2 + coalesce(k, 0)), "
    "arr ARRAY<STRUCT<p: INT, q: INT>>, mp MAP<STRING, STRUCT<p: INT, q: INT>>) USING delta TBLPROPERTIES "
    "('delta.feature.allowColumnDefaults' = 'supported', 'delta.enableChangeDataFeed' = 'true')"
)
ROWS = (
    "INSERT INTO tgt (id, k, v, c, price, st, arr, mp) VALUES "
    "(1, 10, 'one', 'a', 1.5, named_struct('a', 1, 'b', named_struct('x', 1, 'y', 'y')), array(), map()), "
    "(2, 20, 'two', 'bb', 2.5, NULL, NULL, NULL), "
    "(3, 30, 'three', NULL, NULL, named_struct('a', 3, 'b', NULL), array(named_struct('p', 1, 'q', 2)), NULL)"
)

OVERFLOW = "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE"
ONE_DAY = ("TIMESTAMP'2024-01-01 01:00:00'", "TIMESTAMP'2024-01-01 02:00:00'")


@pytest.fixture
def tgt(spark: Any, schema: str) -> Any:
    del schema
    spark.sql(WIDE)
    spark.sql(ROWS)
    return spark


def test_columns_that_are_picked_omitted_generated_and_nested(tgt: Any) -> None:
    """Casts as the store assignment does; a field set in a NULL struct makes a struct of NULLs; an omitted insert
    column gets its DEFAULT or NULL; a generated column follows the new values; CHAR reads padded."""
    tgt.sql("CREATE TABLE src USING delta AS SELECT id, concat('', id * 7) AS txt, id * 1.005 AS dec FROM range(1, 6)")
    after = check(
        tgt,
        "tgt",
        "MERGE INTO tgt AS t USING src AS s ON t.id = s.id "
        "WHEN MATCHED AND s.id < 3 THEN UPDATE SET t.k = s.txt, st.b.x = s.id + 0.6, price = s.dec, c = 'z' "
        "WHEN MATCHED THEN UPDATE SET st = named_struct('b', named_struct('y', 1, 'x', '5'), 'a', s.id), "
        "id = s.id + 100 "
        "WHEN NOT MATCHED AND s.id = 4 THEN INSERT (id, k, arr) "
        "VALUES (s.id, s.txt, array(named_struct('q', 1L, 'p', '2'))) "
        "WHEN NOT MATCHED THEN INSERT (mp, id) VALUES (map(s.id, named_struct('q', s.txt, 'p', 1)), s.id)",
    )
    assert sorted(v for v in after["v"] if v == "dflt") == ["dflt", "dflt"]
    assert 103 * 2 + 30 in after["twice"]
    assert "z  " in after["c"]


def test_star_takes_what_both_sides_have(tgt: Any) -> None:
    tgt.sql(
        "CREATE TABLE src USING delta AS SELECT id, CAST(id AS STRING) AS k, 'n' AS V, 'q' AS c, 1 AS price, "
        "named_struct('B', named_struct('y', 'n', 'x', 7L), 'a', 1) AS st, "
        "id * 2 + id AS twice, array(named_struct('q', 9, 'p', 8)) AS arr, "
        "CAST(NULL AS MAP<STRING, STRUCT<q: INT, p: INT>>) AS mp, 'not taken' AS extra FROM range(2, 5)"
    )
    after = check(
        tgt,
        "tgt",
        "MERGE INTO tgt USING src ON tgt.id = src.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    )
    assert "extra" not in after


def test_schema_evolution_adds_columns_and_fields_and_keeps_what_only_the_target_has(tgt: Any) -> None:
    tgt.sql(
        "CREATE TABLE src USING delta AS SELECT id, CAST(id AS INT) AS k, IF(id = 2, NULL, "
        "named_struct('z', 'new', 'b', named_struct('x', 5, 'w', 6L))) AS st, id AS twice_more FROM range(2, 5)"
    )
    after = check(
        tgt,
        "tgt",
        "MERGE WITH SCHEMA EVOLUTION INTO tgt t USING src s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT * "
        "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET k = 0",
    )
    assert "twice_more" in after
    assert {s["z"] for s in after["st"] if s is not None} == {None, "new"}


@pytest.mark.thorough
def test_schema_evolution_by_conf_and_by_named_columns(tgt: Any) -> None:
    tgt.sql("CREATE TABLE src USING delta AS SELECT id, id * 10 AS added, 'unused' AS ignored FROM range(2, 5)")
    tgt.conf.set("spark.databricks.delta.schema.autoMerge.enabled", "true")
    try:
        after = check(
            tgt,
            "tgt",
            "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED THEN UPDATE SET added = s.added "
            "WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)",
        )
    finally:
        tgt.conf.unset("spark.databricks.delta.schema.autoMerge.enabled")
    assert "added" in after
    assert "ignored" not in after


@pytest.mark.thorough
def test_what_evolution_adds_can_be_null_whatever_the_source_says(tgt: Any) -> None:
    looked = plan(
        tgt,
        "MERGE WITH SCHEMA EVOLUTION INTO tgt t USING (SELECT id, named_struct('z', 1) AS st, 2 AS more FROM "
        "range(2, 5)) s ON t.id = s.id WHEN MATCHED AND s.id = 2 THEN UPDATE SET k = 0 WHEN MATCHED THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)",
    )
    assert looked.refused is None, looked.refused
    assert apply(tgt, looked).kept


@pytest.mark.parametrize("frozen", some(("for the plan", "in a table"), ("in a table",)))
def test_what_evolution_adds_brings_its_default_and_its_length(spark: Any, schema: str, frozen: str) -> None:
    spark.sql(
        "CREATE TABLE src (id BIGINT, note STRING DEFAULT 'none', v VARCHAR(3)) USING delta "
        "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')"
    )
    spark.sql("INSERT INTO src VALUES (1, 'x', 'a'), (2, 'y', 'b')")
    spark.sql("CREATE TABLE tgt USING delta AS SELECT 1L AS id")
    freeze = frozen == "in a table"
    merge = (
        "MERGE WITH SCHEMA EVOLUTION INTO tgt t USING src s ON t.id = s.id WHEN MATCHED THEN UPDATE SET note = s.note, "
        "v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, {})"
    )
    too_long = plan(spark, merge.format("'long'"), freeze=freeze)
    assert too_long.refused is not None
    assert too_long.refused.condition == "DELTA_EXCEED_CHAR_VARCHAR_LIMIT"
    looked = plan(spark, merge.format("'c'"), freeze=freeze)
    (inserted,) = [one.after for one in looked.samples if one.after and one.before is None]
    assert inserted["note"] == "none"
    assert apply(spark, looked).kept
    assert spark.sql("SELECT note FROM tgt WHERE id = 2").collect()[0][0] == "none"


def test_a_default_that_rows_of_older_files_read_is_told(spark: Any, schema: str) -> None:
    """Delta keeps it of a source that is no Delta table."""
    spark.sql("CREATE TABLE src (id INT, n INT DEFAULT 7, z INT DEFAULT NULL) USING parquet")
    spark.sql("INSERT INTO src VALUES (2, 1, 0)")
    spark.sql("CREATE TABLE tgt USING delta AS SELECT 1 AS id")
    sql = "MERGE WITH SCHEMA EVOLUTION INTO tgt t USING src s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    declared = read_expectations("tgt: [{not_null: [n]}, {rows: {min: 2}}]")
    looked = plan(spark, sql, expectations=declared)
    assert [one.status for one in looked.expectations] == ["unknown", "pass"]
    assert [one.code for one in looked.warnings].count("DEFAULT_FILLS_OLD_ROWS") == 1, "NULL is what they have anyway"
    spark.sql(sql).collect()
    assert {row["id"]: row["n"] for row in spark.table("tgt").collect()} == {1: 7, 2: 1}


def test_a_schema_that_evolves_is_in_the_plan_and_is_committed_without_any_row(tgt: Any) -> None:
    looked = plan(
        tgt,
        "MERGE WITH SCHEMA EVOLUTION INTO tgt t USING (SELECT -5L AS id, named_struct('z', 1) AS st, 2 AS more) s "
        "ON t.id = s.id WHEN MATCHED THEN UPDATE SET *",
        rows=0,
    )
    after = {column.name: column for column in looked.write.schema_after}
    assert after["more"].type_before is None
    assert after["st"].type == "struct<a:int,b:struct<x:int,y:string>,z:int>"
    assert after["st"].type_before == "struct<a:int,b:struct<x:int,y:string>>"
    assert after["id"].type_before == "bigint"
    assert looked.changes_something
    assert apply(tgt, looked).version == looked.target.version + 1
    assert "more" in tgt.sql("SELECT * FROM tgt").columns


def test_generation_expressions_are_read_from_a_checkpoint_too(spark: Any, schema: str) -> None:
    spark.sql(
        "CREATE TABLE tgt (id BIGINT, g BIGINT GENERATED ALWAYS AS (id + 1)) USING delta "
        "TBLPROPERTIES ('delta.checkpointInterval' = '1')"
    )
    spark.sql("INSERT INTO tgt (id) VALUES (1)")
    path = spark.sql("DESCRIBE DETAIL tgt").collect()[0]["location"]
    with listed_log(spark, path) as log:
        assert not log.segment(1).commits
    assert [column.generated_as for column in logged_schema(spark, path, 1)] == [None, "id + 1"]


def test_casts_follow_the_store_assignment_and_not_the_session(spark: Any, schema: str) -> None:
    """Under the policy ANSI a write casts as ANSI does, whatever spark.sql.ansi.enabled says."""
    spark.sql("CREATE TABLE tgt USING delta AS SELECT id, 0 AS n, DATE'2026-01-01' AS d FROM range(3)")
    spark.sql("CREATE TABLE src USING delta AS SELECT id, ' 12 ' AS n, '2026-02-03' AS d FROM range(5)")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        check(
            spark,
            "tgt",
            "MERGE INTO tgt USING src ON tgt.id = src.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        )
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


def test_what_does_not_fit_inside_of_a_value_is_refused_whatever_the_session_casts(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE tgt (id BIGINT, m MAP<INT, ARRAY<STRUCT<a: TINYINT, b: DATE>>>) USING delta")
    spark.sql("INSERT INTO tgt SELECT 1, NULL")
    with confs_set(spark, {"spark.sql.ansi.enabled": "false"}):
        for a, b, condition in (
            (1000, "2026-01-01", "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE"),
            (1, "2026-13-01", "CAST_INVALID_INPUT"),
            (1, "2026-12-01", None),
        ):
            source = f"(SELECT 1L AS id, map('7', array(NULL, named_struct('a', {a}, 'b', '{b}'))) AS m)"
            sql = f"MERGE INTO tgt t USING {source} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *"
            refused = plan(spark, sql).refused
            assert (refused and refused.condition) == condition
            if refused is None:
                check(spark, "tgt", sql)
                continue
            with pytest.raises(Exception) as raised:  # noqa: PT011
                spark.sql(sql).collect()
            assert translate(raised.value).condition == condition


def test_what_a_statement_raises_by_itself_keeps_its_class(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT 1L AS id, 'a' AS v")
    sql = (
        "MERGE INTO tgt t USING (SELECT 1L AS id, 'b' AS v) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = coalesce(raise_error('v does not fit: CAST_OVERFLOW ' || s.v), t.v)"
    )
    refused = plan(spark, sql).refused
    assert refused is not None
    with pytest.raises(Exception) as raised:  # noqa: PT011
        spark.sql(sql).collect()
    assert translate(raised.value).condition == refused.condition == "USER_RAISED_EXCEPTION"


def test_what_spark_casts_to_null_in_each_session_is_no_value_that_does_not_fit(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE tgt (id BIGINT, d DECIMAL(9, 2), l ARRAY<DECIMAL(9, 2)>, v INT) USING delta")
    spark.sql("INSERT INTO tgt VALUES (1, 1, NULL, 1)")
    values = "double('NaN') AS d, array(double('Infinity')) AS l, parse_json('null') AS v"
    with confs_set(spark, {"spark.sql.ansi.enabled": "false"}):
        check(
            spark,
            "tgt",
            f"MERGE INTO tgt t USING (SELECT 1L AS id, {values}) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *",
        )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("source", "evolves", "clause"),
    [
        ("9 AS ID, 2 AS id, 3 AS V, 4 AS v", "", "WHEN NOT MATCHED THEN INSERT *"),
        ("9 AS ID, 1 AS id, 3 AS V, 4 AS v", "", "WHEN MATCHED THEN UPDATE SET *"),
        ("2 AS id, 3 AS V", "WITH SCHEMA EVOLUTION", "WHEN NOT MATCHED THEN INSERT *"),
        ("2 AS id, 3 AS V", "WITH SCHEMA EVOLUTION", "WHEN NOT MATCHED THEN INSERT (id, V) VALUES (s.id, s.V)"),
    ],
)
@pytest.mark.parametrize(
    "rule", ["", *(pytest.param(one, marks=pytest.mark.thorough) for one in ("NOT NULL", "DEFAULT 7"))]
)
def test_a_column_gets_what_has_its_name_as_the_session_takes_names(
    spark: Any, schema: str, rule: str, source: str, evolves: str, clause: str
) -> None:
    """Schema evolution takes ``V`` for the column, and nothing assigns it."""
    spark.sql(
        f"CREATE TABLE tgt (id INT, v INT {rule}) USING delta "
        "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')"
    )
    spark.sql("INSERT INTO tgt VALUES (1, 1)")
    merge = f"MERGE {evolves} INTO tgt t USING (SELECT {source}) s ON t.id = s.id {clause}"
    with confs_set(spark, {"spark.sql.caseSensitive": "true"}):
        outcome = check_merge(spark, "tgt", merge, values=True)
    is_null = bool(evolves) and rule == "NOT NULL"
    assert (outcome == "committed") is not is_null


@pytest.mark.parametrize(
    ("wanted", "given", "condition"),
    [
        ("DATE, STRING", f"{ONE_DAY[0]}, 'a', {ONE_DAY[1]}, 'b'", "committed"),
        ("INT, STRING", "'1', 'a', '01', 'b'", "DUPLICATED_MAP_KEY"),
        pytest.param(
            "STRING, INT", "'a', 3000000000L", "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE", marks=pytest.mark.thorough
        ),
        pytest.param(
            "DATE, STRUCT<a: INT>",
            f"{ONE_DAY[0]}, named_struct('a', 1L), {ONE_DAY[1]}, named_struct('a', 2L)",
            "DUPLICATED_MAP_KEY",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_a_map_is_cast_as_a_whole_or_key_by_key(
    spark: Any, schema: str, wanted: str, given: str, condition: str
) -> None:
    """Keys that become the same are an error only where Delta makes each anew."""
    spark.sql(f"CREATE TABLE tgt (id INT, m MAP<{wanted}>) USING delta")
    spark.sql("INSERT INTO tgt VALUES (1, NULL)")
    source = f"(SELECT 1 AS id, map({given}) AS m)"
    merge = f"MERGE INTO tgt t USING {source} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET m = s.m"
    assert check_merge(spark, "tgt", merge, values=True) == condition


def test_of_a_function_over_arrays_of_structs_the_operands_are_cast(spark: Any, schema: str) -> None:
    """Items that are the same only as they are stored are one item then."""
    spark.sql("CREATE TABLE tgt (id BIGINT, a ARRAY<STRUCT<n: INT>>, st STRUCT<a: ARRAY<STRUCT<n: INT>>>) USING delta")
    spark.sql("ALTER TABLE tgt ADD CONSTRAINT few CHECK (size(a) <= 2)")
    spark.sql("INSERT INTO tgt SELECT id, array(named_struct('n', 1)), NULL FROM range(9)")
    items = "array(named_struct('n', 1.2D), named_struct('n', 1.4D), named_struct('n', 2.5D))"
    values = (
        "a = array_distinct(s.a)",
        "a = (array_union(t.a, s.a))",
        "a = array_except(s.a, s.b)",
        "a = array_intersect(s.a, s.b)",
        "a = array_remove(s.a, named_struct('n', 1.9D))",
        "a = array_distinct(array_except(array_union(s.a, t.a), s.b))",
        "st.a = array_distinct(s.a)",
        "st = named_struct('a', array_distinct(s.a))",
    )
    clauses = " ".join(f"WHEN MATCHED AND s.id = {n} THEN UPDATE SET {value}" for n, value in enumerate(values))
    source = f"(SELECT id, {items} AS a, array(named_struct('n', 1.9D)) AS b FROM range(10))"
    inserts = "WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, array_distinct(s.a))"
    sql = f"MERGE INTO tgt t USING {source} s ON t.id = s.id {clauses} {inserts}"
    assert check_merge(spark, "tgt", sql, values=True) == "committed"


def test_under_legacy_what_does_not_fit_is_cut(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT id, 0 AS n, 1S AS small FROM range(3)")
    spark.sql("CREATE TABLE src USING delta AS SELECT id, 'x' AS n, id + 70000 AS small FROM range(5)")
    spark.conf.set("spark.sql.storeAssignmentPolicy", "LEGACY")
    try:
        after = check(
            spark,
            "tgt",
            "MERGE INTO tgt USING src ON tgt.id = src.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        )
    finally:
        spark.conf.unset("spark.sql.storeAssignmentPolicy")
    assert after["n"] == [None] * 5


def test_under_legacy_a_field_that_is_not_cast_is_known(tgt: Any) -> None:
    with confs_set(tgt, {"spark.sql.storeAssignmentPolicy": "LEGACY"}):
        merge = "MERGE INTO tgt USING (SELECT 1 AS id) s ON tgt.id = s.id WHEN MATCHED THEN UPDATE SET st.b.x = {}"
        for value, unknown in (("s.id", ()), ("70000L", ("st",))):
            assert [one.unknown for one in plan(tgt, merge.format(value), rows=1).samples] == [unknown]


@pytest.mark.thorough
def test_char_reads_padded_at_any_depth(spark: Any, schema: str) -> None:
    spark.sql(
        "CREATE TABLE tgt (id BIGINT, st STRUCT<a: CHAR(3), n: INT, in: STRUCT<b: VARCHAR(4)>>, "
        "arr ARRAY<STRUCT<c: CHAR(2), d: DECIMAL(4,1)>>, mp MAP<CHAR(2), ARRAY<CHAR(3)>>) USING delta"
    )
    spark.sql(
        "INSERT INTO tgt VALUES (1, named_struct('a', 'x', 'n', 1, 'in', NULL), NULL, map('k', array('v'))), "
        "(2, NULL, array(named_struct('c', 'y', 'd', 1), NULL), NULL), (3, NULL, NULL, NULL)"
    )
    after = check(
        spark,
        "tgt",
        "MERGE INTO tgt t USING (SELECT id FROM range(1, 5)) s ON t.id = s.id "
        "WHEN MATCHED AND s.id = 1 THEN UPDATE SET st.a = 'z', mp = map('m', array('w', NULL)) "
        "WHEN MATCHED AND s.id = 2 THEN UPDATE SET st.n = 5, arr = array(NULL, named_struct('d', 2, 'c', 'q')) "
        "WHEN NOT MATCHED THEN INSERT (id, st, mp) VALUES (s.id, named_struct('in', named_struct('b', 'v'), 'a', 'i', "
        "'n', 1), NULL)",
    )
    assert [st["a"] for st in after["st"] if st] == ["z  ", None, "i  "]
    assert {"m ": ["w  ", None]} in after["mp"]


@pytest.mark.parametrize(
    ("conf", "nulls"),
    [
        ("resolveMergeUpdateStructsByName.enabled", 2),
        pytest.param("merge.preserveNullSourceStructs", 0, marks=pytest.mark.thorough),
    ],
)
def test_structs_by_place_and_null_structs_that_become_structs_of_nulls(
    spark: Any, schema: str, conf: str, nulls: int
) -> None:
    """The older ways to assign a struct, which confs bring back."""
    spark.sql(
        "CREATE TABLE tgt USING delta AS SELECT id, named_struct('a', 1, 'b', 2) AS st, "
        "array(named_struct('a', 1, 'b', 2)) AS arr FROM range(2)"
    )
    spark.sql(
        "CREATE TABLE src USING delta AS SELECT id, IF(id % 2 = 0, NULL, named_struct('b', id, 'a', 7)) AS st, "
        "array(named_struct('b', id, 'a', 7), NULL) AS arr FROM range(4)"
    )
    spark.conf.set(f"spark.databricks.delta.{conf}", "false")
    try:
        after = check(
            spark,
            "tgt",
            "MERGE INTO tgt USING src ON tgt.id = src.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        )
    finally:
        spark.conf.unset(f"spark.databricks.delta.{conf}")
    assert after["st"].count(None) == nulls
    assert all(arr[1] is None for arr in after["arr"]) == bool(nulls)


@pytest.mark.thorough
def test_update_star_assigns_field_by_field_where_a_conf_says_so(tgt: Any) -> None:
    tgt.sql("CREATE TABLE src USING delta AS SELECT id, IF(id = 1, NULL, named_struct('a', 9)) AS st FROM range(1, 4)")
    tgt.conf.set("spark.databricks.delta.merge.preserveNullSourceStructs.updateStar", "false")
    try:
        after = check(
            tgt,
            "tgt",
            "MERGE WITH SCHEMA EVOLUTION INTO tgt t USING src s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *",
        )
    finally:
        tgt.conf.unset("spark.databricks.delta.merge.preserveNullSourceStructs.updateStar")
    assert None not in after["st"], "a NULL struct becomes one of NULL fields, those of the target kept"
    assert sorted(st["a"] or 0 for st in after["st"]) == [0, 9, 9]
