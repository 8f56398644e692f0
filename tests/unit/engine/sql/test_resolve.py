"""Whose column a name is, by Spark's rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.sql.parse import MergeStatement, parse_merge
from engine.sql.resolve import (
    SOURCE,
    TARGET,
    Side,
    is_boolean,
    resolve,
    resolve_merge,
    resolve_target_column,
    sides_of,
)
from tests.engine.random_columns import columns_of, random_merge


def texts_of(statement: MergeStatement) -> tuple[str, ...]:
    """ON, then each clause's condition and values."""
    found = [statement.condition]
    for clause in statement.clauses:
        found += [clause.condition or "", *(value for _, value in clause.assignments)]
    return tuple(found)


@pytest.mark.parametrize(
    "seeds", [range(100), pytest.param(range(100, 1000), marks=pytest.mark.thorough)], ids=["some", "more"]
)
def test_names_are_resolved_to_the_sides_that_are_meant(seeds: range) -> None:
    for seed in seeds:
        merge = random_merge(seed, "db.target_table", "db.source_table")
        statement = parse_merge(merge.sql)
        sides = sides_of(statement, columns_of("source"), columns_of("target"), case_sensitive=False)
        assert texts_of(resolve_merge(statement, *sides)) == merge.meant, merge.sql


TARGET_SIDE = Side(TARGET, ("t",), True, ("id", "v", "s", "Both"))
SOURCE_SIDE = Side(SOURCE, ("s",), True, ("id", "w", "a b", "both"))
BOTH = (TARGET_SIDE, SOURCE_SIDE)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("v = w", "__dm_target.`v` = __dm_source.`w`"),
        ("t.v", "__dm_target.`v`"),
        # the longest qualifier first: s is the source, and a column of the target
        ("s.w", "__dm_source.`w`"),
        ("s.x", "__dm_target.`s`.x"),
        ("t.s.x", "__dm_target.`s`.x"),
        ("`a b`", "__dm_source.`a b`"),
        ("CASE WHEN NOT`v`THEN`w`END", "CASE WHEN NOT __dm_target.`v`THEN __dm_source.`w`END"),
        ("id", "id"),
        ("nosuch", "nosuch"),
        ("exists(s, v -> v > w)", "exists(__dm_target.`s`, v -> v > __dm_source.`w`)"),
        ("count(*)", "count(*)"),
        ("struct(s.*)", "struct(__dm_source.`id`, __dm_source.`w`, __dm_source.`a b`, __dm_source.`both`)"),
        ("db.t.v", "db.t.v"),
    ],
)
def test_a_name_is_the_column_that_spark_takes_it_for(typed: str, text: str) -> None:
    assert resolve(typed, BOTH).text == text


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("user = current_user", "__dm_source.`user` = current_user"),
        ("user.x", "__dm_source.`user`.x"),
        ("current_date > current_timestamp", "__dm_target.`current_date` > current_timestamp"),
        ("user()", "user()"),
        ("exists(xs, user -> user > 1)", "exists(xs, user -> user > 1)"),
    ],
)
def test_a_column_goes_before_the_function_that_is_called_without_brackets(typed: str, text: str) -> None:
    sides = (Side(TARGET, ("t",), True, ("current_date",)), Side(SOURCE, ("s",), True, ("user",)))
    assert resolve(typed, sides).text == text


def test_a_star_without_a_side_is_all_columns() -> None:
    found = resolve("struct(*)", [TARGET_SIDE])
    assert found.text == "struct(__dm_target.`id`, __dm_target.`v`, __dm_target.`s`, __dm_target.`Both`)"
    assert found.target_columns == TARGET_SIDE.columns
    # a column that is a struct is opened too
    assert resolve("struct(v.*)", [TARGET_SIDE]).target_columns == ("v",)


def test_the_columns_of_either_side_are_told() -> None:
    found = resolve("t.v + s.w + s.w", BOTH)
    assert (found.source_columns, found.target_columns) == (("w",), ("v",))


def test_columns_can_be_called_by_other_names() -> None:
    assert resolve("t.v + 1", BOTH, name=lambda side, column: f"{side.name}_{column}").text == "__dm_target_v + 1"


def test_a_subquery_gets_the_with_clause() -> None:
    prefix = "WITH q AS (SELECT 1)"
    assert resolve("v IN (SELECT * FROM q)", BOTH, prefix=prefix).text.endswith(f"IN ({prefix} SELECT * FROM q)")
    assert resolve("EXISTS (SELECT 1)", BOTH, prefix=prefix).text == f"EXISTS ({prefix} SELECT 1)"
    assert resolve("EXISTS (SELECT 1)", BOTH).text == "EXISTS (SELECT 1)"
    merge = parse_merge("MERGE INTO t USING s ON a WHEN MATCHED AND EXISTS (SELECT 1) THEN UPDATE SET v = (SELECT 2)")
    (clause,) = resolve_merge(merge, SOURCE_SIDE, TARGET_SIDE, prefix=prefix).clauses
    assert (clause.condition, clause.assignments) == (
        f"EXISTS ({prefix} SELECT 1)",
        (("`v`", f"({prefix} SELECT 2)"),),
    )


@pytest.mark.parametrize(
    ("sensitive", "name", "column"), [(False, "BOTH", "Both"), (True, "BOTH", None), (True, "Both", "Both")]
)
def test_case_counts_where_the_conf_says_so(sensitive: bool, name: str, column: str | None) -> None:
    side = replace(TARGET_SIDE, case_sensitive=sensitive)
    assert side.column(name) == column
    assert side.has(name) is (column is not None)


def test_two_columns_of_one_name_are_none() -> None:
    side = replace(TARGET_SIDE, columns=("a", "A"))
    assert (side.column("a"), side.has("a")) == (None, True)


@pytest.mark.parametrize(
    ("qualifier", "alias", "names", "fits"),
    [
        (("cat", "db", "t"), False, ("t",), True),
        (("cat", "db", "t"), False, ("DB", "T"), True),
        (("cat", "db", "t"), False, ("other", "t"), False),
        (("t",), True, ("T",), True),
        (("t",), True, ("db", "t"), False),
        ((), False, ("t",), False),
        (("t",), True, (), False),
    ],
)
def test_a_qualifier_is_the_end_of_the_name_or_the_alias(
    qualifier: tuple[str, ...], alias: bool, names: tuple[str, ...], fits: bool
) -> None:
    assert Side(TARGET, qualifier, alias, ()).qualifies(names) is fits


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("t.t.v", "__dm_target.`t`.v"),
        ("t.s.v", "__dm_target.`s`.v"),
        ("s.v", "__dm_source.`v`"),
        ("db.t.v", "__dm_target.`v`"),
    ],
)
def test_a_column_called_as_a_table_is_read_before_a_schema_that_nobody_typed(typed: str, text: str) -> None:
    sides = [Side(name, (name[5],), False, ("v", "t", "s")) for name in (SOURCE, TARGET)]
    assert resolve(typed, sides).text == text


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("v", "`v`"),
        ("t.v", "`v`"),
        ("t.v.x", "`v`.x"),
        # a column that evolution adds
        ("t.new.x", "new.x"),
        ("new", "new"),
        ("t", "t"),
        ("x.new", "x.new"),
        # no literal where a column is assigned
        ("TRUE", "`TRUE`"),
        ("null", "null"),
        # as typed: Delta tells id from ID in the columns of an INSERT
        ("V", "`V`"),
        ("T.V.x", "`V`.x"),
    ],
)
def test_a_column_that_is_assigned_may_be_new(typed: str, text: str) -> None:
    side = replace(TARGET_SIDE, columns=(*TARGET_SIDE.columns, "true"))
    assert resolve_target_column(typed, side) == text


def test_a_clause_sees_the_sides_that_it_has() -> None:
    merge = parse_merge(
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND v > w THEN UPDATE SET v = w "
        "WHEN NOT MATCHED THEN INSERT (v) VALUES (both) WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = both"
    )
    found = resolve_merge(merge, SOURCE_SIDE, TARGET_SIDE)
    assert [clause.assignments[0][1] for clause in found.clauses] == [
        "__dm_source.`w`",
        "__dm_source.`both`",
        "__dm_target.`Both`",
    ]
    assert (found.target.alias, found.source.alias) == (TARGET, SOURCE)


@pytest.mark.parametrize(
    ("text", "boolean"),
    [
        *(
            (f"a {sign} b", True)
            for sign in ("=", "==", "<=>", "<>", "!=", "<", "<=", "!>", ">", ">=", "!<", "AND", "OR")
        ),
        ("((a IS NULL))", True),
        ("NOT a", True),
        ("a IN (1)", True),
        ("a LIKE 'x'", True),
        ("a BETWEEN 1 AND 2", True),
        ("a + b", False),
        ("-a", False),
        ("f(a)", False),
        ("a", False),
    ],
)
def test_the_shape_tells_a_boolean(text: str, boolean: bool) -> None:
    assert is_boolean(text) is boolean


def test_a_name_in_identifier_qualifies_columns_as_one_typed_bare_does() -> None:
    statement = parse_merge(
        "MERGE INTO IDENTIFIER('db.t') USING IDENTIFIER('db.s') ON t.id = db.s.id WHEN MATCHED THEN DELETE"
    )
    sides = sides_of(statement, ["id", "w"], ["id", "v"], case_sensitive=False)
    assert resolve_merge(statement, *sides).condition == "__dm_target.`id` = __dm_source.`id`"


@pytest.mark.parametrize(("columns", "found"), [(("id", "v", "id"), "id"), (("id", "v", "ID"), None), (("v",), None)])
def test_a_column_that_stands_twice_is_one_and_two_that_differ_in_case_are_none(
    columns: tuple[str, ...], found: str | None
) -> None:
    assert Side(SOURCE, ("s",), True, columns).column("id") == found
    used = resolve("s.id + 1", [Side(SOURCE, ("s",), True, columns)]).source_columns
    assert used == (() if found is None else ("id",))


def test_a_star_has_each_column_as_often_as_it_stands() -> None:
    text = resolve("struct(s.*)", [Side(SOURCE, ("s",), True, ("id", "id"))]).text
    assert text.count("`id`") == 2
