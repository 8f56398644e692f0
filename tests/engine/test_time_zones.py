"""A table that was written in one session time zone, and is merged into in another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.spark.confs import confs_set
from tests.engine.fidelity import check_merge

TABLE = (
    "CREATE TABLE tgt (id INT, ts TIMESTAMP, v INT, d DATE GENERATED ALWAYS AS (CAST(ts AS DATE))) USING delta",
    "INSERT INTO tgt (id, ts, v) SELECT /*+ COALESCE(1) */ id, TIMESTAMP'2024-01-01 20:00:00', id "
    "FROM VALUES 1, 2, 3 AS x(id)",
)
BROKEN = "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
CONSTRAINTS = {
    "hour of a time": "hour(ts) >= 20",
    "a time as a date": "CAST(ts AS DATE) = DATE'2024-01-01'",
    "a generated date": "d = DATE'2024-01-01'",
}


@pytest.fixture
def tokyo(spark: Any, schema: str) -> Iterator[Any]:
    yield lambda: spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    spark.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.parametrize("matching", [1, 9])
@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_what_a_row_was_checked_for_may_break_in_another_zone(
    spark: Any, tokyo: Any, name: str, vectors: bool, matching: int
) -> None:
    for statement in TABLE:
        spark.sql(statement).collect()
    spark.sql(f"ALTER TABLE tgt ADD CONSTRAINT c CHECK ({CONSTRAINTS[name]})").collect()
    if vectors:
        spark.sql("ALTER TABLE tgt SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')").collect()
    tokyo()
    source = f"(SELECT {matching} AS id, 7 AS v)"
    clauses = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
    check_merge(spark, "tgt", f"MERGE INTO tgt t USING {source} s ON t.id = s.id {clauses}", values=True)


OTHERWISE = {
    "in another time zone": ("DATE", "CAST(ts AS DATE)", {"spark.sql.session.timeZone": "Asia/Tokyo"}),
    "under ANSI": ("INT", "CAST(v AS INT)", {"spark.sql.ansi.enabled": "true"}),
}


@pytest.mark.parametrize("then", ["DELETE", "UPDATE SET w = 1"])
@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("name", OTHERWISE)
def test_a_generated_column_of_a_copied_row_is_computed_again(
    spark: Any, schema: str, name: str, vectors: bool, then: str
) -> None:
    """It is only the row that stays which has another value now."""
    type_, generated_as, confs = OTHERWISE[name]
    with confs_set(spark, {"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "false"}):
        spark.sql(
            f"CREATE TABLE tgt (id INT, ts TIMESTAMP, v STRING, w INT, g {type_} GENERATED ALWAYS AS ({generated_as})) "
            f"USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = '{str(vectors).lower()}')"
        )
        spark.sql(
            "INSERT INTO tgt (id, ts, v) SELECT /*+ COALESCE(1) */ * FROM VALUES (1, TIMESTAMP'2024-01-01 08:00:00', "
            "'7'), (2, TIMESTAMP'2024-01-01 20:00:00', 'no')"
        )
    with confs_set(spark, confs):
        outcome = check_merge(
            spark, "tgt", f"MERGE INTO tgt t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN {then}"
        )
    assert (outcome == "committed") is vectors


@pytest.mark.parametrize("then", ["DELETE", "UPDATE SET w = 1"])
def test_a_check_that_raises_under_ansi_alone_is_computed_for_a_copied_row(spark: Any, schema: str, then: str) -> None:
    with confs_set(spark, {"spark.sql.ansi.enabled": "false"}):
        spark.sql("CREATE TABLE tgt (id INT, v STRING, w INT) USING delta")
        spark.sql("INSERT INTO tgt SELECT /*+ COALESCE(1) */ * FROM VALUES (1, '7', 1), (2, 'no', 1)")
        spark.sql("ALTER TABLE tgt ADD CONSTRAINT c CHECK (coalesce(CAST(v AS INT), 1) > 0)")
    merge = f"MERGE INTO tgt t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN {then}"
    assert check_merge(spark, "tgt", merge) == "CAST_INVALID_INPUT"


def test_copied_rows_are_checked_as_well(spark: Any, tokyo: Any) -> None:
    for statement in TABLE:
        spark.sql(statement).collect()
    spark.sql("ALTER TABLE tgt ADD CONSTRAINT c CHECK (hour(ts) >= 20)").collect()
    tokyo()
    merge = "MERGE INTO tgt t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE"
    assert check_merge(spark, "tgt", merge) == BROKEN


@pytest.mark.parametrize(
    ("clause", "vectors", "condition"),
    [
        ("MATCHED THEN DELETE", True, BROKEN),
        ("MATCHED THEN UPDATE SET ts = NULL", False, BROKEN),
        ("NOT MATCHED BY SOURCE THEN UPDATE SET ts = NULL", True, BROKEN),
        ("NOT MATCHED BY SOURCE AND t.id = 9 THEN DELETE", True, "nothing to do"),
        ("NOT MATCHED THEN INSERT (id) VALUES (s.id + 5)", False, "nothing to do"),
    ],
)
def test_a_change_data_feed_has_the_rows_before_the_change_checked(
    spark: Any, tokyo: Any, clause: str, vectors: bool, condition: str
) -> None:
    """The row that the feed says was deleted or updated has another date now than the one that was generated."""
    spark.sql(TABLE[0]).collect()
    spark.sql(
        "ALTER TABLE tgt SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', "
        f"'delta.enableDeletionVectors' = '{str(vectors).lower()}')"
    ).collect()
    spark.sql("INSERT INTO tgt (id, ts) VALUES (1, TIMESTAMP'2024-01-01 20:00:00')").collect()
    tokyo()
    source = 8 if "BY SOURCE" in clause else 1
    merge = f"MERGE INTO tgt t USING (SELECT {source} AS id) s ON t.id = s.id WHEN {clause}"
    assert check_merge(spark, "tgt", merge) == condition
