"""Confs of a session, read over SQL so that classic and Connect answer alike."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATS_SKIPPING = "spark.databricks.delta.stats.skipping"
# A read prunes partitions by filters that Delta derives from generated columns, a MERGE does not; what is derived from
# a time is untrue for rows that were written under another session time zone.
GENERATED_FILTERS = "spark.databricks.delta.generatedColumn.partitionFilterOptimization.enabled"
# For a query that stands for the MERGE (prepare_delta_scan.merge_reads). While statistics are off, Delta can merge into
# a table with deletion vectors but cannot read it.
AS_MERGE_READS = {STATS_SKIPPING: "true", GENERATED_FILTERS: "false"}
TRAVEL_ENFORCED = "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration"
"""If this conf is false, Delta restores and reads versions of any age."""
AT_ANY_AGE = {TRAVEL_ENFORCED: "false"}
"""For a version that the operation itself is about: its files are there until VACUUM deletes them."""
OUTPUT = "spark.sql.parquet.outputTimestampType"
OUTPUT_OF_V2 = "spark.databricks.delta.table.parquetV2.timestampOutputType"
REBASE = "spark.sql.parquet.datetimeRebaseModeInWrite"
REBASE_INT96 = "spark.sql.parquet.int96RebaseModeInWrite"
TIMES_AS_THEY_ARE = {
    OUTPUT: "TIMESTAMP_MICROS",
    OUTPUT_OF_V2: "TIMESTAMP_MICROS",
    REBASE: "CORRECTED",
    REBASE_INT96: "CORRECTED",
}
"""Under these Parquet holds each date and time as it is; by other values it may hold another, or none."""
AS_WRITTEN = {"spark.sql.variable.substitute": "false"}
"""Under it Spark puts no conf's value into our queries, in which a name or a default of the table may hold ``${…}``."""
STALENESS = "spark.databricks.delta.stalenessLimit"
"""Under this conf Delta answers a read from a version that it knows, though a newer one may be there: a MERGE never."""
ESCAPED = "spark.sql.parser.escapedStringLiterals"
EXCLUDED_RULES = "spark.sql.optimizer.excludedRules"
LIMIT_PARTITIONS = "spark.sql.limit.initialNumPartitions"
# Adaptive execution runs every shuffle as a job of its own and plans again after it, and each task costs
# milliseconds even if it holds nothing: for a query over a few rows that is most of the time. A LIMIT looks at one
# partition in its first job, at four more in the next, and so on.
ONE_JOB = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    LIMIT_PARTITIONS: "1000",
}
FEW_ROWS = 1_000_000
# To write Java for a query and compile it takes longer than to run it over so few rows, and a second task to start.
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
}
VERY_FEW_ROWS = 50_000
# What Spark infers of computed columns doubles with each of them that a condition compares (SPARK-33152): forty fill
# the driver's memory while the query is planned, and nothing ends that.
WITHOUT_INFERENCE = {"spark.sql.constraintPropagation.enabled": "false"}


# Spark counts 4 MB for each file that a task opens: of many small ones each task has few, and starting it takes longer.
# So many make tasks enough that none of them is much longer than the others.
MANY_FILES = 1_000
OPEN_COST = {"spark.sql.files.openCostInBytes": str(128 * 1024)}


@dataclass
class _Known:
    """The confs of a session in which ``plans`` are made."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    plans: int = 0
    confs: dict[str, str] = field(default_factory=dict)


_KNOWN: WeakKeyDictionary[SparkSession, _Known] = WeakKeyDictionary()
_OF_KNOWN = threading.Lock()


def for_rows(*counts: int | None) -> dict[str, str]:
    """The confs for a query over about so many rows together. None is an unknown number, which may be large."""
    numbers = [count for count in counts if count is not None]
    rows = sum(numbers)
    if len(numbers) < len(counts) or rows > FEW_ROWS:
        return {}
    return ONE_JOB if rows > VERY_FEW_ROWS else ONE_JOB | INTERPRETED


def is_connect(spark: SparkSession) -> bool:
    """Whether the session is one of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def for_files(count: int) -> dict[str, str]:
    """The confs for queries that read so many files."""
    return OPEN_COST if count >= MANY_FILES else {}


@contextmanager
def confs_known(spark: SparkSession) -> Iterator[None]:
    """Ask a session of Spark Connect for its confs once, and know them in the body, where only this engine sets any.

    Each question goes to the server and back. Where two plans are made at once, neither ends what the other knows; that
    they set confs of one session is a limit (docs/explanation/limits.md).
    """
    if not is_connect(spark):
        yield
        return
    with _OF_KNOWN:
        known = _KNOWN.setdefault(spark, _Known())
    with known.lock:
        # each plan asks anew: a statement before its MERGE may have set some
        known.confs = dict(spark.conf.getAll)
        known.plans += 1
    try:
        yield
    finally:
        with known.lock:
            known.plans -= 1


def every_conf(spark: SparkSession) -> Mapping[str, str]:
    """All confs that the session or the server of Spark Connect sets."""
    known = _KNOWN.get(spark)
    if known is not None:
        with known.lock:
            if known.plans:
                return dict(known.confs)
    return spark.conf.getAll


def read_confs(spark: SparkSession, keys: Iterable[str]) -> dict[str, str]:
    """The values of ``keys`` that the session or the server sets; those left at their default are left out."""
    if not is_connect(spark):
        # one call for each key; getAll is one for each conf that is set, and ends with an error that Java raises
        values = {key: spark.conf.get(key, None) for key in keys}
        return {key: str(value) for key, value in values.items() if value is not None}
    every = every_conf(spark)
    return {key: str(every[key]) for key in keys if key in every}


def set_conf(spark: SparkSession, key: str, value: str) -> None:
    with _written(spark) as confs:
        spark.conf.set(key, value)
        confs[key] = value


def unset_conf(spark: SparkSession, key: str) -> None:
    with _written(spark) as confs:
        spark.conf.unset(key)
        confs.pop(key, None)


@contextmanager
def _written(spark: SparkSession) -> Iterator[dict[str, str]]:
    """What is known of the confs, while nobody else reads or writes it."""
    known = _KNOWN.get(spark)
    if known is None:
        yield {}
        return
    with known.lock:
        yield known.confs


def is_on(values: Mapping[str, str | None], key: str, default: str = "true") -> bool:
    """Whether a conf or table property is true, in any case and with blanks around it, as in Spark."""
    value = values.get(key)
    return (default if value is None else value).strip().lower() == "true"


def of_now(spark: SparkSession) -> dict[str, str]:
    """The conf under which a read sees the newest version of a table, as a MERGE does; none where Delta does so."""
    return {STALENESS: "0"} if read_confs(spark, (STALENESS,)) else {}


@contextmanager
def confs_set(spark: SparkSession, confs: Mapping[str, str]) -> Iterator[None]:
    """Set ``confs`` for the body, and always put back what was before."""
    before = read_confs(spark, confs) if confs else {}
    # each is a call of the server
    others = {key: value for key, value in confs.items() if before.get(key) != value}
    try:
        for key, value in others.items():
            set_conf(spark, key, value)
        yield
    finally:
        for key in others:
            if key in before:
                set_conf(spark, key, before[key])
            else:
                unset_conf(spark, key)


def without_rules(spark: SparkSession, rules: Iterable[str]) -> dict[str, str]:
    """The conf under which Spark's optimizer leaves out ``rules`` (short names) beside those it leaves out already."""
    already = read_confs(spark, (EXCLUDED_RULES,)).get(EXCLUDED_RULES)
    names = [f"org.apache.spark.sql.catalyst.optimizer.{rule}" for rule in rules]
    return {EXCLUDED_RULES: ",".join([*([already] if already else []), *names])}
