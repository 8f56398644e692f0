"""Names, lists, strings and properties of a CREATE, and what is refused of them."""

from __future__ import annotations

import pytest

from engine.model.errors import UsageError
from engine.model.identity import Identity
from engine.sql.parse_create import is_create_table, parse_create


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("a.b", ("a", "b")),
        ("`a.b`", ("a.b",)),
        ("IDENTIFIER('a.`b c`')", ("a", "b c")),
    ],
)
def test_a_name_may_be_in_a_string(name: str, parts: tuple[str, ...]) -> None:
    assert parse_create(f"CREATE TABLE {name} (a INT)").parts == parts


@pytest.mark.parametrize(
    ("properties", "found"),
    [
        ("('a.b' = '1', c.d = 2, e TRUE)", {"a.b": "1", "c.d": "2", "e": "true"}),
        ("('a' 'b' = 'c' 'd')", {"ab": "cd"}),
        # without a sign the strings behind the first are the value
        ("('a' 'b' 'c')", {"a": "bc"}),
        (r"('\141\u0062' = '\207\ud83d\ude00')", {"ab": "207\U0001f600"}),
        ("(a == .5, b = 1., c = 1.5)", {"a": ".5", "b": "1.", "c": "1.5"}),
    ],
)
def test_properties_are_pairs(properties: str, found: dict[str, str]) -> None:
    assert parse_create(f"CREATE TABLE t (a INT) TBLPROPERTIES {properties}").properties == found


def test_an_option_is_a_literal() -> None:
    assert parse_create("CREATE TABLE t (a INT) OPTIONS (a = 1.5, b = FALSE)").options == {"a": "1.5", "b": "false"}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("CREATE TABLE 'x' (a INT)", "the name of a table"),
        ("CREATE TABLE IDENTIFIER('a' || 'b') (a INT)", "one string in IDENTIFIER"),
        ("CREATE TABLE IDENTIFIER('`a') (a INT)", "the name of a table"),
        ("CREATE TABLE IDENTIFIER('a b') (a INT)", "the name of a table"),
        ("CREATE TABLE IDENTIFIER(a) (a INT)", "a string"),
        ("CREATE TABLE t ()", "a column"),
        ("CREATE TABLE t (1 INT)", "a column"),
        ("CREATE TABLE t (a INT NOT)", "NULL"),
        ("CREATE TABLE t (a INT NOT NULL NOT NULL)", "a comma"),
        ("CREATE TABLE t (a INT) TBLPROPERTIES (a = 1, a = 2)", "each key once"),
        ("CREATE TABLE t (a INT) TBLPROPERTIES (1 = 2)", "a key"),
        ("CREATE TABLE t (a INT) TBLPROPERTIES (a = b)", "a string, a number, TRUE or FALSE"),
        ("CREATE TABLE t (a INT) OPTIONS (a = 007)", "a string, a number, TRUE or FALSE"),
        ("CREATE TABLE t (a INT) COMMENT 1", "a string"),
        (r"CREATE TABLE t (a INT) COMMENT '\ud83d'", "a string of whole characters"),
        (r"CREATE TABLE t (a INT COMMENT '\UFFFFFFFF')", "a string of whole characters"),
        (r"CREATE TABLE t (a INT) TBLPROPERTIES ('\udc00' = 'a')", "a string of whole characters"),
        ("CREATE TABLE t (a STRING) USING delta DEFAULT COLLATION UTF8_LCASE", "a clause or a query"),
        ("CREATE TABLE t (a INT) USING 'delta'", "the name of a format"),
        ("CREATE TABLE t (a INT) COMMENT 'a' COMMENT 'b'", "one COMMENT clause"),
        ("CREATE TABLE t (a INT) PARTITIONED BY (1)", "a column"),
        ("CREATE TABLE t (a INT) CLUSTER BY (1)", "a column"),
        ("CREATE TABLE t (a INT) CLUSTERED BY (a) INTO x BUCKETS", "a number of buckets"),
        ("CREATE TABLE t (a INT) now", "a clause or a query"),
        ("CREATE TABLE t AS 1", "a query"),
        ("CREATE TABLE t LIKE s now", "the end"),
        ("CREATE TABLE t SHALLOW CLONE s VERSION AS OF 'x'", "the number of a version"),
        ("CREATE TABLE t SHALLOW CLONE s TIMESTAMP AS OF x", "a timestamp in quotes"),
        ("CREATE TABLE t DEEP CLONE s", "SHALLOW"),
    ],
)
def test_what_is_shaped_otherwise_is_refused(sql: str, expected: str) -> None:
    with pytest.raises(UsageError, match=f"expected {expected}"):
        parse_create(sql)


@pytest.mark.parametrize(
    ("sql", "create"),
    [
        ("create or replace table t", True),
        ("REPLACE TABLE t", True),
        ("CREATE VIEW v", False),
        ("CREATE TEMPORARY TABLE t", False),
        ("", False),
    ],
)
def test_the_statements_that_are_planned(sql: str, create: bool) -> None:
    assert is_create_table(sql) is create
    if not create:
        with pytest.raises(UsageError) as refused:
            parse_create(sql)
        assert refused.value.condition == "NOT_A_CREATE"


def test_a_statement_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        parse_create(f"CREATE TABLE t (a INT DEFAULT {'~' * 20_000}1)")
    assert refused.value.condition == "STATEMENT_TOO_DEEP"


@pytest.mark.parametrize(
    "constraint",
    [
        "UNIQUE (a, b)",
        "PRIMARY KEY (a) NOT ENFORCED RELY",
        "CONSTRAINT c FOREIGN KEY (a) REFERENCES d.o (id) NORELY",
        "FOREIGN KEY (a) REFERENCES o",
        "CHECK (a > 0) ENFORCED",
    ],
)
def test_constraints_stand_beside_the_columns(constraint: str) -> None:
    found = parse_create(f"CREATE TABLE t (a INT, {constraint}, b INT)")
    assert found.constraints == (constraint,)
    assert [column.name for column in found.columns or ()] == ["a", "b"]


@pytest.mark.parametrize("constraint", ["UNIQUE", "PRIMARY KEY", "REFERENCES o (id)", "CONSTRAINT c CHECK (a > 0)"])
def test_constraints_stand_at_a_column(constraint: str) -> None:
    found = parse_create(f"CREATE TABLE t (a INT {constraint} NOT NULL)")
    (column,) = found.columns or ()
    assert column.constraints == (constraint,)
    assert not column.nullable


@pytest.mark.parametrize(
    ("generated", "identity", "expression"),
    [
        ("GENERATED ALWAYS AS (b + 1)", False, "b + 1"),
        ("GENERATED ALWAYS AS IDENTITY", True, None),
        ("GENERATED BY DEFAULT AS IDENTITY (START WITH 1 INCREMENT BY 2)", True, None),
    ],
)
def test_a_column_may_be_generated(generated: str, identity: bool, expression: str | None) -> None:
    (column,) = parse_create(f"CREATE TABLE t (a BIGINT {generated})").columns or ()
    assert (column.counted is not None, column.generated_as) == (identity, expression)
    assert column.identity_as == (generated if identity else "")


@pytest.mark.parametrize(
    ("typed", "start", "step"),
    [
        ("", 1, 1),
        ("()", 1, 1),
        ("(START WITH 5)", 5, 1),
        ("(increment by -2)", 1, -2),
        ("(INCREMENT BY 10L /* ) */ START WITH - 100l)", -100, 10),
    ],
)
@pytest.mark.parametrize(("how", "always"), [("ALWAYS", True), ("BY DEFAULT", False)])
def test_an_identity_counts_as_its_numbers_say(typed: str, start: int, step: int, how: str, always: bool) -> None:
    (column,) = parse_create(f"CREATE TABLE t (a BIGINT GENERATED {how} AS IDENTITY {typed} NOT NULL)").columns or ()
    assert column.counted == Identity(start=start, step=step, always=always)
    assert not column.nullable


@pytest.mark.parametrize(
    "typed", ["(START 5)", "(START WITH a)", "(START WITH 1, INCREMENT BY 2)", "(START WITH 1 START WITH 2)", "(5"]
)
def test_an_identity_that_counts_in_no_known_way_is_not_read(typed: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_create(f"CREATE TABLE t (a BIGINT GENERATED ALWAYS AS IDENTITY {typed})")
    assert refused.value.condition == "PARSE_SYNTAX_ERROR"
