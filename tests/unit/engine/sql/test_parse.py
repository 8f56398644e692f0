"""The parts of a MERGE, and of a file of statements."""

from __future__ import annotations

import pytest

from engine.model.errors import UsageError
from engine.model.script import joined
from engine.sql.parse import MergeStatement, assignment_parts, parse_merge, parse_script
from engine.sql.sql_text import tokenize

UPDATE, DELETE, INSERT = "WHEN MATCHED THEN UPDATE SET *", "WHEN MATCHED THEN DELETE", "WHEN NOT MATCHED THEN INSERT *"
BY_SOURCE = "WHEN NOT MATCHED BY SOURCE THEN DELETE"


def merge(clauses: str = DELETE, *, target: str = "t", source: str = "s", on: str = "t.id = s.id") -> MergeStatement:
    return parse_merge(f"MERGE INTO {target} USING {source} ON {on} {clauses}")


@pytest.mark.parametrize(
    ("written", "text", "alias", "parts", "reference"),
    [
        ("a.b", "a.b", None, ("a", "b"), "`b`"),
        ("a.`b``c` AS x", "a.`b``c`", "x", ("a", "b`c"), "x"),
        ("a.`b``c`", "a.`b``c`", None, ("a", "b`c"), "`b``c`"),
        ("delta.`/p` `my t`", "delta.`/p`", "`my t`", ("delta", "/p"), "`my t`"),
        ("IDENTIFIER('a.b') x", "IDENTIFIER('a.b')", "x", (), "x"),
        ("IDENTIFIER('a.`b c`')", "IDENTIFIER('a.`b c`')", None, (), "`b c`"),
        ("IDENTIFIER('a' '.b')", "IDENTIFIER('a' '.b')", None, (), "`b`"),
        ("IDENTIFIER('a' || 'b')", "IDENTIFIER('a' || 'b')", None, (), ""),
        ("t AS as", "t", "as", ("t",), "as"),
        ("t as", "t", "as", ("t",), "as"),
    ],
)
def test_a_table_and_its_alias(
    written: str, text: str, alias: str | None, parts: tuple[str, ...], reference: str
) -> None:
    for found in (merge(target=written).target, merge(source=written).source):
        assert (found.text, found.alias, found.parts, found.reference) == (text, alias, parts, reference)
        assert not found.is_query


def test_a_source_may_be_a_query() -> None:
    found = merge(source="(SELECT ')' AS a) AS s")
    assert (found.source.text, found.source.alias, found.source.is_query) == ("(SELECT ')' AS a)", "s", True)


@pytest.mark.parametrize(
    ("prefix", "before"),
    [
        ("", ""),
        ("WITH q AS (SELECT 1)", "WITH q AS (SELECT 1) "),
        ("WITH RECURSIVE q (a, b) AS (SELECT 1, 2), r AS (SELECT 3)", None),
        ("WITH q MAX RECURSION LEVEL 5 AS (SELECT 1)", None),
        ("WITH recursive AS (SELECT 1)", None),
        ("WITH q (SELECT 1)", None),
    ],
)
def test_a_with_clause_stands_before_it(prefix: str, before: str | None) -> None:
    found = parse_merge(f"{prefix} MERGE INTO t USING s ON a {DELETE}".strip())
    assert found.prefix == prefix
    assert found.before_select == (f"{prefix} " if before is None else before)


@pytest.mark.parametrize(
    ("clauses", "matched_only", "insert_only", "one_delete"),
    [
        (DELETE, True, False, True),
        (f"WHEN MATCHED AND a THEN DELETE {DELETE}", True, False, False),
        ("WHEN MATCHED AND a THEN DELETE", True, False, False),
        (UPDATE, True, False, False),
        (INSERT, False, True, False),
        (f"{UPDATE} {INSERT}", False, False, False),
        (f"{DELETE} {BY_SOURCE}", False, False, True),
        (f"{INSERT} {BY_SOURCE}", False, False, False),
        (BY_SOURCE, False, False, False),
    ],
)
def test_what_delta_asks_of_the_clauses(clauses: str, matched_only: bool, insert_only: bool, one_delete: bool) -> None:
    found = merge(clauses)
    assert (found.matched_only, found.insert_only) == (matched_only, insert_only)
    assert found.only_one_unconditional_delete is one_delete


def test_clauses_are_told_by_their_kind() -> None:
    found = merge(f"{UPDATE} {INSERT} WHEN NOT MATCHED BY TARGET AND x THEN INSERT (a) VALUES (1) {BY_SOURCE}")
    assert [len(kind) for kind in (found.matched, found.not_matched, found.not_matched_by_source)] == [1, 2, 1]
    assert [clause.star for clause in found.clauses] == [True, True, False, False]
    shown = found.not_matched[1].value()
    assert (shown.kind, shown.condition, shown.action, shown.action_kind) == (
        "not_matched",
        "x",
        "INSERT (a) VALUES (1)",
        "insert",
    )


def test_schema_evolution_is_told() -> None:
    assert parse_merge(f"MERGE WITH SCHEMA EVOLUTION INTO t USING s ON a {DELETE}").schema_evolution
    assert not merge().schema_evolution


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("MERGE INTO t USING s ON a", "WHEN"),
        ("MERGE INTO t USING s ON a WHEN MATCHED THEN", "UPDATE, DELETE or INSERT"),
        ("MERGE INTO t USING s ON a WHEN MATCHED BY SOURCE THEN DELETE", "THEN"),
        ("MERGE INTO t USING s ON a WHEN MATCHED THEN UPDATE SET a", "="),
        ("MERGE INTO t USING s ON a WHEN MATCHED THEN UPDATE SET 1 = 2", "a column"),
        ("MERGE INTO t USING s ON a WHEN NOT MATCHED THEN INSERT (a, b) VALUES (1)", "2 values for 2 columns"),
        ("MERGE INTO (SELECT 1) USING s ON a WHEN MATCHED THEN DELETE", "the name of a table"),
        ("MERGE INTO t USING 's' ON a WHEN MATCHED THEN DELETE", "the name of a table"),
        ("WITH 1 MERGE INTO t USING s ON a WHEN MATCHED THEN DELETE", "the name of a query"),
    ],
)
def test_what_is_shaped_otherwise_is_refused_with_what_was_expected(sql: str, expected: str) -> None:
    with pytest.raises(UsageError, match=f"expected .*{expected}") as refused:
        parse_merge(sql)
    assert refused.value.condition == "PARSE_SYNTAX_ERROR"


@pytest.mark.parametrize(
    "sql",
    [
        *("", "SELECT 1", "SELECT merge", "WITH q AS (SELECT 1) SELECT 1"),
        "EXPLAIN MERGE INTO t USING s ON a WHEN MATCHED THEN DELETE",
    ],
)
def test_another_statement_is_no_merge(sql: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_merge(sql)
    assert refused.value.condition == "NOT_A_MERGE"


def test_a_statement_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        merge(on=f"{'~' * 20_000}1")
    assert refused.value.condition == "STATEMENT_TOO_DEEP"


@pytest.mark.parametrize(
    ("clauses", "condition", "assignments"),
    [
        ("WHEN MATCHED AND t.a + THEN UPDATE SET a = 1", "t.a +", (("a", "1"),)),
        ("WHEN MATCHED THEN UPDATE SET a = ", None, ()),
        ("WHEN MATCHED THEN UPDATE SET a = (b + ) ", None, (("a", "(b + )"),)),
        ("WHEN MATCHED THEN UPDATE SET a = b + , c = 1", None, (("a", "b +"), ("c", "1"))),
        ("WHEN NOT MATCHED THEN INSERT (a) VALUES (b +)", None, (("a", "b +"),)),
        ("WHEN MATCHED THEN UPDATE", None, ()),
    ],
)
def test_what_is_being_typed_may_be_unfinished(
    clauses: str, condition: str | None, assignments: tuple[tuple[str, str], ...]
) -> None:
    (found,) = parse_merge(f"MERGE INTO t USING s ON t.id = {clauses}", typing=True).clauses
    assert (found.condition, found.assignments) == (condition, assignments)
    assert not found.star


def test_an_unfinished_action_ends_at_the_next_clause() -> None:
    found = parse_merge(f"MERGE INTO t USING s ON a WHEN MATCHED THEN UPDATE SET {INSERT}", typing=True)
    assert [clause.action for clause in found.clauses] == ["UPDATE SET", "INSERT *"]
    assert [(clause.action_kind, clause.star) for clause in found.clauses] == [("update", False), ("insert", True)]
    # one that is finished is read
    found = parse_merge(f"MERGE INTO t USING s ON a WHEN MATCHED THEN UPDATE SET b = 1 {INSERT}", typing=True)
    assert [clause.assignments for clause in found.clauses] == [(("b", "1"),), ()]


def test_what_is_no_verb_is_refused_while_typing_too() -> None:
    with pytest.raises(UsageError):
        parse_merge("MERGE INTO t USING s ON a WHEN MATCHED THEN UPSERT", typing=True)
    with pytest.raises(UsageError):
        parse_merge("MERGE INTO t USING s ON WHEN MATCHED THEN DELETE", typing=True)


def test_the_parts_of_an_action() -> None:
    def parts(action: str) -> list[tuple[str, str]]:
        found = assignment_parts(tokenize(action))
        return [(" ".join(t.text for t in column), " ".join(t.text for t in value)) for column, value in found]

    assert parts("UPDATE SET a = 1, t.b = c") == [("a", "1"), ("t . b", "c")]
    assert parts("INSERT (a) VALUES (1)") == [("a", "1")]
    assert parts("UPDATE SET a") == parts("DELETE now") == parts("DELETE") == []


def test_a_script_is_its_setup_and_its_last_statement() -> None:
    text = "SET a = b;\nCREATE OR REPLACE TEMP VIEW v AS SELECT 1;\n\nMERGE INTO t;"
    found = parse_script(text)
    assert found.setup == ("SET a = b", "CREATE OR REPLACE TEMP VIEW v AS SELECT 1")
    assert text[found.start :].startswith(found.statement)
    assert found.template == ""


@pytest.mark.parametrize(
    "setup",
    [
        *("SET a = b", "use x", "CACHE TABLE c AS SELECT 1", "RESET a", "REFRESH TABLE x", "DECLARE v = 1"),
        *("CREATE TEMPORARY VIEW v AS SELECT 1", "CREATE GLOBAL TEMP VIEW v AS SELECT 1"),
        "create or replace global temporary view v AS SELECT 1",
    ],
)
def test_what_sets_up_the_session_stands_before_the_statement(setup: str) -> None:
    assert parse_script(f"{setup}; MERGE INTO t").setup == (setup,)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TEMP VIEW v AS SELECT 1 -- only today\n;\n-- then\nMERGE INTO t -- done",
        "SET a = b -- in C:\\ \n;MERGE INTO t",
        "SET a = b -- in C:\\\r\n;\r\nMERGE INTO t",
        "SET a = b -- goes \\\non\n;MERGE INTO t",
        "-- first\nSET a = '--';\nUSE x /* -- */;\nMERGE INTO t;",
    ],
)
def test_the_statements_of_a_script_joined_are_the_same_script(text: str) -> None:
    script = parse_script(text)
    again = parse_script(joined((*script.setup, script.statement)))
    assert (again.setup, again.statement) == (script.setup, script.statement)


def test_a_statement_ends_on_its_line_where_no_comment_can_take_the_semicolon() -> None:
    assert joined(("USE x", "SET a = b", "MERGE INTO t -- done")) == "USE x;\nSET a = b;\nMERGE INTO t -- done"


@pytest.mark.parametrize("setup", ["DROP TABLE t", "CREATE TEMPORARY FUNCTION f AS 'x'", "CREATE VIEW v AS SELECT 1"])
def test_nothing_but_setup_stands_before_the_statement(setup: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_script(f"{setup}; MERGE INTO t")
    assert refused.value.condition == "UNSUPPORTED_STATEMENT"


@pytest.mark.parametrize("behind", ["DROP TABLE t", "OPTIMIZE t", "MERGE INTO u"])
def test_what_stands_behind_the_merge_is_named_and_not_the_merge(behind: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_script(f"SET a = b; MERGE INTO t; {behind}; SET a = c")
    assert refused.value.condition == "UNSUPPORTED_STATEMENT"
    assert refused.value.message.endswith(
        f"behind the MERGE that is planned, but there is: {behind.split(maxsplit=1)[0]}"
    )


@pytest.mark.parametrize(
    "text",
    [
        "v = '${my.op}'",
        "v = ${my.op}",
        "`${env:PATH}` = 1",
        "v = concat('a', r'${x}')",
        "/* ${a} */ v = 1",
        "v = '${' -- ${b}\n",
    ],
)
def test_what_spark_would_substitute_is_refused_in_quotes_and_comments_too(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_script(f"MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND {text} THEN DELETE")
    assert refused.value.condition == "VARIABLE_SUBSTITUTION"
    assert "${" in refused.value.message


@pytest.mark.parametrize("text", ["v = '$' || '{a}'", "v = '${' -- }\n", "v = '${a b}'", "v = '${}'"])
def test_what_spark_does_not_substitute_is_read(text: str) -> None:
    assert parse_script(f"MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND {text} THEN DELETE").statement


def test_a_file_without_a_statement_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        parse_script(" ; -- nothing\n")
    assert refused.value.condition == "EMPTY_STATEMENT"


def test_columns_named_behind_an_alias_are_refused_with_the_query_that_names_them() -> None:
    with pytest.raises(UsageError) as raised:
        parse_merge("MERGE INTO t USING (VALUES (1, 'a')) AS s(id, v) ON t.id = s.id WHEN MATCHED THEN DELETE")
    assert raised.value.condition == "PARSE_SYNTAX_ERROR"
    assert "USING (SELECT * FROM VALUES (1, 2) AS x(a, b)) AS x" in raised.value.hint
