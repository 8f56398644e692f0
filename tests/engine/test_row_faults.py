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
    (of_a_value,) = (row.faults for row in find_key(spark, looked, "8").rows)
    assert of_a_value == ()
    free_source(spark, looked.session.source_view)
