"""Statements to start from, made of the names of both tables' columns."""

from __future__ import annotations

import pytest

from console.statements.templates import TEMPLATES, Sides, conditions, quoted, sides
from engine.model.browse import Column
from engine.sql.parse import parse_merge


def column(name: str, type_: str = "string", *, nullable: bool = True, partition: bool = False) -> Column:
    return Column(name=name, type=type_, nullable=nullable, is_partition=partition)


@pytest.mark.parametrize(
    ("name", "sql"),
    [
        ("a_1", "a_1"),
        ("1a", "`1a`"),
        ("a b", "`a b`"),
        ("a`b", "`a``b`"),
        ("Null", "`Null`"),
        ("on", "`on`"),
        ("tür", "`tür`"),
    ],
)
def test_a_name_is_quoted_where_spark_wants_it(name: str, sql: str) -> None:
    assert quoted(name) == sql


@pytest.mark.parametrize(
    ("table", "names", "key", "others"),
    [
        ("shop.orders", ("v", "order_id", "customer_id"), "order_id", ("customer_id",)),
        ("shop.orders", ("customer_id", "id"), "id", ("customer_id",)),
        ("shop.cities", ("country_id", "city_key"), "city_key", ("country_id",)),
        ("`shop`.`orders`", ("x", "orders_uuid"), "orders_uuid", ()),
        ("orders", ("v", "w"), "v", ()),
        ("orders", (), None, ()),
    ],
)
def test_the_key_is_known_by_its_name(
    table: str, names: tuple[str, ...], key: str | None, others: tuple[str, ...]
) -> None:
    found = sides(table, [column(name) for name in names], "s", [column(name) for name in names])
    assert (found.key, found.other_keys) == (key, others)


def test_of_two_keys_the_one_that_is_never_null_is_likelier() -> None:
    found = sides("t", [column("id"), column("pk", nullable=False)], None)
    assert found.key == "pk"


def test_tables_without_a_common_column_are_joined_by_columns_that_they_have() -> None:
    sql = TEMPLATES["upsert"][2](sides("t", [column("a 1")], "s", [column("b")]))
    assert "ON t.`a 1` = s.b\n  -- no column has the same name in both, and these are the first: write" in sql
    parse_merge(sql)


def test_what_both_have_and_what_the_source_lacks() -> None:
    target = [column("id"), column("day", "date", partition=True), column("tags", "map<string,string>"), column("gone")]
    source = [column("ID"), column("DAY"), column("tags"), column("updated_at")]
    found = sides("t", target, "s", source)
    assert (found.common, found.missing) == (("id", "day", "tags"), ("gone",))
    assert (found.partitions, found.comparable, found.newest_by) == (("day",), ("day",), "updated_at")


def test_without_a_source_only_the_target_tells() -> None:
    found = sides("t", [column("id"), column("v")], None)
    assert (found.key, found.common, found.missing, found.comparable, found.newest_by) == ("id", (), (), (), None)


FULL = Sides("t", "feed", "id", ("b_id",), ("day",), ("id", "b_id", "day", "v"), ("gone",), ("b_id", "day", "v"), "at")
BARE = Sides("t")
SAME = Sides("t", "feed", "id", common=("id", "v"), comparable=("v",))


@pytest.mark.parametrize("of", [FULL, BARE, SAME], ids=["full", "bare", "same"])
@pytest.mark.parametrize("name", TEMPLATES)
def test_each_template_is_a_merge(name: str, of: Sides) -> None:
    label, what, template = TEMPLATES[name]
    statement = parse_merge(template(of))
    assert label
    assert what
    assert (statement.target.text, statement.target.alias, statement.source.alias) == ("t", "t", "s")
    assert statement.condition == "t.id = s.id"
    assert {clause.star for clause in statement.not_matched} <= {of is not FULL}


def test_the_clauses_of_each_template() -> None:
    kinds = {
        name: [f"{clause.kind} {clause.action_kind}" for clause in parse_merge(template(FULL)).clauses]
        for name, (_, _, template) in TEMPLATES.items()
    }
    both = ["matched update", "not_matched insert"]
    assert kinds == {
        "upsert": both,
        "sync": [*both, "not_matched_by_source delete"],
        "insert": ["not_matched insert"],
    }


@pytest.mark.parametrize("name", ["upsert", "sync"])
def test_where_both_have_the_key_alone_nothing_is_updated(name: str) -> None:
    text = TEMPLATES[name][2](Sides("t", "feed", "id", common=("id",), missing=("v",)))
    assert "matched" not in [clause.kind for clause in parse_merge(text).clauses]
    assert "-- beside id there is nothing to update" in text


def test_comments_say_what_there_is_to_think_about() -> None:
    text = TEMPLATES["upsert"][2](FULL)
    assert "-- called like keys too: b_id" in text
    assert "-- AND t.day = s.day skips files, where a row never moves to another day" in text
    assert "-- feed has no gone" in text
    many = Sides("t", "feed", "id", missing=tuple("abcdefg"), common=("id",))
    assert "feed has no a, b, c, d, e and 2 more" in TEMPLATES["insert"][2](many)


def test_a_name_with_a_line_break_ends_no_comment() -> None:
    odd = Sides("t", "feed", "id", other_keys=("a\nDROP TABLE t; --",))
    assert parse_merge(TEMPLATES["insert"][2](odd)).condition == "t.id = s.id"


def test_a_long_list_is_cut_between_its_items() -> None:
    wide = Sides("t", "feed", "id", common=tuple(f"column_{at}" for at in range(40)), missing=("x",))
    assert all(len(line) <= 89 for line in TEMPLATES["upsert"][2](wide).splitlines())


def test_conditions_to_join_by_are_offered_likeliest_first() -> None:
    assert conditions(FULL, "t", "s") == [
        ("t.id = s.id", "the key, by its name"),
        ("t.id = s.id AND t.day = s.day", "skips files, where a row never moves to another day"),
        ("t.id = s.id AND t.b_id = s.b_id", "all that are called like keys"),
        ("t.b_id = s.b_id", "called like a key"),
        ("t.day = s.day", "both have it"),
        ("t.v = s.v", "both have it"),
    ]
    assert conditions(BARE, "t", "s") == []
