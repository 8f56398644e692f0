"""A reading that is not Spark's is refused, whatever a string or a name pretends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

import engine.sql.resolve as resolve_module
from engine import plan_merge
from engine.merge.analyze import AnalyzedMerge, analyze
from engine.merge.check_reading import check_analyzed, check_parsed, check_reading
from engine.model.errors import EngineError
from engine.plan_merge import plan
from engine.preflight import analysis
from engine.spark.explain import explain
from engine.spark.not_understood import NOT_UNDERSTOOD, not_understood
from engine.sql.parse import MergeStatement, parse_merge
from engine.sql.resolve import Side
from engine.sql.resolve import _columns as columns_of_name
from engine.sql.token_reader import Node
from tests.engine.fidelity import check_merge

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


def test_a_column_that_an_insert_names_twice_in_two_spellings_gets_the_first_value(spark: Any, table: str) -> None:
    insert = "WHEN NOT MATCHED THEN INSERT (id, V, v, ID) VALUES (s.id, 1, 2, 3)"
    sql = f"MERGE INTO t USING (SELECT 7 AS id) s ON t.id = s.id {insert}"
    assert check_merge(spark, table, sql, values=True) == "committed"
    assert [tuple(row) for row in spark.sql("SELECT id, v FROM t").collect()] == [(7, 1)]


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


def lacking(merge: AnalyzedMerge, *columns: str) -> AnalyzedMerge:
    """A reading that misses ``columns`` among those that the statement uses."""
    return replace(merge, columns_used=tuple(one for one in merge.columns_used if one not in columns))


@pytest.fixture
def shop(spark: Any, schema: str) -> None:
    spark.sql(
        "CREATE TABLE tgt USING delta AS SELECT 1 AS id, 'old' AS owner, 'old' AS v, struct('old' AS f) AS s, 2 AS n"
    )
    spark.sql("CREATE TABLE src USING delta AS SELECT 1 AS id, 'ann' AS user, 'new' AS v, 'new' AS f, 3L AS m")


EVOLVING = "MERGE WITH SCHEMA EVOLUTION INTO tgt t USING src s ON t.id = s.id"
LACKING = (
    # a column as typed, the function current_user() without it
    ("user", "WHEN MATCHED THEN UPDATE SET owner = user"),
    ("user", "WHEN MATCHED AND user = 'ann' THEN DELETE"),
    ("user", "WHEN NOT MATCHED THEN INSERT (id, owner) VALUES (9, user)"),
    ("user", "WHEN MATCHED THEN UPDATE SET owner = element_at(transform(array(s.v), x -> concat(x, user)), 1)"),
    # a column of s as typed, a field of the target's column s without it
    ("f", "WHEN MATCHED THEN UPDATE SET owner = s.f"),
    # nothing without it
    ("v", "WHEN MATCHED THEN UPDATE SET owner = s.v"),
)


@pytest.mark.parametrize(("column", "clause"), LACKING)
def test_a_column_that_the_frozen_source_lacks_is_missed_though_something_else_takes_its_place(
    spark: Any, shop: None, column: str, clause: str
) -> None:
    merge = analyze(spark, parse_merge(f"MERGE INTO tgt t USING src s ON t.id = s.id {clause}"))
    check_analyzed(spark, merge)
    with pytest.raises(EngineError) as raised:
        check_analyzed(spark, lacking(merge, column))
    assert raised.value.condition == NOT_UNDERSTOOD


@pytest.mark.parametrize("clause", ["WHEN MATCHED THEN UPDATE SET *", "WHEN NOT MATCHED THEN INSERT *"])
@pytest.mark.parametrize("column", ["v", "m"])
def test_a_column_that_a_star_takes_from_the_target_instead_is_missed(
    spark: Any, shop: None, clause: str, column: str
) -> None:
    merge = analyze(spark, parse_merge(f"{EVOLVING} {clause}"))
    check_analyzed(spark, merge)
    with pytest.raises(EngineError) as raised:
        check_analyzed(spark, lacking(merge, column))
    assert raised.value.condition == NOT_UNDERSTOOD


@pytest.mark.parametrize("moved", ["INSERT INTO tgt (id) VALUES (2)", "ALTER TABLE tgt ADD COLUMN w INT"])
@pytest.mark.parametrize(
    "sql",
    [
        "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v",
        f"{EVOLVING} WHEN MATCHED THEN UPDATE SET *",
    ],
)
def test_a_commit_of_another_meanwhile_is_no_other_reading(spark: Any, shop: None, sql: str, moved: str) -> None:
    merge = analyze(spark, parse_merge(sql))
    spark.sql(moved).collect()
    check_analyzed(spark, merge)


@pytest.mark.parametrize("source", ["(SELECT * FROM src WHERE rand() < 2)", "src"])
def test_a_name_that_is_wrongly_read_as_a_function_is_refused_and_not_merged(
    spark: Any, shop: None, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    def misread(root: Node, node: Node, sides: Sequence[Side]) -> Any:
        return (node.end, []) if node.names == ("user",) else columns_of_name(root, node, sides)

    sql = f"MERGE INTO tgt t USING {source} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET owner = user"
    with monkeypatch.context() as broken:
        broken.setattr(resolve_module, "_columns", misread)
        with pytest.raises(EngineError) as raised:
            plan(spark, sql)
    assert raised.value.condition == NOT_UNDERSTOOD
    assert "current_user" in raised.value.message


@pytest.mark.parametrize("fails", [False, True])
def test_a_wrong_reading_is_refused_whatever_was_asked_by_it(
    spark: Any, shop: None, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    def misread(*_: object) -> None:
        raise not_understood("theirs", "ours")

    def fail(*_: object) -> None:
        raise EngineError("DIVIDE_BY_ZERO", "It is asked of what was read wrongly.")

    def views() -> set[str]:
        return {row["viewName"] for row in spark.sql("SHOW VIEWS LIKE 'deltamerge_*'").collect()}

    before = views()
    with monkeypatch.context() as broken:
        broken.setattr(analysis, "check_analyzed", misread)
        if fails:
            broken.setattr(plan_merge, "find_touched_files", fail)
            broken.setattr(plan_merge, "sample_rows", fail)
        with pytest.raises(EngineError) as raised:
            plan(spark, "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v")
    assert raised.value.condition == NOT_UNDERSTOOD
    assert views() <= before
