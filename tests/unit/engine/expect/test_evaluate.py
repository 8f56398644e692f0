"""What is said of the rows that fail an expectation, without Spark: its answers are given."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest
from pyspark.sql.types import StringType, StructField, StructType

from engine.expect import evaluate
from engine.expect.queries import Table
from engine.expect.read_expectations import read_expectations

TABLE = Table(
    parts=("spark_catalog", "demo", "t"),
    columns={"id": ("id", "INT"), "a": ("a", "STRING"), "b": ("b", "STRING")},
    had=frozenset(("id", "a", "b")),
)
RELATIONS = evaluate.Relations(before="b", after="a", changes="c")


@pytest.mark.parametrize(
    ("entry", "counts", "said"),
    [
        ("not_null: [id, a, b]", ["count_if(`id` IS NULL)", 40, 0, 40, 0], "40 rows: NULL in a."),
        ("not_null: [id, a, b]", ["count_if(`b` IS NULL)", 1200, 0, 40, 1170], "1,200 rows: NULL in a or b."),
        ("accepted: {a: [x], b: [y]}", ["count_if((`b` IS NOT NULL", 1, 0, 1], "1 row: b has a value that is not "),
        ("unique: [id, a]", ["SELECT count(*) FROM", 2], "2 keys: several rows have it in id, a."),
        ("references: {a: r.k, b: r.l}", ["SELECT count(*) FROM", 2], "2 rows: a or b refers to nothing."),
    ],
)
def test_the_columns_that_are_at_fault_are_named_and_no_others(
    monkeypatch: pytest.MonkeyPatch, entry: str, counts: list[Any], said: str
) -> None:
    asked, *answer = counts

    def collected(_: object, sql: str) -> list[list[Any]]:
        if "count(*)" not in sql.partition("\n")[2].partition("FROM")[0]:
            return []
        assert asked in sql
        return [answer]

    monkeypatch.setattr(evaluate, "collected", collected)
    monkeypatch.setattr(evaluate, "schema_of", lambda *_: StructType([StructField("a", StringType())]))
    found = evaluate.evaluate(Mock(), read_expectations(f"t: [{{{entry}}}]"), TABLE, RELATIONS, private=False)
    assert found[0].sentence.startswith(said)
