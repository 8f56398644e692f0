"""Expressions are read by Spark's grammar: what binds tighter, what ends where, and what may also be a name."""

from __future__ import annotations

import pytest

from engine.model.errors import UsageError
from engine.sql.expressions import Node, read_expression


def shown(text: str) -> str:
    """The tree in brackets: each node by its name or its kind, leaves as typed."""
    tokens, root = read_expression(text)

    def show(node: Node) -> str:
        if not node.children:
            return text[tokens[node.start].start : tokens[node.end - 1].end]
        return f"({' '.join([node.name or node.kind, *map(show, node.children)])})"

    return show(root)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a OR b AND NOT c = d", "(OR a (AND b (NOT (= c d))))"),
        ("! a", "(NOT a)"),
        ("a + b * c - d", "(- (+ a (* b c)) d)"),
        ("a | b ^ c & d << e", "(| a (^ b (& c (<< d e))))"),
        ("a >> 1 >>> 2", "(>>> (>> a 1) 2)"),
        ("a > > b", None),
        ("-a || +b", "(|| (- a) (+ b))"),
        ("~a DIV b % c", "(% (DIV (~ a) b) c)"),
        ("a < b", "(< a b)"),
        ("a !> b", "(!> a b)"),
        ("a !< b", "(!< a b)"),
    ],
)
def test_what_binds_tighter_is_below(text: str, tree: str | None) -> None:
    if tree is None:
        with pytest.raises(UsageError):
            read_expression(text)
    else:
        assert shown(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a BETWEEN 1 AND 2 AND b", "(AND (BETWEEN a 1 2) b)"),
        ("a NOT BETWEEN 1 AND 2", "(NOT BETWEEN a 1 2)"),
        ("a ! IN (1, 2)", "(NOT IN a 1 2)"),
        ("a IN (SELECT x FROM y)", "(IN a (SELECT x FROM y))"),
        ("a NOT RLIKE 'x'", "(NOT RLIKE a 'x')"),
        ("a REGEXP 'x'", "(RLIKE a 'x')"),
        ("a LIKE 'x' ESCAPE '!'", "(LIKE a 'x' '!')"),
        ("a NOT ILIKE ANY ('x', 'y')", "(NOT ILIKE a 'x' 'y')"),
        ("a LIKE ALL ('x')", "(LIKE a 'x')"),
        ("a LIKE f('x')", "(LIKE a (f 'x'))"),
        ("a LIKE any || b", "(LIKE a (|| any b))"),
        ("a IS NULL", "(IS NULL a)"),
        ("a IS NOT TRUE", "(IS NOT TRUE a)"),
        ("a IS ! UNKNOWN", "(IS NOT UNKNOWN a)"),
        ("a IS DISTINCT FROM b", "(IS DISTINCT FROM a b)"),
        ("a IS NOT DISTINCT FROM b", "(IS NOT DISTINCT FROM a b)"),
        ("EXISTS (SELECT 1) AND a", "(AND EXISTS (SELECT 1) a)"),
    ],
)
def test_predicates(text: str, tree: str) -> None:
    assert shown(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a.b.c", "a.b.c"),
        ("f(a).b[0]", "(subscript (b (f a)) 0)"),
        ("a::array<int>", "(cast a)"),
        ("a::struct<x: int NOT NULL COMMENT 'c', y string>[0]", "(subscript (cast a) 0)"),
        ("v:a.b[0]['c']", "(variant v)"),
        ("v:[0]", "(variant v)"),
        ("v:a + b", "(+ (variant v) b)"),
        ("a[0]", "(subscript a 0)"),
        ("a COLLATE system.builtin.UNICODE", "(collate a)"),
        ("'a' 'b'", "'a' 'b'"),
        ("DATE '2026-01-01'", "DATE '2026-01-01'"),
        ("X'1F'", "X'1F'"),
        ("?", "?"),
        (":day", ":day"),
        ("a = :day", "(= a :day)"),
        ("t.*", "t.*"),
        ("count(*)", "(count *)"),
        ("a * EXCEPT (b)", "(* a (except b))"),
        ("identifier('x', 'y')", "(identifier 'x' 'y')"),
        ("`identifier`('x')", "(identifier 'x')"),
        ("a IN (SELECT IDENTIFIER('x') FROM t)", "(IN a (SELECT IDENTIFIER('x') FROM t))"),
        ("count(DISTINCT a, b)", "(count a b)"),
        ("count(ALL)", "(count ALL)"),
        ("f(x => a)", "(f (argument a))"),
        ("f(a IGNORE NULLS)", "(f a)"),
        ("f(a RESPECT NULLS)", "(f a)"),
        ("f(a) RESPECT NULLS", "(f a)"),
        ("f(a) FILTER (WHERE b) OVER (PARTITION BY c)", "(f a)"),
        ("f(a) OVER w", "(f a)"),
        ("listagg(a) WITHIN GROUP (ORDER BY a)", "(listagg a)"),
        ("dateadd(DAY, 1, d)", "(dateadd 1 d)"),
        ("timestampdiff(SECOND, a, b)", "(timestampdiff a b)"),
        ("dateadd(a, 1, d)", "(dateadd a 1 d)"),
        ("date_add(day, 1)", "(date_add day 1)"),
        ("datediff(day, d)", "(datediff day d)"),
        ("(map('a', v))", "(brackets (map 'a' v))"),
        ("(reduce(xs, 0, f) > 3 OR v)", "(brackets (OR (> (reduce xs 0 f) 3) v))"),
        ("(MAP a USING 'script' FROM t)", "(MAP a USING 'script' FROM t)"),
        ("x -> x + 1", "(lambda (+ x 1))"),
        ("f((x, y) -> x + y)", "(f (lambda (+ x y)))"),
        ("(a, b AS c)", "(row a (argument b))"),
        ("(a)", "(brackets a)"),
        ("(SELECT (a))", "(SELECT (a))"),
        ("(SELECT -1)", "(SELECT -1)"),
        ("(SELECT :x)", "(SELECT :x)"),
        ("(values - 1)", "(brackets (- values 1))"),
        ("struct(a AS b, c d)", "(struct (argument a) (argument c))"),
        ("struct", "struct"),
        ("current_date", "current_date"),
        ("current_date()", "current_date()"),
        ("user.name", "user.name"),
    ],
)
def test_what_an_operand_is(text: str, tree: str) -> None:
    assert shown(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("CASE WHEN a THEN b ELSE c END", "(case a b c)"),
        ("CASE a WHEN 1 THEN b WHEN 2 THEN c END", "(case a 1 b 2 c)"),
        ("case", "case"),
        ("CASE when WHEN 1 THEN 2 END", "(case when 1 2)"),
        ("CAST(a AS DECIMAL(10, 2))", "(CAST a)"),
        ("TRY_CAST(a AS MAP<STRING, ARRAY<INT>>)", "(TRY_CAST a)"),
        ("CAST(a AS TIMESTAMP WITH LOCAL TIME ZONE)", "(CAST a)"),
        ("CAST(a AS TIMESTAMP WITHOUT TIME ZONE)", "(CAST a)"),
        ("CAST(a AS INTERVAL DAY TO SECOND)", "(CAST a)"),
        *((f"CAST(a AS INTERVAL {unit})", "(CAST a)") for unit in ("YEAR", "MONTHS", "WEEK", "NANOSECOND")),
        *((f"CAST(a AS {type_}(3) COLLATE UNICODE)", "(CAST a)") for type_ in ("CHAR", "CHARACTER", "VARCHAR")),
        ("CAST(a AS TIME(6) WITHOUT TIME ZONE)", "(CAST a)"),
        ("CAST(a AS TIMESTAMP WITH TIME ZONE)", "(CAST a)"),
        ("CAST(a AS STRUCT<b: INT NOT NULL, c: STRING COMMENT 'x' 'y'>)", "(CAST a)"),
        ("CAST(a AS STRUCT<>)", "(CAST a)"),
        ("CAST(a AS STRING COLLATE UNICODE)", "(CAST a)"),
        ("cast(a, b)", "(cast a b)"),
        ("INTERVAL 1 DAY", "INTERVAL 1 DAY"),
        ("INTERVAL -1 DAY 2 HOURS", "INTERVAL -1 DAY 2 HOURS"),
        ("INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '1-2' YEAR TO MONTH"),
        ("interval + 1", "(+ interval 1)"),
        ("EXTRACT(YEAR FROM d)", "(extract d)"),
        ("POSITION('a' IN b)", "(position 'a' b)"),
        ("SUBSTRING(a FROM 1 FOR 2)", "(substring a 1 2)"),
        ("substring(a, 1, 2)", "(substring a 1 2)"),
        ("substring(a FROM 1, n)", "(substring a 1 n)"),
        ("substring(a, 1 FOR n)", "(substring a 1 n)"),
        ("substring(a, for + 1)", "(substring a (+ for 1))"),
        ("substring(a FROM for - 1 FOR for)", "(substring a (- for 1) for)"),
        ("overlay(a, placing + 1, from + 2)", "(overlay a (+ placing 1) (+ from 2))"),
        ("position(a, in + 1)", "(position a (+ in 1))"),
        ("position(a IN (b))", "(position a (brackets b))"),
        ("extract(from + 1)", "(extract (+ from 1))"),
        ("trim(from + 1)", "(trim (+ from 1))"),
        ("trim(both FROM - a)", "(trim (- a))"),
        ("trim(both FROM FROM a)", "(trim FROM a)"),
        ("trim(both.x FROM from)", "(trim both.x from)"),
        ("TRIM(BOTH 'x' FROM a)", "(trim 'x' a)"),
        ("TRIM(FROM a)", "(trim a)"),
        ("trim(a)", "(trim a)"),
        ("OVERLAY(a PLACING b FROM 1 FOR 2)", "(overlay a b 1 2)"),
        ("NULL", "NULL"),
        ("NOT", "NOT"),
        ("null.a", "null.a"),
        ("true(1)", "(true 1)"),
    ],
)
def test_words_that_may_also_be_names(text: str, tree: str) -> None:
    assert shown(text) == tree


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a +",
        "a b",
        "(a",
        "a IN (1,",
        "a IN (+)",
        "! ",
        "a LIKE",
        "a IS NOT",
        "a[1",
        "f(a,, b)",
        "f(a x NULLS)",
        "f(a) x NULLS",
        "f(a) x (b)",
        "f(a) IGNORE x",
        "f(a) WITHIN x (b)",
        "f(a) OVER 1",
        "a:1",
        "a COLLATE 1",
        # Spark reads these, and this program does not: Delta takes no star, and what IDENTIFIER names is no call
        "hash(s.* EXCEPT (a))",
        "IDENTIFIER('s.x') > 1",
        "CAST(IDENTIFIER('s.' || 'x') AS INT)",
        "IDENTIFIER('abs')(x)",
        "(IDENTIFIER(:x))",
        "substring(a FOR 2 FROM 1)",
        "substring(a FROM 1 FOR 2 FOR 3)",
        "overlay(a PLACING b)",
        "overlay(a FROM 1 PLACING b)",
        "position(a IN b, c)",
        "trim(a FROM b, c)",
        "extract(a.b FROM d)",
        "(SELECT",
        "CASE WHEN a b END",
        "CAST(a AS INT b)",
        "CAST(a AS INT<>)",
        "CAST(a AS INT<INT>)",
        "CAST(a AS STRUCT b)",
        "CAST(a AS STRUCT<b: INT NOT c>)",
        "CAST(a AS STRUCT<b: INT x NULL>)",
        "CAST(a AS ARRAY<INT b>)",
        "CAST(a AS DECIMAL(b))",
        "CAST(a AS INTERVAL b)",
        "CAST(a AS INTERVAL DAY b)",
        "CAST(a AS INTERVAL DAY b SECOND)",
        "CAST(a AS TIMESTAMP b TIME ZONE)",
        "a::",
        "a::array<int",
        "x ->",
        "a BETWEEN 1 OR 2",
        "@",
    ],
)
def test_what_is_no_expression_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_expression(text)
    assert refused.value.condition == "PARSE_SYNTAX_ERROR"
    assert refused.value.line is not None
    assert refused.value.column is not None


def test_trying_again_is_free() -> None:
    # each bracket could be a row, a query or an expression: without remembering, 2 to the power of 30 ways
    depth = 30
    assert shown(f"{'(' * depth}a{')' * depth}").count("brackets") == depth
