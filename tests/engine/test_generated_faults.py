"""Faults of random merges are counted as plain Python counts them: ``pytest -m fidelity --faults N`` for any number."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from engine.model.checks import SILENT_FAULTS, Checks
from engine.model.plan import Plan
from engine.plan_statement import plan
from tests.conftest import own_schema
from tests.engine.faulty_merges import TARGET_COLUMNS, FaultyMerge, faults, faulty_merge, outcome

IN_CI = 10


@pytest.fixture(scope="module")
def table(spark: Any) -> Iterator[Any]:
    with own_schema(spark):
        columns = ", ".join(f"{name} {kind}" for name, kind in TARGET_COLUMNS.items())
        spark.sql(f"CREATE TABLE t ({columns}) USING DELTA")
        yield spark


@pytest.mark.fidelity
def test_faults_of_random_merges_are_those_that_plain_python_counts(table: Any, request: pytest.FixtureRequest) -> None:
    wanted = request.config.getoption("--faults")
    first = random.randrange(1_000_000) if wanted else 0
    seen: Counter[str] = Counter()
    for seed in range(first, first + (wanted or IN_CI)):
        merge = faulty_merge(seed)
        done = outcome(merge)
        found = planned(table, merge)
        if done is None:
            assert found.refused is not None, (seed, merge.target_rows, merge.sql)
            assert found.refused.condition == "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", (
                seed,
                merge.sql,
            )
            seen["refused"] += 1
            continue
        assert found.refused is None, (seed, merge.sql, found.refused)
        theirs = {w.code: w.count for w in found.warnings if w.code in SILENT_FAULTS or w.code == "CHECK_FAILED"}
        assert theirs == faults(merge, done), (seed, merge.target_rows, merge.sql)
        seen.update(theirs.keys() or ["clean"])
    print(f"seeds from {first}: {dict(seen)}")


def planned(spark: Any, merge: FaultyMerge) -> Plan:
    spark.sql("DELETE FROM t").collect()
    if merge.target:
        spark.sql(f"INSERT INTO t VALUES {merge.target_rows}").collect()
    found = plan(spark, merge.sql, rows=0, checks=Checks())
    assert isinstance(found, Plan)
    return found
