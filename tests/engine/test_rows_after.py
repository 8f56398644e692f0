"""The rows after the MERGE and its change feed, computed without committing, equal what Delta writes."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from engine.spark.confs import confs_set
from tests.conftest import own_schema
from tests.engine.fidelity import check_values, compute
from tests.engine.merges import CASES, FEED, build_source, build_target
from tests.engine.some import some

PARAMETERS = some(
    (
        "vectors_feed-some-each",
        "feed-delete-with-duplicates",
        "feed-not-matched-by-source",
        "vectors_feed-by-source-delete-empty-source",
        "plain-insert-only",
        "vectors_feed-insert-two-clauses",
        "insert-clause-rewrites-all-matches",
    ),
    ("feed-not-matched-by-source",),
)


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[Any]:
    with own_schema(spark):
        build_source(spark)
        yield spark


@pytest.mark.parametrize("name", PARAMETERS)
def test_rows_and_changes_equal_what_delta_writes(shop: Any, name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    table = f"tgt_{uuid.uuid4().hex[:8]}"
    build_target(shop, table, case.table)
    check(shop, table, case.into(table))


def check(spark: Any, table: str, sql: str) -> dict[str, list[Any]]:
    """Compute, run the plain MERGE, compare row for row."""
    computed = compute(spark, table, sql)
    spark.sql(sql).collect()
    check_values(spark, table, computed)
    written = spark.sql(f"SELECT * FROM {table}").collect()
    return {name: [row[name] for row in written] for name in computed.columns}


def test_rows_and_changes_are_two_frames_under_legacy_casts(shop: Any) -> None:
    """Each is a view there, and both may be of as many parts."""
    table = f"tgt_{uuid.uuid4().hex[:8]}"
    build_target(shop, table, FEED)
    clauses = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
    with confs_set(shop, {"spark.sql.storeAssignmentPolicy": "LEGACY"}):
        check(shop, table, f"MERGE INTO {table} t USING src s ON t.id = s.id {clauses}")


@pytest.mark.thorough
def test_the_first_of_two_equal_clauses_takes_the_rows(shop: Any) -> None:
    table = f"tgt_{uuid.uuid4().hex[:8]}"
    build_target(shop, table, FEED)
    twice = "WHEN NOT MATCHED BY SOURCE AND t.k = 3 THEN UPDATE SET v = concat(t.v, '!') " * 2
    check(shop, table, f"MERGE INTO {table} t USING src s ON t.id = s.id {twice}")
