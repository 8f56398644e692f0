"""The expressions that we say Delta takes for a generated column are those that it takes.

Delta judges each beside a second generated column that it refuses, so that no table is made: it names the first part
that it does not take.
"""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import PySparkException

from engine import apply
from engine.create.generation_expressions import unsupported_part
from engine.model.create_values import CreatePlan
from engine.plan_statement import plan
from engine.spark.schema import schema_of
from engine.sql.store_types import ddl

COLUMNS = {
    "a": "INT", "b": "STRING", "d": "DATE", "ts": "TIMESTAMP", "tn": "TIMESTAMP_NTZ", "x": "DOUBLE",
    "dec": "DECIMAL(10,2)", "l": "BIGINT", "bo": "BOOLEAN", "bi": "BINARY", "arr": "ARRAY<INT>",
    "m": "MAP<STRING,INT>", "st": "STRUCT<x: INT, y: STRING, z: STRUCT<w: INT>>", "ars": "ARRAY<STRUCT<x: INT>>",
}  # fmt: skip
TAKEN = """
a + 1; a - 1; -a; +a; a * 2; a / 2; a % 2; a div 2; a & 1; a | 1; a ^ 1; ~a; a << 1; a >> 1; a >>> 1; a <=> 1; a <> 1
!bo; NOT bo AND bo OR bo; a IN (1, 2); a NOT IN (1, 2); b LIKE 'x%'; b LIKE 'x%' ESCAPE '/'; b NOT LIKE 'x'
b RLIKE 'x'; a IS NULL; a IS NOT NULL; bo IS TRUE; a IS DISTINCT FROM 1; b || 'x'; arr[0]; st.x; st.z.w; st['x']
ars[0].x; CASE WHEN a = 1 THEN 2 ELSE 3 END; CASE a WHEN 1 THEN 2 END; CAST(ts AS DATE); a :: STRING; TRY_CAST(b AS INT)
EXTRACT(YEAR FROM d); EXTRACT(DOW FROM ts); date_part('month', d); extract(HOUR FROM ts); d + 1; 1 + d; d - a
INTERVAL 1 DAY + INTERVAL 2 HOUR; DATE '2020-01-01'; X'1F'; now(); unix_timestamp(b); unix_timestamp(ts)
date_trunc('DAY', ts); trunc(d, 'MM'); date_format(ts, 'yyyy-MM'); year(ts); month(d); day(ts); hour(ts); quarter(d)
timestampadd(HOUR, 1, ts); dateadd(DAY, 1, d); datediff(DAY, ts, ts); datediff(d, d); date_add(d, a); from_unixtime(l)
to_date(b, 'yyyy'); to_timestamp(b); date(b); int(b); string(a); ceil(x); floor(dec); round(x, 2); log(2, x)
substring(b, 1, 2); substring(b FROM 1 FOR 2); trim(BOTH 'x' FROM b); lpad(b, 3, '0'); position('a' IN b)
overlay(b PLACING 'x' FROM 1); split(b, '-')[0]; element_at(m, 'k'); regexp_extract(b, '(x)', 1); concat(a, b)
concat_ws('-', a, b); upper(b); md5(b); sha2(b, 256); hash(a, b); encode(b, 'utf-8'); decode(a, 1, 'x', 'y')
coalesce(st.x, a); nvl2(a, 1, 2); if(bo, 1, 2); greatest(a, 1); from_json(b, 'a INT'); from_json(b, 'a INT').a
get_json_object(b, '$.a'); named_struct('a', a); struct(a, b); array(a, 1); size(arr); array_join(split(b, '-'), ',')
make_date(2020, 1, 1); make_timestamp(2020, 1, 1, 1, 1, 1); months_between(d, d); typeof(a); year(d) - 1; ts > d
"""
REFUSED = """
a BETWEEN 1 AND 2; b LIKE ANY ('x%', 'y'); b NOT LIKE ALL ('x'); b ILIKE 'x%'; m['k']; ars.x; m.k
EXTRACT(SECOND FROM ts); date_part('yearofweek', d); d - d; ts - tn; d - '2020-01-01'; d + INTERVAL 1 DAY
ts - INTERVAL 1 HOUR; ts + make_interval(0, 0, 0, 1); a * INTERVAL 1 DAY; current_date; current_date()
current_timestamp(); date_add(current_date(), a); user; current_user(); concat(b, current_user()); unix_timestamp()
localtimestamp(); current_timezone(); current_schema(); version(); unix_seconds(ts); timestamp_seconds(l); ceil(x, 1)
btrim(b); lpad(bi, 3); split_part(b, '-', 1); try_element_at(arr, 1); regexp_substr(b, 'x'); decode(bi, 'utf-8')
nullif(a, 1); equal_null(a, 1); contains(b, 'x'); startswith(b, 'x'); array_size(arr); array_sort(arr); mask(b)
transform(arr, e -> e + 1); filter(arr, e -> e > 1); to_char(a, '999'); url_encode(b); monthname(d); try_add(a, 1)
assert_true(bo); raise_error('x'); aggregate(arr, 0, (x, y) -> x + y); upper(split_part(b, '-', 1))
"""
CASES = [
    (text, taken)
    for list_, taken in ((TAKEN, True), (REFUSED, False))
    for text in list_.replace("\n", ";").split(";")
    if text.strip()
]
SECOND = "g2 INT GENERATED ALWAYS AS (aggregate(arr, 424242, (x, y) -> x))"
OF_SECOND = "lambdafunction(namedlambdavariable(), namedlambdavariable(), namedlambdavariable()) cannot"


def delta_takes(spark: Any, expression: str) -> bool:
    columns = ", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items())
    types = ", ".join(f"CAST(NULL AS {type_}) AS {name}" for name, type_ in COLUMNS.items())
    type_ = ddl(schema_of(spark, f"SELECT ({expression}) AS g FROM (SELECT {types})").fields[0].dataType)
    with pytest.raises(PySparkException) as raised:
        spark.sql(f"CREATE TABLE t ({columns}, g {type_} GENERATED ALWAYS AS ({expression}), {SECOND}) USING delta")
    assert raised.value.getCondition() == "DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN", expression
    return OF_SECOND in str(raised.value)


def test_the_expressions_are_those_that_delta_takes(spark: Any, schema: str) -> None:
    row = ", ".join(f"CAST(NULL AS {type_}) AS {name}" for name, type_ in COLUMNS.items())
    types = {one.name: one.dataType for one in schema_of(spark, f"SELECT {row}").fields}
    wrong = []
    for text, taken in CASES:
        theirs, ours = delta_takes(spark, text), unsupported_part(spark, text, types) is None
        if (theirs, ours) != (taken, taken):
            wrong.append((text, theirs, ours))
    assert wrong == []


def test_an_expression_that_delta_does_not_take_is_refused(spark: Any, schema: str) -> None:
    sql = "CREATE TABLE t (a INT, g DATE GENERATED ALWAYS AS (date_add(current_date(), a))) USING delta"
    found = plan(spark, sql)
    assert isinstance(found, CreatePlan)
    assert found.refused is not None
    assert "current_date()" in found.refused.message
    with pytest.raises(PySparkException, match=found.refused.condition):
        spark.sql(sql).collect()
    assert apply(spark, plan(spark, sql.replace("current_date()", "DATE '2020-01-01'"))).kept
