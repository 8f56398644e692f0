"""Faults of random merges are counted as plain Python counts them: ``pytest -m fidelity --faults N`` for any number.

``--merges-log FILE`` adds a line for each merge, its seed and its faults, so that short runs count as one long one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from engine.model.checks import SILENT_FAULTS, Checks
from engine.model.plan import Plan
from engine.plan_statement import plan
from tests.conftest import own_schema
from tests.engine.faulty_merges import TARGET_COLUMNS, FaultyMerge, faults, faulty_merge, outcome

IN_CI = 4


@pytest.fixture(scope="module")
def table(spark: Any) -> Iterator[Any]:
    with own_schema(spark):
        columns = ", ".join(f"{name} {kind}" for name, kind in TARGET_COLUMNS.items())
        spark.sql(f"CREATE TABLE t ({columns}) USING DELTA")
        yield spark


@pytest.mark.fidelity
def test_faults_of_random_merges_are_those_that_plain_python_counts(table: Any, request: pytest.FixtureRequest) -> None:
    wanted, log = request.config.getoption("--faults"), request.config.getoption("--merges-log")
    first = random.randrange(1_000_000) if wanted else 0
    seen: Counter[str] = Counter()
    rows = ""
    for seed in range(first, first + (wanted or IN_CI)):
        merge = faulty_merge(seed)
        if merge.target_rows != rows:
            rows = merge.target_rows
            write(table, rows)
        found = sorted(checked(table, merge, seed)) or ["clean"]
        seen.update(found)
        if log:
            with log.open("a") as file:
                file.write(f"{seed} {' '.join(found)}\n")
    print(f"seeds from {first}: {dict(seen)}")


def write(spark: Any, rows: str) -> None:
    spark.sql("DELETE FROM t").collect()
    if rows:
        spark.sql(f"INSERT INTO t VALUES {rows}").collect()


def checked(spark: Any, merge: FaultyMerge, seed: int) -> Iterable[str]:
    """The codes of the merge, whose counts are those of plain Python."""
    found = plan(spark, merge.sql, rows=0, checks=Checks())
    assert isinstance(found, Plan)
    done = outcome(merge)
    if done is None:
        assert found.refused is not None, (seed, merge.target_rows, merge.sql)
        several = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
        assert found.refused.condition == several, (seed, merge.target_rows, merge.sql)
        return ["refused"]
    assert found.refused is None, (seed, merge.target_rows, merge.sql, found.refused)
    counts = {w.code: w.count for w in found.warnings if w.code in SILENT_FAULTS or w.code == "CHECK_FAILED"}
    assert counts == faults(merge, done), (seed, merge.target_rows, merge.sql)
    return counts
