"""Delta computes the conditions of all clauses on every row that it joins: what fails there is foreseen."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.plan_merge import plan
from engine.preflight import failing_conditions
from tests.conftest import own_schema
from tests.engine.fidelity import refused_by_delta
from tests.engine.some import some

UPDATE = "UPDATE SET k = s.k"
LONE_TARGET = "10 / coalesce(s.k, 0) > 1"
LONE_SOURCE = "10 / (s.id - 7) < 1"
UNMATCHED_TARGET = "10 / (t.id - 1) < 100"
MATCHED = "10 / (s.id - 3) < 1"
WITH, WITHOUT = ("true",), ("false",)
BOTH, NEITHER = (*WITH, *WITHOUT), ()
# ON, the clauses, and whether it fails with deletion vectors or without
MERGES = {
    "ON against the NULLs of the target": (
        "t.id = s.id AND 10 / coalesce(t.k, 0) > 1",
        f"WHEN MATCHED THEN {UPDATE} WHEN NOT MATCHED THEN INSERT *",
        WITH,
    ),
    "ON against the NULLs of the source": (
        f"t.id = s.id AND {LONE_TARGET}",
        f"WHEN MATCHED THEN {UPDATE} WHEN NOT MATCHED BY SOURCE THEN DELETE",
        WITH,
    ),
    "a matched condition on an unmatched source row": (
        "t.id = s.id",
        f"WHEN MATCHED AND {LONE_SOURCE} THEN {UPDATE} WHEN NOT MATCHED THEN INSERT *",
        BOTH,
    ),
    "a matched condition on an unmatched target row": (
        "t.id = s.id",
        f"WHEN MATCHED AND {LONE_TARGET} THEN {UPDATE} WHEN NOT MATCHED BY SOURCE THEN DELETE",
        BOTH,
    ),
    "a matched condition on a row that is copied": (
        "t.id = s.id",
        f"WHEN MATCHED AND {LONE_TARGET} THEN {UPDATE}",
        WITHOUT,
    ),
    "an insert condition on a matched row": (
        "t.id = s.id",
        f"WHEN MATCHED THEN {UPDATE} WHEN NOT MATCHED AND {MATCHED} THEN INSERT *",
        BOTH,
    ),
    "a second condition where the first holds": (
        "t.id = s.id",
        f"WHEN MATCHED AND s.id = 3 THEN {UPDATE} WHEN MATCHED AND {MATCHED} THEN DELETE",
        BOTH,
    ),
    "a condition by source on a matched row": (
        "t.id = s.id",
        f"WHEN MATCHED THEN {UPDATE} WHEN NOT MATCHED BY SOURCE AND 10 / (t.id - 3) < 1 THEN DELETE",
        BOTH,
    ),
    "a condition on a source row that no clause takes": (
        "t.id = s.id",
        f"WHEN MATCHED AND {LONE_SOURCE} THEN {UPDATE} WHEN NOT MATCHED AND s.id < 0 THEN INSERT *",
        BOTH,
    ),
    "a matched condition over the target alone, beside an insert": (
        "t.id = s.id",
        f"WHEN MATCHED AND s.id > 0 AND {UNMATCHED_TARGET} THEN {UPDATE} WHEN NOT MATCHED THEN INSERT *",
        BOTH,
    ),
    "those of two clauses": (
        "t.id = s.id",
        f"WHEN MATCHED AND t.k > 5 THEN DELETE WHEN MATCHED AND {UNMATCHED_TARGET} THEN {UPDATE} "
        "WHEN NOT MATCHED THEN INSERT *",
        BOTH,
    ),
    "one beside a clause for all that match": (
        "t.id = s.id",
        f"WHEN MATCHED AND {UNMATCHED_TARGET} THEN {UPDATE} WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *",
        WITHOUT,
    ),
    "a key of ON, on a row that ON leaves out": (
        "10 / (t.id - 1) = s.id AND t.id <> 1",
        f"WHEN MATCHED THEN {UPDATE}",
        WITHOUT,
    ),
    "a text that is no number, against NULL": (
        "t.id = s.id",
        f"WHEN MATCHED AND t.k < s.txt THEN {UPDATE} WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)",
        NEITHER,
    ),
}


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[Any]:
    """``src``: ids 3 to 7, k 1; the text of 7 is no number."""
    with own_schema(spark):
        spark.sql(
            "CREATE TABLE src USING delta AS SELECT id, CAST(1 AS INT) AS k, IF(id = 7, 'x', '5') AS txt "
            "FROM range(3, 8, 1, 1)"
        )
        yield spark


@pytest.mark.parametrize("vectors", ["true", "false"])
@pytest.mark.parametrize("name", some(MERGES, list(MERGES)[::4]))
def test_a_condition_that_fails_where_its_clause_takes_no_row(shop: Any, name: str, vectors: str) -> None:
    target = f"tgt_{uuid.uuid4().hex[:8]}"
    shop.sql(
        f"CREATE TABLE {target} USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = '{vectors}') AS "
        "SELECT id, CAST(1 AS INT) AS k FROM range(0, 5, 1, 1)"
    )
    on, clauses, fails = MERGES[name]
    sql = f"MERGE INTO {target} AS t USING src AS s ON {on} {clauses}"
    looked = plan(shop, sql)
    if vectors in fails:
        assert looked.refused is not None
        assert looked.refused.condition == refused_by_delta(shop, sql) == "DIVIDE_BY_ZERO"
    else:
        assert looked.refused is None
        assert apply(shop, looked).kept


@pytest.mark.parametrize("matched", ["", "WHEN MATCHED THEN DELETE "], ids=["insert only", "no file touched"])
def test_of_several_inserts_each_condition_is_computed_for_each_new_row(spark: Any, schema: str, matched: str) -> None:
    spark.sql("CREATE TABLE tgt (id BIGINT, n INT) USING delta")
    spark.sql("CREATE TABLE src USING delta AS SELECT * FROM VALUES (1L, 'h', 'x'), (2L, 'h', 'y') AS x(id, kind, txt)")
    text = (
        f"MERGE INTO tgt t USING src s ON t.id = s.id {matched}WHEN NOT MATCHED AND s.kind = 'h' THEN "
        "INSERT (id) VALUES (s.id) WHEN NOT MATCHED AND CAST(s.txt AS INT) > 5 THEN INSERT (id, n) VALUES (s.id, 1)"
    )
    looked = plan(spark, text)
    assert looked.refused is not None
    assert looked.refused.condition == "CAST_INVALID_INPUT"
    with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
        spark.sql(text).collect()


def test_bounds_that_are_derived_fail_for_no_row(spark: Any, schema: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else each plan with bounds would run the join of the write, which opens every file of the table."""
    spark.sql("CREATE TABLE wide USING delta AS SELECT /*+ REPARTITION_BY_RANGE(4, id) */ id, 0 AS v FROM range(400)")
    monkeypatch.setattr(failing_conditions, "collected", lambda *_: pytest.fail("nothing may fail here"))
    looked = plan(spark, "MERGE INTO wide t USING (SELECT 7 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE")
    assert [one.text for one in looked.scan.derived] == ["t.id = 7"]
