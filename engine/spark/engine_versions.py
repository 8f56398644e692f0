"""Which Spark and which Delta a session has: asked until it is known."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from engine.model.errors import CancelledError, UnreachableError
from engine.model.plan import Engines
from engine.spark.spark_errors import translate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNKNOWN: Final = "unknown"
# what Scala makes of io.delta.VERSION, the constant that each commit names as its engine
DELTA_VERSION: Final = "SELECT java_method('io.delta.package', 'VERSION')"

_KNOWN: WeakKeyDictionary[SparkSession, Engines] = WeakKeyDictionary()


def engine_versions(spark: SparkSession) -> Engines:
    """The versions of the session's Spark and Delta (``unknown`` where it does not tell) and of this program."""
    known = _KNOWN.get(spark)
    if known is None:
        known = Engines(spark=str(spark.version), delta=_delta(spark), deltamerge=_own())
        if known.delta != UNKNOWN:  # the next question may be answered
            _KNOWN[spark] = known
    return known


def _delta(spark: SparkSession) -> str:
    try:
        return str(spark.sql(DELTA_VERSION).collect()[0][0])
    except Exception as error:
        if isinstance(translate(error), (CancelledError, UnreachableError)):
            raise
        return UNKNOWN


def _own() -> str:
    try:
        return version("deltamerge-console")
    except PackageNotFoundError:
        return "0+checkout"
