"""What a plan keeps of its session: confs that change a MERGE's meaning, tags, and the session's own id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.model.errors import UsageError
from engine.model.plan import SessionRef
from engine.spark.confs import AS_WRITTEN, AT_ANY_AGE, ESCAPED, confs_set, is_connect, is_on, of_now, read_confs
from engine.spark.spark_errors import translate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MERGE = "spark.databricks.delta.merge."
KEPT_CONFS = (
    f"{MERGE}materializeSource",
    f"{MERGE}materializeSource.rddStorageLevel",
    f"{MERGE}forceSourceMaterializationWithUnreadableFilesConfig",
    f"{MERGE}materializeCachedSource",
    f"{MERGE}failIfSourceChanged",
    f"{MERGE}optimizeInsertOnlyMerge.enabled",
    f"{MERGE}optimizeMatchedOnlyMerge.enabled",
    f"{MERGE}repartitionBeforeWrite.enabled",
    f"{MERGE}deletionVectors.persistent",
    f"{MERGE}preserveNullSourceStructs",
    f"{MERGE}preserveNullSourceStructs.updateStar",
    "spark.databricks.delta.schema.autoMerge.enabled",
    "spark.databricks.delta.optimizeWrite.enabled",
    "spark.databricks.delta.autoCompact.enabled",
    "spark.databricks.delta.stats.collect",
    "spark.databricks.delta.stats.skipping",
    "spark.databricks.delta.numRecordsValidation.enabled",
    "spark.databricks.delta.resolveMergeUpdateStructsByName.enabled",
    "spark.databricks.delta.updateAndMergeCastingFollowsAnsiEnabledFlag",
    "spark.sql.ansi.enabled",
    "spark.sql.storeAssignmentPolicy",
    "spark.sql.caseSensitive",
    "spark.sql.session.timeZone",
    "spark.sql.readSideCharPadding",
    "spark.sql.files.ignoreMissingFiles",
    "spark.sql.files.ignoreCorruptFiles",
)


TIME_ZONE = "spark.sql.session.timeZone"
ALREADY_THERE = ("TEMP_TABLE_OR_VIEW_ALREADY_EXISTS", "VARIABLE_ALREADY_EXISTS")
PLANNED = "deltamerge.planned"
"""Set in a session in which something was planned. A server that forgot a session makes a new one with its id."""


def kept_confs(spark: SparkSession) -> dict[str, str]:
    """The confs that are set and change what a MERGE does, and the time zone, whose default is the server's own."""
    confs = read_confs(spark, (*KEPT_CONFS, TIME_ZONE))
    return {**confs, TIME_ZONE: confs.get(TIME_ZONE) or str(spark.conf.get(TIME_ZONE))}


@contextmanager
def confs_as_planned(spark: SparkSession, confs: Mapping[str, str]) -> Iterator[None]:
    """Set the ``confs`` of a plan for the body, and unset the other KEPT_CONFS: they were at their default.

    Versions of any age are read: those that the plan is pinned to grow old. The newest is that of now.
    """
    others = {key: value for key, value in read_confs(spark, KEPT_CONFS).items() if key not in confs}
    try:
        for key in others:
            spark.conf.unset(key)
        with confs_set(spark, {**confs, **AT_ANY_AGE, **of_now(spark)}):
            yield
    finally:
        for key, value in others.items():
            spark.conf.set(key, value)


@contextmanager
def read_as_planned(spark: SparkSession, confs: Mapping[str, str]) -> Iterator[None]:
    """:func:`confs_as_planned`, and names are read as they are written, as the plan read them: that of a column may
    hold ``${name}``."""
    with confs_as_planned(spark, {**confs, **AS_WRITTEN}):
        yield


@dataclass(frozen=True)
class Whereabouts:
    """Where work runs, so that another process can find out what became of it. All None on a classic session, whose
    driver ends with its process. ``endpoint`` is ``host:port``, without a token."""

    endpoint: str | None = None
    session_id: str | None = None
    user_id: str | None = None


def whereabouts(spark: SparkSession) -> Whereabouts:
    if not is_connect(spark):
        return Whereabouts()
    client: Any = spark.client
    return Whereabouts(
        endpoint=str(client._builder.endpoint),
        session_id=str(spark.session_id),  # type: ignore[attr-defined]
        user_id=str(getattr(client, "_user_id", "") or "") or None,
    )


def session_ref(spark: SparkSession, view: str | None, staged: str | None = None) -> SessionRef:
    """How another process finds the frozen source: the Connect session's ids, None on a classic one."""
    where = whereabouts(spark)
    return SessionRef(session_id=where.session_id, user_id=where.user_id, source_view=view, staged=staged)


@contextmanager
def tagged(spark: SparkSession, tag: str | None) -> Iterator[None]:
    """Mark the Spark work of the body, so that ``spark.interruptTag(tag)`` cancels it from another thread."""
    if tag is None:
        yield
        return
    spark.addTag(tag)
    try:
        yield
    finally:
        spark.removeTag(tag)


@contextmanager
def untagged(spark: SparkSession) -> Iterator[None]:
    """Hide the Spark work of the body from the tags around it, so that they do not cancel it."""
    tags = spark.getTags()
    spark.clearTags()
    try:
        yield
    finally:
        for tag in tags:
            spark.addTag(tag)


def run_setup(spark: SparkSession, statements: Sequence[str], *, again: bool = False) -> None:
    """Run the statements that stand before the MERGE. ``again``: an existing temporary view or variable may
    stay."""
    for one in statements:
        try:
            spark.sql(one).collect()
        except Exception as error:
            failure = translate(error, one)
            if not (again and failure.condition in ALREADY_THERE):
                raise failure from error


def refuse_unwritable(spark: SparkSession, params: Mapping[str, str]) -> None:
    """Raise UsageError for a value of a parameter whose literal this session would read as another text."""
    odd = [name for name, value in params.items() if "'" in value or "\\" in value or "${" in value]
    if odd and is_on(read_confs(spark, (ESCAPED,)), ESCAPED, "false"):
        raise UsageError(
            "SQL_PARAMETER_NOT_WRITABLE",
            f"The value of :{odd[0]} has a quote, a backslash or ${{: {ESCAPED} lets none be written as it is.",
            f"RESET {ESCAPED}, or write the value into the statement.",
        )
