"""Spark cuts what it prints of plans, and a plan that is read must be whole."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from engine.confs import read_confs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark's own defaults are 25 and all of it
WHOLE: Mapping[str, int] = {"spark.sql.debug.maxToStringFields": 10_000, "spark.sql.maxPlanStringLength": 2_147_483_632}
CUTS_BY_DEFAULT = "spark.sql.debug.maxToStringFields"


@dataclass
class _Users:
    """How many prints of a session are under way, and what it had before the first of them."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    count: int = 0
    before: dict[str, str | None] = field(default_factory=dict)


_USERS: WeakKeyDictionary[SparkSession, _Users] = WeakKeyDictionary()
_OF_USERS = threading.Lock()


@contextmanager
def printed_whole(spark: SparkSession) -> Iterator[None]:
    """Print plans uncut in the body, and put back what the session had. Several threads may do so at once."""
    with _OF_USERS:
        users = _USERS.setdefault(spark, _Users())
    with users.lock:
        if not users.count:
            users.before = _cutting(spark)
            for key in users.before:
                spark.conf.set(key, str(WHOLE[key]))
        users.count += 1
    try:
        yield
    finally:
        with users.lock:
            users.count -= 1
            if not users.count:
                _put_back(spark, users.before)


def _cutting(spark: SparkSession) -> dict[str, str | None]:
    """The confs under which the session cuts its prints, with their values; None is the default."""
    found = read_confs(spark, WHOLE)
    return {
        key: found.get(key)
        for key, wanted in WHOLE.items()
        if (int(found[key]) < wanted if key in found else key == CUTS_BY_DEFAULT)
    }


def _put_back(spark: SparkSession, before: Mapping[str, str | None]) -> None:
    for key, value in before.items():
        if value is None:
            spark.conf.unset(key)
        else:
            spark.conf.set(key, value)
