"""The promise is kept: for merges of every kind, each promised metric equals the commit's in DESCRIBE HISTORY."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from engine.spark.confs import confs_set
from tests.conftest import own_schema
from tests.engine.fidelity import check_merge
from tests.engine.merges import CASES, Case, build_source, build_target
from tests.engine.some import some

ON_CLASSIC = some(
    ("plain-upsert-materialized", "vectors-some-each", "vectors_feed-not-matched-by-source"), ("vectors-some-each",)
)


@pytest.fixture(scope="module")
def connect_shop(spark: Any) -> Iterator[Any]:
    """The Connect session in a schema that has the source."""
    yield from _shop(spark)


@pytest.fixture(scope="module")
def classic_shop(classic: Any) -> Iterator[Any]:
    yield from _shop(classic)


def _shop(spark: Any) -> Iterator[Any]:
    with own_schema(spark):
        build_source(spark)
        yield spark


BY_NAME = {case.name: case for case in CASES}
# random merges are of all these kinds, and run beside them
PARAMETERS = some(
    BY_NAME,
    (
        "insert-only-optimization-off",
        "a-with-query-takes-no-version",
        "no-key-to-join-by",
    ),
)


@pytest.mark.parametrize("name", PARAMETERS)
def test_promise_equals_describe_history(connect_shop: Any, name: str) -> None:
    check(connect_shop, BY_NAME[name])


@pytest.mark.parametrize("name", ON_CLASSIC)
def test_promise_equals_describe_history_on_a_classic_session(classic_shop: Any, name: str) -> None:
    check(classic_shop, BY_NAME[name])


def test_an_error_of_delta_keeps_its_class_on_a_classic_session(classic_shop: Any) -> None:
    build_target(classic_shop, "short_of", BY_NAME["plain-upsert-materialized"].table)
    wrong = "MERGE INTO short_of t USING (SELECT id FROM src) s ON s.id = t.id WHEN NOT MATCHED THEN INSERT *"
    assert check_merge(classic_shop, "short_of", wrong) == "DELTA_MERGE_UNRESOLVED_EXPRESSION"


def check(spark: Any, case: Case) -> None:
    table = f"tgt_{uuid.uuid4().hex[:8]}"
    build_target(spark, table, case.table)
    with confs_set(spark, dict(case.confs)):
        became = check_merge(spark, table, case.into(table), rows=2 if case.name.startswith("plain-") else 0)
    assert became in {"committed", "nothing to do"}
