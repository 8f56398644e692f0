"""A limit on how long the Spark work of a body may run."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.spark.session_state import tagged

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AGAIN_SECONDS = 1.0


@contextmanager
def time_limit(spark: SparkSession, seconds: float) -> Iterator[threading.Event]:
    """Interrupt the Spark work of the body after ``seconds``, which then fails as if it was cancelled.

    The event is set once the time is over.
    """
    tag = f"deltamerge-limit-{uuid.uuid4().hex}"
    over, done = threading.Event(), threading.Event()

    def interrupt() -> None:
        wait = seconds
        # again and again: between two queries there is nothing that it could end
        while not done.wait(wait):
            over.set()
            wait = AGAIN_SECONDS
            with contextlib.suppress(Exception):
                spark.interruptTag(tag)

    watcher = threading.Thread(target=interrupt, name="time-limit", daemon=True)
    with tagged(spark, tag):
        watcher.start()
        try:
            yield over
        finally:
            done.set()
            watcher.join()
