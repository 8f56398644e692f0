"""Where the parts of an operator's SQL begin and end, whatever stands in quotes, brackets and comments."""

from __future__ import annotations

import pytest

from engine.sql.parse import parse_merge, parse_script
from engine.sql.sql_text import (
    called_functions,
    conjuncts,
    dotted_names,
    equality,
    quoted_values,
    statement_spans,
)


@pytest.mark.parametrize(
    ("conjunct", "parts"),
    [
        ("t.id = s.id", ("t.id", "=", "s.id")),
        ("t.a<=>s.b", ("t.a", "<=>", "s.b")),
        ("t.`x=y` == upper(s.c) /* = */", ("t.`x=y`", "==", "upper(s.c)")),
        ("date_trunc('=', a) = b", ("date_trunc('=', a)", "=", "b")),
        ("CASE WHEN a = b THEN 1 END = s.x", ("CASE WHEN a = b THEN 1 END", "=", "s.x")),
        ("a = b OR c = d", None),
        ("NOT a = b", None),
        ("a <= b", None),
        ("a = b = c", None),
        ("a BETWEEN b AND c", None),
    ],
)
def test_an_equality_has_one_sign_at_the_outermost_level(conjunct: str, parts: tuple[str, str, str] | None) -> None:
    assert equality(conjunct) == parts


def test_conjuncts_are_the_parts_between_outermost_ands() -> None:
    condition = "((a = b AND (c OR d AND e)) AND f BETWEEN 1 AND 2) AND g = 'x AND y' -- AND h"
    assert conjuncts(condition) == ("a = b", "c OR d AND e", "f BETWEEN 1 AND 2", "g = 'x AND y'")
    assert conjuncts("a AND b OR c") == ("a AND b OR c",)


def test_statements_end_at_semicolons_outside_quotes_and_comments() -> None:
    text = "SET a = ';';\n-- one; two\nMERGE INTO `t;` USING s ON true /* ; */;\n;"
    assert [text[start:end].splitlines()[-1] for start, end in statement_spans(text)] == [
        "SET a = ';'",
        "MERGE INTO `t;` USING s ON true /* ; */",
    ]


def test_the_parts_of_a_merge_are_where_it_says() -> None:
    text = (
        "SET a = 1;\nMERGE INTO t /* c */ USING s ON a = b -- d\n "
        "WHEN MATCHED /* e */ AND x > 1 /* f */ THEN DELETE -- g\n"
        "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET a = 1;"
    )
    script = parse_script(text)
    merge = parse_merge(script.statement)
    assert text[script.start :].startswith(merge.sql)
    assert merge.sql[: merge.condition_end].endswith(merge.condition)
    first, second = merge.clauses
    assert merge.sql[first.start : first.end_kind] == "WHEN MATCHED"
    assert first.condition_start is not None
    assert merge.sql[first.condition_start :].startswith("x > 1 /* f */ THEN")
    assert merge.sql[first.start : first.end].endswith("THEN DELETE")
    assert merge.sql[second.start : second.end_kind] == "WHEN NOT MATCHED BY SOURCE"
    assert (second.condition_start, merge.sql[second.end :]) == (None, "")


def test_the_first_sign_of_an_assignment_outside_quotes_and_comments_parts_it() -> None:
    merge = parse_merge(
        "MERGE INTO t USING s ON a WHEN MATCHED THEN UPDATE SET `a=b` == 1, c /* = */ = d = e, f = 'x=y'"
    )
    assert merge.clauses[0].assignments == (("`a=b`", "1"), ("c", "d = e"), ("f", "'x=y'"))


def test_a_function_is_called_where_a_bracket_follows_its_name() -> None:
    text = (
        "SELECT a.b.F (x), `rand`(), 'uuid()', \"now()\", s.col /* shuffle() */ FROM t -- version()\nWHERE g(1) > (2)"
    )
    assert called_functions(text) == {("a", "b", "f"), ("rand",), ("g",)}


def test_the_value_of_a_literal_has_its_escapes_resolved() -> None:
    text = r"""SELECT 'a\nb', "it's", r'c\n', '\u0072and\101', '50\%', `x``y`""".replace("\\\\", "\\")
    assert quoted_values(text) == ("a\nb", "it's", "c\\n", "randA", "50\\%", "x`y")


def test_dotted_names_are_columns_with_their_fields_and_no_functions() -> None:
    assert dotted_names("coalesce(St.`a.b`, f(x)) > 'y' and n is null") == {
        *(("st", "a.b"), ("x",), ("n",)),
        *(("and",), ("is",), ("null",)),
    }
