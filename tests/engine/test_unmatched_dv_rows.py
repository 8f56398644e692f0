"""Delta 4.4.0 fails on rows that match nothing where ON holds between them and NULLs: the plan says so."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.model.errors import RefusedError
from engine.plan_merge import plan
from engine.preflight.unmatched_dv_rows import UNEXPECTED
from engine.spark.spark_errors import translate
from tests.conftest import own_schema

NULL_SAFE = "t.id <=> s.id"
DELETE = "WHEN MATCHED THEN DELETE"
UPDATE = "WHEN MATCHED THEN UPDATE SET k = s.k"
SOME_INSERTS = "WHEN NOT MATCHED AND s.k > 5 THEN INSERT *"
BY_SOURCE = "WHEN NOT MATCHED BY SOURCE AND t.k > 5 THEN DELETE"
OFF = "SET spark.databricks.delta.merge.deletionVectors.persistent = false; "


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[Any]:
    with own_schema(spark):
        yield spark


def tables(spark: Any, null_in: str, properties: str = "'delta.enableDeletionVectors' = 'true'") -> tuple[str, str]:
    """(target, source): ids 0 to 4 and 3 to 7 (k 1), and in one of them a row whose id is NULL (k 2)."""
    target, source = (f"{name}_{uuid.uuid4().hex[:8]}" for name in ("target", "source"))
    for name, low in ((target, 0), (source, 3)):
        null = "UNION ALL SELECT CAST(NULL AS BIGINT), 2" if name.startswith(null_in) else ""
        spark.sql(
            f"CREATE TABLE {name} USING delta TBLPROPERTIES ({properties}) AS"
            f" SELECT id, 1 AS k FROM range({low}, {low + 5}, 1, 1) {null}"
        )
    return target, source


@pytest.mark.parametrize(
    ("null_in", "on", "clauses"),
    [
        ("target", NULL_SAFE, f"{DELETE} {BY_SOURCE}"),
        ("target", NULL_SAFE, f"{UPDATE} {SOME_INSERTS} {BY_SOURCE}"),
        ("source", NULL_SAFE, f"{UPDATE} {SOME_INSERTS}"),
        ("source", "coalesce(t.id, -1) = coalesce(s.id, -1)", f"{DELETE} {SOME_INSERTS}"),
        ("source", "t.id = s.id OR s.id IS NULL AND t.id IS NULL", f"{UPDATE} {SOME_INSERTS} {BY_SOURCE}"),
    ],
)
def test_a_row_without_a_match_that_passes_for_matched_is_foreseen(
    shop: Any, null_in: str, on: str, clauses: str
) -> None:
    target, source = tables(shop, null_in)
    sql = f"MERGE INTO {target} AS t USING {source} AS s ON {on} {clauses}"
    looked = plan(shop, sql)
    assert looked.refused is not None
    assert looked.refused.condition == UNEXPECTED
    assert looked.refused.message.startswith(f"1 {null_in} row without a match")
    assert looked.refused.rows == ({"id": None},)
    with pytest.raises(RefusedError):
        apply(shop, looked)
    with pytest.raises(Exception, match="did not match any merge clause") as failed:
        shop.sql(sql).collect()
    assert translate(failed.value).condition == UNEXPECTED
    assert plan(shop, sql, private=True).refused.rows == ()  # type: ignore[union-attr]


def test_an_on_without_a_column_of_that_side_has_no_keys_to_show(shop: Any) -> None:
    target, source = tables(shop, "source")
    sql = f"MERGE INTO {target} AS t USING {source} AS s ON t.id IS NULL {DELETE} {SOME_INSERTS} {BY_SOURCE}"
    refused = plan(shop, sql).refused
    assert refused is not None
    assert (refused.condition, refused.rows) == (UNEXPECTED, ())
    assert refused.message.startswith("6 source rows without a match")
    with pytest.raises(Exception, match="did not match any merge clause"):
        shop.sql(sql).collect()


@pytest.mark.parametrize(
    ("null_in", "on", "clauses"),
    [
        ("target", NULL_SAFE, f"{UPDATE} {SOME_INSERTS}"),
        ("target", NULL_SAFE, f"{UPDATE} WHEN NOT MATCHED BY SOURCE THEN DELETE"),
        ("source", NULL_SAFE, f"{UPDATE} {SOME_INSERTS} WHEN NOT MATCHED THEN INSERT *"),
        ("source", NULL_SAFE, f"WHEN MATCHED AND t.k < 9 THEN DELETE {SOME_INSERTS}"),
        ("source", "t.id = s.id", f"{UPDATE} {SOME_INSERTS} {BY_SOURCE}"),
        ("target", f"{NULL_SAFE} AND t.k = s.k", f"{UPDATE} {SOME_INSERTS} {BY_SOURCE}"),
    ],
    ids=[
        "not joined",
        "taken",
        "inserted",
        "no clause holds for NULLs",
        "no NULL is equal",
        "one key is not null-safe",
    ],
)
def test_and_no_other_is(shop: Any, null_in: str, on: str, clauses: str) -> None:
    target, source = tables(shop, null_in)
    looked = plan(shop, f"MERGE INTO {target} AS t USING {source} AS s ON {on} {clauses}")
    assert looked.refused is None
    assert looked.write.deletion_vectors
    assert apply(shop, looked).kept


@pytest.mark.parametrize(("properties", "before"), [("'x' = 'y'", ""), ("'delta.enableDeletionVectors' = 'true'", OFF)])
def test_without_deletion_vectors_there_is_none(shop: Any, properties: str, before: str) -> None:
    target, source = tables(shop, "target", properties)
    try:
        looked = plan(shop, f"{before}MERGE INTO {target} AS t USING {source} AS s ON {NULL_SAFE} {DELETE} {BY_SOURCE}")
        assert not looked.write.deletion_vectors
        assert apply(shop, looked).kept
    finally:
        shop.conf.unset("spark.databricks.delta.merge.deletionVectors.persistent")
