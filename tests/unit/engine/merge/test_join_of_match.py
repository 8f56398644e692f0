"""What Spark filters the target by before it joins: known for plain keys, and for nothing else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import types as t

from engine.merge.analyze import Expression, Key
from engine.merge.join_of_match import filters_of_target

TYPES = t.StructType(
    [
        t.StructField("id", t.LongType()),
        t.StructField("n", t.IntegerType()),
        t.StructField("v", t.StringType()),
    ]
)


def named(text: str) -> Expression:
    sides: dict[str, list[str]] = {"s": [], "t": []}
    for word in text.replace("(", " ").replace(")", " ").split():
        side, _, name = word.partition(".")
        if side in sides:
            sides[side].append(name)
    return Expression(text, tuple(sides["s"]), tuple(sides["t"]), text)


def merge(*on: str) -> Any:
    keys = []
    for text in on:
        left, sign, right = text.partition(" = ")
        if sign and left.startswith("t.") and "s." in right:
            keys.append(Key(named(right), named(left), False, text))
    return SimpleNamespace(on=tuple(map(named, on)), keys=tuple(keys), source_type=TYPES, target_type=TYPES)


def test_the_target_is_filtered_by_its_own_conjuncts_and_by_keys_that_are_not_null() -> None:
    filters = filters_of_target(merge("t.id = s.id", "t.v > 'a'", "t.n = s.n"))
    assert filters == ("TRUE", "(t.id\n) IS NOT NULL", "t.v > 'a'", "(t.n\n) IS NOT NULL")


@pytest.mark.parametrize(
    ("on", "why"),
    [
        (["t.id = s.id", "s.n > 5"], "a conjunct over the source may be inferred of the target"),
        (["t.id = s.id", "t.n = s.id"], "two keys of one column are equal"),
        (["t.id > s.id"], "it is no key"),
        (["t.v = s.n"], "a cast may make the key NULL"),
        (["t.id = abs( s.id )"], "the key is no column"),
    ],
)
def test_where_spark_may_infer_more_nothing_is_known(on: list[str], why: str) -> None:
    assert filters_of_target(merge(*on)) is None, why


def test_a_key_that_is_widened_is_never_null_by_that() -> None:
    assert filters_of_target(merge("t.id = s.n")) is not None
