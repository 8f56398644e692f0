"""Another release of Spark: rows follow from SQL and are promised, what goes by Delta's code is not."""

from __future__ import annotations

from dataclasses import fields

import pytest

from engine.merge.plan_writes import Promise
from engine.model.plan import Engines, Estimate
from engine.model.write import WritePlan
from engine.preflight.untested_spark import ROWS, ROWS_ALONE, rows_alone, untested_spark


@pytest.mark.parametrize(
    ("release", "is_warned"), [("4.2.0", False), ("4.2.3", False), ("4.1.4", True), ("4.20.0", True)]
)
def test_a_spark_of_another_release_is_warned_of(release: str, is_warned: bool) -> None:
    warnings = untested_spark(Engines(spark=release, delta="4.4.0", deltamerge="0.1.0"), ROWS_ALONE)
    assert [one.code for one in warnings] == (["UNTESTED_SPARK"] if is_warned else [])
    assert all(release in one.sentence for one in warnings)


def test_of_it_the_numbers_of_rows_alone_are_promised() -> None:
    write = WritePlan(
        extra_op_type="writeAllUpdatesAndDeletes",
        join_type=None,
        deletion_vectors=False,
        change_data_feed=False,
        unmodified_rows_written=True,
    )
    files = {"numTargetRowsCopied": 9, "numTargetFilesRemoved": 2, "numSourceRows": 5, "numOutputRows": 12}
    promise = Promise(
        "ClassicMergeExecutor", write, {**dict.fromkeys(ROWS, 3), **files}, {"x": Estimate(low=0, high=1)}, (), 0
    )
    less = rows_alone(promise)
    assert less.metrics == dict.fromkeys(ROWS, 3)
    assert less.estimates == {}
    kept = [one.name for one in fields(Promise) if one.name not in ("metrics", "estimates")]
    assert all(getattr(less, name) == getattr(promise, name) for name in kept)
