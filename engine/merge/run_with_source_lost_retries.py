"""Run what reads the frozen source, and again where its blocks were lost.

Mirrors MergeIntoMaterializeSource.runWithMaterializedSourceLostRetries: the blocks of a local checkpoint are on the
executors' disks and go with them, so each new attempt keeps more copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from engine.model.counted import count
from engine.model.errors import EngineError
from engine.spark.confs import read_confs
from engine.spark.spark_errors import HINTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Prepared = TypeVar("Prepared")
T = TypeVar("T")
MATERIALIZE_SOURCE = "spark.databricks.delta.merge.materializeSource"
LEVELS = (
    (f"{MATERIALIZE_SOURCE}.rddStorageLevel", "DISK_ONLY"),
    (f"{MATERIALIZE_SOURCE}.rddStorageLevelFirstRetry", "DISK_ONLY_2"),
    (f"{MATERIALIZE_SOURCE}.rddStorageLevelRetry", "DISK_ONLY_3"),
)
MAX_ATTEMPTS = (f"{MATERIALIZE_SOURCE}.maxAttempts", "4")
MAKE_ANEW = "The source reads a checkpoint that was on an executor which is gone: make that anew."
BLOCK_LOST = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"
FAILED_REPEATEDLY = "DELTA_MERGE_MATERIALIZE_SOURCE_FAILED_REPEATEDLY"


class NotOurBlocksError(EngineError):
    """Blocks that are lost of a checkpoint which the operator's source reads: no attempt of ours makes them again."""


@contextmanager
def reading_what_is_not_ours() -> Iterator[None]:
    """Around the checkpoint of the source. Raises NotOurBlocksError where blocks are lost there."""
    try:
        yield
    except EngineError as error:
        if not lost_blocks(error):
            raise
        raise NotOurBlocksError(error.condition, error.message, MAKE_ANEW) from error


@dataclass(frozen=True)
class Attempt:
    """``attempt`` counts from 1; ``storage_level`` is what the source is kept at in it."""

    attempt: int
    storage_level: str


def run_with_source_lost_retries(
    spark: SparkSession,
    prepare: Callable[[Attempt], Prepared],
    run: Callable[[Attempt, Prepared], T],
) -> T:
    """``run`` over what ``prepare`` gives, both again at the next storage level where one of them lost the blocks that
    ``prepare`` made: it reads them, too, for their sum.

    After the last attempt raises Delta's DELTA_MERGE_MATERIALIZE_SOURCE_FAILED_REPEATEDLY; what else they raise is
    raised at once.
    """
    confs = read_confs(spark, (MAX_ATTEMPTS[0], *(key for key, _ in LEVELS)))
    last = int(confs.get(*MAX_ATTEMPTS))
    number = 1
    while True:
        attempt = Attempt(number, confs.get(*LEVELS[min(number, len(LEVELS)) - 1]))
        try:
            return run(attempt, prepare(attempt))
        except Exception as error:
            if not lost_blocks(error):
                raise
            if number >= last:
                raise EngineError(
                    FAILED_REPEATEDLY,
                    f"The blocks of the materialized source were lost {count(number, 'time')}.",
                    HINTS[FAILED_REPEATEDLY],
                ) from error
        number += 1


def lost_blocks(error: BaseException) -> bool:
    """Whether a block of a local checkpoint was not found: searched in the whole chain of causes, as in Delta."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen and not isinstance(cause, NotOurBlocksError):
        seen.add(id(cause))
        if BLOCK_LOST in str(cause):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
