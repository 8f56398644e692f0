"""Several source rows for one target row: who they are, what Delta makes of them, and the source without them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.model.browse import Column
from engine.model.errors import RefusedError
from engine.model.plan import Plan
from engine.plan_merge import plan
from engine.preflight.find_conflicts import MAX_KEYS, MAX_RIVALS, order_columns
from tests.conftest import own_schema
from tests.engine.fidelity import refused_by_delta
from tests.engine.some import some

AMBIGUOUS = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
CODE = "NULL_CONDITION_WRONG_RESULT"
VECTORS = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
UPSERT = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[Any]:
    """A schema with ``tgt``, ids 0 to 9, which no test changes."""
    with own_schema(spark):
        build(spark, "tgt")
        yield spark


def build(spark: Any, table: str, properties: str = "") -> None:
    spark.sql(
        f"CREATE TABLE {table} USING delta {properties} AS "
        "SELECT id, 'old' AS v, TIMESTAMP'2024-01-01 00:00:00' AS ts FROM range(0, 10, 1, 1)"
    )


def values(*rows: str, columns: str = "id, v, ts") -> str:
    return f"(SELECT * FROM VALUES {', '.join(rows)} AS x({columns}))"


def merge(source: str, clauses: str = UPSERT, on: str = "t.id = s.id", table: str = "tgt") -> str:
    return f"MERGE INTO {table} t USING {source} AS s ON {on} {clauses}"


def deduped(looked: Plan, source: str) -> str:
    """The statement of a plan with its dedupe pasted after USING."""
    found = looked.find_touched_files.conflicts.dedupe
    assert found is not None
    return looked.statement.sql.replace(f"{source} AS s", found.sql)


TWICE = values("(1L, 'a', TIMESTAMP'2024-01-02')", "(1L, 'b', TIMESTAMP'2024-01-03')", "(2L, 'c', NULL)")


def test_the_rivals_of_a_key_stand_side_by_side_with_what_differs_marked(shop: Any) -> None:
    looked = plan(shop, merge(TWICE))
    assert looked.refused is not None
    assert looked.refused.condition == AMBIGUOUS
    (key,) = looked.find_touched_files.conflicts.keys
    assert (key.key, key.source_rows, key.differing) == ({"id": "1"}, 2, ("v",))
    assert sorted(str(row["v"]) for row in key.rivals) == ["a", "b"]


@pytest.mark.thorough
def test_keys_and_rivals_are_few_however_many_there_are(shop: Any) -> None:
    build(shop, "wide")
    shop.sql("INSERT INTO wide SELECT id, 'old', NULL FROM range(10, 40)")
    many = "(SELECT id % 40 AS id, CAST(id AS STRING) AS v FROM range(0, 400, 1, 2))"
    conflicts = plan(shop, merge(many, table="wide")).find_touched_files.conflicts
    assert (conflicts.count, conflicts.true_count, len(conflicts.keys)) == (40, 40, MAX_KEYS)
    assert {(key.source_rows, len(key.rivals)) for key in conflicts.keys} == {(10, MAX_RIVALS)}


def test_target_rows_with_the_same_key_are_one_conflict_of_rivals(shop: Any) -> None:
    build(shop, "twins")
    shop.sql("INSERT INTO twins VALUES (1, 'twin', NULL)")
    conflicts = plan(shop, merge(TWICE, table="twins")).find_touched_files.conflicts
    assert conflicts.true_count == 2
    assert [(key.source_rows, key.target_rows) for key in conflicts.keys] == [(2, 2)]


def test_a_private_plan_holds_no_value_of_a_key_or_a_rival(shop: Any) -> None:
    shop.sql("CREATE OR REPLACE TEMPORARY VIEW twice AS SELECT * FROM " + TWICE.replace("'b'", "'secret'"))
    looked = plan(shop, merge("twice"), private=True)
    conflicts = looked.find_touched_files.conflicts
    assert (conflicts.true_count, conflicts.keys) == (1, ())
    assert conflicts.dedupe is not None
    assert "secret" not in looked.to_json()


@pytest.mark.thorough
def test_without_rows_there_are_keys_and_no_rivals(shop: Any) -> None:
    (key,) = plan(shop, merge(TWICE), rows=0).find_touched_files.conflicts.keys
    assert (key.key, key.rivals, key.differing) == ({"id": "1"}, (), ())


def test_the_dedupe_keeps_the_latest_row_and_the_merge_then_plans_without_conflict(shop: Any) -> None:
    looked = plan(shop, merge(TWICE))
    found = looked.find_touched_files.conflicts.dedupe
    assert found is not None
    assert (found.keys, found.order_by, found.rows_dropped, found.conflicts_left) == (("s.id",), "ts", 1, 0)
    assert "greatest ts" in found.choice
    again = plan(shop, deduped(looked, TWICE))
    assert again.refused is None
    assert again.find_touched_files.conflicts.true_count == 0
    assert sorted(str(one.after["v"]) for one in again.samples if one.after) == ["b", "c"]


def test_a_row_whose_key_is_null_matches_nothing_and_is_no_duplicate(shop: Any) -> None:
    source = values("(1L, 'a', NULL)", "(1L, 'b', NULL)", "(CAST(NULL AS BIGINT), 'c', NULL)", "(NULL, 'd', NULL)")
    looked = plan(shop, merge(source))
    found = looked.find_touched_files.conflicts.dedupe
    assert found is not None
    assert (found.rows_dropped, "OR s.id IS NULL" in found.sql) == (1, True)
    assert plan(shop, deduped(looked, source)).promise["numTargetRowsInserted"] == 2


@pytest.mark.thorough
def test_a_row_that_cannot_match_wins_over_none(shop: Any) -> None:
    """The row that ON leaves out is the later one: by the key alone it would have won."""
    source = values("(1L, 'a', 1, true)", "(1L, 'b', 2, true)", "(1L, 'c', 3, false)", columns="id, v, version, valid")
    looked = plan(shop, merge(source, on="t.id = s.id AND s.valid", clauses="WHEN MATCHED THEN UPDATE SET v = s.v"))
    found = looked.find_touched_files.conflicts.dedupe
    assert found is not None
    assert (found.keys, found.order_by, found.matches_lost) == (("s.id", "(s.valid)"), "version", 0)
    assert plan(shop, deduped(looked, source)).promise["numTargetRowsUpdated"] == 1


def test_a_target_row_that_no_clause_takes_any_more_is_counted_as_lost(shop: Any) -> None:
    """Of key 2 one row is taken, which is no conflict; the later one stays, and its clause does not take it."""
    rows = ("(1L, 'a', 1, 'u')", "(1L, 'b', 2, 'u')", "(2L, 'c', 1, 'u')", "(2L, 'd', 2, 'x')")
    source = values(*rows, columns="id, v, version, op")
    for reads, lost, said in (("s.version", 1, "version stays."), ("s.v", 0, "was not counted.")):
        looked = plan(shop, merge(source, clauses=f"WHEN MATCHED AND s.op = 'u' THEN UPDATE SET v = {reads}"))
        found = looked.find_touched_files.conflicts.dedupe
        assert found is not None
        assert (found.rows_dropped, found.conflicts_left, found.matches_lost) == (2, 0, lost)
        assert found.choice.endswith(said)


@pytest.mark.thorough
def test_a_key_that_is_computed_is_the_key_of_the_dedupe(shop: Any) -> None:
    source = values("('01', 'a', NULL)", "('1', 'b', NULL)")
    looked = plan(shop, merge(source, on="t.id = CAST(s.id AS BIGINT)", clauses="WHEN MATCHED THEN DELETE "
                              "WHEN NOT MATCHED BY SOURCE AND t.id = 100 THEN DELETE"))  # fmt: skip
    found = looked.find_touched_files.conflicts.dedupe
    assert found is not None
    assert (found.keys, found.conflicts_left) == (("CAST(s.id AS BIGINT)",), 0)
    assert plan(shop, deduped(looked, source)).find_touched_files.conflicts.true_count == 0


def test_the_row_is_never_picked_silently(shop: Any) -> None:
    tied = plan(shop, merge(values("(1L, 'a', 7)", "(1L, 'b', 7)", columns="id, v, version"), clauses=UPSERT.replace(
        "s.v W", "concat(s.v, s.version) W")))  # fmt: skip
    found = tied.find_touched_files.conflicts.dedupe
    assert found is not None
    assert "tie for it in 1 of the keys" in found.choice
    unordered = plan(shop, merge(values("(1L, 'a')", "(1L, 'b')", columns="id, v")))
    found = unordered.find_touched_files.conflicts.dedupe
    assert found is not None
    assert (found.order_by, "say in ORDER BY" in found.choice) == ("", True)


def test_without_an_equality_in_on_no_dedupe_is_offered(shop: Any) -> None:
    looked = plan(shop, merge(TWICE, on="t.id < s.id", clauses="WHEN MATCHED THEN UPDATE SET v = s.v"))
    conflicts = looked.find_touched_files.conflicts
    assert (conflicts.true_count > 0, conflicts.dedupe) == (True, None)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"id": "bigint", "ts": "timestamp", "version": "int"}, "version"),
        ({"id": "bigint", "created": "timestamp", "updated_at": "timestamp"}, "updated_at"),
        ({"id": "bigint", "shipped_at": "timestamp", "updated_at": "timestamp"}, "updated_at"),
        ({"id": "bigint", "birth": "date", "seen": "timestamp_ntz"}, "seen"),
        ({"id": "bigint", "event_time": "bigint", "name": "string"}, "event_time"),
        ({"id": "bigint", "version": "string", "amount": "decimal(10,2)"}, None),
    ],
)
def test_the_column_that_tells_the_latest_row(columns: dict[str, str], expected: str | None) -> None:
    found = order_columns([Column(name=name, type=type_) for name, type_ in columns.items()], {"id"})
    assert (found[0].name if found else None) == expected


def test_the_column_that_decides_is_taken_though_another_is_likelier(shop: Any) -> None:
    rows = ("(1L, 'a', TIMESTAMP'2024-01-02', DATE'2024-01-05')", "(1L, 'b', TIMESTAMP'2024-01-02', DATE'2024-01-04')")
    uses_both = UPSERT.replace("s.v W", "concat(s.v, s.updated_at, s.shipped_on) W")
    looked = plan(shop, merge(values(*rows, columns="id, v, updated_at, shipped_on"), clauses=uses_both))
    found = looked.find_touched_files.conflicts.dedupe
    assert found is not None
    assert (found.order_by, found.choice) == ("shipped_on", "Of each key the row with the greatest shipped_on stays.")
    tied = plan(shop, merge(values(rows[0], rows[0], columns="id, v, updated_at, shipped_on"), clauses=uses_both))
    found = tied.find_touched_files.conflicts.dedupe
    assert found is not None
    assert found.order_by == "updated_at"
    assert "tie for it in 1 of the keys" in found.choice


def test_duplicates_that_only_delete_are_counted_once_and_let_pass(shop: Any) -> None:
    """multipleMatchDeleteOnlyOvercount."""
    build(shop, "only_deletes")
    looked = plan(shop, merge(TWICE, clauses="WHEN MATCHED THEN DELETE", table="only_deletes"), rows=0)
    conflicts = looked.find_touched_files.conflicts
    assert (conflicts.count, conflicts.true_count, looked.refused) == (1, 1, None)
    assert looked.promise["numTargetRowsDeleted"] == 2
    assert apply(shop, looked).kept


NULL_FLAG = values("(1L, 'a', 1)", "(1L, 'b', NULL)", "(5L, 'c', 2)", columns="id, v, f")
DELETES = "WHEN MATCHED AND s.f = 1 THEN DELETE"
UPDATES_AND_DELETES = "WHEN MATCHED AND s.f = 1 THEN UPDATE SET v = 'new' WHEN MATCHED AND s.f = 2 THEN DELETE"
UPDATES = "WHEN MATCHED AND s.f = 1 THEN UPDATE SET v = 'new'"
FORMS = {
    "delete": (DELETES, ["old"], []),
    "update-and-delete": (UPDATES_AND_DELETES, ["new", "old"], ["new"]),
    "update": (UPDATES, None, ["new"]),
}


@pytest.mark.parametrize("form", some(FORMS, ["update"]))
def test_a_null_condition_makes_delta_commit_a_wrong_result_so_it_must_be_accepted(shop: Any, form: str) -> None:
    """DELTA_MERGE.md §0.1, (a) to (c): two source rows for one target row, the condition NULL for one of them."""
    clauses, wrong, _ = FORMS[form]
    table = f"null_{uuid.uuid4().hex[:6]}"
    build(shop, table)
    looked = plan(shop, merge(NULL_FLAG, clauses, table=table), rows=0)
    conflicts = looked.find_touched_files.conflicts
    assert (conflicts.count, conflicts.true_count) == (0, 1)
    assert CODE in [one.code for one in looked.warnings]
    with pytest.raises(RefusedError, match="NULL"):
        apply(shop, looked)
    assert shop.sql(f"SELECT count(*) FROM {table} WHERE v = 'old'").collect()[0][0] == 10
    if wrong is None:
        assert looked.refused is not None
        assert looked.refused.condition == refused_by_delta(shop, merge(NULL_FLAG, clauses, table=table))
        return
    assert looked.refused is None
    outcome = apply(shop, looked, accept=[CODE])
    assert outcome.metrics["numTargetRowsDeleted"] == 1
    assert sorted(row.v for row in shop.sql(f"SELECT v FROM {table} WHERE id = 1").collect()) == wrong


@pytest.mark.parametrize("form", some(FORMS, []))
def test_with_deletion_vectors_the_result_is_right_and_nothing_is_warned_of(shop: Any, form: str) -> None:
    clauses, _, right = FORMS[form]
    table = f"null_{uuid.uuid4().hex[:6]}"
    build(shop, table, VECTORS)
    looked = plan(shop, merge(NULL_FLAG, clauses, table=table), rows=0)
    assert CODE not in [one.code for one in looked.warnings]
    assert apply(shop, looked).kept
    assert [row.v for row in shop.sql(f"SELECT v FROM {table} WHERE id = 1").collect()] == right


def test_a_row_that_no_clause_takes_is_doubled_if_its_file_is_rewritten(shop: Any) -> None:
    source = values("(1L, 0)", "(1L, NULL)", "(5L, 1)", columns="id, f")
    build(shop, "doubled")
    looked = plan(shop, merge(source, DELETES, table="doubled"), rows=0)
    assert CODE in [one.code for one in looked.warnings]
    assert apply(shop, looked, accept=[CODE]).kept
    assert shop.sql("SELECT count(*) FROM doubled WHERE id = 1").collect()[0][0] == 2


@pytest.mark.thorough
def test_where_no_file_is_touched_a_null_condition_harms_nothing(shop: Any) -> None:
    looked = plan(shop, merge(values("(1L, 0)", "(1L, NULL)", columns="id, f"), DELETES), rows=0)
    assert looked.warnings == ()
    assert not looked.changes_something


@pytest.mark.thorough
def test_a_late_row_without_its_time_is_such_a_null_condition(shop: Any) -> None:
    source = values("(1L, 'a', TIMESTAMP'2024-01-02')", "(1L, 'b', NULL)")
    looked = plan(shop, merge(source, "WHEN MATCHED AND s.ts > t.ts THEN UPDATE SET v = s.v"), rows=0)
    assert [one.code for one in looked.warnings if one.code == CODE] == [CODE]
    with pytest.raises(RefusedError):
        apply(shop, looked)


@pytest.mark.thorough
def test_a_null_condition_beside_an_insert_clause_is_an_ambiguity_that_delta_sees(shop: Any) -> None:
    """Only in matched-only merges are the clauses' conditions part of Delta's count."""
    clauses = f"{DELETES} WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)"
    looked = plan(shop, merge(NULL_FLAG, clauses), rows=0)
    assert looked.refused is not None
    assert looked.refused.condition == AMBIGUOUS


LOSES_ROWS = "FEED_LOSES_INSERTED_ROWS"
DELETE_AND_INSERT = "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
FEED = "'delta.enableChangeDataFeed' = 'true'"
# 8 and 9 are there, each twice in the source; 10 to 29 are new
OVERLAPPING = "(SELECT id, 'new' AS v FROM range(8, 30, 1, 2) UNION ALL SELECT id, 'new' AS v FROM range(8, 10))"


def test_inserted_rows_that_delta_may_lose_beside_duplicate_deletes_in_a_feed_must_be_accepted(shop: Any) -> None:
    table = f"tgt_{uuid.uuid4().hex[:8]}"
    build(shop, table, f"TBLPROPERTIES ({FEED})")
    looked = plan(shop, merge(OVERLAPPING, DELETE_AND_INSERT, table=table))
    assert LOSES_ROWS in [one.code for one in looked.warnings]
    with pytest.raises(RefusedError, match=LOSES_ROWS):
        apply(shop, looked)


@pytest.mark.thorough
def test_delta_loses_inserted_rows_where_it_keeps_duplicate_deletes_out_of_the_feed(shop: Any) -> None:
    """Once Delta is mended this fails, and the warning can go."""
    table = f"tgt_{uuid.uuid4().hex[:8]}"
    build(shop, table, f"TBLPROPERTIES ({FEED}, 'delta.enableDeletionVectors' = 'false')")
    looked = plan(shop, merge(OVERLAPPING, DELETE_AND_INSERT, table=table))
    assert looked.promise["numTargetRowsInserted"] == 20
    assert apply(shop, looked, accept=[LOSES_ROWS]).kept, "the metrics do not tell"
    assert shop.sql(f"SELECT * FROM {table} WHERE id >= 10").count() < 20


@pytest.mark.parametrize("inserted", [0, 500])
def test_rows_that_stay_may_be_lost_as_well_by_the_ids_of_source_rows(shop: Any, inserted: int) -> None:
    """Delta 4.4.0 loses 490 of them here."""
    table = f"tgt_{uuid.uuid4().hex[:8]}"
    shop.sql(
        f"CREATE TABLE {table} (id BIGINT, v STRING) USING delta "
        f"TBLPROPERTIES ({FEED}, 'delta.enableDeletionVectors' = 'false')"
    )
    shop.sql(f"INSERT INTO {table} SELECT id, 'old' FROM range(1000, 2000, 1, 1)")
    rows = "SELECT id, 'new' AS v FROM range(500, 1010, 1, 1) UNION ALL SELECT id, 'new' FROM range(1000, 1010, 1, 1)"
    clauses = DELETE_AND_INSERT.replace("NOT MATCHED", f"NOT MATCHED AND s.id < {500 + inserted}")
    looked = plan(shop, merge(f"({rows})", clauses, table=table))
    assert looked.promise["numTargetRowsInserted"] == inserted
    (told,) = (one.sentence for one in looked.warnings if one.code == LOSES_ROWS)
    assert "990 rows that are copied" in told
    apply(shop, looked, accept=[LOSES_ROWS])
    assert shop.sql(f"SELECT * FROM {table}").count() < 990 + inserted


def test_without_a_feed_or_duplicates_or_inserts_no_row_is_lost(shop: Any) -> None:
    once = "(SELECT id, 'new' AS v FROM range(8, 30))"
    for properties, source, clauses in (
        ("", OVERLAPPING, DELETE_AND_INSERT),
        (f"TBLPROPERTIES ({FEED})", once, DELETE_AND_INSERT),
        (f"TBLPROPERTIES ({FEED})", OVERLAPPING, "WHEN MATCHED THEN DELETE"),
    ):
        table = f"tgt_{uuid.uuid4().hex[:8]}"
        build(shop, table, properties)
        looked = plan(shop, merge(source, clauses, table=table))
        assert LOSES_ROWS not in [one.code for one in looked.warnings]
        assert apply(shop, looked).kept
        promised = 10 + looked.promise["numTargetRowsInserted"] - looked.promise["numTargetRowsDeleted"]
        assert shop.sql(f"SELECT * FROM {table}").count() == promised
