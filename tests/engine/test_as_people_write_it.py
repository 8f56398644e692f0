"""SQL as people write it: names that are keywords, odd literals, other scopes. Each merge runs twice: planned and
applied in one schema, plain in another; promises, rows and errors agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.merge.analyze import analyze
from engine.merge.target_view import OTHER_COLUMNS, OTHER_VALUES, check_target_view
from engine.model.errors import EngineError, StalePlanError
from engine.plan_merge import plan
from engine.spark.confs import STATS_SKIPPING, confs_set
from engine.spark.not_understood import NOT_UNDERSTOOD
from engine.spark.session_state import run_setup
from engine.spark.spark_errors import translate
from engine.sql.parse import parse_merge, parse_script
from tests.conftest import own_schema
from tests.engine.fidelity import check_merge

SCD2 = (
    "CREATE TABLE tgt (id INT, start DATE, end DATE, v INT) USING delta",
    "INSERT INTO tgt SELECT id, DATE'2024-01-01', NULL, id FROM range(40)",
    "CREATE TABLE src USING delta AS SELECT id, DATE'2024-02-01' AS start, CAST(NULL AS DATE) AS end, 7 AS v, "
    "CASE WHEN id < 5 THEN CAST(id AS INT) END AS merge_key FROM range(3, 50)",
)
PAIR = (
    "CREATE TABLE tgt (id INT, v INT, f STRING, d DATE, st STRUCT<a: INT, b: STRING>) USING delta",
    "INSERT INTO tgt VALUES (1, 10, 'true', DATE'2024-01-01', named_struct('a', 1, 'b', 'x')), "
    "(2, 20, 'no', DATE'2024-01-02', NULL), (3, 30, NULL, NULL, named_struct('a', NULL, 'b', '{y}'))",
    "CREATE TABLE src (id INT, v INT, f STRING, d DATE, k INT, st STRUCT<a: INT, b: STRING>) USING delta",
    "INSERT INTO src VALUES (1, 11, 'true', DATE'2024-01-01', 0, named_struct('a', 5, 'b', 'z')), "
    "(2, 12, 'false', DATE'2024-02-01', 2, NULL), (9, 19, 'yes', NULL, 4, named_struct('a', 9, 'b', 'q'))",
)
UPSERT = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"

MERGES: dict[str, tuple[tuple[str, ...], str]] = {
    "an INSERT with a column called end before another clause": (
        SCD2,
        "MERGE INTO tgt t USING src s ON t.id = s.merge_key WHEN MATCHED THEN UPDATE SET end = s.start "
        "WHEN NOT MATCHED THEN INSERT (id, start, end, v) VALUES (s.id, s.start, s.end, s.v) "
        "WHEN NOT MATCHED BY SOURCE AND t.id > 20 THEN UPDATE SET v = 0",
    ),
    "columns called as functions without brackets and as units": (
        (
            "CREATE TABLE tgt (id INT, `user` STRING, due DATE) USING delta",
            "INSERT INTO tgt VALUES (1, 'old', NULL), (2, 'old', NULL), (3, 'old', NULL)",
            "CREATE TABLE src (id INT, `user` STRING, current_date DATE, day DATE) USING parquet",
            "INSERT INTO src VALUES (1, 'ann', DATE'2020-01-01', DATE'2024-01-31'), "
            "(2, 'bob', DATE'2030-01-01', DATE'2024-02-01'), (9, 'eve', DATE'2020-01-01', DATE'2024-03-01')",
        ),
        "MERGE INTO tgt t USING (SELECT * FROM src) s ON t.id = s.id "
        "WHEN MATCHED AND current_date < DATE'2025-01-01' THEN UPDATE SET user = s.user "
        "WHEN NOT MATCHED AND user = 'eve' THEN INSERT (id, user, due) VALUES (s.id, user, date_add(day, 1))",
    ),
    "CASE and columns called case, when, then": (
        (
            "CREATE TABLE tgt (`case` INT, `when` INT, `then` INT, `matched` INT) USING delta",
            "INSERT INTO tgt VALUES (1, 1, 1, 1), (2, 2, 2, 2)",
            "CREATE TABLE src USING delta AS SELECT 1 AS `case`, 5 AS `when`, 6 AS `then`, 7 AS matched",
        ),
        "MERGE INTO tgt USING src ON tgt.case = src.case WHEN MATCHED AND CASE WHEN src.when > 1 THEN true END "
        "THEN UPDATE SET when = case WHEN src.case = 1 THEN src.then ELSE tgt.when END, then = src.matched "
        "WHEN NOT MATCHED THEN INSERT (case, when) VALUES (src.case, src.when)",
    ),
    # behind the word ARRAY, MAP or STRUCT Spark's lexer takes them for the end of a type
    "shifts to the right": (
        PAIR,
        "MERGE INTO tgt t USING (SELECT *, v >> 1 AS half FROM src WHERE k >>> 9 = 0) s ON t.id >> 0 = s.id >> 0 "
        "WHEN MATCHED AND t.v >> 1 < s.v THEN UPDATE SET v = s.half >>> 1, f = s.f "
        "WHEN NOT MATCHED AND s.id >> 1 > 0 THEN INSERT (id, v) VALUES (s.id >> 0, s.v >>> 2) "
        "WHEN NOT MATCHED BY SOURCE AND t.v >> 1 > 0 THEN UPDATE SET v = t.v >> 2",
    ),
    "a time of now, which Spark computes when it parses": (
        PAIR,
        "MERGE INTO tgt t USING (SELECT * FROM src WHERE TIMESTAMP'now' > DATE'2000-01-01') s ON t.id = s.id "
        f"AND TIMESTAMP'now' > TIMESTAMP'2000-01-01 00:00:00' {UPSERT}",
    ),
    "a table whose name is computed": (
        PAIR,
        f"MERGE INTO tgt t USING IDENTIFIER('sr' || 'c') s ON t.id = s.id {UPSERT}",
    ),
    "the input file in VALUES": (
        PAIR,
        "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v "
        "WHEN NOT MATCHED THEN INSERT (id, f) VALUES (s.id, input_file_name())",
    ),
    "an alias called merge, a WITH called merge": (
        PAIR,
        "WITH merge AS (SELECT id, v FROM src) MERGE INTO tgt AS matched USING merge AS not ON matched.id = not.id "
        "WHEN MATCHED THEN UPDATE SET matched.v = not.v",
    ),
    "a text in ON that holds no boolean": (PAIR, f"MERGE INTO tgt t USING src s ON t.id = s.id AND t.f {UPSERT}"),
    "a text in ON that holds booleans": (
        (*PAIR, "DELETE FROM tgt WHERE f = 'no'"),
        f"MERGE INTO tgt t USING src s ON t.id = s.id AND t.f {UPSERT}",
    ),
    "a text compared with TRUE on an unmatched row": (
        (*PAIR, "UPDATE src SET f = 'maybe' WHERE id = 9"),
        "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED AND s.f = TRUE THEN UPDATE SET v = s.v",
    ),
    "a text compared with a date on an unmatched row": (
        (*PAIR, "UPDATE src SET f = '2024-01-01' WHERE id < 9"),
        "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED AND s.f < current_date THEN UPDATE SET v = s.v",
    ),
    "NOT a text on an unmatched row": (
        (*PAIR, "UPDATE src SET f = 'maybe' WHERE id = 9"),
        "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED AND NOT s.f THEN UPDATE SET v = s.v",
    ),
    "a text compared with a number in a variable on an unmatched row": (
        (*PAIR, "UPDATE src SET f = CAST(v AS STRING) WHERE id < 9"),
        "DECLARE OR REPLACE VARIABLE least INT DEFAULT 11;\n"
        "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED AND s.f = least THEN UPDATE SET v = s.v",
    ),
    "braces in the source": (
        PAIR,
        "MERGE INTO tgt t USING (SELECT * FROM src WHERE '{}' = '{' || '}' AND NOT v RLIKE '[a-z]{3}') s "
        f"ON t.id = s.id {UPSERT}",
    ),
    "braces in a WITH": (
        PAIR,
        f"WITH q AS (SELECT *, '{{0}}' AS x FROM src) MERGE INTO tgt t USING q s ON t.id = s.id {UPSERT}",
    ),
    "forged structure in a string": (
        PAIR,
        "MERGE INTO tgt t USING src s ON t.id = s.id AND t.f <> 'x), deleteaction(Some((' "
        "WHEN MATCHED AND s.f <> 'true), assignment(v, 1' THEN UPDATE SET f = 'a), insertaction(None, assignment(''id' "
        "WHEN NOT MATCHED THEN INSERT (id, f) VALUES (s.id, '], true #15')",
    ),
    "a name that forges structure": (
        (
            "CREATE TABLE tgt (id INT, `v), delete` INT) USING delta "
            "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
            "INSERT INTO tgt VALUES (1, 1), (2, 2)",
            "CREATE TABLE src USING delta AS SELECT 1 AS id, 5 AS v",
        ),
        "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED THEN UPDATE SET `v), delete` = s.v",
    ),
    "a scalar subquery in SET and INSERT": (
        (*PAIR, "CREATE TABLE o USING delta AS SELECT 77 AS x"),
        "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = (SELECT max(x) FROM o) "
        "WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, (SELECT min(x) FROM o))",
    ),
    "a scalar subquery over a WITH": (
        (*PAIR, "CREATE TABLE o USING delta AS SELECT 77 AS x"),
        "WITH q AS (SELECT max(x) AS x FROM o) MERGE INTO tgt t USING src s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = (SELECT x FROM q)",
    ),
    "unqualified names that both sides have": (
        PAIR,
        "MERGE INTO tgt t USING src s ON t.id = s.id WHEN NOT MATCHED AND v > 1 THEN INSERT (id, v) VALUES (id, v) "
        "WHEN NOT MATCHED BY SOURCE AND v > 20 THEN UPDATE SET v = v + id",
    ),
    "a condition that fails on a matched row only": (
        PAIR,
        "MERGE INTO tgt t USING src s ON t.id = s.id WHEN NOT MATCHED AND 100 / s.k > 20 "
        "THEN INSERT (id, v) VALUES (s.id, s.v) WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)",
    ),
    "no blanks beside the source, ON and WHEN": (
        PAIR,
        "MERGE INTO tgt t USING(SELECT * FROM src WHERE rand() < 2)s ON(t.id=s.id)WHEN MATCHED AND NOT`k`=1 "
        "THEN UPDATE SET v=s.v",
    ),
    "no blanks beside back-quotes and a comment": (
        PAIR,
        "MERGE INTO`tgt`USING/*x*/`src`--c\nON`tgt`.id=`src`.id WHEN MATCHED AND`k`<3 THEN UPDATE SET v=`src`.v",
    ),
    "IDENTIFIER without an alias": (
        PAIR,
        "MERGE INTO IDENTIFIER('tgt') USING IDENTIFIER('src') ON tgt.id = src.id "
        "WHEN MATCHED AND src.k > 0 THEN UPDATE SET tgt.v = src.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (id, v)",
    ),
    "words between arguments, and columns called as they are": (
        (
            "CREATE TABLE tgt (id INT, v STRING) USING delta",
            "INSERT INTO tgt VALUES (1, 'abcdef'), (2, 'ghijkl')",
            "CREATE TABLE src USING parquet AS SELECT 1 AS id, 2 AS for, ' from ' AS from, 3 AS 1e1L",
        ),
        "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED AND position('b' IN v) = for AND for < 1e1L "
        "THEN UPDATE SET v = concat(substring(v, for + 1), substring(v FROM for - 1 FOR for), trim(from || 'x'), "
        "TRIM(BOTH FROM from))",
    ),
    "IDENTIFIER": (PAIR, f"MERGE INTO IDENTIFIER('tgt') AS t USING IDENTIFIER('src') AS s ON t.id = s.id {UPSERT}"),
    "a temporary view as target": (
        (*PAIR, "CREATE OR REPLACE TEMPORARY VIEW seen AS SELECT * FROM tgt"),
        f"MERGE INTO seen t USING src s ON t.id = s.id {UPSERT}",
    ),
    "a temporary view with BIGINT columns as target, whose ids Spark prints with an L": (
        (
            "CREATE TABLE tgt USING delta AS SELECT id, id AS v FROM range(3)",
            "CREATE TABLE src USING delta AS SELECT id, 7L AS v FROM range(2, 4)",
            "CREATE OR REPLACE TEMPORARY VIEW seen AS SELECT * FROM tgt",
        ),
        f"MERGE INTO seen t USING src s ON t.id = s.id {UPSERT}",
    ),
    "a cast to a struct by colons": (
        PAIR,
        "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED THEN UPDATE SET st = s.st::struct<a: int, b: string> "
        "WHEN NOT MATCHED THEN INSERT (id, st) VALUES (s.id, s.st :: struct<a: int, b: string>)",
    ),
    "columns of two tables in the source": (
        (*PAIR, "CREATE TABLE other USING delta AS SELECT 1 AS id, 5 AS w"),
        "MERGE INTO tgt t USING (SELECT a.*, b.* FROM src a JOIN other b ON a.id = b.id) s ON t.id = s.k + 1 "
        "WHEN MATCHED THEN UPDATE SET v = s.w",
    ),
    "a condition that is NULL": (
        PAIR,
        "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED AND NULL THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET v = s.v",
    ),
    "a column name with a comma": (
        (
            "CREATE TABLE tgt (id INT, `a, b` INT) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
            "INSERT INTO tgt VALUES (1, 1), (2, 2)",
            "CREATE TABLE src USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name') "
            "AS SELECT 1 AS id, 5 AS `a, b`",
        ),
        "MERGE INTO tgt t USING src s ON t.id = s.id AND t.`a, b` < s.`a, b` WHEN MATCHED THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT (id, `a, b`) VALUES (s.id, s.`a, b`)",
    ),
    "evolution with a struct field that the source lacks": (
        (
            "CREATE TABLE tgt (id INT, st STRUCT<a: INT, b: INT>) USING delta",
            "INSERT INTO tgt VALUES (1, named_struct('a', 1, 'b', 2)), (2, NULL)",
            "CREATE TABLE src USING delta AS SELECT id, named_struct('a', 9, 'c', 8) AS st FROM VALUES 1, 3 AS x(id)",
        ),
        "MERGE WITH SCHEMA EVOLUTION INTO tgt t USING src s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *",
    ),
    "evolution with a new column that is named": (
        (
            "CREATE TABLE tgt (key INT, value INT) USING delta",
            "INSERT INTO tgt VALUES (1, 1)",
            "CREATE TABLE src USING delta AS SELECT key, 5 AS value, 6 AS extra FROM VALUES 1, 3 AS x(key)",
        ),
        "MERGE WITH SCHEMA EVOLUTION INTO tgt t USING src s ON t.key = s.key WHEN MATCHED THEN DELETE "
        "WHEN NOT MATCHED THEN INSERT (key, extra) VALUES (s.key, s.value)",
    ),
    "evolution with a nested field that is assigned": (
        (
            "CREATE TABLE tgt (id INT, st STRUCT<a: INT, b: STRUCT<x: INT>>) USING delta",
            "INSERT INTO tgt VALUES (1, named_struct('a', 1, 'b', named_struct('x', 2))), (2, NULL)",
            "CREATE TABLE src USING delta AS SELECT id, named_struct('c', 9L, 'b', named_struct('y', 8)) AS st, "
            "5 AS extra FROM VALUES 1, 3 AS x(id)",
        ),
        "MERGE WITH SCHEMA EVOLUTION INTO tgt t USING src s ON t.id = s.id WHEN MATCHED THEN UPDATE SET st.c = s.st.c, "
        "st.b.y = s.st.b.y, t.st.a = 7, extra = s.extra WHEN NOT MATCHED BY SOURCE THEN UPDATE SET st = NULL",
    ),
    "evolution by columns of a frozen source that no expression reads": (
        (
            "CREATE TABLE tgt (key INT, value INT, st STRUCT<a: INT>) USING delta",
            "INSERT INTO tgt VALUES (1, 1, named_struct('a', 1)), (2, 2, NULL)",
            "CREATE TABLE src USING parquet AS SELECT key, 5 AS value, 6 AS extra, named_struct('a', 1, 'z', 2) AS st, "
            "7 AS other FROM VALUES 1, 3 AS x(key)",
        ),
        "MERGE WITH SCHEMA EVOLUTION INTO tgt t USING src s ON t.key = s.key "
        "WHEN MATCHED THEN UPDATE SET st = named_struct('a', s.value) "
        "WHEN NOT MATCHED THEN INSERT (key, extra) VALUES (s.key, s.value)",
    ),
    "columns called as the tables": (
        (
            "CREATE TABLE tgt (id INT, tgt STRUCT<id: INT>, src STRUCT<id: INT>) USING delta",
            "INSERT INTO tgt VALUES (1, named_struct('id', 5), named_struct('id', 6)), (2, NULL, NULL)",
            "CREATE TABLE src USING delta AS SELECT 1 AS id, named_struct('id', 8) AS tgt",
        ),
        "MERGE INTO tgt USING src ON tgt.id = src.id WHEN MATCHED AND tgt.tgt.id = 5 AND tgt.src.id = 6 "
        "THEN UPDATE SET tgt.tgt.id = src.tgt.id, src = named_struct('id', src.id) "
        "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET tgt.id = tgt.id + 1",
    ),
    "a variant path": (
        (
            "CREATE TABLE tgt (id INT, v INT) USING delta",
            "INSERT INTO tgt VALUES (1, 1), (2, 2)",
            "CREATE TABLE src USING delta AS SELECT 1 AS id, parse_json('{\"year\": 2024}') AS date",
        ),
        "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED AND s.date:year::int > 2000 "
        "THEN UPDATE SET v = s.date:year::int",
    ),
    "comments everywhere": (
        PAIR,
        "MERGE /* WHEN */ INTO tgt -- t USING\n t USING /* ( */ src s -- )\nON t.id = s.id -- AND false\n"
        "WHEN /* NOT */ MATCHED AND s.v > 0 -- THEN DELETE\nTHEN UPDATE SET v = s.v -- , id = 1\n"
        "WHEN NOT MATCHED THEN INSERT (id, -- x\n v) VALUES (s.id /* , */, s.v -- )\n)",
    ),
    "stars in a struct": (
        PAIR,
        "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED AND length(to_json(struct(s.*))) > 3 "
        "THEN UPDATE SET f = to_json(struct(s.id, s.st.*))",
    ),
    "a column that the source has twice": (
        PAIR,
        "MERGE INTO tgt t USING (SELECT *, id, v AS vv FROM src) s ON t.id = s.id "
        "WHEN MATCHED AND length(to_json(struct(s.*))) > 3 THEN UPDATE SET f = to_json(struct(s.*)), v = s.vv "
        "WHEN NOT MATCHED THEN INSERT *",
    ),
    "a column that a source has twice which is frozen": (
        (*PAIR, "CREATE TABLE pq USING parquet AS SELECT id, v FROM src"),
        "MERGE INTO tgt t USING (SELECT *, id, v AS vv FROM pq) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.vv "
        "WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)",
    ),
    "a column that the source has twice, once for its own sake": (
        PAIR,
        "MERGE INTO tgt t USING (SELECT a.id, a.* FROM src a LEFT JOIN tgt b ON a.id = b.id) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)",
    ),
    "two columns of one name that nothing names": (
        PAIR,
        "MERGE INTO tgt t USING (SELECT 7 AS x, 8 AS x, * FROM src) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = s.v",
    ),
    "two columns of one name": (
        PAIR,
        "MERGE INTO tgt t USING (SELECT *, id + 0 AS id FROM src) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = s.v",
    ),
    "a star over two columns of one name": (
        PAIR,
        "MERGE INTO tgt t USING (SELECT 7 AS x, 8 AS x, * FROM src) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET f = to_json(struct(s.*))",
    ),
    "a column twice, and columns that are added": (
        PAIR,
        "MERGE WITH SCHEMA EVOLUTION INTO tgt t USING (SELECT *, id, v AS vv, v AS w FROM src) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    ),
    "a column twice that is added": (
        PAIR,
        "MERGE WITH SCHEMA EVOLUTION INTO tgt t USING (SELECT a.*, a.w FROM (SELECT *, v AS w FROM src) a) s "
        "ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    ),
    "a lambda whose variable is named as a side": (
        PAIR,
        "MERGE INTO tgt t USING src s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = aggregate(array(1, 2), 0, (t, v) -> t + v) + t.v",
    ),
    "insert only with a condition that makes ON safe": (
        (*PAIR, "UPDATE src SET f = '7' WHERE id = 9"),
        "MERGE INTO tgt t USING src s ON t.id = CAST(s.f AS INT) WHEN NOT MATCHED AND s.f RLIKE '^[0-9]+$' "
        "THEN INSERT (id, v) VALUES (s.id, s.v)",
    ),
    "a column called _metadata": (
        (
            "CREATE TABLE tgt (id INT, _metadata STRING) USING delta",
            "INSERT INTO tgt VALUES (1, 'a'), (2, 'b')",
            "CREATE TABLE src USING delta AS SELECT 1 AS id, 'x' AS _metadata",
        ),
        "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED THEN UPDATE SET _metadata = s._metadata",
    ),
    "names in capital letters": (
        PAIR,
        "MERGE INTO TGT T USING SRC S ON T.ID = S.Id WHEN MATCHED AND T.ST.A IS NOT NULL THEN UPDATE SET V = S.V, "
        "T.F = S.F, ST.B = upper(S.ST.B) WHEN NOT MATCHED THEN INSERT (ID, F) VALUES (S.ID, lower(S.F)) "
        "WHEN NOT MATCHED BY SOURCE AND T.V > 0 THEN UPDATE SET F = 'Left'",
    ),
    "a struct column named as the other side": (
        (
            "CREATE TABLE tgt (id INT, s STRUCT<id: INT>, v INT) USING delta",
            "INSERT INTO tgt VALUES (1, named_struct('id', 5), 1), (5, named_struct('id', 1), 2)",
            "CREATE TABLE src USING delta AS SELECT 5 AS id, 9 AS v",
        ),
        "MERGE INTO tgt t USING src s ON t.s.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v",
    ),
}


@pytest.fixture
def schemas(spark: Any) -> Iterator[tuple[str, str]]:
    with own_schema(spark) as planned, own_schema(spark) as plain:
        yield planned, plain


def rows_of(spark: Any, schema: str) -> Counter[str]:
    return Counter(str(row) for row in spark.sql(f"SELECT * FROM {schema}.tgt").collect())


def plain_merge(spark: Any, schema: str, merge: str) -> str:
    """The class of the error that the MERGE raises in a schema, "" where it commits."""
    spark.sql(f"USE {schema}")
    script = parse_script(merge)
    try:
        run_setup(spark, script.setup)
        spark.sql(script.statement).collect()
    except Exception as error:
        return translate(error).condition
    return ""


@pytest.mark.parametrize("name", MERGES)
def test_a_merge_does_what_the_plain_one_does(spark: Any, schemas: tuple[str, str], name: str) -> None:
    setup, merge = MERGES[name]
    outcomes = []
    for schema in schemas:
        spark.sql(f"USE {schema}")
        for statement in setup:
            spark.sql(statement).collect()
    spark.sql(f"USE {schemas[0]}")
    for statement in setup:
        if statement.startswith("CREATE OR REPLACE TEMPORARY VIEW"):
            spark.sql(statement).collect()
    outcomes.append(check_merge(spark, f"{schemas[0]}.tgt", merge, values="VIEW" not in "".join(setup)))
    for statement in setup:
        if statement.startswith("CREATE OR REPLACE TEMPORARY VIEW"):
            spark.sql(f"USE {schemas[1]}")
            spark.sql(statement).collect()
    refused = plain_merge(spark, schemas[1], merge)
    assert (outcomes[0] in ("committed", "nothing to do")) == (not refused), (outcomes, refused)
    assert rows_of(spark, schemas[0]) == rows_of(spark, schemas[1])


def test_a_merge_that_would_leave_other_columns_than_planned_is_not_run(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT 1 AS id")
    spark.sql("CREATE TABLE src USING delta AS SELECT 1 AS id, 2 AS extra")
    merge = "MERGE WITH SCHEMA EVOLUTION INTO tgt t USING src s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *"
    found = plan(spark, merge)
    other = tuple(one.model_copy(update={"type": "bigint"}) for one in found.write.schema_after)
    for schema_after in (other, ()):
        write = found.write.model_copy(update={"schema_after": schema_after})
        with pytest.raises(EngineError) as caught:
            apply(spark, found.model_copy(update={"write": write}))
        assert caught.value.condition == NOT_UNDERSTOOD
    assert spark.table("tgt").columns == ["id"]


UPDATED = [(1, 11), (2, 12), (3, 30)]


def kept(spark: Any, table: str, merge: str) -> list[tuple[int, int]]:
    """(id, v) of the table after the merge, which kept its promise."""
    assert check_merge(spark, table, merge) == "committed"
    return sorted((row["id"], row["v"]) for row in spark.sql(f"SELECT id, v FROM {table}").collect())


def test_two_tables_of_one_last_name_without_aliases(spark: Any, schemas: tuple[str, str]) -> None:
    one, other = schemas
    spark.sql(f"CREATE TABLE {one}.t USING delta AS SELECT * FROM VALUES (1, 10), (2, 20), (3, 30) AS x(id, v)")
    spark.sql(f"CREATE TABLE {other}.t USING delta AS SELECT * FROM VALUES (1, 11), (2, 12) AS x(id, v)")
    names = f"{one}.t.id = {other}.t.id WHEN MATCHED THEN UPDATE SET {one}.t.v = {other}.t.v"
    assert kept(spark, f"{one}.t", f"MERGE INTO {one}.t USING {other}.t ON {names}") == UPDATED


@pytest.mark.parametrize("odd", ["a[x]b", "a {1,2} b", "a@v0", "a*?^"])
def test_a_table_whose_location_looks_like_a_pattern_or_a_version(
    spark: Any, schema: str, tmp_path: Path, odd: str
) -> None:
    place = f"delta.`{tmp_path}/{odd}`"
    spark.sql(f"CREATE TABLE {place} USING delta AS SELECT * FROM VALUES (1, 10), (2, 20), (3, 30) AS x(id, v)")
    source = "(SELECT * FROM VALUES (1, 11), (2, 12) AS x(id, v))"
    merge = f"MERGE INTO {place} AS t USING {source} AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v"
    assert kept(spark, place, merge) == UPDATED


@pytest.mark.parametrize("source", ["delta.`{}@v0`", "(SELECT * FROM delta.`{}@v0`)"])
def test_a_source_whose_path_names_its_version_is_read_at_that_version(
    spark: Any, schema: str, tmp_path: Path, source: str
) -> None:
    place = f"{tmp_path}/source"
    spark.sql(f"CREATE TABLE delta.`{place}` USING delta AS SELECT * FROM VALUES (1, 11), (2, 12) AS x(id, v)")
    spark.sql(f"DELETE FROM delta.`{place}`")
    spark.sql("CREATE TABLE t USING delta AS SELECT * FROM VALUES (1, 10), (2, 20), (3, 30) AS x(id, v)")
    using = f"MERGE INTO t USING {source.format(place)} AS s ON t.id = s.id"
    assert kept(spark, "t", f"{using} WHEN MATCHED THEN UPDATE SET v = s.v") == UPDATED


VIEWS = {
    "SELECT id, v AS w, w AS v FROM tgt": OTHER_VALUES,
    "SELECT id, v, upper(w) AS w FROM tgt": OTHER_VALUES,
    "SELECT id, v FROM tgt": OTHER_COLUMNS,
}


def test_a_view_as_target_that_is_not_its_table_is_refused_as_delta_fails(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE tgt (id INT, v STRING, w STRING) USING delta")
    spark.sql("INSERT INTO tgt VALUES (1, 'a', 'A'), (2, 'b', 'B')")
    using = "MERGE INTO seen t USING (SELECT 1 AS id, 'A' AS v) s ON t.v = s.v"
    for view, condition in VIEWS.items():
        spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW seen AS {view}")
        merge = f"{using} WHEN MATCHED THEN DELETE"
        with pytest.raises(EngineError) as raised:
            plan(spark, merge)
        assert raised.value.condition == condition == plain_merge(spark, schema, merge), view
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW seen AS SELECT id, v AS w, w AS v FROM tgt")
    with pytest.raises(EngineError, match=NOT_UNDERSTOOD):
        # Delta runs it, and looks for v in w
        plan(spark, f"{using} WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)")


@pytest.mark.parametrize("source", ["delta", "parquet"])
def test_a_source_that_is_named_in_full_is_compared_when_the_plan_is_applied(
    spark: Any, schemas: tuple[str, str], source: str
) -> None:
    one, other = schemas
    spark.sql(f"CREATE TABLE {one}.t USING delta AS SELECT * FROM VALUES (1, 10), (2, 20), (3, 30) AS x(id, v)")
    spark.sql(f"CREATE TABLE {other}.s USING {source} AS SELECT * FROM VALUES (1, 11), (2, 12) AS x(id, v)")
    names = f"{one}.t.id = {other}.s.id WHEN MATCHED THEN UPDATE SET {one}.t.v = {other}.s.v"
    merge = f"MERGE INTO {one}.t USING {other}.s ON {names}"
    looked = plan(spark, merge)
    spark.sql(f"INSERT INTO {other}.s VALUES (3, 13)")
    with pytest.raises(StalePlanError) as raised:
        apply(spark, looked)
    assert raised.value.condition == "SOURCE_CHANGED"
    assert kept(spark, f"{one}.t", merge) == [(1, 11), (2, 12), (3, 13)]


def test_a_view_of_deletion_vectors_is_read_while_other_work_has_data_skipping_off(spark: Any, schema: str) -> None:
    spark.sql(
        "CREATE TABLE tgt USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true') AS SELECT 1 AS id, 2 AS v"
    )
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW seen AS SELECT * FROM tgt")
    merge = analyze(spark, parse_merge("MERGE INTO seen t USING tgt s ON t.id = s.id WHEN MATCHED THEN DELETE"))
    with confs_set(spark, {STATS_SKIPPING: "false"}):
        check_target_view(spark, merge)
