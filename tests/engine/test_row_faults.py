"""The silent faults that a row has part in are those that its plan counts, and of the rows that it counts."""

from __future__ import annotations

from collections import Counter
from typing import Any

from engine.explore.find_key import find_key
from engine.merge.prepare_source import free_source
from engine.model.checks import Checks
from engine.plan_merge import plan

MERGE = """MERGE INTO tgt t USING src s ON t.id = s.id AND t.active
WHEN MATCHED THEN UPDATE SET v = s.v, version = s.version
WHEN NOT MATCHED THEN INSERT (id, v, version, active) VALUES (CAST(s.id AS INT), s.v, s.version, true)
WHEN NOT MATCHED BY SOURCE AND t.id = 6 THEN UPDATE SET v = 60
WHEN NOT MATCHED BY SOURCE AND t.active THEN DELETE"""
FAULTS = {
    ("matched", "1"): ("UPDATES_CHANGE_NOTHING",),
    ("matched", "2"): ("UPDATES_GO_BACK",),
    ("not_matched", "4"): ("KEY_EXISTS_OUTSIDE_ON",),
    ("not_matched", None): ("NULL_KEYS_INSERTED",),
    ("not_matched", "7"): ("KEYS_COLLIDE_BY_CAST", "DUPLICATE_INSERTS"),
    ("not_matched", "07"): ("KEYS_COLLIDE_BY_CAST", "DUPLICATE_INSERTS"),
    ("not_matched", "8"): (),
    ("not_matched", "9"): ("DUPLICATE_INSERTS",),
    ("not_matched_by_source", "3"): ("DELETES_BY_ABSENCE",),
    ("not_matched_by_source", "5"): ("DELETES_BY_ABSENCE",),
    ("not_matched_by_source", "6"): ("UPDATES_CHANGE_NOTHING",),
    # nothing takes it
    ("not_matched_by_source", "4"): (),
}


def test_each_row_has_the_faults_that_the_plan_counts_it_in(spark: Any, schema: str) -> None:
    rows = ((1, 10, True), (2, 20, True), (3, 30, True), (4, 40, False), (5, 50, True), (6, 60, True))
    spark.sql("CREATE TABLE tgt (id INT, v INT, version INT, active BOOLEAN) USING delta")
    spark.sql(f"INSERT INTO tgt SELECT id, v, 5, on FROM VALUES {', '.join(map(str, rows))} AS x(id, v, on)")
    spark.sql("CREATE TABLE src (id STRING, v INT, version INT) USING delta")
    spark.sql(
        "INSERT INTO src VALUES ('1', 10, 5), ('2', 21, 4), ('4', 41, 6), (NULL, 1, 1), ('7', 1, 1), ('07', 2, 1), "
        "('8', 1, 1), ('9', 1, 1), ('9', 2, 2)"
    )
    looked = plan(spark, MERGE, rows=0, checks=Checks())
    inserted = [row for row in find_key(spark, looked, "s.v > 0").rows if row.kind == "not_matched"]
    found = [*find_key(spark, looked, "t.id > 0").rows, *inserted]
    assert {(row.kind, (row.source or row.target or {})["id"]): row.faults for row in found} == FAULTS
    told = Counter(code for row in found for code in row.faults)
    # of equal keys the plan counts all but one: of 9 and of 7
    told["DUPLICATE_INSERTS"] -= 2
    assert told == {one.code: one.count for one in looked.warnings if one.code in told}
    by_value = {key: [row.faults for row in find_key(spark, looked, key).rows] for key in ("8", "9", "4")}
    assert by_value == {
        "8": [()],
        "9": [("DUPLICATE_INSERTS",), ("DUPLICATE_INSERTS",)],
        "4": [(), ("KEY_EXISTS_OUTSIDE_ON",)],  # in the target, nothing takes it
    }
    in_private = find_key(spark, looked, "9", private=True).rows
    assert [(row.source, row.faults) for row in in_private] == [(None, ("DUPLICATE_INSERTS",))] * 2
    free_source(spark, looked.session.source_view)


ODD = """MERGE INTO odd t USING feed s ON t.`Id-Of` = s.`ID-of` AND t.part <=> s.part
WHEN MATCHED THEN DELETE
WHEN NOT MATCHED AND s.v > 10 THEN INSERT (`id-of`, part, v) VALUES (s.`id-of`, s.part, s.v)
WHEN NOT MATCHED THEN INSERT (`id-of`, v) VALUES (s.`id-of`, s.v)
WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 60"""


def test_several_inserts_null_safe_keys_and_updates_of_the_target_alone(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE odd (`Id-Of` INT, part STRING, v INT) USING delta")
    spark.sql("INSERT INTO odd VALUES (1, NULL, 60), (2, 'a', 2)")
    spark.sql("CREATE TABLE feed (`Id-Of` INT, part STRING, v INT) USING delta")
    # the second clause writes no part: its rows are equal to those that have none
    spark.sql("INSERT INTO feed VALUES (7, NULL, 11), (7, 'b', 1), (8, 'b', 12), (8, 'c', 13), (NULL, 'b', 1)")
    looked = plan(spark, ODD, rows=0, checks=Checks())
    found = {
        (row.source["part"], row.source["v"]): row.faults
        for row in find_key(spark, looked, "s.v > 0").rows
        if row.source is not None
    }
    assert found == {
        (None, "11"): ("DUPLICATE_INSERTS",),
        ("b", "1"): found["b", "1"],  # of two rows the last
        ("b", "12"): (),
        ("c", "13"): (),
    }
    assert [row.faults for row in find_key(spark, looked, "s.v = 1").rows] in (
        [("NULL_KEYS_INSERTED",), ("DUPLICATE_INSERTS",)],
        [("DUPLICATE_INSERTS",), ("NULL_KEYS_INSERTED",)],
    )
    alone = {(row.target or {})["v"]: row.faults for row in find_key(spark, looked, "t.v > 0").rows}
    assert alone == {"60": ("UPDATES_CHANGE_NOTHING",), "2": ()}
    free_source(spark, looked.session.source_view)


def test_of_many_pairs_and_a_second_writer_the_rows_are_those_of_the_plan(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT CAST(id % 3 AS INT) AS k, 'x' AS v FROM range(3000)")
    rows = "(1, 'x'), (9, 'a'), (9, 'b'), (CAST(NULL AS INT), 'c')"
    spark.sql(f"CREATE TABLE src USING delta AS SELECT * FROM VALUES {rows} AS x(k, v)")
    clauses = (
        "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE THEN DELETE"
    )
    looked = plan(spark, f"MERGE INTO tgt t USING src s ON t.k = s.k {clauses}", rows=0, checks=Checks())
    spark.sql("INSERT INTO tgt VALUES (9, 'of another')")
    found = {key: Counter((r.kind, r.faults) for r in find_key(spark, looked, key).rows) for key in ("9", "NULL", "2")}
    assert found["9"] == {("not_matched", ("DUPLICATE_INSERTS",)): 2}
    assert found["NULL"] == {("not_matched", ("NULL_KEYS_INSERTED",)): 1}
    assert found["2"].keys() == {("not_matched_by_source", ("DELETES_BY_ABSENCE",))}
    free_source(spark, looked.session.source_view)


def test_the_key_of_a_row_that_no_clause_inserts_is_not_computed(spark: Any, schema: str) -> None:
    """Its key columns are NULL, for which the key may fail."""
    spark.sql("CREATE TABLE tgt USING delta AS SELECT 1 AS k, 'x' AS v")
    spark.sql("CREATE TABLE src USING delta AS SELECT * FROM VALUES (9, 'a'), (9, 'b'), (8, 'no') AS x(k, v)")
    clauses = "WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND s.v <> 'no' THEN INSERT *"
    merge = f"MERGE INTO tgt t USING src s ON 1000 / coalesce(t.k, 0) = s.k {clauses}"
    looked = plan(spark, merge, rows=0, checks=Checks())
    assert {one.code: one.count for one in looked.warnings} == {"DUPLICATE_INSERTS": 1}
    rows = find_key(spark, looked, "s.k > 7").rows
    assert {(row.source or {})["v"]: row.faults for row in rows} == {
        "a": ("DUPLICATE_INSERTS",),
        "b": ("DUPLICATE_INSERTS",),
        "no": (),
    }
    free_source(spark, looked.session.source_view)


def test_a_row_that_the_only_clause_leaves_out_is_found_beside_inserts_of_equal_keys(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT * FROM VALUES (1, false), (2, true) AS x(k, active)")
    rows = "(1, false), (7, false), (9, true), (9, true), (9, false), (8, NULL)"
    spark.sql(f"CREATE TABLE src USING delta AS SELECT * FROM VALUES {rows} AS x(k, active)")
    merge = "MERGE INTO tgt t USING src s ON t.k = s.k WHEN NOT MATCHED AND s.active THEN INSERT *"
    looked = plan(spark, merge, rows=0, checks=Checks())
    assert "DUPLICATE_INSERTS" in {one.code for one in looked.warnings}

    def found(typed: str) -> list[tuple[str, bool | None, tuple[str, ...]]]:
        rows = find_key(spark, looked, typed).rows
        return sorted(((row.kind, row.tests[0].value if row.tests else None, row.faults) for row in rows), key=str)

    by_key = {key: found(key) for key in "1789"}
    free_source(spark, looked.session.source_view)
    assert by_key == {
        "1": [("matched", None, ())],
        "7": [("not_matched", False, ())],
        "8": [("not_matched", None, ())],
        "9": [("not_matched", False, ()), *[("not_matched", True, ("DUPLICATE_INSERTS",))] * 2],
    }
