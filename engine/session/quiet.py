"""Keep PySpark and gRPC off the terminal: what they say goes to Python's logging, under ``deltamerge``."""

from __future__ import annotations

import logging
import os
import warnings

LOGGER = "deltamerge.spark"

#: They print JSON on stderr whenever a query fails, through handlers of their own.
_PYSPARK_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


class _Forward(logging.Handler):
    """Hands records on to the logger ``deltamerge.spark``."""

    def emit(self, record: logging.LogRecord) -> None:
        logging.getLogger(LOGGER).handle(record)


def quiet_environment() -> None:
    """Tell gRPC's C core to be silent. Only works before grpc is imported; harmless afterwards."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    # Its fork handlers print a line whenever a program with a channel starts a process.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")


def quiet_pyspark() -> None:
    """Route PySpark's own loggers to the logger ``deltamerge.spark``. Imports pyspark.

    That logger does not reach the root logger's handlers (nor stderr); attach a handler to
    ``deltamerge`` to keep what it says.
    """
    from pyspark.logger import PySparkLogger

    ours = logging.getLogger("deltamerge")
    ours.propagate = False
    if not ours.handlers:
        ours.addHandler(logging.NullHandler())
    for name in _PYSPARK_LOGGERS:
        # Created through PySpark: its Logger class takes keyword arguments that others refuse.
        logger = PySparkLogger.getLogger(name)
        for handler in list(logger.handlers):
            logger.removeHandler(handler)
        logger.addHandler(_Forward())
        logger.propagate = False
    # Deprecated settings, exceeded retries: each of those is an error or an advice elsewhere.
    warnings.filterwarnings("ignore", module=r"pyspark\.sql\.connect\..*")
