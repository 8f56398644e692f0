"""What a bracket holds: a query, a row, a list or an expression, where the words alone could mean any of them.

Each is as Spark 4.2 parses it.
"""

from __future__ import annotations

import pytest

from engine.sql.expressions import read_expression
from engine.sql.parse import parse_merge
from engine.sql.sql_text import parameter_names


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("(SELECT a)", ["subquery"]),
        ("(SELECT -1)", ["subquery"]),
        ("(SELECT a, b)", ["row", "argument", "name", "name"]),
        ("((SELECT a, b))", ["subquery"]),
        ("(VALUES (1), (2))", ["row", "call", "literal", "brackets", "literal"]),
        ("(VALUES 1, 2)", ["subquery"]),
        ("((SELECT max(x) FROM o) + v)", ["brackets", "binary", "subquery", "name"]),
        ("((SELECT or FROM t) UNION ALL SELECT 1)", ["subquery"]),
        ("(SELECT or FROM t)", ["subquery"]),
        ("(select OR x > 1)", ["brackets", "binary", "name", "binary", "name", "literal"]),
        ("EXISTS (SELECT or FROM t)", ["subquery"]),
        ("x IN (SELECT a FROM t)", ["in", "name", "subquery"]),
        ("x IN (SELECT * FROM (t))", ["in", "name", "binary", "name", "call", "name"]),
        ("x IN (SELECT -1)", ["in", "name", "binary", "name", "literal"]),
        ("current_date", ["current"]),
        ("current_date.x", ["name"]),
        ("current_date.x()", ["call"]),
    ],
)
def test_a_bracket_is_read_as_spark_reads_it(text: str, kinds: list[str]) -> None:
    _, root = read_expression(text)
    assert [node.kind for node in root.walk()] == kinds


def test_as_is_an_alias_where_none_follows() -> None:
    read = parse_merge("MERGE INTO t AS USING s AS ON (a) WHEN MATCHED THEN DELETE")
    assert (read.target.alias, read.source.alias, read.condition) == ("AS", "AS", "(a)")


@pytest.mark.parametrize("word", ["BOTH", "leading", "TRAILING"])
def test_what_is_trimmed_may_be_a_parameter(word: str) -> None:
    assert parameter_names(f"TRIM({word} :what FROM :text)") == ("what", "text")
