"""Where the parts of an operator's SQL begin and end, whatever stands in quotes, brackets and comments."""

from __future__ import annotations

import pytest

from engine.sql_text import (
    called_functions,
    conjuncts,
    dotted_names,
    equality,
    quoted_values,
    requalified,
    split_statements,
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
    assert [one.splitlines()[-1] for one in split_statements(text)] == [
        "SET a = ';'",
        "MERGE INTO `t;` USING s ON true /* ; */",
    ]


def test_a_dotted_qualifier_is_shortened_where_it_is_one() -> None:
    text = "cat.db.t.id = s.id AND db.t.v = 'db.t.v' AND other.t.x > db.tt.x"
    assert requalified(text, ("cat", "db", "t"), "t") == "t.id = s.id AND t.v = 'db.t.v' AND other.t.x > db.tt.x"


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
