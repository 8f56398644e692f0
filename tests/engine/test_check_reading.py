"""A reading that is not Spark's is refused, whatever a string or a name pretends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from engine.merge.analyze import analyze
from engine.merge.check_reading import check_analyzed, check_parsed, check_reading
from engine.model.errors import EngineError
from engine.spark.explain import explain
from engine.spark.not_understood import NOT_UNDERSTOOD
from engine.sql.parse import MergeStatement, parse_merge

MERGE = (
    "WITH q AS (SELECT 1 AS id, 2 AS v) MERGE WITH SCHEMA EVOLUTION INTO nowhere.t AS t USING q AS s "
    "ON t.id = s.id AND t.f <> 'x), deleteaction(Some((' "
    "WHEN MATCHED AND s.v > 1 THEN UPDATE SET v = s.v, end = 'a, assignment(b, 1)' WHEN MATCHED THEN DELETE "
    "WHEN NOT MATCHED THEN INSERT (id, end) VALUES (s.id, s.v) WHEN NOT MATCHED BY SOURCE THEN DELETE"
)


def without_last_clause(read: MergeStatement) -> MergeStatement:
    return replace(read, clauses=read.clauses[:-1])


def with_another_condition(read: MergeStatement) -> MergeStatement:
    return replace(read, clauses=(replace(read.clauses[0], condition="s.v >= 1"), *read.clauses[1:]))


def with_one_assignment_less(read: MergeStatement) -> MergeStatement:
    first = replace(read.clauses[0], assignments=read.clauses[0].assignments[:1])
    return replace(read, clauses=(first, *read.clauses[1:]))


def with_clauses_swapped(read: MergeStatement) -> MergeStatement:
    one, other, *rest = read.clauses
    condition = {"condition": one.condition}
    return replace(read, clauses=(replace(other, **condition), replace(one, condition=None), *rest))


def without_evolution(read: MergeStatement) -> MergeStatement:
    return replace(read, schema_evolution=False)


def with_another_source(read: MergeStatement) -> MergeStatement:
    return replace(read, source=replace(read.source, text="r"))


def with_less_of_on(read: MergeStatement) -> MergeStatement:
    return replace(read, condition="t.id = s.id")


WRONG: tuple[Callable[[MergeStatement], MergeStatement], ...] = (
    without_last_clause,
    with_another_condition,
    with_one_assignment_less,
    with_clauses_swapped,
    without_evolution,
    with_another_source,
    with_less_of_on,
)


@pytest.fixture
def table(spark: Any, schema: str) -> str:
    spark.sql("CREATE TABLE t (id INT, v INT, f STRING, end STRING) USING delta")
    return "t"


def test_our_reading_prints_as_the_statement_does(spark: Any, table: str) -> None:
    sql = MERGE.replace("nowhere.", "")
    check_parsed(spark, parse_merge(sql), explain(spark, sql).parsed)


@pytest.mark.parametrize(
    "set_",
    [
        ("WITH RECURSIVE r(id) AS (SELECT 1 UNION ALL SELECT id + 3 FROM r WHERE id < 9)", "(SELECT max(id) FROM r)"),
        ("", "(WITH RECURSIVE r(id) AS (SELECT 1 UNION ALL SELECT id + 3 FROM r WHERE id < 9) SELECT max(id) FROM r)"),
        ("WITH r AS (SELECT rand() AS id)", "(SELECT max(a.id + b.id) FROM r a, r b)"),
    ],
)
def test_a_with_that_a_subquery_reads_prints_as_the_statement_does(
    spark: Any, table: str, set_: tuple[str, str]
) -> None:
    prefix, value = set_
    sql = f"{prefix} MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = {value}"
    check_reading(spark, analyze(spark, parse_merge(sql)))


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_reading_is_refused(spark: Any, table: str, wrong: Callable[[MergeStatement], MergeStatement]) -> None:
    sql = MERGE.replace("nowhere.", "")
    with pytest.raises(EngineError) as raised:
        check_parsed(spark, wrong(parse_merge(sql)), explain(spark, sql).parsed)
    assert raised.value.condition == NOT_UNDERSTOOD


@pytest.mark.parametrize(
    ("written", "read"), [("MATCHED", "not_matched_by_source"), ("NOT MATCHED BY SOURCE", "matched")]
)
@pytest.mark.parametrize("condition", ["", "AND t.id > 5 "])
def test_the_kind_of_a_lone_clause_is_told_though_both_print_alike(
    spark: Any, table: str, written: str, read: Any, condition: str
) -> None:
    sql = f"MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id WHEN {written} {condition}THEN DELETE"
    statement = parse_merge(sql)
    plan = explain(spark, sql)
    check_parsed(spark, statement, plan.parsed)
    misread = replace(statement, clauses=(replace(statement.clauses[0], kind=read),))
    with pytest.raises(EngineError) as raised:
        check_parsed(spark, misread, plan.parsed)
    assert raised.value.condition == NOT_UNDERSTOOD


def test_a_column_that_is_resolved_to_the_other_side_is_refused(spark: Any, table: str) -> None:
    sql = "MERGE INTO t USING (SELECT 1 AS id, 2 AS v) s ON t.id = s.id WHEN MATCHED AND s.v > 1 THEN DELETE"
    merge = analyze(spark, parse_merge(sql))
    check_analyzed(spark, merge)
    clause = merge.resolved.clauses[0]
    other = replace(clause, condition=(clause.condition or "").replace("__dm_source", "__dm_target"))
    with pytest.raises(EngineError) as raised:
        check_analyzed(spark, replace(merge, resolved=replace(merge.resolved, clauses=(other,))))
    assert raised.value.condition == NOT_UNDERSTOOD
