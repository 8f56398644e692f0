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


DELETION_VECTORS = "'delta.enableDeletionVectors' = 'true'"


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[Any]:
    """The session in a schema with ``ids_of_target`` (0 to 4) and ``ids_of_source`` (3 to 7), k 1 in both, and
    two more of these ``_with_null``, which have a row more: its id is NULL, its k 2."""
    with own_schema(spark):
        for name, low in (("ids_of_target", 0), ("ids_of_source", 3)):
            create(spark, name, low)
            create(spark, f"{name}_with_null", low, null=True)
        yield spark


def create(spark: Any, name: str, low: int, *, null: bool = False, properties: str = DELETION_VECTORS) -> None:
    spark.sql(
        f"CREATE TABLE {name} USING delta TBLPROPERTIES ({properties}) AS"
        f" SELECT id, 1 AS k FROM range({low}, {low + 5}, 1, 1)"
        f"{' UNION ALL SELECT CAST(NULL AS BIGINT), 2' if null else ''}"
    )


def tables(null_in: str) -> tuple[str, str]:
    """(target, source), of which one has a row whose id is NULL. Nothing is committed to them."""
    return (
        "ids_of_target_with_null" if null_in == "target" else "ids_of_target",
        "ids_of_source_with_null" if null_in == "source" else "ids_of_source",
    )


def new_target(spark: Any, *, null: bool, properties: str = DELETION_VECTORS) -> str:
    name = f"target_{uuid.uuid4().hex[:8]}"
    create(spark, name, 0, null=null, properties=properties)
    return name


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
    target, source = tables(null_in)
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


def test_in_private_the_plan_shows_no_key(shop: Any) -> None:
    target, source = tables("source")
    sql = f"MERGE INTO {target} AS t USING {source} AS s ON {NULL_SAFE} {UPDATE} {SOME_INSERTS}"
    refused = plan(shop, sql, private=True).refused
    assert refused is not None
    assert (refused.condition, refused.rows) == (UNEXPECTED, ())


def test_an_on_without_a_column_of_that_side_has_no_keys_to_show(shop: Any) -> None:
    target, source = tables("source")
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
    target, source = new_target(shop, null=null_in == "target"), tables(null_in)[1]
    looked = plan(shop, f"MERGE INTO {target} AS t USING {source} AS s ON {on} {clauses}")
    assert looked.refused is None
    assert looked.write.deletion_vectors
    assert apply(shop, looked).kept


@pytest.mark.parametrize(("properties", "before"), [("'x' = 'y'", ""), (DELETION_VECTORS, OFF)])
def test_without_deletion_vectors_there_is_none(shop: Any, properties: str, before: str) -> None:
    target = new_target(shop, null=True, properties=properties)
    try:
        looked = plan(
            shop, f"{before}MERGE INTO {target} AS t USING ids_of_source AS s ON {NULL_SAFE} {DELETE} {BY_SOURCE}"
        )
        assert not looked.write.deletion_vectors
        assert apply(shop, looked).kept
    finally:
        shop.conf.unset("spark.databricks.delta.merge.deletionVectors.persistent")
