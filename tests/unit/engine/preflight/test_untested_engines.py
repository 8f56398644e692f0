"""Another release of Spark or Delta: rows follow from SQL and are promised, what goes by Delta's code is not."""

from __future__ import annotations

from dataclasses import fields

import pytest

from engine.merge.plan_writes import Promise
from engine.model.plan import Engines, Estimate
from engine.model.write import WritePlan
from engine.preflight.untested_engines import ROWS, ROWS_ALONE, rows_alone, untested_engines


@pytest.mark.parametrize(
    ("release", "is_warned"),
    [("4.0.1", False), ("4.1.4", False), ("4.2.0", False), ("4.3.0", True), ("3.5.9", True), ("4.20.0", True)],
)
def test_a_spark_of_another_release_is_warned_of(release: str, is_warned: bool) -> None:
    warnings = untested_engines(Engines(spark=release, delta="4.4.0", deltamerge="0.1.0"), ROWS_ALONE)
    assert [one.code for one in warnings] == (["UNTESTED_SPARK"] if is_warned else [])
    assert all(release in one.sentence for one in warnings)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("4.4.1", None),
        ("4.0.1", "Delta is 4.0.1, and promises are tested with Delta"),
        ("unknown", "Delta does not tell its version, and promises are tested with Delta"),
    ],
)
def test_a_delta_of_another_release_is_warned_of(number: str, words: str | None) -> None:
    warnings = untested_engines(Engines(spark="4.2.0", delta=number, deltamerge="0.1.0"), ROWS_ALONE)
    assert [one.code for one in warnings] == (["UNTESTED_DELTA"] if words else [])
    assert all(one.sentence.startswith(words or "") for one in warnings)


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
