"""Completion: what is offered comes from the tables that the statement names, never inside a string or a comment."""

from __future__ import annotations

import pytest

from console.completion import completions, relations

TABLES = ["sales.orders", "sales.orders_feed", "default.`odd name`"]
COLUMNS = {"sales.orders": ["order_id", "order_date", "status"], "sales.orders_feed": ["order_id", "op", "`a b`"]}
START = "MERGE INTO sales.orders AS t USING sales.orders_feed s ON "


def offered(before: str, after: str = "") -> list[str]:
    return completions(before, after, TABLES, lambda name: COLUMNS.get(name, []))[1]


CASES = [
    ("after an alias, the columns of its table", START + "t.ord", ["order_id", "order_date"]),
    ("an alias without AS", START + "s.o", ["order_id", "op"]),
    ("right after the point, all", START + "t.", ["order_id", "order_date", "status"]),
    ("without an alias, the columns of all tables", START + "sta", ["status"]),
    ("words keep the case that is typed", "me", ["merge"]),
    ("", "MA", ["MATCHED"]),
    ("functions with their bracket", START + "coal", ["coalesce("]),
    ("tables where a table stands", "MERGE INTO sales.or", ["sales.orders", "sales.orders_feed"]),
    ("", "MERGE INTO x USING s", ["sales.orders", "sales.orders_feed"]),
    ("one letter is no word yet", START + "s", []),
    ("not in a string", START + "t.status = 'sta", []),
    ("not in a comment", START + "-- sta", []),
    ("not in a comment of several lines", START + "/* \n sta", []),
    ("not in a comment in a comment", START + "/* /* x */ sta", []),
    ("not in a quoted name", START + "t.`sta", []),
    ("after a quoted name with a quote", START + "`it's` = sta", ["status"]),
    ("after a raw string with a backslash", START + r"r'it\' = sta", ["status"]),
    ("after a comment again", START + "-- x\n sta", ["status"]),
    ("after a string again", START + "'it''s' = sta", ["status"]),
    ("an alias nobody gave has no columns", START + "x.ord", []),
]


@pytest.mark.parametrize(("before", "expected"), [case[1:] for case in CASES])
def test_what_is_offered(before: str, expected: list[str]) -> None:
    assert offered(before) == expected


def test_no_name_of_ours_is_offered() -> None:
    names = ["__dm_source_row", "`__dm_file`", "__dmitri"]
    assert completions(START + "t.__d", "", TABLES, lambda _: names)[1] == ["__dmitri"]


def test_nothing_is_offered_in_the_middle_of_a_word() -> None:
    assert offered(START + "t.ord", "er_id") == []
    assert offered(START + "t.ord", " = s.order_id") == ["order_id", "order_date"]


def test_the_tables_of_a_statement_and_their_aliases() -> None:
    assert relations("MERGE INTO a.b AS t USING `c d`.e ON x") == {"t": "a.b", "e": "`c d`.e"}
    before = "/* USE x; */ use schema Shop;\nSET a = 'USE y;'; "
    assert relations(f"{before}MERGE INTO b USING c.d ON x") == {"b": "Shop.b", "d": "c.d"}
    assert relations("USE CATALOG c; MERGE INTO b USING d") == {"b": "b", "d": "d"}
    assert relations("merge into b using (select * from c join d as x) s") == {"b": "b", "c": "c", "x": "d"}
