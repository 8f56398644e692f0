"""The query of each kind names the table's own columns, quoted, and reads what it has to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.expect.queries import Table, is_rounded, own_references, query_of, unknown_columns
from engine.expect.read_expectations import read_expectations

TABLE = Table(
    parts=("spark_catalog", "demo", "orders"),
    columns={"id": ("id", "INT"), "a`b": ("a`b", "STRING"), "new": ("new", "DECIMAL(9,2)")},
    had=frozenset(("id", "a`b")),
    around=("spark_catalog", "shop"),
)


def sql_of(entry: str) -> tuple[str, str]:
    (one,) = read_expectations(f"demo.orders:\n  - {entry}")
    query = query_of(one.expectation, TABLE)
    return query.sql, query.checked


@pytest.mark.parametrize(
    ("entry", "checked", "pieces"),
    [
        ("unique: [ID, a`b]", "changes", ["a.`id` = c.`id` AND a.`a``b` = c.`a``b`", "HAVING count(*) > 1"]),
        ("not_null: [id, new]", "changes", ["FROM changes", "`id` IS NULL OR `new` IS NULL"]),
        ("accepted: {a`b: [\"it's\", '{x}']}", "changes", [r"CAST('it\'s' AS STRING), CAST('{x}' AS STRING)"]),
        (
            "references: {id: demo.customers.key}",
            "changes",
            ["(SELECT r.`key` AS __dm_value FROM `demo`.`customers` AS r) WHERE __dm_value = c.`id`"],
        ),
        (
            "references: {id: demo.orders.new}",
            "table",
            ["(SELECT r.`new` AS __dm_value FROM after AS r) WHERE __dm_value = c.`id`", "FROM after AS c"],
        ),
        ("history: {key: [id], current: new}", "changes", ["PARTITION BY a.`id`", "__dm_current > 1"]),
        (
            "history: {key: [id], current: new, from: a`b, to: ID}",
            "changes",
            [
                "ORDER BY a.`a``b` NULLS FIRST, a.`id` NULLS LAST) AS __dm_next",
                "lead(TRUE) OVER (PARTITION BY a.`id` ORDER BY a.`a``b`",
                "a.`id` NULLS LAST) AS __dm_has_next",
                "(__dm_has_next AND (`id` IS NULL OR __dm_next IS NULL OR __dm_next < `id`)) OR (`id` < `a``b`)",
                "SELECT `id`, `new`, `a``b` FROM (SELECT a.`id`, a.`new`, a.`a``b`, ",
            ],
        ),
        ("rows: {min: 1}", "table", ["(SELECT count(*) FROM after)", "(SELECT count(*) FROM before)"]),
        ("sum: {new: {change: 5%}}", "table", ["sum(`new`)", "CAST(NULL AS STRING) AS b0 FROM before"]),
        ("freshness: {new: 2h}", "table", ["timestampadd(SECOND, -7200, current_timestamp())"]),
        ("{name: x, sql: 'SELECT {a} FROM after; '}", "table", ["SELECT * FROM (SELECT {a} FROM after\n)"]),
    ],
)
def test_query(entry: str, checked: str, pieces: list[str]) -> None:
    sql, reads = sql_of(entry)
    assert reads == checked
    assert [piece for piece in pieces if piece not in sql] == [], sql


def test_columns_that_the_table_does_not_have() -> None:
    (one,) = read_expectations("t:\n  - history: {key: [id, x], current: y}")
    assert unknown_columns(one.expectation, TABLE) == ("x", "y")


@pytest.mark.parametrize(
    ("text", "scale", "rounded"),
    [
        ("7", 0, False),
        ("7.00", 0, False),
        ("6.7", 0, True),
        (".5", 0, True),
        ("1e2", 0, False),
        ("1e-1", 0, True),
        ("+1.46", 1, True),
        ("1.40", 1, False),
        ("9" * 60 + ".5", 1, False),
        ("9" * 200 + ".5", 0, True),
        ("1e9999999", 0, False),
        ("1e-9999999", 9, True),
        ("0.000", 0, False),
        ("Infinity", 0, False),
        ("paid", 0, False),
        ("NaN", 0, False),
    ],
)
def test_a_listed_number_is_rounded_by_a_type_of_fewer_digits(text: str, scale: int, rounded: bool) -> None:
    assert is_rounded(text, scale) == rounded


@pytest.mark.parametrize(
    ("named", "current", "own"),
    [
        ("demo.orders.new", "shop", True),
        ("spark_catalog.demo.orders.new", "shop", True),
        ("DEMO.Orders.new", "shop", True),
        ("orders.new", "demo", True),
        # the one of the current schema
        ("orders.new", "shop", False),
        ("other.demo.orders.new", "shop", False),
    ],
)
def test_a_reference_is_to_the_table_that_spark_finds_by_its_name(named: str, current: str, own: bool) -> None:
    (one,) = read_expectations(f"demo.orders:\n  - references: {{id: {named}}}")
    table = replace(TABLE, around=("spark_catalog", current))
    assert own_references(one.expectation, table) == (("new",) if own else ())


def test_a_table_that_is_named_by_its_path_refers_to_itself_by_that() -> None:
    (one,) = read_expectations("demo.orders:\n  - references: {id: 'delta.`/d/t`.id'}")
    assert own_references(one.expectation, replace(TABLE, parts=("delta", "/d/t"))) == ("id",)


def test_a_char_is_compared_without_the_blanks_that_fill_it_up() -> None:
    (one,) = read_expectations("demo.orders:\n  - accepted: {id: [paid, 'x ']}")
    table = replace(TABLE, columns={"id": ("id", "char(8)")})
    assert "rtrim(`id`) IN (rtrim('paid'), rtrim('x '))" in query_of(one.expectation, table).sql
