"""Faults that a MERGE commits without an error: each planted one is found with its count, none in the clean twin.

All plans are of one table, which none of them changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from engine.commit.check_allowed import refuse
from engine.expect.read_expectations import read_expectations
from engine.merge.should_materialize_source import OPTIMIZE_INSERT_ONLY
from engine.model.checks import SILENT_FAULTS, Checks
from engine.model.errors import RefusedError
from engine.model.plan import Plan, Remark
from engine.plan_statement import plan
from engine.spark.confs import confs_set
from tests.conftest import own_schema

UPSERT = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
INSERT = "WHEN NOT MATCHED THEN INSERT *"
COLUMNS = "AS x(id, v, n, seq, current)"


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[Any]:
    with own_schema(spark):
        spark.sql("CREATE TABLE t (id INT, v STRING, n INT, seq INT, current BOOLEAN) USING DELTA")
        spark.sql(
            "INSERT INTO t VALUES (1, 'a', 10, 5, true), (2, 'b', 20, 5, true), (3, 'c', 30, 5, false), "
            "(4, 'd', 40, NULL, true), (5, 'e', 50, 5, true)"
        )
        spark.sql("CREATE TABLE d (id DOUBLE) USING DELTA")
        spark.sql("CREATE TABLE m (id INT, tags MAP<STRING, INT>, v STRING) USING DELTA")
        spark.sql("INSERT INTO m VALUES (1, map('a', 1), 'a'), (2, map('a', 2), 'b')")
        yield spark


def planned(spark: Any, sql: str, checks: Checks | None = Checks(), **options: Any) -> Plan:  # noqa: B008
    found = plan(spark, sql, rows=0, checks=checks, **options)
    assert isinstance(found, Plan)
    assert found.refused is None
    return found


def faults(found: Plan) -> dict[str, Remark]:
    return {one.code: one for one in found.warnings if one.code in SILENT_FAULTS or one.code == "CHECK_FAILED"}


def counts(found: Plan) -> dict[str, int | None]:
    return {code: one.count for code, one in faults(found).items()}


def using(rows: str, clauses: str = UPSERT, on: str = "t.id = s.id") -> str:
    return f"MERGE INTO t USING (SELECT * FROM VALUES {rows} {COLUMNS}) AS s ON {on} {clauses}"


NEW = "(7, 'g', 1, 9, true), (8, 'h', 1, 9, true)"
CASES = {
    "keys that are NULL": (
        using(f"{NEW}, (NULL, 'x', 1, 9, true), (NULL, 'y', 1, 9, true)"),
        {"NULL_KEYS_INSERTED": 2},
    ),
    "a key that the INSERT leaves out": (
        using(NEW, "WHEN NOT MATCHED THEN INSERT (v) VALUES (s.v)"),
        {"NULL_KEYS_INSERTED": 2},
    ),
    "one of two keys is NULL: the row counts once": (
        using("(NULL, NULL, 1, 9, true), (7, NULL, 1, 9, true), (7, 'g', 1, 9, true)", on="t.id = s.id AND t.v = s.v"),
        {"NULL_KEYS_INSERTED": 2},
    ),
    "the NULL that closes a row, which inserts its key": (
        using(
            "(1, 'a', 11, 6, true), (NULL, 'a', 12, 6, true)",
            "WHEN MATCHED THEN UPDATE SET current = false "
            "WHEN NOT MATCHED THEN INSERT (id, v, n, seq, current) VALUES (s.n, s.v, s.n, s.seq, true)",
            on="t.id = s.id AND t.current",
        ),
        {},
    ),
    "rows of one key": (
        using(f"{NEW}, (7, 'x', 1, 9, true), (7, 'y', 1, 9, true)", INSERT),
        {"DUPLICATE_INSERTS": 2},
    ),
    "keys that are equal in ON only": (
        using("(6, 'X', 1, 9, true), (7, 'x', 1, 9, true)", INSERT, on="lower(t.v) = lower(s.v)"),
        {"DUPLICATE_INSERTS": 1},
    ),
    "rows of one key, of which a condition takes one": (
        using("(7, 'x', 1, 9, true), (7, 'y', 2, 9, true)", "WHEN NOT MATCHED AND s.n = 1 THEN INSERT *"),
        {},
    ),
    "a key in a row that ON leaves out": (
        using("(3, 'c', 31, 9, true), (7, 'g', 1, 9, true)", INSERT, on="t.id = s.id AND t.current"),
        {"KEY_EXISTS_OUTSIDE_ON": 1},
    ),
    "a conjunct of the source alone": (
        using("(1, 'a', 31, 9, true), (7, 'g', 1, 9, false)", INSERT, on="t.id = s.id AND s.current"),
        {},
    ),
    "OR": (
        using(
            "(1, 'q', 11, 9, true), (2, 'q', 21, 9, true)", "WHEN MATCHED THEN DELETE", on="t.id = s.id OR t.v = s.v"
        ),
        {"ON_WITHOUT_KEY": 2},
    ),
    "a function of both sides": (
        using("(1, 'q', 11, 9, true)", "WHEN MATCHED THEN DELETE", on="coalesce(t.id, s.id) = 1 AND t.v < s.v"),
        {"ON_WITHOUT_KEY": 1},
    ),
    "ON false, an append": (using(NEW, INSERT, on="false"), {}),
    "ON 1 = 0, an append": (using(NEW, INSERT, on="1 = 0"), {}),
    "a key that matches NULL, too": (using("(1, 'z', 11, 9, true)", on="t.id <=> s.id"), {}),
    "a key that matches NULL, too, twice": (
        using("(7, 'x', 1, 9, true), (7, 'y', 1, 9, true), (NULL, 'x', 1, 9, true)", on="t.id <=> s.id"),
        {"DUPLICATE_INSERTS": 1},
    ),
    "a key that is equal but for the part in which NULL is a value": (
        using("(1, 'q', 1, 9, true), (7, 'x', 1, 9, true), (7, 'y', 1, 9, true)", on="t.id = s.id AND t.v <=> s.v"),
        {},
    ),
    "rows without a match, beside an update to what they have": (
        using(
            "(1, 'a', 11, 6, true)",
            "WHEN MATCHED THEN UPDATE SET n = 50 WHEN NOT MATCHED BY SOURCE AND t.n = 50 THEN DELETE",
        ),
        {},
    ),
    "updates that change nothing": (
        using("(1, 'a', 10, 5, true), (2, 'b', 20, 5, true), (3, 'c', 31, 5, false)"),
        {"UPDATES_CHANGE_NOTHING": 2},
    ),
    "of NOT MATCHED BY SOURCE, too": (
        using(
            "(1, 'z', 11, 9, true), (2, 'z', 21, 9, true)",
            "WHEN MATCHED THEN UPDATE SET v = s.v "
            "WHEN NOT MATCHED BY SOURCE AND t.id < 5 THEN UPDATE SET current = (t.id <> 3)",
        ),
        {"UPDATES_CHANGE_NOTHING": 2},
    ),
    "a value that the cast makes the same": (
        using("(1, '10', 10, 5, true)", "WHEN MATCHED THEN UPDATE SET n = s.v"),
        {"UPDATES_CHANGE_NOTHING": 1},
    ),
    "a cast by the name of its type": (
        using("(1, '10', 10, 5, true)", "WHEN MATCHED THEN UPDATE SET n = int(s.v)"),
        {"UPDATES_CHANGE_NOTHING": 1},
    ),
    "a value that is computed, and may overflow": (
        using(
            "(1, 'a', 5, 5, true), (2, 'b', 11, 5, true), (9, 'z', 2147483647, 5, true)",
            "WHEN MATCHED THEN UPDATE SET n = s.n * 2",
        ),
        {"UPDATES_CHANGE_NOTHING": 1},
    ),
    "a value that its clause keeps from dividing by zero": (
        using(
            "(1, 'a', 10, 5, true), (2, 'b', 0, 5, true)",
            "WHEN MATCHED AND s.n <> 0 THEN UPDATE SET n = 100 / s.n WHEN MATCHED THEN UPDATE SET n = 1",
        ),
        {"UPDATES_CHANGE_NOTHING": 1},
    ),
    "the first clause takes the row": (
        using(
            "(1, 'a', 10, 5, true)",
            "WHEN MATCHED AND s.n = 10 THEN UPDATE SET v = 'new' WHEN MATCHED THEN UPDATE SET v = s.v",
        ),
        {},
    ),
    "a version that gets lower": (
        using("(1, 'z', 10, 4, true), (2, 'z', 20, 6, true), (4, 'z', 40, 4, true), (5, 'z', 50, NULL, true)"),
        {"UPDATES_GO_BACK": 1},
    ),
    "a version from another column is none": (
        using("(1, 'z', 1, 9, true)", "WHEN MATCHED THEN UPDATE SET v = s.v, seq = s.n"),
        {},
    ),
    "no source row, and every row is absent": (
        using("(1, 'z', 1, 9, true)", "WHEN NOT MATCHED BY SOURCE THEN DELETE").replace(
            COLUMNS, f"{COLUMNS} WHERE n > 9"
        ),
        {"SOURCE_EMPTY": 0, "DELETES_BY_ABSENCE": 5},
    ),
    "one of five rows is absent": (
        using(
            "(1, 'z', 1, 9, true), (2, 'z', 1, 9, true), (3, 'z', 1, 9, true), (4, 'z', 1, 9, true)",
            "WHEN NOT MATCHED BY SOURCE THEN DELETE",
        ),
        {},
    ),
    "keys of text that become one number": (
        "MERGE INTO t USING (SELECT * FROM VALUES ('7', 'a'), ('07', 'b'), ('8', 'c') AS x(id, v)) AS s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = s.v",
        {"KEYS_COLLIDE_BY_CAST": 2},
    ),
    "keys of text that become one number, and differ in the part in which NULL is a value": (
        "MERGE INTO t USING (SELECT * FROM VALUES ('1', 'a'), ('01', 'b') AS x(id, v)) AS s "
        "ON t.id = s.id AND t.v <=> s.v WHEN MATCHED THEN DELETE",
        {},
    ),
    "BIGINT keys that become one DOUBLE": (
        "MERGE INTO d USING (SELECT * FROM VALUES (9007199254740992L), (9007199254740993L), (5L) AS x(id)) AS s "
        "ON d.id = s.id WHEN MATCHED THEN DELETE",
        {"KEYS_COLLIDE_BY_CAST": 2},
    ),
    "a key that is computed, and never NULL": (
        "MERGE INTO t USING (SELECT * FROM VALUES (NULL, 'a'), (NULL, 'b'), (6, 'c') AS x(id, v)) AS s "
        "ON coalesce(t.id, -1) = coalesce(s.id, -1) WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)",
        {"DUPLICATE_INSERTS": 1},
    ),
    "a key that is computed, and NULL where its column is not": (
        "MERGE INTO t USING (SELECT * FROM VALUES (-1, 'a'), (6, 'c') AS x(id, v)) AS s "
        "ON nullif(t.id, -1) = s.id WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)",
        {"NULL_KEYS_INSERTED": 1},
    ),
    "keys of another width": (
        "MERGE INTO t USING (SELECT * FROM VALUES (7L, 'a'), (8L, 'c') AS x(id, v)) AS s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = s.v",
        {},
    ),
    "only the key can be compared": (
        "MERGE INTO m USING (SELECT * FROM VALUES (1, map('a', 9)) AS x(id, tags)) AS s ON m.id = s.id "
        "WHEN MATCHED THEN UPDATE SET id = s.id, tags = s.tags",
        {},
    ),
    "what another clause writes is not known": (
        using(
            "(1, 'a', 10, 5, true)",
            "WHEN MATCHED THEN UPDATE SET v = s.v "
            "WHEN NOT MATCHED BY SOURCE AND t.id = 2 THEN UPDATE SET v = CAST(current_timestamp() AS STRING)",
        ),
        {"UPDATES_CHANGE_NOTHING": 1},
    ),
    "maps cannot be compared": (
        "MERGE INTO m USING (SELECT * FROM VALUES (1, map('a', 1), 'a'), (2, map('a', 3), 'c') AS x(id, tags, v)) AS s "
        "ON m.id = s.id WHEN MATCHED THEN UPDATE SET *",
        {"UPDATES_CHANGE_NOTHING": None},
    ),
}


@pytest.mark.parametrize(("sql", "wanted"), CASES.values(), ids=CASES)
def test_a_planted_fault_is_found_and_none_in_its_twin(shop: Any, sql: str, wanted: dict[str, int | None]) -> None:
    found = planned(shop, sql)
    assert counts(found) == wanted
    for one in faults(found).values():
        assert one.exactness == ("unknown" if one.count is None else "exact")
        # pasted, a condition that leaves a column out would keep its changes away
        assert not (one.code == "UPDATES_CHANGE_NOTHING" and one.count is None and one.fix)


@pytest.mark.parametrize(
    "on", ["t.id IS NOT DISTINCT FROM s.id", "equal_null(t.id, s.id)", "NOT (t.id IS DISTINCT FROM s.id)"]
)
def test_a_key_that_matches_null_is_one_however_it_is_written(shop: Any, on: str) -> None:
    rows = "(1, 'q', 1, 9, true), (7, 'x', 1, 9, true), (7, 'y', 1, 9, true), (NULL, 'x', 1, 9, true)"
    found, by_its_sign = (planned(shop, using(rows, on=one)) for one in (on, "t.id <=> s.id"))
    assert {one.code: one.count for one in found.warnings} == {one.code: one.count for one in by_its_sign.warnings}
    assert counts(found)["DUPLICATE_INSERTS"] == 1


def test_what_is_told_of_a_fault_can_be_pasted(shop: Any) -> None:
    """The fix of each fault, in the statement, is SQL that Spark analyzes, and the fault is gone."""
    rows = f"(1, 'a', 10, 5, true), (2, 'z', 20, 4, true), (NULL, 'n', 1, 1, true), {NEW}, (7, 'h', 1, 2, true)"
    found = faults(planned(shop, using(rows)))
    assert found.keys() == {"NULL_KEYS_INSERTED", "DUPLICATE_INSERTS", "UPDATES_CHANGE_NOTHING", "UPDATES_GO_BACK"}
    assert found["DUPLICATE_INSERTS"].keys == ({"id": "7"},)
    assert found["UPDATES_CHANGE_NOTHING"].keys == ({"id": "1"},)
    update, insert = UPSERT.split(" WHEN NOT")
    mended = {
        "NULL_KEYS_INSERTED": using(rows, f"{update} {found['NULL_KEYS_INSERTED'].fix}"),
        "UPDATES_CHANGE_NOTHING": using(rows, f"{found['UPDATES_CHANGE_NOTHING'].fix} WHEN NOT{insert}"),
        "UPDATES_GO_BACK": using(rows, f"{found['UPDATES_GO_BACK'].fix} WHEN NOT{insert}"),
        "DUPLICATE_INSERTS": f"MERGE INTO t {found['DUPLICATE_INSERTS'].fix} ON t.id = s.id {UPSERT}",
    }
    for code, sql in mended.items():
        assert found.keys() - faults(planned(shop, sql)).keys() == {code}, sql


@pytest.mark.parametrize("vectors", ["false", "true"])
@pytest.mark.parametrize(
    "more", ["", "WHEN NOT MATCHED THEN INSERT *", "WHEN NOT MATCHED BY SOURCE AND t.id > 99 THEN DELETE"]
)
def test_what_is_said_of_the_files_that_a_fix_spares_is_what_its_own_plan_says(
    shop: Any, more: str, vectors: str
) -> None:
    shop.sql(
        "CREATE OR REPLACE TABLE files (id INT, v STRING) USING DELTA "
        f"TBLPROPERTIES ('delta.enableDeletionVectors' = '{vectors}')"
    )
    for row in ("1, 'same'), (11, 'same'", "2, 'old'), (12, 'old'"):
        shop.sql(f"INSERT INTO files SELECT /*+ COALESCE(1) */ * FROM VALUES ({row})")
    rows = "(SELECT * FROM VALUES (1, 'same'), (2, 'new') AS x(id, v)) AS s"
    merge = f"MERGE INTO files AS t USING {rows} ON t.id = s.id "
    before = planned(shop, f"{merge} WHEN MATCHED THEN UPDATE SET v = s.v {more}")
    told = faults(before)["UPDATES_CHANGE_NOTHING"]
    after = planned(shop, f"{merge} {told.fix} {more}")
    spared = len(before.changed_files) - len(after.changed_files)
    says = told.evidence.startswith("1 of 2 touched files")
    assert (spared, says) in ((1, True), (0, False)), told.evidence
    assert says or "spares no file" in told.evidence


def test_a_fix_of_keys_of_two_types_keeps_all_that_on_asks_for(shop: Any) -> None:
    merge = (
        "MERGE INTO t USING (SELECT * FROM VALUES ('7', 'a'), ('07', 'b') AS x(id, v)) AS s "
        "ON t.id = s.id AND t.current AND (s.v > 'a' OR t.n = 1) WHEN MATCHED THEN UPDATE SET v = s.v"
    )
    fix = faults(planned(shop, merge))["KEYS_COLLIDE_BY_CAST"].fix
    assert fix == "ON CAST(t.id AS STRING) = s.id AND t.current AND (s.v > 'a' OR t.n = 1)"
    inserting = f"{merge} WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
    assert faults(planned(shop, inserting))["KEYS_COLLIDE_BY_CAST"].fix == ""


def test_what_on_asks_for_by_or_stays_one_condition_in_a_fix(shop: Any) -> None:
    sql = using("(3, 'c', 31, 9, true)", UPSERT, on="t.id = s.id AND (t.current OR s.n = 1)")
    assert "AND (t.current OR s.n = 1) THEN" in faults(planned(shop, sql))["KEY_EXISTS_OUTSIDE_ON"].fix


@pytest.mark.thorough
def test_no_fix_is_written_that_compares_a_char(shop: Any) -> None:
    """Delta takes a CHAR of the target in no condition of a clause."""
    shop.sql("CREATE TABLE chars (id INT, c CHAR(5)) USING delta")
    shop.sql("INSERT INTO chars VALUES (1, 'ab')")
    merge = "MERGE INTO chars t USING (SELECT 1 AS id, 'ab' AS c) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET c = s.c"
    assert faults(planned(shop, merge))["UPDATES_CHANGE_NOTHING"].fix == ""


def test_no_fix_is_written_that_would_compare_the_fields_of_a_struct_by_their_places(shop: Any) -> None:
    shop.sql("CREATE TABLE structs USING DELTA AS SELECT 1 AS id, 'x' AS v, named_struct('a', 1, 'b', 2) AS st")
    source = "(SELECT 1 AS id, 'x' AS v, named_struct('b', 2S, 'a', 1S) AS st) AS s"
    merge = f"MERGE INTO structs AS t USING {source} ON t.id = s.id WHEN MATCHED THEN UPDATE SET *"
    assert faults(planned(shop, merge))["UPDATES_CHANGE_NOTHING"].fix == ""


def test_a_fix_of_a_key_that_is_a_partition_fits_what_the_source_has(shop: Any) -> None:
    """An empty text is the NULL of a text partition; a number is no text, and is not compared with one."""
    shop.sql("CREATE TABLE parts (p STRING, n INT) USING DELTA PARTITIONED BY (p)")
    shop.sql("INSERT INTO parts VALUES ('5', 1)")
    for rows in ("(5, 1), (7, 2), (NULL, 3)", "('5', 1), ('7', 2), ('', 3)"):
        source = f"(SELECT * FROM VALUES {rows} AS x(p, n)) AS s"
        merge = f"MERGE INTO parts AS t USING {source} ON t.p = s.p "
        found = faults(planned(shop, f"{merge} {UPSERT}"))
        assert {code: one.count for code, one in found.items()} == {
            "NULL_KEYS_INSERTED": 1,
            "UPDATES_CHANGE_NOTHING": 1,
        }
        update, insert = (found[code].fix for code in ("UPDATES_CHANGE_NOTHING", "NULL_KEYS_INSERTED"))
        pasted = planned(shop, f"{merge} {update} {insert}")
        assert not faults(pasted)
        metrics = pasted.promise
        assert (metrics["numTargetRowsUpdated"], metrics["numTargetRowsInserted"]) == (0, 1)


LATER = "(1, 'a', 10, 5, true), (2, 'b', 20, 4, true)"


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        (using(LATER, "WHEN MATCHED AND s.n > 5 THEN UPDATE SET * WHEN MATCHED THEN DELETE"), "UPDATES_CHANGE_NOTHING"),
        (using(LATER, "WHEN MATCHED AND s.n > 5 THEN UPDATE SET * WHEN MATCHED THEN DELETE"), "UPDATES_GO_BACK"),
        (
            using("(NULL, 'n', 1, 1, true)", f"WHEN NOT MATCHED AND s.n = 1 THEN INSERT * {INSERT}"),
            "NULL_KEYS_INSERTED",
        ),
        (using("(1, 'a', 10, 5, true)", "WHEN MATCHED THEN UPDATE SET n = (SELECT 10)"), "UPDATES_CHANGE_NOTHING"),
        (
            using(NEW, "WHEN NOT MATCHED THEN INSERT (id, v) VALUES ((SELECT CAST(NULL AS INT)), s.v)"),
            "NULL_KEYS_INSERTED",
        ),
        (
            # matched by the key, the old row would not be deleted
            using(
                "(3, 'c', 31, 9, true)",
                f"{INSERT} WHEN NOT MATCHED BY SOURCE AND t.id = 3 THEN DELETE",
                on="t.id = s.id AND t.current",
            ),
            "KEY_EXISTS_OUTSIDE_ON",
        ),
    ],
)
def test_no_fix_is_written_that_gives_the_rows_to_a_later_clause(shop: Any, sql: str, code: str) -> None:
    assert faults(planned(shop, sql))[code].fix == ""


TEXTS = "MERGE INTO t USING (SELECT * FROM VALUES {} AS x(id, v, n)) AS s ON t.id = s.id "
MAY_RAISE = {
    # Delta computes the condition of each clause for each row of the join, be it taken by another clause or by none
    "a cast of what an earlier clause takes": (
        TEXTS.format("(1, 'a', 'x'), (2, 'b', '20')")
        + "WHEN MATCHED AND s.n = 'x' THEN DELETE WHEN MATCHED THEN UPDATE SET n = s.n",
        "UPDATES_CHANGE_NOTHING",
    ),
    "a cast of what no row matches": (
        TEXTS.format("(9, 'a', 'x'), (2, 'b', '20')")
        + "WHEN MATCHED THEN UPDATE SET n = s.n WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)",
        "UPDATES_CHANGE_NOTHING",
    ),
    "a version that is cast": (
        "MERGE INTO t USING (SELECT * FROM VALUES (9, 'x'), (2, '1') AS x(id, seq)) AS s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET seq = s.seq WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)",
        "UPDATES_GO_BACK",
    ),
    "a key that divides by what a matched row has": (
        TEXTS.format("(1, 'z', 0), (9, 'z', NULL)")
        + "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id) VALUES (100 DIV s.n)",
        "NULL_KEYS_INSERTED",
    ),
}


@pytest.mark.parametrize(("sql", "code"), MAY_RAISE.values(), ids=MAY_RAISE)
def test_no_fix_is_written_that_may_raise_for_a_row_of_another_clause(shop: Any, sql: str, code: str) -> None:
    assert faults(planned(shop, sql))[code].fix == ""


def test_a_fix_may_raise_where_its_clause_is_the_only_one(shop: Any) -> None:
    sql = TEXTS.format("(1, 'a', '10'), (2, 'b', '21')") + "WHEN MATCHED THEN UPDATE SET n = s.n"
    assert "t.n <=> CAST(s.n AS int)" in faults(planned(shop, sql))["UPDATES_CHANGE_NOTHING"].fix.replace(
        "(s.n)", "s.n"
    )


def test_no_fix_is_written_that_leaves_out_a_field_that_is_assigned(shop: Any) -> None:
    shop.sql("CREATE TABLE fields USING DELTA AS SELECT id, 1 AS v, named_struct('a', 1, 'b', 2) AS st FROM range(3)")
    merge = (
        "MERGE INTO fields t USING (SELECT * FROM VALUES (0, 1, 9), (1, 1, 1) AS x(id, v, a)) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = s.v, st.a = s.a"
    )
    found = faults(planned(shop, merge))["UPDATES_CHANGE_NOTHING"]
    assert (found.count, found.fix) == (1, "")


def test_no_fix_is_written_that_makes_several_rows_match_one(shop: Any) -> None:
    """Delta refuses that though the conditions of the clauses take but one of them."""
    rows, on = "(3, 'u', 31, 9, true), (3, 'i', 32, 9, true), (4, 'u', 1, 9, true)", "t.id = s.id AND s.v = 'u'"
    for matched in ("DELETE", "UPDATE SET n = s.n"):
        clauses = f"WHEN MATCHED THEN {matched} {INSERT}"
        assert faults(planned(shop, using(rows, clauses, on)))["KEY_EXISTS_OUTSIDE_ON"].fix == ""
    # keys that are NULL match nothing
    nulls = "(3, 'i', 31, 9, true), (NULL, 'i', 32, 9, true), (NULL, 'i', 33, 9, true)"
    fix = faults(planned(shop, using(nulls, f"WHEN MATCHED THEN DELETE {INSERT}", on)))["KEY_EXISTS_OUTSIDE_ON"].fix
    assert fix.startswith("ON t.id = s.id\n")


@pytest.mark.parametrize(
    ("target", "rows"), [("DOUBLE", "('1.5'), ('1.50')"), ("TIMESTAMP", "('2024'), ('2024-01-01')")]
)
def test_no_fix_compares_the_text_of_what_is_written_in_several_ways(shop: Any, target: str, rows: str) -> None:
    name = f"of_{target}"
    shop.sql(f"CREATE TABLE {name} (id {target}, v INT) USING DELTA")
    merge = (
        f"MERGE INTO {name} t USING (SELECT * FROM VALUES {rows} AS x(id)) s ON t.id = s.id WHEN MATCHED THEN DELETE"
    )
    found = faults(planned(shop, merge))["KEYS_COLLIDE_BY_CAST"]
    assert (found.count, found.fix) == (2, "")


@pytest.mark.parametrize(
    ("sql"),
    [
        using("(7, 'x', 1, 1, true), (7, 'y', 1, 2, true)", "WHEN NOT MATCHED AND s.seq > 0 THEN INSERT *"),
        using("(7, 'x', 1, 1, true), (7, 'y', 1, 2, true)", f"WHEN MATCHED AND s.n = 1 THEN DELETE {INSERT}"),
        using("(7, 'x', 1, 1, true), (7, 'y', 1, 2, true)", INSERT, on="t.id = s.id AND s.n = 1"),
        "MERGE INTO t USING (SELECT * FROM VALUES ('7', 1), ('07', 1) AS x(id, n)) AS s ON t.id = s.id "
        "WHEN NOT MATCHED THEN INSERT (id, n) VALUES (CAST(s.id AS INT), s.n)",
        # the keys are made one by what the INSERT writes, and differ in the source
        using("(70, 'x', 1, 1, true), (71, 'y', 1, 2, true)", "WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id DIV 10)"),
    ],
)
def test_no_source_without_duplicates_is_written_that_may_keep_the_wrong_row(shop: Any, sql: str) -> None:
    assert faults(planned(shop, sql))["DUPLICATE_INSERTS"].fix == ""


@pytest.mark.parametrize(
    ("columns", "row", "order", "stays"),
    [
        (
            "v, updated_at, shipped_on",
            "TIMESTAMP'2024-01-02', DATE'2024-01-0{}'",
            "s.`shipped_on` DESC",
            "Of each key the row with the greatest shipped_on stays.",
        ),
        ("v, seq", "1 + 0 * {}", "s.`seq` DESC", "several rows tie for it in 1 of the keys"),
        ("v", "", "s.`id`, s.`v`", "say in ORDER BY which one it should be."),
    ],
)
def test_the_source_without_duplicates_is_not_ordered_by_what_decides_nothing(
    shop: Any, columns: str, row: str, order: str, stays: str
) -> None:
    rows = ", ".join(f"(7, '{day}'{', ' * bool(row)}{row.format(day)})" for day in (4, 5))
    values = ", ".join(f"s.{name}" for name in columns.split(", "))
    merge = f"MERGE INTO t USING (SELECT * FROM VALUES {rows} AS x(id, {columns})) AS s ON t.id = s.id"
    clause = f"WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, concat({values}))"
    found = faults(planned(shop, f"{merge} {clause}"))["DUPLICATE_INSERTS"]
    assert f"PARTITION BY s.id ORDER BY {order})" in found.fix
    assert stays in found.evidence
    mended = planned(shop, f"MERGE INTO t {found.fix} ON t.id = s.id {clause}")
    assert (faults(mended), mended.promise["numTargetRowsInserted"]) == ({}, 1)


def test_a_fix_compares_in_the_type_of_the_column_and_names_no_column_that_is_not_there(shop: Any) -> None:
    shop.sql("CREATE TABLE texts (id INT, v STRING) USING DELTA")
    shop.sql("INSERT INTO texts VALUES (1, '1'), (2, 'b')")
    rows = "(SELECT * FROM VALUES (1, 1, CAST(NULL AS INT)), (2, 7, NULL) AS x(id, v, extra)) AS s"
    merge = "MERGE WITH SCHEMA EVOLUTION INTO texts AS t USING {} ON t.id = s.id {}"
    found = faults(planned(shop, merge.format(rows, "WHEN MATCHED THEN UPDATE SET *")))["UPDATES_CHANGE_NOTHING"]
    assert found.count == 1
    assert "t.v <=> CAST(s.v AS string) AND s.extra IS NULL" in found.fix
    pasted = planned(shop, merge.format(rows, found.fix))
    assert pasted.promise["numTargetRowsUpdated"] == 1
    assert not faults(pasted)


def test_keys_that_only_the_commit_knows_make_the_count_an_estimate(shop: Any) -> None:
    computed = "WHEN NOT MATCHED AND s.n = 9 THEN INSERT (id) VALUES (CAST(rand() * 9 AS INT) + 90)"
    found = faults(planned(shop, using("(NULL, 'n', 1, 1, true), (NULL, 'm', 9, 1, true)", f"{computed} {INSERT}")))
    assert [(code, one.count, one.exactness) for code, one in found.items()] == [("NULL_KEYS_INSERTED", 1, "estimated")]


def test_no_fix_is_written_without_a_name_for_the_source(shop: Any) -> None:
    rows = "(1, 1, 'a', 10, 5, true), (NULL, NULL, 'n', 1, 1, true)"
    source = f"(SELECT * FROM VALUES {rows} AS x(k, id, v, n, seq, current))"
    found = faults(planned(shop, f"MERGE INTO t USING {source} ON t.id = k {UPSERT}"))
    assert {code: one.count for code, one in found.items()} == {"NULL_KEYS_INSERTED": 1, "UPDATES_CHANGE_NOTHING": 1}
    assert not any(one.fix for one in found.values())


def test_a_profile_turns_codes_off_and_sets_limits(shop: Any) -> None:
    rows = "(1, 'z', 10, 5, true), (2, 'b', 20, 4, true), (NULL, 'n', 1, 1, true)"
    off = Checks(off=("NULL_KEYS_INSERTED",), version_column="n", ignore_columns=("V", "seq"))
    assert counts(planned(shop, using(rows), off)) == {"UPDATES_CHANGE_NOTHING": 2}
    absent = using("(1, 'a', 10, 5, true)", "WHEN NOT MATCHED BY SOURCE AND t.id > 4 THEN DELETE")
    assert counts(planned(shop, absent, Checks(deletes_share=0.1))) == {"DELETES_BY_ABSENCE": 1}
    outside = using("(3, 'c', 31, 9, true)", INSERT, on="t.id = s.id AND t.current")
    assert counts(planned(shop, outside, Checks(history=True))) == {}
    history = tuple(read_expectations("t: [{history: {key: [id], current: current}}]"))
    assert counts(planned(shop, outside, expectations=history)) == {}
    unknown = faults(planned(shop, outside, Checks(max_bytes=10)))["KEY_EXISTS_OUTSIDE_ON"]
    assert (unknown.count, unknown.exactness) == (None, "unknown")
    known = faults(planned(shop, outside))["KEY_EXISTS_OUTSIDE_ON"]
    assert shop.sql(unknown.fix).collect()[0][0] == known.count == 1
    assert not faults(planned(shop, using(rows), None))


def test_old_values_of_large_files_are_not_read_unless_asked_for(shop: Any) -> None:
    """A plan is to cost little beside the MERGE: that nothing was compared is told."""
    found = planned(shop, using("(1, 'a', 10, 4, true)"), Checks(compare_max_bytes=10))
    assert not faults(found)
    assert "UPDATES_NOT_COMPARED" in [one.code for one in found.advice]


def test_updates_under_a_condition_that_may_fail_are_not_compared_and_that_is_told(shop: Any) -> None:
    clauses = "WHEN MATCHED AND 100 / t.n > 1 THEN UPDATE SET v = s.v"
    found = planned(shop, using("(1, 'a', 10, 4, true)", clauses))
    assert not faults(found)
    (advice,) = (one for one in found.advice if one.code == "UPDATES_NOT_COMPARED")
    assert "may fail" in advice.evidence


def test_that_no_value_can_be_compared_is_told(shop: Any) -> None:
    found = planned(shop, CASES["only the key can be compared"][0])
    (advice,) = (one for one in found.advice if one.code == "UPDATES_NOT_COMPARED")
    assert advice.evidence == "tags cannot be compared before the commit."


def test_a_function_that_may_be_of_the_user_is_not_computed_in_the_join(shop: Any) -> None:
    found = planned(shop, using("(1, 'a', 1023, 5, true)", "WHEN MATCHED THEN UPDATE SET n = bit_count(s.n)"))
    assert not faults(found)
    (advice,) = (one for one in found.advice if one.code == "UPDATES_NOT_COMPARED")
    assert advice.evidence == "n cannot be compared before the commit."


def test_a_fault_that_is_an_error_must_be_accepted(shop: Any) -> None:
    found = planned(shop, using("(NULL, 'n', 1, 1, true)"), Checks(errors=("NULL_KEYS_INSERTED",)))
    with pytest.raises(RefusedError, match="NULL in the key"):
        refuse(found, ())
    refuse(found, ("NULL_KEYS_INSERTED",))


def test_a_private_plan_has_no_keys(shop: Any) -> None:
    rows = "(1, 'a', 10, 5, true), (NULL, 'n', 1, 1, true), (7, 'g', 1, 1, true), (7, 'h', 1, 2, true)"
    found = faults(planned(shop, using(rows), private=True))
    assert len(found) == 3
    assert not any(one.keys for one in found.values())


def test_a_flag_never_makes_the_plan_fail(shop: Any) -> None:
    """The new values are computed beside ON: where one raises the plan refuses as ever."""
    raising = plan(shop, using("(1, 'x', 10, 5, true)", "WHEN MATCHED THEN UPDATE SET n = 1 / (s.n - 10)"), rows=0)
    assert raising.refused is not None
    assert "DIVIDE_BY_ZERO" in raising.refused.also


@pytest.mark.parametrize("clauses", [UPSERT, INSERT], ids=["upsert", "insert only"])
def test_a_key_that_cannot_be_computed_for_an_inserted_row_makes_no_plan_fail(shop: Any, clauses: str) -> None:
    rows = "(2147483647, 'g', 1, 9, true), (NULL, 'n', 1, 9, true)"
    found = planned(shop, using(rows, clauses, "t.id + 2147483640 = s.id"))
    assert found.promise["numTargetRowsInserted"] == 2
    (one,) = faults(found).values()
    assert one.code == "CHECK_FAILED"
    assert one.evidence.startswith("[ARITHMETIC_OVERFLOW")


@pytest.mark.parametrize("on", ["t.id = s.id", "t.id + 1 = s.id + 1"], ids=["columns", "expressions"])
@pytest.mark.parametrize("clauses", [UPSERT, INSERT], ids=["upsert", "insert only"])
def test_the_keys_of_inserted_rows_are_counted_by_the_statement_that_counts_the_rows(
    shop: Any, clauses: str, on: str
) -> None:
    merge = using("(7, 'g', 1, 9, true), (7, 'h', 1, 9, true), (NULL, 'i', 1, 9, true)", clauses, on)
    with mock.patch.object(type(shop), "sql", autospec=True, side_effect=type(shop).sql) as sent:
        planned(shop, merge, None)
        without = sent.call_count
        # whether an expression is cast is asked of Spark
        found = planned(shop, merge, Checks(off=("KEYS_COLLIDE_BY_CAST",)))
    texts = [str(call.args[1]) for call in sent.call_args_list]
    first, second = (sum("deltamerge_pairs_" in text for text in some) for some in (texts[:without], texts[without:]))
    assert first == second
    assert counts(found) == {"NULL_KEYS_INSERTED": 1, "DUPLICATE_INSERTS": 1}
    assert faults(found)["DUPLICATE_INSERTS"].keys == ({"id": "7"},)
    assert faults(found)["NULL_KEYS_INSERTED"].keys == ({"id": None},)


def test_a_key_is_not_computed_for_a_row_that_is_not_inserted(shop: Any) -> None:
    rows = "(8, 'x', 3, 2, true), (9, 'y', 4, 1, true)"
    clauses = "WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND s.seq = 1 THEN INSERT *"
    found = planned(shop, using(rows, clauses, "1 / coalesce(t.n, 0) = s.n"))
    assert found.promise["numTargetRowsInserted"] == 1
    assert faults(found) == {}


@pytest.mark.parametrize("optimized", ["true", "false"])
def test_a_source_row_keeps_its_number_where_a_condition_filters_the_source(shop: Any, optimized: str) -> None:
    """Without Delta's executor for inserts alone the rows are joined before the condition is asked."""
    rows = "(1, 'x', 1, 9, false), (7, 'g', 1, 9, true), (NULL, 'n', 1, 9, true), (2, 'y', 1, 9, true)"
    with confs_set(shop, {OPTIMIZE_INSERT_ONLY: optimized}):
        found = plan(shop, using(rows, "WHEN NOT MATCHED AND s.current THEN INSERT *"), rows=5)
    assert isinstance(found, Plan)
    assert found.promise["numTargetRowsInserted"] == 2
    assert {one.after["v"] for one in found.samples if one.after} == {"g", "n"}
    assert counts(found) == {"NULL_KEYS_INSERTED": 1}


@pytest.mark.parametrize(
    ("on", "says"),
    [("CAST(t.v AS INT) = s.id", "CHECK_FAILED"), ("t.id = CAST(s.v AS INT)", "CAST_INVALID_INPUT")],
    ids=["a key that is written", "the join"],
)
def test_a_private_plan_has_no_value_in_the_message_of_an_error(shop: Any, on: str, says: str) -> None:
    shop.sql("CREATE OR REPLACE TEMPORARY VIEW none AS SELECT * FROM VALUES (1, 'secret') AS x(id, v)")
    shop.sql("CREATE TABLE IF NOT EXISTS empty (id INT, v STRING) USING DELTA")
    sql = f"MERGE INTO empty AS t USING none AS s ON {on} WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *"
    for private in (False, True):
        found = plan(shop, sql, rows=0, private=private)
        assert isinstance(found, Plan)
        text = found.model_dump_json(include={"warnings", "refused"})
        assert says in text
        assert ("secret" in text) is not private
