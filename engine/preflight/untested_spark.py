"""What is promised on a release of Spark that this program was not tested with: rows, which follow from SQL alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from engine.merge.plan_writes import ROW_METRICS, Promise
from engine.model.plan import Engines, Remark

TESTED_SPARK: Final = "4.2"
# how many rows are read and copied goes by Delta's code
ROWS = tuple(name for name in ROW_METRICS if name not in ("numSourceRows", "numTargetRowsCopied"))


def is_tested(engines: Engines) -> bool:
    """Whether Spark is of the release that promises are tested with. SQL does not tell which Delta it has."""
    return engines.spark.split(".")[:2] == TESTED_SPARK.split(".")


def rows_alone(promise: Promise) -> Promise:
    """``promise`` without the metrics that go by Delta's code: files, bytes, vectors, and the rows that are copied or
    read."""
    return replace(promise, metrics={name: promise.metrics[name] for name in ROWS}, estimates={})


ROWS_ALONE: Final = "the numbers of rows are promised, those of files are not"
NO_NUMBER: Final = "no number is promised"


def untested_spark(engines: Engines, promised: str) -> tuple[Remark, ...]:
    """The warning of it; none where Spark is tested. ``promised``: what holds all the same."""
    if is_tested(engines):
        return ()
    return (
        Remark(
            code="UNTESTED_SPARK",
            sentence=f"Spark is {engines.spark}, and promises are tested with Spark {TESTED_SPARK} alone: {promised}.",
            evidence=f"The files and the metadata shown are those of Delta {engines.delta} on Spark {TESTED_SPARK}.",
        ),
    )
