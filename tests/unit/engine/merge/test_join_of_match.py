"""What Spark filters the target by before it joins: known for plain keys, and for nothing else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import types as t

from engine.merge.analyze import Expression, Key
from engine.merge.join_of_match import Join, filters_of_target, join_of_match, join_that_reads
from engine.model.errors import EngineError
from tests.unit.explained import Answer, Prints

TYPES = t.StructType(
    [
        t.StructField("id", t.LongType()),
        t.StructField("n", t.IntegerType()),
        t.StructField("v", t.StringType()),
    ]
)


def named(text: str) -> Expression:
    sides: dict[str, list[str]] = {"s": [], "t": []}
    for word in text.replace("(", " ").replace(")", " ").split():
        side, _, name = word.partition(".")
        if side in sides:
            sides[side].append(name)
    return Expression(text, tuple(sides["s"]), tuple(sides["t"]), text)


def merge(*on: str) -> Any:
    keys = []
    for text in on:
        left, sign, right = text.partition(" = ")
        if sign and "t." in left and "s." in right:
            keys.append(Key(named(right), named(left), False, text))
    return SimpleNamespace(on=tuple(map(named, on)), keys=tuple(keys), source_type=TYPES, target_type=TYPES)


def test_the_target_is_filtered_by_its_own_conjuncts_and_by_keys_that_are_not_null() -> None:
    filters = filters_of_target(merge("t.id = s.id", "t.v > 'a'", "t.n = s.n"))
    assert filters == ("TRUE", "(t.id\n) IS NOT NULL", "t.v > 'a'", "(t.n\n) IS NOT NULL")


@pytest.mark.parametrize(
    ("on", "why"),
    [
        (["t.id = s.id", "s.n > 5"], "a conjunct over the source may be inferred of the target"),
        (["t.id = s.id", "t.n = s.id"], "two keys of one column are equal"),
        (["t.id = s.n", "t.id = s.n"], "a key stands twice"),
        (["abs( t.id ) = s.id"], "the key of the target is no column"),
        (["t.id > s.id"], "it is no key"),
        (["t.v = s.n"], "a cast may make the key NULL"),
        (["t.n = s.id"], "the cast is to a narrower type"),
        (["t.id = abs( s.id )"], "the key is no column"),
    ],
)
def test_where_spark_may_infer_more_nothing_is_known(on: list[str], why: str) -> None:
    assert filters_of_target(merge(*on)) is None, why


def test_a_key_that_is_widened_is_never_null_by_that() -> None:
    assert filters_of_target(merge("t.id = s.n")) is not None
    assert filters_of_target(merge("t.v = s.v")) is not None


@pytest.mark.parametrize(
    ("physical", "join"),
    [
        ("AdaptiveSparkPlan isFinalPlan=false\n+- Project\n   +- BroadcastHashJoin [id#1L], [id#2L]", "by key"),
        ("Project [1 AS 1#3]\n+- ShuffledHashJoin [id#1L], [id#2L]", "by key"),
        ("SortMergeJoin [id#1L], [id#2L]\n:- Sort\n+- Sort", "by key"),
        ("AdaptiveSparkPlan isFinalPlan=false\n+- BroadcastNestedLoopJoin BuildLeft", "by loops"),
        ("Project [1 AS 1#3]\n+- CartesianProduct (id#1L > id#2L)", "by loops"),
        # nothing can match, or the join is not what the plan ends with
        ("LocalTableScan <empty>, [1#3]", "none"),
        ("Project [1 AS 1#3]", "none"),
        ("Union\n:- SortMergeJoin\n+- SortMergeJoin", "none"),
    ],
)
def test_the_join_is_what_spark_plans_for_on(physical: str, join: Join) -> None:
    spark = Prints(f"== Physical Plan ==\n{physical}")
    statement = SimpleNamespace(before_select="WITH q AS (SELECT 1) ", condition="t.id = s.id")
    asked: Any = SimpleNamespace(statement=statement, source_sql="s", target_sql="t")
    assert join_of_match(spark, asked) == join  # type: ignore[arg-type]
    assert "WITH q AS (SELECT 1) SELECT 1 FROM s JOIN t AS" in spark.asked[-1]


class Rows(Prints):
    """A target that has some rows left by its filters, or an error."""

    def __init__(self, rows: list[list[Any]] | None) -> None:
        super().__init__("")
        self.rows = rows

    def sql(self, text: str) -> Answer:
        self.asked.append(text)
        if self.rows is None:
            raise EngineError("A_REASON", "It fails.")
        return Answer(self.rows, {})


def test_a_join_for_which_spark_does_not_answer_is_none() -> None:
    statement = SimpleNamespace(before_select="", condition="t.id = s.id")
    asked: Any = SimpleNamespace(statement=statement, source_sql="s", target_sql="t")
    assert join_of_match(Rows(None), asked) == "none"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("on", "by_source", "pairs", "rows", "join", "asks"),
    [
        # what matched was read, and so is all where rows without a match are changed
        ("t.id = s.id", (), (0, 1), [], "by key", 0),
        ("t.id = s.id", ("a clause",), (0,), [], "by key", 0),
        # else it is read if the filters leave a row to join with
        ("t.id = s.id", (), (0,), [[1]], "by key", 1),
        ("t.id = s.id", (), (), [], "none", 1),
        ("t.id = s.id", (), (), None, "none", 1),
        ("t.id > s.id", (), (), [[1]], "none", 0),
    ],
)
def test_a_join_reads_the_source_where_the_target_has_rows_for_it(
    on: str, by_source: tuple[str, ...], pairs: tuple[int, ...], rows: list[list[Any]] | None, join: Join, asks: int
) -> None:
    spark, merging = Rows(rows), merge(on)
    merging.target_sql = "t"
    merging.statement = SimpleNamespace(not_matched_by_source=by_source, target=SimpleNamespace(reference="t"))
    matches: Any = SimpleNamespace(files=[SimpleNamespace(pairs=count) for count in pairs])
    assert join_that_reads(spark, merging, "by key", matches) == join  # type: ignore[arg-type]
    assert len(spark.asked) == asks
    assert join_that_reads(spark, merging, "none", matches) == "none"  # type: ignore[arg-type]
    assert len(spark.asked) == asks
