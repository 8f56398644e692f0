"""The promise is kept: for merges of every kind, each promised metric equals the commit's in DESCRIBE HISTORY."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from engine.confs import confs_set
from tests.conftest import own_schema
from tests.engine.fidelity import check_merge
from tests.engine.merges import CASES, Case, build_source, build_target

ON_CLASSIC = ("plain-upsert-materialized", "vectors-some-each", "vectors_feed-not-matched-by-source")


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


# random merges go into tables of every kind as well
QUICK = (
    "vectors_feed-upsert-materialized",
    "vectors_feed-some-each",
    "vectors_feed-delete-with-duplicates",
    "vectors_feed-not-matched-by-source",
    "vectors_feed-insert-two-clauses",
    "matched-clause-never-true",
    "insert-clause-rewrites-all-matches",
    "null-safe-key",
    "insert-only-optimization-off",
    "a-with-query-takes-no-version",
    "a-source-with-vectors-that-is-the-target",
    "no-key-to-join-by",
)
PARAMETERS = [
    pytest.param(case, id=case.name, marks=[] if case.name in QUICK else [pytest.mark.thorough]) for case in CASES
]


@pytest.mark.parametrize("case", PARAMETERS)
def test_promise_equals_describe_history(connect_shop: Any, case: Case) -> None:
    check(connect_shop, case)


@pytest.mark.parametrize("case", [case for case in CASES if case.name in ON_CLASSIC], ids=lambda case: case.name)
def test_promise_equals_describe_history_on_a_classic_session(classic_shop: Any, case: Case) -> None:
    check(classic_shop, case)


def check(spark: Any, case: Case) -> None:
    table = f"tgt_{uuid.uuid4().hex[:8]}"
    build_target(spark, table, case.table)
    with confs_set(spark, dict(case.confs)):
        became = check_merge(spark, table, case.into(table), rows=2 if case.name.startswith("plain-") else 0)
    assert became in {"committed", "nothing to do"}
