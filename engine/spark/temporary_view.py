"""A temporary view under a name that nothing has, which is dropped again."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.model.errors import UnreachableError
from engine.spark.spark_errors import translate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def temporary_view(spark: SparkSession, prefix: str) -> Iterator[str]:
    """A new name, which the body may give to a view. That is dropped at the end, if it is there, without an error."""
    view = f"{prefix}{uuid.uuid4().hex[:12]}"
    try:
        yield view
    except BaseException as error:
        # a Spark that is gone has nothing to drop
        if not isinstance(translate(error), UnreachableError):
            drop_view(spark, view)
        raise
    drop_view(spark, view)


def drop_view(spark: SparkSession, view: str) -> None:
    """Drop the temporary view of that name, if it is there. It never fails."""
    with contextlib.suppress(Exception):
        # DROP VIEW would look for it in the catalog, too
        spark.catalog.dropTempView(view)
