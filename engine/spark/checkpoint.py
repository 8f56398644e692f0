"""An eager local checkpoint under a view's name: rows computed once, on the executors' disks, in no table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.model.errors import EngineError
from engine.spark.spark_errors import translate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def checkpoint(spark: SparkSession, query: str, level: str, view: str) -> None:
    """Run ``query`` once into an eager local checkpoint at ``level`` (DISK_ONLY…) and name it ``view``.

    The blocks live as long as the session.
    """
    from pyspark import StorageLevel

    try:
        frame = spark.sql(query).localCheckpoint(eager=True, storageLevel=getattr(StorageLevel, level))
        _name(spark, frame, view)
    except Exception as error:
        raise out_of_disk(error) or translate(error) from error


def _name(spark: Any, frame: Any, view: str) -> None:
    """PySpark 4.2 gives a Connect checkpoint to the session that is active in the process, which may be another one
    that does not know its id; and its finalizer calls the server, which hangs an interpreter that is shutting down.
    So the id is moved to the right session, and hidden from the finalizer: the blocks go when the session goes."""
    relation = getattr(frame, "_plan", None)
    relation_id = getattr(relation, "_relation_id", None)
    if relation is None or relation_id is None:
        frame.createOrReplaceTempView(view)
        return
    relation._relation_id = None
    own = spark._create_remote_dataframe(relation_id)
    try:
        own.createOrReplaceTempView(view)
    finally:
        own._plan._relation_id = None


def out_of_disk(error: BaseException) -> EngineError | None:
    """The failure that Delta records as materializeSourceOutOfDiskFailure, or None for any other."""
    if "No space left on device" not in str(error):
        return None
    return EngineError(
        "MATERIALIZE_SOURCE_OUT_OF_DISK",
        "The executors ran out of disk while the source was materialized.",
        "Free space under spark.local.dir, or merge a smaller source.",
    )
