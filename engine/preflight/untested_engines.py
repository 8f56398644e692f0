"""What is promised on a Spark or a Delta that this program was not tested with: rows, which follow from SQL alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from engine.merge.plan_writes import ROW_METRICS, Promise
from engine.model.plan import Engines, Remark
from engine.spark.engine_versions import UNKNOWN
from engine.spark.release import release

TESTED_SPARK: Final = ("4.0", "4.1", "4.2")
TESTED_DELTA: Final = ("4.4",)
# how many rows are read and copied goes by Delta's code
ROWS = tuple(name for name in ROW_METRICS if name not in ("numSourceRows", "numTargetRowsCopied"))
ROWS_ALONE: Final = "the numbers of rows are promised, those of files are not"
NO_NUMBER: Final = "no number is promised"


def is_tested(engines: Engines) -> bool:
    """Whether Spark and Delta are of releases that promises are tested with."""
    return release(engines.spark) in TESTED_SPARK and release(engines.delta) in TESTED_DELTA


def rows_alone(promise: Promise) -> Promise:
    """``promise`` without the metrics that go by Delta's code: files, bytes, vectors, and the rows that are copied or
    read."""
    return replace(promise, metrics={name: promise.metrics[name] for name in ROWS}, estimates={})


def untested_engines(engines: Engines, promised: str) -> tuple[Remark, ...]:
    """A warning of each that is not tested. ``promised``: what holds all the same."""
    found = (
        ("UNTESTED_SPARK", "Spark", engines.spark, TESTED_SPARK),
        ("UNTESTED_DELTA", "Delta", engines.delta, TESTED_DELTA),
    )
    return tuple(
        _untested(code, name, number, tested, promised)
        for code, name, number, tested in found
        if release(number) not in tested
    )


def _untested(code: str, name: str, number: str, tested: tuple[str, ...], promised: str) -> Remark:
    met = f"{name} does not tell its version" if number == UNKNOWN else f"{name} is {number}"
    known = ", ".join(tested)
    return Remark(
        code=code,
        sentence=f"{met}, and promises are tested with {name} {known} alone: {promised}.",
        evidence=f"The files and the metadata shown are those of {name} {known}.",
    )
