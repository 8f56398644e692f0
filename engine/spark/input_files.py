"""The files that Spark would read for a query (``DataFrame.inputFiles``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def files_of_query(spark: SparkSession, query: str) -> list[str]:
    """Runs nothing. Raises what Spark raises.

    PySpark's Connect client caches every such frame (functools.cache), and with it a closed session and its channel:
    that cache is cleared.
    """
    frame = spark.sql(query)
    try:
        return list(frame.inputFiles())
    finally:
        forget = getattr(type(frame).inputFiles, "cache_clear", None)
        if forget is not None:
            forget()
