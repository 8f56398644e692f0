"""Is this Spark one that merges can be planned on? Looks at a session: versions, Delta, rights, storage, clock."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

from engine.model.errors import EngineError
from engine.preflight.log_store_warning import log_store_warnings
from engine.session.confs import CATALOG, EXTENSION
from engine.session.jars import delta_package
from engine.spark.release import release
from engine.spark.session_state import tagged
from engine.spark.spark_errors import translate
from engine.sql.names import quote
from engine.table.table_state import can_be_reached, schema_location

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# a path that is nowhere: what Spark says of it tells whether Delta is there to look
NOWHERE = "/deltamerge-console/no/such/table"
# without the jars `delta` is the name of a schema that is not there
NO_JARS = ("TABLE_OR_VIEW_NOT_FOUND", "DATA_SOURCE_NOT_FOUND", "CLASS_NOT_FOUND")
NOT_USED = "UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY"
CLOCK_SECONDS = 5
JOB = "SELECT count(*) FROM range(0, 1000, 1, 4)"
JOB_SECONDS = 60


@dataclass(frozen=True)
class SparkFinding:
    """One thing that was looked at, and what to do where it is not as it should be."""

    name: str
    verdict: Literal["ok", "warn", "fail"]
    found: str
    hint: str = ""


def check_spark(spark: SparkSession, job_seconds: float = JOB_SECONDS) -> tuple[SparkFinding, ...]:
    """All findings, in the order in which things are needed. Runs one small job, reads no table. Raises nothing."""
    looks: tuple[tuple[str, Callable[[], SparkFinding]], ...] = (
        ("version", lambda: _version(spark)),
        ("extension", lambda: _conf(spark, "extension", "spark.sql.extensions", EXTENSION)),
        ("catalog", lambda: _conf(spark, "catalog", "spark.sql.catalog.spark_catalog", CATALOG)),
        ("delta", lambda: _delta(spark)),
        ("schemas", lambda: _schemas(spark)),
        ("storage", lambda: _storage(spark)),
        ("job", lambda: _job(spark, job_seconds)),
        ("clock", lambda: _clock(spark)),
    )
    return (*(finding(name, look) for name, look in looks), *_log_store(spark))


def finding(name: str, look: Callable[[], SparkFinding]) -> SparkFinding:
    """What ``look`` finds; a failed one where it raises."""
    try:
        return look()
    except Exception as error:
        reason = translate(error)
        return SparkFinding(name, "fail", str(reason), reason.hint)


def _version(spark: SparkSession) -> SparkFinding:
    theirs, ours = spark.version, version("pyspark")
    if release(theirs) == release(ours):
        return SparkFinding("version", "ok", f"Spark {theirs}")
    return SparkFinding("version", "fail", f"Spark {theirs}, and PySpark {ours} here", "Both must be of one release.")


def _conf(spark: SparkSession, name: str, key: str, wanted: str) -> SparkFinding:
    value = spark.conf.get(key, "") or ""
    if wanted in value.split(","):
        return SparkFinding(name, "ok", f"{key} is Delta's")
    return SparkFinding(name, "fail", f"{key} is {value or 'not set'}", f"Start that Spark with {key}={wanted}.")


def _delta(spark: SparkSession) -> SparkFinding:
    try:
        _ = spark.sql(f"SELECT 1 FROM delta.{quote(NOWHERE)}").schema
    except Exception as error:
        reason = translate(error)
        if reason.condition.startswith(NOT_USED):
            hint = "Set its extension and its catalog to Delta's."
            return SparkFinding("delta", "fail", "Delta's jars are there, and this Spark does not use them", hint)
        if reason.condition.startswith(NO_JARS) or "ClassNotFound" in reason.message:
            hint = f"Start that Spark with --packages {delta_package(spark.version)}."
            return SparkFinding("delta", "fail", f"Delta's jars are not there: {reason.condition}", hint)
    return SparkFinding("delta", "ok", "Delta answers")


def _schemas(spark: SparkSession) -> SparkFinding:
    schemas = spark.sql("SHOW SCHEMAS").collect()
    return SparkFinding("schemas", "ok", f"can be listed: {len(schemas)}")


def _storage(spark: SparkSession) -> SparkFinding:
    place = schema_location(spark, ("default",))
    if not place:
        return SparkFinding("storage", "warn", "the schema default has no place of its own")
    try:
        can_be_reached(spark, place)
    except EngineError as error:
        hint = "Check the credentials, and the file system's jar and settings (spark.hadoop.fs.…)."
        return SparkFinding("storage", "fail", f"{place} cannot be reached: {error}", hint)
    return SparkFinding("storage", "ok", f"{place} can be reached")


def _log_store(spark: SparkSession) -> tuple[SparkFinding, ...]:
    """None where the schema default is not on S3."""
    try:
        place = schema_location(spark, ("default",)) or ""
        return tuple(
            SparkFinding("log store", "warn", one.sentence, one.evidence) for one in log_store_warnings(spark, place)
        )
    except Exception as error:
        reason = translate(error)
        return (SparkFinding("log store", "fail", str(reason), reason.hint),)


def _job(spark: SparkSession, seconds: float) -> SparkFinding:
    tag = f"doctor-{uuid.uuid4().hex}"
    timer = threading.Timer(seconds, lambda: spark.interruptTag(tag))
    timer.daemon = True
    timer.start()
    began = time.monotonic()
    try:
        with tagged(spark, tag):
            spark.sql(JOB).collect()
    except Exception as error:
        reason = translate(error)
        if time.monotonic() - began < seconds:
            return SparkFinding("job", "fail", f"a small job fails: {reason}", reason.hint)
        hint = "No executor takes it: look at the cluster's free cores, and whether its workers reach this driver."
        return SparkFinding("job", "fail", f"a small job has not ended after {seconds:.0f} s", hint)
    finally:
        timer.cancel()
    return SparkFinding("job", "ok", f"a small job took {time.monotonic() - began:.1f} s")


def _clock(spark: SparkSession) -> SparkFinding:
    before = time.time()
    theirs = int(spark.sql("SELECT unix_millis(current_timestamp())").collect()[0][0]) / 1000
    after = time.time()
    off = seconds_off(before, theirs, after)
    if abs(off) <= CLOCK_SECONDS:
        return SparkFinding("clock", "ok", "the clocks agree")
    hint = "Set both by a time server: the history and TIMESTAMP AS OF go by them."
    return SparkFinding("clock", "warn", f"Spark's clock is {off:+.0f} s off this machine's", hint)


def seconds_off(before: float, theirs: float, after: float) -> float:
    """By how much a clock that showed ``theirs`` between the two is ahead at least, or behind (below 0)."""
    return theirs - after if theirs > after else min(0.0, theirs - before)
