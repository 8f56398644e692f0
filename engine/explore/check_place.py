"""May tables be kept at a place? Looks at a folder or a prefix of a store with a session: list, read, write, clock."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.explore.check_spark import CLOCK_SECONDS, SparkFinding, finding, seconds_off
from engine.model.errors import EngineError
from engine.preflight.log_store_warning import log_store_warnings
from engine.spark.spark_errors import collected
from engine.spark.why_refused import says_why_refused
from engine.sql.names import quote, string
from engine.table.delta_log import escaped
from engine.table.table_state import can_be_reached, has_log_directory, holds_data, is_a_place, schema_location

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROBE = "deltamerge_probe_"
MISSING = "Check the path, or make the folder. The first table that is written there makes it, too."
RIGHTS = "Check what these credentials may do there: list, get, put, delete."


def place_of_schema(spark: SparkSession, schema: str) -> str:
    """Where the tables of ``schema`` are kept. Raises EngineError if it is not there or has no place of its own."""
    place = schema_location(spark, tuple(schema.split(".")))
    if not place:
        raise EngineError("NO_LOCATION", f"The schema {schema} has no place of its own.", "Name a place with --path.")
    return place


def check_place(spark: SparkSession, place: str, *, writes: bool) -> tuple[SparkFinding, ...]:
    """What may be done at ``place``, in the order in which a merge needs it.

    ``writes``: a small Delta table is made there in a folder of its own, read and deleted again; without it nothing
    is written. Raises nothing.
    """
    place = place.rstrip("/") or "/"
    looks: list[tuple[str, Callable[[], SparkFinding]]] = [
        ("list", lambda: _list(spark, place)),
        ("read", lambda: _read(spark, place)),
        ("log store", lambda: _log_store(spark, place)),
    ]
    if writes:
        looks.append(("write", lambda: _write(spark, place)))
    return tuple(finding(name, look) for name, look in looks)


@says_why_refused
def _list(spark: SparkSession, place: str) -> SparkFinding:
    can_be_reached(spark, place)
    if not is_a_place(spark, place):
        return SparkFinding("list", "warn", f"{place} is not there", MISSING)
    return SparkFinding("list", "ok", f"{place} can be listed")


def _read(spark: SparkSession, place: str) -> SparkFinding:
    if not has_log_directory(spark, place):
        return SparkFinding("read", "ok", "no Delta table is there: nothing was read")
    collected(spark, f"SELECT 1 FROM delta.{quote(place)} LIMIT 1")
    return SparkFinding("read", "ok", "the Delta table there can be read")


def _log_store(spark: SparkSession, place: str) -> SparkFinding:
    for warning in log_store_warnings(spark, place):
        return SparkFinding("log store", "warn", warning.sentence, warning.evidence)
    return SparkFinding("log store", "ok", "no commit can overwrite that of another driver with the same log store")


def _write(spark: SparkSession, place: str) -> SparkFinding:
    """Delta writes and reads: SQL has no other statement that makes a file and deletes it."""
    if not is_a_place(spark, place):
        # it would be made for the try, and SQL has no statement that takes away a folder which is not ours
        return SparkFinding("write", "warn", f"nothing was written: {place} is not there", MISSING)
    with _probe(spark, place) as (schema, folder):
        before = _now(spark)
        collected(spark, f"CREATE TABLE {schema}.probe USING delta AS SELECT 1 AS x")
        collected(spark, f"INSERT INTO {schema}.probe VALUES (2)")
        collected(spark, f"SELECT x FROM {schema}.probe")
        off = seconds_off(before, _written_at(spark, f"{folder}/probe/_delta_log"), _now(spark))
    if holds_data(spark, folder):
        return SparkFinding("write", "fail", f"{folder} was written and cannot be deleted", f"Delete it. {RIGHTS}")
    done = "two commits were written, read and deleted again"
    if abs(off) <= CLOCK_SECONDS:
        return SparkFinding("write", "ok", done)
    hint = "Set both by a time server: TIMESTAMP AS OF, VACUUM and signed requests go by them."
    return SparkFinding("write", "warn", f"{done}; the store's clock is {off:+.0f} s off Spark's", hint)


@contextmanager
def _probe(spark: SparkSession, place: str) -> Iterator[tuple[str, str]]:
    """(a schema of ours in a folder of its own, that folder): DROP deletes the files of managed tables alone."""
    name = f"{PROBE}{uuid.uuid4().hex[:12]}"
    folder = f"{place}/{name}"
    collected(spark, f"CREATE SCHEMA {quote(name)} LOCATION {string(folder)}")
    drop = f"DROP SCHEMA IF EXISTS {quote(name)} CASCADE"
    try:
        yield quote(name), folder
    except BaseException:
        with contextlib.suppress(EngineError):  # why it failed is what counts
            collected(spark, drop)
        raise
    collected(spark, drop)


def _now(spark: SparkSession) -> float:
    """Spark's clock, in seconds."""
    return int(collected(spark, "SELECT unix_millis(current_timestamp())")[0][0]) / 1000


def _written_at(spark: SparkSession, log: str) -> float:
    """The store's clock when it took the newest file of ``log``, in seconds."""
    newest = f"SELECT unix_millis(max(_metadata.file_modification_time)) FROM text.{quote(escaped(log))}"
    return int(collected(spark, newest)[0][0]) / 1000
