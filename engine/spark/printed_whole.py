"""Spark cuts what it prints of plans, and a plan that is read must be whole."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from engine.spark.confs import read_confs, set_conf, unset_conf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIELDS = "spark.sql.debug.maxToStringFields"
LENGTH = "spark.sql.maxPlanStringLength"
WHOLE = {FIELDS: "10000", LENGTH: "2147483632b"}


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
                set_conf(spark, key, WHOLE[key])
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
    confs = read_confs(spark, (FIELDS, LENGTH))
    cuts: dict[str, str | None] = {}
    if int(confs.get(FIELDS, "25")) < int(WHOLE[FIELDS]):
        cuts[FIELDS] = confs.get(FIELDS)
    # Spark's own default is the longest text that it can print
    if LENGTH in confs and confs[LENGTH] != WHOLE[LENGTH]:
        cuts[LENGTH] = confs[LENGTH]
    return cuts


def _put_back(spark: SparkSession, before: Mapping[str, str | None]) -> None:
    for key, value in before.items():
        if value is None:
            unset_conf(spark, key)
        else:
            set_conf(spark, key, value)
