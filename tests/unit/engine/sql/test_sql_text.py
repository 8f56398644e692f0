"""Where the parts of an operator's SQL begin and end, whatever stands in quotes, brackets and comments."""

from __future__ import annotations

import pytest

from engine.sql.parse import parse_merge, parse_script
from engine.sql.sql_text import (
    all_function_names,
    and_operands,
    called_functions,
    columns_named,
    conjuncts,
    depths,
    dotted_names,
    equality,
    function_names,
    integers_named,
    is_name_of,
    is_null,
    key_names,
    names_in,
    parameter_names,
    quoted_values,
    replaced,
    special_times,
    split_top_level,
    statement_spans,
    substituted,
    tokenize,
)


@pytest.mark.parametrize(
    ("conjunct", "parts"),
    [
        ("t.id = s.id", ("t.id", "=", "s.id")),
        ("t.a<=>s.b", ("t.a", "<=>", "s.b")),
        ("t.`x=y` == upper(s.c) /* = */", ("t.`x=y`", "==", "upper(s.c)")),
        ("date_trunc('=', a) = b", ("date_trunc('=', a)", "=", "b")),
        ("CASE WHEN a = b THEN 1 END = s.x", ("CASE WHEN a = b THEN 1 END", "=", "s.x")),
        ("t.a IS NOT DISTINCT FROM s.a", ("t.a", "<=>", "s.a")),
        ("Equal_Null(t.a, upper(s.a))", ("t.a", "<=>", "upper(s.a)")),
        ("NOT (t.a IS DISTINCT FROM s.a)", ("t.a", "<=>", "s.a")),
        ("NOT t.a <> s.a", ("t.a", "=", "s.a")),
        ("NOT ((t.a + 1 != s.a))", ("t.a + 1", "=", "s.a")),
        ("NOT NOT t.a <> s.a", None),
        ("NOT equal_null(t.a, s.a)", None),
        ("equal_null(t.a)", None),
        ("equal_null(t.a, s.a, 1)", None),
        ("t.a IS DISTINCT FROM s.a", None),
        ("a = b IS NOT DISTINCT FROM c", None),
        ("other.equal_null(t.a, s.a)", None),
        ("a = b OR c = d", None),
        ("NOT a = b", None),
        ("a <= b", None),
        ("a = b = c", None),
        ("a > b = c", None),
        ("a != b = c", None),
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
    assert called_functions("RAND(1) + A.f(2)") == {("rand",), ("a", "f")}


def test_some_functions_are_called_without_brackets() -> None:
    assert all_function_names("Current_Date > f(now) AND `current_time` = LOCALTIMESTAMP") == {
        *("f", "current_date", "localtimestamp"),
    }


@pytest.mark.parametrize(
    ("sql", "times"),
    [
        ("TIMESTAMP'now'", {"'now'"}),
        ("DATE ' Today '", {"'today'"}),
        ("CAST('yesterday' AS DATE) < to_timestamp('tomorrow +01:00')", {"'yesterday'", "'tomorrow +01:00'"}),
        ("try_to_date('now Europe/Paris')", {"'now europe/paris'"}),
        ("TIMESTAMP'2026-01-01' < 'nowhere'", set()),
        # a text alone is a time only where Spark casts it unasked
        ("t.ts < 'now'", set()),
    ],
)
def test_a_text_that_is_read_as_the_time_of_now(sql: str, times: set[str]) -> None:
    assert special_times(sql) == times
    assert special_times("t.ts < 'now'", any_text=True) == {"'now'"}


def test_the_value_of_a_literal_has_its_escapes_resolved() -> None:
    text = r"""SELECT 'a\nb', "it's", r'c\n', '\u0072and\101', '50\%', `x``y`""".replace("\\\\", "\\")
    assert quoted_values(text) == ("a\nb", "it's", "c\\n", "randA", "50\\%", "x`y")


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        (r"'\101\177'", "A\x7f"),
        # 0 and 1 alone begin an octal escape
        (r"'\207\377'", "207377"),
        (r"'\ud83d\ude00'", "\U0001f600"),
        (r"'\U0001F600'", "\U0001f600"),
        # half a character has no UTF-8
        (r"'\ud83d x'", "? x"),
        (r"'\U00110000'", "??"),
        (r"'\UFFFFFFFF'", "\ud7bf?"),
        (r"'\U0001F60\u00E'", "U0001F60u00E"),
    ],
)
def test_a_code_in_a_literal_is_the_character_that_spark_makes_of_it(literal: str, value: str) -> None:
    assert quoted_values(literal) == (value,)


def test_dotted_names_are_columns_with_their_fields_and_no_functions() -> None:
    assert dotted_names("coalesce(St.`a.b`, f(x)) > 'y' and n is null") == {
        *(("st", "a.b"), ("x",), ("n",)),
        *(("and",), ("is",), ("null",)),
    }


def test_parts_are_separated_outside_brackets() -> None:
    assert split_top_level("a, f(b, c) , 'd,e' ,, -- x, y\n g", ",") == ("a", "f(b, c)", "'d,e'", "g")
    assert split_top_level("", ",") == ()


def test_depth_counts_brackets_and_what_closes_is_outside() -> None:
    assert [(token.text, depth) for _, token, depth in depths(tokenize("a(b[c])"))] == [
        ("a", 0), ("(", 0), ("b", 1), ("[", 1), ("c", 2), ("]", 1), (")", 0),
    ]  # fmt: skip


def test_operands_of_and_keep_their_brackets() -> None:
    assert and_operands("(a AND b) AND c") == ("(a AND b)", "c")


def test_columns_are_replaced_by_their_expressions_and_nothing_else_is() -> None:
    values = {"a": "x + 1", "b": "'y'"}
    assert substituted("A * f(a.b) + transform(l, b -> b) + `b`", values) == (
        "(x + 1\n) * f((x + 1\n).b) + transform(l, b -> b) + ('y'\n)"
    )
    assert substituted("a(1) + :a", values) == "a(1) + :a"
    # a variable of a lambda is none, however it is written
    assert columns_named("transform(l, X -> x + a)") == columns_named("transform(l, x -> X + a)") == {"l", "a"}


def test_types_and_functions_are_no_columns_though_one_is_called_so() -> None:
    sql = "CAST(date AS DATE) = year(`Year`) + s.month"
    assert columns_named(sql) == {"date", "year", "s"}
    assert replaced(sql, {"date": "d", "year": "y", "month": "m"}) == "CAST(d AS DATE) = year(y) + s.month"


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        *(("t.`Day`", True), ("day", True), ("t.day.x", False), ("day + 1", False), ("1 + day", False)),
        *(("", False), ("f(day)", False)),
    ],
)
def test_an_expression_that_is_only_a_columns_name(sql: str, named: bool) -> None:
    assert is_name_of(sql, "day") is named


def test_names_of_functions_are_their_last_parts() -> None:
    assert function_names("a.Upper(x) + max (y) + `my f`(z)") == {"upper", "max", "my f"}


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        (r"'a\nb\tc\rd\be\0f\Zg'", "a\nb\tc\rd\be\0f\x1ag"),
        (r"'\u00e9\U0001F600'", "é😀"),
        (r"'\101'", "A"),
        (r"'\%\_\x'", r"\%\_x"),
        (r"'\9'", "9"),
        (r"r'\n'", r"\n"),
        ("'it''s'", "it's"),
        ('"a""b"', 'a"b'),
    ],
)
def test_escapes_are_those_of_spark(literal: str, value: str) -> None:
    assert quoted_values(literal) == (value,)


def test_all_words_may_be_names() -> None:
    assert names_in("SELECT `A b`, 'x' FROM T") == {"select", "a b", "from", "t"}


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("a = :x", ("x",)),
        ("f(:x, :y, :x)", ("x", "y")),
        ("WHEN :x THEN :y", ("x", "y")),
        ("t.when:x", ()),
        ("v:x + `v`:x + f(a):x + 'v':x + 1:x + a[0]:x", ()),
        ("x::int", ()),
        ("CAST(a AS STRUCT<b: INT>)", ()),
        ("CAST(a AS STRUCT<date:DATE, to:STRING>)", ()),
        ("level:code + DATE :x", ("x",)),
        ("a : x", ()),
        (": x", ()),
        (":x", ("x",)),
        ("a.:x", ("x",)),
        ("a = -x", ()),
        ("':x' /* :x */", ()),
    ],
)
def test_a_marker_stands_where_an_operand_begins(sql: str, names: tuple[str, ...]) -> None:
    assert parameter_names(sql) == names


def test_a_marker_stands_behind_a_word_that_is_no_operand() -> None:
    text = (
        "SELECT DISTINCT :a, CASE :b WHEN :c THEN :d ELSE :e END, trim(LEADING :f FROM g), DEFAULT :h, TIMESTAMP_NTZ :i"
        " FROM x WHERE :j AND :k OR NOT :l AND m IN :m LIKE :n ESCAPE :o RLIKE :p IS :q DIV :r BETWEEN :s AND :t"
        " HAVING :u QUALIFY :v LIMIT :w OFFSET :x AS :y SET :z"
    )
    assert "".join(parameter_names(text)) == "abcdefhijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    ("condition", "keys"),
    [
        ("t.id = s.id AND t.day <=> s.day", ("id", "day")),
        ("s.key = t.ID AND t.day IN (1, 2)", ("id",)),
        ("(t.`a b` == s.x) and t.day = '2026-11-19'", ("a b",)),
        ("concat(t.id, '-', t.day) = s.key", ("id", "day")),
        ("id = other AND t.day > s.day", ("id",)),
        ("t.id = s.day", ("id",)),
        ("t.day.id = s.id", ("day",)),
        ("shop.t.id = s.id", ("id",)),
        ("t = s.id", ()),
        ("t.id = s.id OR t.day = s.day", ()),
        ("", ()),
    ],
)
def test_the_columns_of_the_target_that_on_ties_to_the_source(condition: str, keys: tuple[str, ...]) -> None:
    assert key_names(condition, "T", ["note", "a b", "day", "id"]) == keys


@pytest.mark.parametrize(
    ("text", "null"),
    [
        *(("NULL", True), ("CAST(NULL AS INT)", True), ("(cast(null AS DECIMAL(3, 1)))", True)),
        *(("'NULL'", False), ("CAST('NULL' AS STRING)", False), ("7", False), ("CAST(NULL AS", False)),
    ],
)
def test_null_is_null_cast_or_not(text: str, null: bool) -> None:
    assert is_null(text) is null


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Id % 16", {"id"}),
        ("(id + `k`) * -2L DIV 10", {"id", "k"}),
        ("id % 0", None),
        ("id / k", None),
        ("1 = id", None),
        ("1 BETWEEN id AND k", None),
        ("id % 1.5", None),
        ("id + NULL", None),
        ("id + '1'", None),
        ("CASE WHEN id > 1000 THEN id END", None),
        ("nullif(id, 5)", None),
        ("CAST(id AS INT)", None),
        ("st.a + 1", None),
        ("id +", None),
    ],
)
def test_arithmetic_over_integers_is_null_only_where_one_of_them_is(text: str, names: set[str] | None) -> None:
    assert integers_named(text) == names
