"""What people get of a statement that Spark or Delta refuses: class, sentence, hint, and the place as typed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine import plan
from engine.explore.validate import validate
from engine.model.errors import EngineError
from engine.spark.explain import explain
from tests.conftest import own_schema
from tests.engine.fidelity import refused_by_delta

KINDS = ("spark", "classic")


@pytest.fixture(params=KINDS)
def sales(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Tables t, s and the parquet table p on each kind of session."""
    spark = request.getfixturevalue(request.param)
    with own_schema(spark):
        spark.sql("CREATE TABLE t (id INT, v INT, d DATE) USING delta")
        spark.sql("INSERT INTO t VALUES (1, 1, DATE'2026-01-01')")
        spark.sql("CREATE TABLE s (id INT, v INT, f STRING) USING delta")
        spark.sql("INSERT INTO s VALUES (1, 0, 'x')")
        spark.sql("CREATE TABLE p (id INT, v INT) USING parquet")
        yield spark


def merge(on: str = "t.id = s.id", set_: str = "v = s.v", source: str = "s") -> str:
    return f"MERGE INTO t\nUSING {source} ON {on}\nWHEN MATCHED THEN UPDATE SET {set_}"


def refused(spark: Any, sql: str, **given: Any) -> EngineError:
    with pytest.raises(EngineError) as failed:
        plan(spark, sql, **given)
    return failed.value


def pointed(sql: str, error: EngineError) -> str:
    """What stands at the error's place."""
    assert error.line is not None
    assert error.column is not None
    return sql.split("\n")[error.line - 1][error.column - 1 :]


CAST = "CAST_INVALID_INPUT"
NO_CAST = 'cannot be cast to "INT"'
DEFAULTS = "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')"
IN_MERGE = [
    (merge(on="t.id = s.id AND CAST('x' AS INT) = t.v"), CAST, NO_CAST, "CAST('x' AS INT) = t.v"),
    (merge(set_="v = CAST('x' AS INT)"), CAST, NO_CAST, "CAST('x' AS INT)"),
    (merge(on="t.id = s.id AND 1 / 0 = t.v"), "DIVIDE_BY_ZERO", "Division by zero.", "1 / 0 = t.v"),
    (merge(on="t.d > DATE'2026-99-01'"), "INVALID_TYPED_LITERAL", "typed literal", "DATE'2026-99-01'"),
    (merge(on="t.id = s.id AND size(sequence(1, 5, 0)) = 1"), "SPARK_ERROR", "Illegal sequence boundaries", ""),
    (merge(on="t.id = s.id AND 'a' RLIKE '['"), "INVALID_PARAMETER_VALUE.PATTERN", "is invalid: '['", ""),
    (merge(set_="d = array(1)"), "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", "cannot cast", ""),
    # of these Spark knows no place but the statement's own, which is that of every fault
    (merge(set_="nope = s.v"), "DELTA_MERGE_UNRESOLVED_EXPRESSION", "Cannot resolve nope in UPDATE", ""),
    (merge(set_="v = 'abc'"), CAST, NO_CAST, ""),
    ("WITH w AS (SELECT 1) " + merge(set_="v = 'abc'"), CAST, NO_CAST, ""),
    (
        f"{merge()} WHEN NOT MATCHED THEN INSERT (id, v) VALUES (1)",
        "MERGE_INSERT_VALUE_COUNT_MISMATCH",
        "number of provided values (1)",
        "(1)",
    ),
    (merge(on="t.id = s.nope"), "DELTA_MERGE_UNRESOLVED_EXPRESSION", "Cannot resolve s.nope", "s.nope"),
    (merge(on="t.id = nofn(s.id)"), "UNRESOLVED_ROUTINE", "Cannot resolve routine `nofn`", "nofn(s.id)"),
    (merge(source="nope s"), "TABLE_OR_VIEW_NOT_FOUND", "`nope` cannot be found", "nope s ON"),
    (merge(set_="v = s.v v"), "PARSE_SYNTAX_ERROR", "Syntax error", "v"),
    ("MERGE INTO p USING s ON p.id = s.id WHEN MATCHED THEN DELETE", "UNSUPPORTED_FEATURE.TABLE_OPERATION", "`p`", ""),
    (
        "CREATE TABLE c (id INT, CONSTRAINT positive CHECK (id > 0)) USING delta",
        "UNSUPPORTED_FEATURE.TABLE_OPERATION",
        "does not support table constraint",
        "",
    ),
    (f"CREATE TABLE c (id INT DEFAULT CAST('x' AS INT)) USING delta {DEFAULTS}", CAST, NO_CAST, "CAST('x' AS INT))"),
    ("CREATE TABLE nosuch.c USING delta AS SELECT nope FROM s", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "`nope`", "nope"),
]
OF_SETUP = [
    ("SET spark.sql.warehouse.dir=/x", "CANNOT_MODIFY_STATIC_CONFIG", "static Spark config", ""),
    ("SET spark.sql.shuffle.partitions=many", "INVALID_CONF_VALUE.TYPE_MISMATCH", "'many'", ""),
    ("SET spark.databricks.delta.merge.materializeSource=x", "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS", "'x'", ""),
    ("SET TIME ZONE 'Nowhere/X'", "INVALID_CONF_VALUE.TIME_ZONE", "Cannot resolve the given timezone.", ""),
    ("USE nosuch_schema", "SCHEMA_NOT_FOUND", "nosuch_schema", ""),
    ("CREATE TEMP VIEW v_err AS\n SELECT nope FROM s", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "`nope`", "nope FROM s"),
    ("CACHE TABLE nope", "TABLE_OR_VIEW_NOT_FOUND", "`nope`", "nope"),
    ("DECLARE VARIABLE n INT DEFAULT 'abc'", CAST, NO_CAST, "DECLARE VARIABLE"),
    ("SET VAR nope = 1", "UNRESOLVED_VARIABLE", "`nope`", "nope = 1"),
]


def test_what_is_refused_at_analysis_has_class_sentence_hint_and_place(sales: Any) -> None:
    for sql, condition, sentence, place in IN_MERGE:
        error = refused(sales, f"  {sql}")
        assert (error.condition, sentence in error.message) == (condition, True), f"{sql}: {error}"
        assert error.hint or condition.startswith("INVALID_PARAMETER_VALUE"), sql
        if place:
            assert pointed(f"  {sql}", error).startswith(place), sql
        else:
            assert error.line is None, sql


def test_what_is_refused_of_a_setup_statement_points_into_it(sales: Any) -> None:
    for setup, condition, sentence, place in OF_SETUP:
        sql = f"SET a.b = 1;\n{setup};\n{merge()}"
        error = refused(sales, sql)
        assert (error.condition, sentence in error.message, bool(error.hint)) == (condition, True, True), f"{error}"
        if place:
            assert pointed(sql, error).startswith(place), setup
        else:
            assert error.line is None, setup


def test_the_merge_is_pointed_into_behind_setup_and_parameters(sales: Any) -> None:
    typed = f"SET a.b = :name; -- :no marker\n {merge(on='t.v > :low AND t.v < :high AND t.id = s.nope')}"
    given = {"name": "a long name for it", "low": "-1000000", "high": "2"}
    error = refused(sales, typed, params=given)
    assert pointed(typed, error).startswith("s.nope")
    told = validate(sales, typed, given)
    assert (told.condition, told.line, told.column) == (error.condition, error.line, error.column)


def test_of_a_parameter_without_a_value_only_that_is_told_and_what_is_wrong_whatever_it_is(sales: Any) -> None:
    of = "t.id = s.id AND t.v < CAST(:n AS INT)"
    for sql, told in (
        (merge(on=of), ""),
        (merge(on=of, source="(SELECT * FROM s LIMIT :n) s"), ""),
        (merge(on=of, source="(SELECT * FROM IDENTIFIER(:n)) s"), "UNBOUND_SQL_PARAMETER"),
        (merge(on=f"{of} AND t.id = s.nope"), "DELTA_MERGE_UNRESOLVED_EXPRESSION"),
        (merge(on=f"{of} AND t.v = CAST('many' AS INT)"), CAST),
    ):
        found = validate(sales, sql, {})
        assert (found.condition, found.ok) == (told, not told), sql


def test_a_bad_parameter_says_what_is_bad_and_points_at_its_marker(sales: Any) -> None:
    typed = merge(on="t.id = s.id AND t.v = CAST(:n AS INT) AND t.d > :day")
    error = refused(sales, typed, params={"n": "many", "day": "2026-01-01"})
    assert (error.condition, NO_CAST in error.message) == (CAST, True)
    assert pointed(typed, error).startswith("CAST(:n AS INT)")
    assert error.hint == "It is what :n stands for. Correct the value, or use try_cast to have NULL instead."
    assert refused(sales, typed, params={"n": "", "day": "2026-01-01"}).hint.startswith("It is what :n stands for.")
    assert refused(sales, typed, params={"n": "1"}).condition == "UNBOUND_SQL_PARAMETER"


def test_a_statement_that_is_nested_too_deeply_for_spark_is_refused_with_a_sentence(sales: Any) -> None:
    for deep in (
        merge(on=f"t.id = {'(' * 2000}s.id{')' * 2000}"),
        merge(source=f"(SELECT {'(' * 2000}1{')' * 2000}) s"),
    ):
        assert refused(sales, deep).condition == "STATEMENT_TOO_DEEP"


def test_a_source_that_fails_while_it_is_frozen_keeps_class_and_cause(sales: Any, tmp_path: Path) -> None:
    """The place would be one of our query over the source, so none is told."""
    (tmp_path / "bad.parquet").write_text("no parquet at all")
    bad = merge(source=f"(SELECT id, v FROM parquet.`{tmp_path}/bad.parquet`) s")
    error = refused(sales, bad)
    assert error.condition == "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER"
    assert error.outer == "FAILED_TO_CREATE_PLAN_FOR_DIRECT_QUERY"
    assert "is not a Parquet file" in error.message
    divides = refused(sales, merge(source="(SELECT id, 1 / v AS v FROM s ORDER BY id) s"))
    assert (divides.condition, divides.line, bool(divides.hint)) == ("DIVIDE_BY_ZERO", None, True)
    of_java = refused(sales, merge(source="(SELECT id, size(sequence(1, 5, v)) AS v FROM s ORDER BY id) s"))
    assert of_java.condition == "EXPRESSION_FAILED"
    assert "Illegal sequence boundaries: 1 to 5 by 0" in of_java.message


def test_a_python_function_that_fails_says_what_it_raised(classic: Any, classic_schema: str) -> None:
    def broken(value: int) -> int:
        raise ValueError(f"no {value}, [NOT_A_CLASS]")

    classic.sql("CREATE TABLE t USING delta AS SELECT 1 AS id, 1 AS v")
    classic.udf.register("broken", broken, "int")
    error = refused(classic, merge(source="(SELECT 1 AS id, broken(2) AS v) s"))
    assert (error.condition, bool(error.hint)) == ("PYTHON_EXCEPTION", True)
    assert error.message == "A Python function failed: ValueError: no 2, [NOT_A_CLASS]"


def test_a_column_called_like_an_exception_is_no_failure(sales: Any) -> None:
    sql = "SELECT 1 AS SomeException, 2 AS `an.Error`, 'Error occurred during query planning: ' AS v"
    assert "OneRowRelation" in explain(sales, sql).analyzed


def test_a_plan_that_spark_redacts_is_not_guessed(sales: Any) -> None:
    sales.conf.set("spark.sql.redaction.string.regex", "version")
    try:
        error = refused(sales, merge())
    finally:
        sales.conf.unset("spark.sql.redaction.string.regex")
    assert error.condition == "PLAN_REDACTED"


@pytest.mark.parametrize("kind", KINDS)
def test_wide_tables_are_read_whole_in_any_session(kind: str, request: pytest.FixtureRequest) -> None:
    """Spark prints 25 fields of a plan, or as much as the session wants, and drops the others."""
    spark = request.getfixturevalue(kind)
    columns = ", ".join(f"c{n} INT" for n in range(40))
    confs = {"spark.sql.debug.maxToStringFields": "7", "spark.sql.maxPlanStringLength": "300"}
    with own_schema(spark):
        for table in ("t", "s"):
            spark.sql(f"CREATE TABLE {table} (id INT, {columns}, z INT) USING delta")
        spark.sql(f"INSERT INTO t SELECT {', '.join(['1'] * 42)}")
        spark.sql(f"INSERT INTO s SELECT 1, {', '.join(['1'] * 40)}, 2")
        before = {key: spark.conf.get(key) for key in confs}
        try:
            for given in (dict.fromkeys(confs), confs):
                for key, value in given.items():
                    spark.conf.set(key, value) if value else spark.conf.unset(key)
                sql = "MERGE INTO t USING s ON t.id = s.id AND t.c39 = s.c39 WHEN MATCHED THEN UPDATE SET z = s.z"
                found = plan(spark, f"{sql} WHEN NOT MATCHED THEN INSERT *")
                assert found.promise["numTargetRowsUpdated"] == 1  # type: ignore[union-attr]
                default = {"spark.sql.debug.maxToStringFields": "25", "spark.sql.maxPlanStringLength": "2147483632b"}
                after = {key: spark.conf.get(key) for key in confs}
                assert after == {key: value or default[key] for key, value in given.items()}, "as it was"
        finally:
            for key, value in before.items():
                spark.conf.set(key, value)


@pytest.mark.parametrize("verb", ["CREATE", "REPLACE"])
def test_a_check_says_that_a_table_of_another_format_is_not_planned(sales: Any, verb: str) -> None:
    told = validate(sales, f"{verb} TABLE another_format AS SELECT 1 AS a", {})
    assert (told.ok, told.condition, told.hint) == (False, "NOT_A_DELTA_TABLE", "Write USING delta.")


@pytest.mark.parametrize("place", ["LOCATION 'here'", "OPTIONS (path = 'here')"])
def test_a_check_says_that_a_location_is_relative(sales: Any, place: str) -> None:
    told = validate(sales, f"CREATE TABLE relative USING delta {place} AS SELECT 1 AS a", {})
    assert (told.ok, told.condition, told.hint) == (False, "RELATIVE_LOCATION", "Write the whole path.")


@pytest.mark.parametrize(
    ("sql", "effect", "version"),
    [
        ("CREATE TABLE new (a INT) USING delta", "create", None),
        ("CREATE TABLE IF NOT EXISTS new (a INT) USING delta", "create", None),
        ("CREATE OR REPLACE TABLE new USING delta AS SELECT 1 AS a", "create", None),
        ("CREATE TABLE IF NOT EXISTS t (a INT) USING delta", "nothing", 1),
        ("CREATE OR REPLACE TABLE t (a INT) USING delta", "replace", 1),
        ("REPLACE TABLE t USING delta AS SELECT 1 AS a", "replace", 1),
        ("CREATE OR REPLACE TABLE t SHALLOW CLONE s", "replace", 1),
        ("CREATE TABLE u USING delta LOCATION '{of t}'", "adopt", 1),
        ("CREATE TABLE t (a INT) USING delta", "refused", 1),
        ("CREATE TABLE t SHALLOW CLONE s", "refused", 1),
        ("CREATE OR REPLACE TABLE p (a INT) USING delta", "refused", None),
    ],
)
def test_a_check_says_what_a_create_does_to_what_is_there(
    sales: Any, sql: str, effect: str, version: int | None
) -> None:
    place = sales.sql("DESCRIBE DETAIL t").collect()[0]["location"]
    told = validate(sales, sql.replace("{of t}", place), {})
    assert (told.ok, told.effect, told.target_version) == (True, effect, version), told.message


def test_what_fails_in_a_row_of_the_source_that_the_merge_leaves_out_says_that_it_may(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE t USING delta AS SELECT 1 AS id, 10D AS v")
    spark.sql("CREATE TABLE s USING delta AS SELECT 3 AS id, 0 AS v UNION ALL SELECT 11, 5")
    source = "(SELECT id, v, 100 / v AS q FROM s)"
    inserts = "WHEN NOT MATCHED AND s.v <> 0 THEN INSERT (id, v) VALUES (s.id, s.q)"
    sql = f"MERGE INTO t USING {source} s ON t.id = s.id {inserts}"
    with pytest.raises(EngineError, match="DIVIDE_BY_ZERO") as refused:
        plan(spark, sql)
    assert "the MERGE may leave this one out" in refused.value.hint
    assert refused_by_delta(spark, sql) == ""
