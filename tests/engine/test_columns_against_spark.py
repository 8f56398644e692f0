"""Whose column a name is: known from how the statement was put together, and held to Spark's analysis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from engine.merge.analyze import AnalyzedMerge, analyze
from engine.merge.check_reading import check_analyzed
from engine.model.errors import EngineError
from engine.spark.not_understood import NOT_UNDERSTOOD
from engine.sql.parse import MergeStatement, parse_merge
from tests.conftest import own_schema
from tests.engine.random_columns import create_table, random_merge, swapped

IN_CI = 8
SHARE = 100
"""Of so many statements that are read one is analyzed."""


@pytest.fixture(scope="module")
def tables(spark: Any) -> Iterator[tuple[str, str]]:
    with own_schema(spark) as schema:
        target, source = f"{schema}.target_table", f"{schema}.source_table"
        spark.sql(create_table("target", target))
        spark.sql(create_table("source", source))
        yield target, source


def texts_of(statement: MergeStatement) -> tuple[str, ...]:
    """ON, then each clause's condition and values."""
    found = [statement.condition]
    for clause in statement.clauses:
        found += [clause.condition or "", *(value for _, value in clause.assignments)]
    return tuple(found)


def test_spark_resolves_as_we_do_and_another_resolution_is_refused(
    spark: Any, tables: tuple[str, str], request: pytest.FixtureRequest
) -> None:
    wanted = request.config.getoption("--statements")
    for seed in range(wanted // SHARE if wanted else IN_CI):
        merge = random_merge(seed, *tables)
        analyzed = analyze(spark, parse_merge(merge.sql))
        check_analyzed(spark, analyzed)
        assert texts_of(analyzed.resolved) == merge.meant, merge.sql
        other = with_a_column_of_the_other_side(analyzed, Random(seed))
        with pytest.raises(EngineError) as raised:
            check_analyzed(spark, replace(analyzed, resolved=other))
        assert raised.value.condition == NOT_UNDERSTOOD, merge.sql


def with_a_column_of_the_other_side(merge: AnalyzedMerge, random: Random) -> MergeStatement:
    read = merge.resolved
    choices = [replace(read, condition=text) for text in swapped(read.condition)]
    for at, clause in enumerate(read.clauses):
        others = [replace(clause, condition=text) for text in swapped(clause.condition or "")]
        for number, (column, value) in enumerate(clause.assignments):
            for text in swapped(value):
                assigned = (*clause.assignments[:number], (column, text), *clause.assignments[number + 1 :])
                others.append(replace(clause, assignments=assigned))
        choices += [replace(read, clauses=(*read.clauses[:at], one, *read.clauses[at + 1 :])) for one in others]
    return random.choice(choices)
