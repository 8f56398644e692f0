"""Whether other drivers may overwrite a commit: S3 has no rename, so it depends on Delta's log store alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from engine.model.plan import Remark
from engine.session.stores import LOG_STORE
from engine.spark.confs import read_confs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CODE: Final = "SINGLE_DRIVER_LOG_STORE"
ONE_DRIVER: Final = (
    "Let one driver alone write to the table, or start Spark with the log store of --store s3; it protects only where "
    "every writer of the table uses it."
)
_S3 = re.compile(r"(s3[an]?)://", re.IGNORECASE)


def log_store_warnings(spark: SparkSession, path: str) -> tuple[Remark, ...]:
    """The warning if ``path`` is on S3 and the session is not known to use the log store of this program; else none.

    Delta takes the class from ``spark.delta.logStore.SCHEME.impl`` (LogStoreProvider); without one, or where it is not
    shown, S3SingleDriverLogStore is what it takes.
    """
    scheme = _S3.match(path)
    if scheme is None:
        return ()
    key = f"spark.delta.logStore.{scheme.group(1).lower()}.impl"
    name = read_confs(spark, (key,)).get(key, "")
    if name == LOG_STORE:
        return ()
    which = f"is {name}" if name else "is not named here; Delta's own keeps writers apart in one JVM only"
    return (
        Remark(
            code=CODE,
            sentence=f"The table is on S3, and the log store of {scheme.group(1).lower()}:// {which}. If another "
            "driver writes to the table at the same time, one of the two commits may be lost without an error.",
            evidence=ONE_DRIVER,
        ),
    )
