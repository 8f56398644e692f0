"""What the checks ask beside the join: it is left out where it fails, and nothing is asked again after the end."""

from __future__ import annotations

from typing import Any

import pytest

from engine.merge.count_inserts import InsertedKeys
from engine.merge.find_touched_files import ask_with_keys
from engine.merge.run_with_source_lost_retries import BLOCK_LOST
from engine.model.errors import EngineError

KEYS = InsertedKeys((1,), "w", "t", ("t.id",), (0,), "struct(t.id)", private=False)


class Spark:
    """Answers, unless it is asked for keys."""

    def __init__(self, error: EngineError) -> None:
        self.error, self.asked = error, list[Any]()

    def ask(self, keys: InsertedKeys | None) -> list[Any]:
        self.asked.append(keys)
        if keys is not None:
            raise self.error
        return ["rows"]


def test_keys_that_cannot_be_computed_are_left_out_and_it_is_said_why() -> None:
    spark = Spark(EngineError("CAST_INVALID_INPUT", "The value 'x' is no number."))
    assert ask_with_keys(spark.ask, KEYS) == (["rows"], spark.error)
    assert spark.asked == [KEYS, None]


@pytest.mark.parametrize("condition", ["CANCELLED", "SPARK_UNREACHABLE", "SPARK_ERROR"])
def test_nothing_is_asked_again_after_an_error_that_is_not_of_the_keys(condition: str) -> None:
    spark = Spark(EngineError(condition, "It ended."))
    with pytest.raises(EngineError, match="It ended"):
        ask_with_keys(spark.ask, KEYS)
    assert spark.asked == [KEYS]


def test_lost_blocks_of_the_source_are_not_taken_for_an_error_of_the_keys() -> None:
    spark = Spark(EngineError("X", BLOCK_LOST))
    with pytest.raises(EngineError, match=BLOCK_LOST):
        ask_with_keys(spark.ask, KEYS)
    assert spark.asked == [KEYS]
