"""Find a key: what a plan does to the rows of one key, by the engine's own queries over the frozen source."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from engine.explore.find_key import FoundKey, FoundRow, find_key
from engine.explore.key_question import values_of
from engine.merge.prepare_source import free_source
from engine.model.errors import EngineError, StalePlanError
from engine.model.plan import Plan
from engine.plan_merge import plan
from tests.conftest import own_schema
from tests.engine.merges import CASES, build_source, build_target

CLAUSES = """WHEN MATCHED AND s.op = 'D' THEN DELETE WHEN MATCHED AND s.v <> t.v THEN UPDATE SET v = upper(s.v)
WHEN NOT MATCHED AND s.v <> 'skip' THEN INSERT (id, v) VALUES (s.id, s.v)
WHEN NOT MATCHED BY SOURCE AND t.v = 'old' THEN DELETE"""


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[Any]:
    """``tgt``: ids 1 to 8 in two files and a row without a key; ``feed``: one row for each thing that can happen."""
    with own_schema(spark):
        spark.sql("CREATE TABLE tgt (id BIGINT, v STRING) USING delta")
        spark.sql("INSERT INTO tgt SELECT /*+ COALESCE(1) */ id, 'a' FROM range(1, 7)")
        spark.sql("INSERT INTO tgt SELECT /*+ COALESCE(1) */ * FROM VALUES (7L, 'old'), (8L, 'kept'), (NULL, 'none')")
        rows = (
            *("(1L, 'b', 'U')", "(2L, 'a', 'U')", "(3L, 'b', 'D')", "(4L, 'b', NULL)", "(5L, NULL, 'U')"),
            *("(20L, 'new', 'U')", "(21L, 'skip', 'U')", "(NULL, 'lost', 'U')"),
        )
        spark.sql(f"CREATE TABLE feed USING parquet AS SELECT * FROM VALUES {', '.join(rows)} AS x(id, v, op)")
        yield spark


@pytest.fixture(scope="module")
def planned(shop: Any) -> Iterator[Plan]:
    looked = plan(shop, f"MERGE INTO tgt t USING feed s ON t.id = s.id {CLAUSES}", rows=0)
    yield looked
    free_source(shop, looked.session.source_view)


def one(found: FoundKey) -> FoundRow:
    assert len(found.rows) == 1
    return found.rows[0]


def condition_values(row: FoundRow) -> list[bool | None]:
    return [test.value for test in row.tests]


@pytest.fixture(scope="module")
def found(shop: Any, planned: Plan) -> dict[tuple[str, str | None], FoundRow]:
    """Every row that has an id, by its kind and its id."""
    rows = [*find_key(shop, planned, "t.id > 0").rows, *find_key(shop, planned, "s.id > 0").rows]
    return {(row.kind, (row.source or row.target or {})["id"]): row for row in rows}


Found = dict[tuple[str, str | None], FoundRow]


def test_a_predicate_finds_rows_by_what_either_side_holds(shop: Any, planned: Plan, found: Found) -> None:
    assert {id_ for kind, id_ in found if kind == "matched"} == {"1", "2", "3", "4", "5"}
    # of the target those that only it has, of the source the same
    assert {id_ for kind, id_ in found if kind == "not_matched_by_source"} == {"6", "7", "8"}
    assert {id_ for kind, id_ in found if kind == "not_matched"} == {"20", "21"}
    by_both = find_key(shop, planned, "s.v = t.v")
    assert [row.target for row in by_both.rows] == [{"id": "2", "v": "a"}]
    assert by_both.of_pairs, "rows without a match have no other side to ask"
    assert not find_key(shop, planned, "s.v = 'a'").of_pairs


def test_an_updated_row_is_shown_before_and_after_with_the_clause_that_takes_it(found: Found) -> None:
    row = found["matched", "1"]
    assert condition_values(row) == [False, True]
    assert row.change is not None
    assert (row.change.action, row.change.clause) == ("update", 1)
    assert row.change.before == row.target == {"id": "1", "v": "a"}
    assert row.change.after == {"id": "1", "v": "B"}
    assert row.source == {"id": "1", "v": "b", "op": "U"}


def test_a_key_typed_as_a_value_is_found_on_both_sides(shop: Any, planned: Plan, found: Found) -> None:
    looked = find_key(shop, planned, "1")
    assert one(looked) == found["matched", "1"]
    assert looked.asked == ("t.id <=> CAST('1' AS bigint)",)


def test_a_deleted_row_has_nothing_after(found: Found) -> None:
    row = found["matched", "3"]
    assert row.change is not None
    assert (row.change.action, row.change.clause, row.change.after) == ("delete", 0, None)
    assert condition_values(row) == [True, None]


def test_an_inserted_row_is_only_in_the_source(found: Found) -> None:
    row = found["not_matched", "20"]
    assert (row.target, row.file, condition_values(row)) == (None, None, [True])
    assert row.change is not None
    assert (row.change.action, row.change.clause, row.change.after) == ("insert", 2, {"id": "20", "v": "new"})


def test_a_source_row_that_no_clause_inserts_is_dropped(found: Found) -> None:
    row = found["not_matched", "21"]
    assert (row.change, condition_values(row)) == (None, [False])


def test_a_matched_row_that_no_clause_takes_is_unchanged_in_a_file_that_is_written_anew(found: Found) -> None:
    row = found["matched", "2"]
    assert (row.change, condition_values(row), row.touched) == (None, [False, False], True)


def test_a_condition_that_is_null_does_not_take_the_row(found: Found) -> None:
    row = found["matched", "4"]
    assert condition_values(row) == [None, True]
    assert row.change is not None
    assert row.change.clause == 1
    row = found["matched", "5"]
    assert (condition_values(row), row.change) == ([False, None], None)


def test_no_condition_behind_the_clause_that_takes_a_row_is_asked(shop: Any) -> None:
    """MERGE does not ask it either: here each would divide by zero."""
    fails = "1 / (t.id - t.id) > 1"
    clauses = f"""WHEN MATCHED AND t.id > 0 THEN DELETE WHEN MATCHED AND {fails} THEN DELETE
        WHEN NOT MATCHED AND s.id > 0 THEN INSERT * WHEN NOT MATCHED AND 1 / (s.id - s.id) > 1 THEN INSERT *
        WHEN NOT MATCHED BY SOURCE AND t.id > 0 THEN DELETE WHEN NOT MATCHED BY SOURCE AND {fails} THEN DELETE"""
    using = "(SELECT id, v FROM feed WHERE id > 0)"
    looked = plan(shop, f"MERGE INTO tgt t USING {using} s ON t.id = s.id {clauses}", rows=0)
    found = find_key(shop, looked, "t.id > 0").rows + find_key(shop, looked, "20").rows
    free_source(shop, looked.session.source_view)
    assert {row.kind for row in found} == {"matched", "not_matched", "not_matched_by_source"}
    assert [condition_values(row) for row in found] == [[True, None]] * len(found)


def test_a_row_that_only_the_target_has_is_judged_by_the_clauses_for_it(planned: Plan, found: Found) -> None:
    gone, kept = found["not_matched_by_source", "7"], found["not_matched_by_source", "8"]
    assert condition_values(gone) == [True]
    assert gone.change is not None
    assert (gone.change.action, gone.change.clause) == ("delete", 3)
    assert (kept.change, condition_values(kept), kept.touched) == (None, [False], True)
    assert gone.file == kept.file != found["matched", "1"].file
    assert gone.file in [file.path for file in planned.find_touched_files.files]


def test_null_is_a_key_that_matches_nothing_and_is_found_on_both_sides(shop: Any, planned: Plan) -> None:
    rows = find_key(shop, planned, "NULL").rows
    assert {row.kind for row in rows} == {"not_matched", "not_matched_by_source"}


@pytest.mark.thorough
def test_a_key_that_is_nowhere_finds_no_row(shop: Any, planned: Plan) -> None:
    assert find_key(shop, planned, "404").rows == ()


def test_a_target_row_that_several_source_rows_match_is_shown_once_for_each(shop: Any) -> None:
    sql = """MERGE INTO tgt t USING (SELECT * FROM feed UNION ALL SELECT 1L, 'c', 'U') s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET v = s.v"""
    looked = plan(shop, sql, rows=0)
    assert looked.refused is not None
    found = find_key(shop, looked, "1")
    assert sorted(str(row.change and row.change.after and row.change.after["v"]) for row in found.rows) == ["b", "c"]
    assert {row.source_rows for row in found.rows} == {2}
    # also where only one of them is asked for
    assert one(find_key(shop, looked, "s.v = 'c'")).source_rows == 2
    # the other file is not touched, and its rows are nobody's
    row = one(find_key(shop, looked, "8"))
    assert (row.kind, row.tests, row.touched) == ("not_matched_by_source", (), False)
    free_source(shop, looked.session.source_view)


def test_values_are_literals_whatever_they_hold(shop: Any) -> None:
    looked = plan(shop, "MERGE INTO tgt t USING feed s ON t.v = s.v AND t.id = s.id WHEN MATCHED THEN DELETE", rows=0)
    nasty = "x\\' OR TRUE --', 1"
    assert find_key(shop, looked, nasty).rows == ()
    assert one(find_key(shop, looked, "'a', 2")).kind == "matched"
    with pytest.raises(EngineError, match=r"ON ties 2 keys \(t\.v = s\.v, t\.id = s\.id\), and 1 was typed"):
        find_key(shop, looked, "a")
    free_source(shop, looked.session.source_view)


@pytest.mark.thorough
def test_a_key_that_on_casts_is_found_as_on_finds_it(shop: Any) -> None:
    shop.sql("CREATE TABLE texts USING delta AS SELECT * FROM VALUES ('007', 'x'), ('8', 'y') AS x(id, v)")
    looked = plan(shop, "MERGE INTO texts t USING (SELECT 7 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE", rows=0)
    row = one(find_key(shop, looked, "7"))
    assert (row.kind, row.target) == ("matched", {"id": "007", "v": "x"})
    free_source(shop, looked.session.source_view)


@pytest.mark.parametrize(
    "on",
    [
        "t.v = s.v COLLATE UTF8_LCASE",
        "t.v COLLATE UTF8_LCASE = s.v",
        "t.v COLLATE UTF8_LCASE <=> s.v AND t.id <=> s.id",
        "CAST(t.v AS STRING COLLATE UNICODE) = s.v COLLATE UTF8_LCASE",
    ],
)
def test_a_key_is_compared_in_the_collation_of_on(shop: Any, on: str) -> None:
    source = "(SELECT * FROM VALUES (1L, 'A'), (99L, 'NEW') AS x(id, v))"
    sql = f"MERGE INTO tgt t USING {source} s ON {on} WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
    looked = plan(shop, f"{sql} WHEN NOT MATCHED BY SOURCE THEN DELETE", rows=0)
    id_ = ", {}" if "t.id" in on else ""
    for typed, kind in (("OLD", "not_matched_by_source"), ("new", "not_matched")):
        row = one(find_key(shop, looked, f"{typed}{id_.format(7 if typed == 'OLD' else 99)}"))
        assert (row.kind, (row.source or row.target or {})["v"]) == (kind, "NEW" if typed == "new" else "old")
    matched = find_key(shop, looked, f"a{id_.format(1)}").rows
    assert {row.kind for row in matched} == {"matched"}
    free_source(shop, looked.session.source_view)


def test_a_private_profile_sees_the_clause_and_no_value(shop: Any, planned: Plan) -> None:
    row = one(find_key(shop, planned, "1", private=True))
    assert (row.source, row.target) == (None, None)
    assert row.change is not None
    assert (row.change.clause, row.change.before, row.change.after) == (1, None, None)


def test_what_cannot_be_asked_says_so(shop: Any, planned: Plan) -> None:
    with pytest.raises(EngineError, match=r"\[KEY_NOT_UNDERSTOOD\] 'seven' is no BIGINT, and t\.id is one"):
        find_key(shop, planned, "seven")
    with pytest.raises(EngineError, match=r"UNRESOLVED_COLUMN.*t\.`id`") as unknown:
        find_key(shop, planned, "t.nothing = 1")
    assert "__dm_" not in str(unknown.value)
    gone = planned.model_copy(update={"session": planned.session.model_copy(update={"source_view": "gone"})})
    with pytest.raises(EngineError, match="SOURCE_GONE"):
        find_key(shop, gone, "1")


@pytest.mark.parametrize(
    ("target", "source", "value", "key", "kinds", "ansi"),
    [
        ("FLOAT", "DOUBLE", "0.1", "0.1", ["not_matched_by_source", "not_matched"], True),
        ("DOUBLE", "FLOAT", "0.1", "0.1", ["not_matched_by_source", "not_matched"], True),
        ("FLOAT", "DECIMAL(10, 2)", "0.10", "0.1", ["not_matched_by_source", "not_matched"], True),
        ("FLOAT", "DOUBLE", "0.5", "0.5", ["matched"], True),
        ("FLOAT", "BIGINT", "16777217", "16777217", ["not_matched_by_source", "not_matched"], True),
        ("FLOAT", "INT", "0", "0.5", [], False),
    ],
)
def test_a_number_is_found_on_both_sides_as_each_of_them_shows_it(
    shop: Any, target: str, source: str, value: str, key: str, kinds: list[str], ansi: bool
) -> None:
    shop.sql(f"CREATE OR REPLACE TABLE numbers (id {target}, v INT) USING delta")
    shop.sql(f"INSERT INTO numbers SELECT CAST('{value}' AS {target}), 1")
    rows = f"(SELECT CAST('{value}' AS {source}) AS id)"
    merge = f"MERGE INTO numbers t USING {rows} s ON t.id = s.id WHEN MATCHED THEN DELETE "
    merge += "WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)"
    shop.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    try:
        looked = plan(shop, merge, rows=0)
        assert [row.kind for row in find_key(shop, looked, key).rows] == kinds
    finally:
        shop.conf.unset("spark.sql.ansi.enabled")


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "key"), [("DECIMAL(10, 2)", "1.505"), ("DATE", "'2020-01-01 10:00:00'")])
def test_a_key_that_would_be_rounded_is_none_of_its_column(shop: Any, kind: str, key: str) -> None:
    shop.sql(f"CREATE OR REPLACE TABLE rounded (id {kind}, v INT) USING delta")
    merge = f"MERGE INTO rounded t USING (SELECT CAST(NULL AS {kind}) AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE"
    looked = plan(shop, merge, rows=0)
    with pytest.raises(EngineError, match="KEY_NOT_UNDERSTOOD"):
        find_key(shop, looked, key)
    assert find_key(shop, looked, key.replace("505", "50").replace("10:00", "00:00")).rows == ()


def test_a_key_is_judged_after_another_commit_but_not_by_other_columns(shop: Any) -> None:
    shop.sql("CREATE TABLE moved (id BIGINT, v STRING) USING delta")
    shop.sql("INSERT INTO moved VALUES (1, 'a')")
    looked = plan(shop, "MERGE INTO moved t USING feed s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v", rows=0)
    shop.sql("INSERT INTO moved VALUES (1, 'later')")
    assert [row.kind for row in find_key(shop, looked, "1").rows] == ["matched"]
    shop.sql("ALTER TABLE moved ADD COLUMN w INT")
    with pytest.raises(StalePlanError, match="column w is new"):
        find_key(shop, looked, "1")


def test_values_are_separated_by_commas_outside_quotes() -> None:
    assert values_of("10001, 2026-11-19", 2) == ("'10001'", "'2026-11-19'")
    assert values_of("'a, b', null", 2) == ("'a, b'", None)
    assert values_of("a, b", 1) == ("'a, b'",)
    assert values_of("DATE'2026-11-19'", 1) == ("'2026-11-19'",)


def test_bytes_are_typed_in_hexadecimal_as_spark_writes_them(shop: Any) -> None:
    shop.sql("CREATE TABLE bytes USING delta AS SELECT X'6162' AS k, 'a' AS v")
    looked = plan(shop, "MERGE INTO bytes t USING bytes s ON t.k = s.k WHEN MATCHED THEN DELETE", rows=0)
    found = [find_key(shop, looked, typed).rows for typed in ("X'6162'", "x'6162'", "ab", "'ab'", "X'00'")]
    free_source(shop, looked.session.source_view)
    assert [len(rows) for rows in found] == [1, 1, 1, 1, 0]


ORACLE = (
    "vectors_feed-some-each",
    "feed-not-matched-by-source",
    "plain-insert-only",
    "vectors_feed-insert-two-clauses",
    "plain-upsert-materialized",
    "or-in-on",
    "empty-source-upsert",
    "no-key-to-join-by",
)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ORACLE)
def test_the_rows_after_are_those_that_the_merge_leaves(shop: Any, name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    table = f"tgt_{uuid.uuid4().hex[:8]}"
    build_source(shop)
    build_target(shop, table, case.table)
    looked = plan(shop, case.into(table), rows=0)
    of_target, of_source = find_key(shop, looked, "t.id % 55 = 0"), find_key(shop, looked, "s.id % 55 = 0")
    assert not of_target.more
    inserted = [row for row in of_source.rows if row.kind == "not_matched"]
    after = [
        row.change.after if row.change else row.target
        for row in (*of_target.rows, *inserted)
        if row.change or row.kind != "not_matched"
    ]
    shop.sql(case.into(table)).collect()
    rows = shop.sql(f"SELECT * FROM {table} WHERE id % 55 = 0").collect()
    left = [{name: None if cell is None else str(cell) for name, cell in row.asDict().items()} for row in rows]
    assert sorted(map(str, left)) == sorted(str(cells) for cells in after if cells is not None)
    # and each file is touched or not as the plan says
    assert {row.touched for row in of_target.rows} <= {True, False}
    free_source(shop, looked.session.source_view)
