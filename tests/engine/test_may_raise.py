"""Which expressions may fail for some row, as Spark's analyzer made them."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spark.may_raise import may_raise
from engine.sql.resolve import SOURCE, TARGET, Side

COLUMNS = "id INT, big BIGINT, d DATE, f STRING, ok BOOLEAN, st STRUCT<a: INT>, n DECIMAL(10,2), arr ARRAY<INT>"

HARMLESS = (
    "s.id",
    "'x'",
    "-1",
    "NULL",
    "upper(concat(s.f, '1/0'))",
    "DATE'2026-01-01'",
    "t.id = s.big",
    "t.d >= '2024-01-31'",
    "t.id = s.id AND t.st.a <=> 5 AND NOT t.ok",
    "t.n = 5 AND s.id IN (1, 2, 3)",
    "t.f = 'x), deleteaction(Some(('",
    "s.id BETWEEN 1 AND 2 OR t.f IS NULL",
    "CASE WHEN s.ok THEN s.id END",
    "CAST(s.id AS BIGINT)",
    "s.id % 2 = 0",
    "s.big % 7 = t.id",
    "t.f LIKE 'x%'",
    "t.f NOT LIKE '_y' AND s.ok",
)
RISKY = (
    "s.id + 1",
    "1 / s.id",
    "s.id DIV 2",
    "-s.id",
    "CAST(s.f AS INT)",
    "s.f::int",
    "s.arr[3]",
    "raise_error('x')",
    "t.f AND t.id = s.id",
    "s.f = TRUE",
    "s.f < current_date",
    "NOT s.f",
    "t.f = s.id",
    "t.d >= 'no date'",
    "t.f LIKE s.f",
    "t.f LIKE 'x!' ESCAPE '!'",
    "t.f LIKE 'x\\\\'",
    "t.f RLIKE '['",
    "s.id % 0 = 1",
    "7 % s.id = 1",
    "s.id % (s.id - s.id) = 1",
    "CAST(s.big AS INT)",
    "(SELECT 1 / 0) = 1",
    "element_at(s.arr, 7)",
)


@pytest.fixture(scope="module")
def judged(spark: Any) -> dict[str, bool]:
    schema = spark.sql(f"SELECT from_json('{{}}', '{COLUMNS}') AS x").schema["x"].dataType
    sides = [Side(name, (alias,), True, tuple(schema.names)) for name, alias in ((SOURCE, "s"), (TARGET, "t"))]
    types = {(side.name, field.name): field.dataType for side in sides for field in schema.fields}
    texts = (*HARMLESS, *RISKY)
    return dict(zip(texts, may_raise(spark, [(text, sides) for text in texts], types), strict=True))


@pytest.mark.parametrize("text", HARMLESS)
def test_an_expression_that_takes_any_value_is_harmless(judged: dict[str, bool], text: str) -> None:
    assert not judged[text]


@pytest.mark.parametrize("text", RISKY)
def test_an_expression_that_some_row_fails_may_raise(judged: dict[str, bool], text: str) -> None:
    assert judged[text]
