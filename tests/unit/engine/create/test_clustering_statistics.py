"""Delta clusters by columns that get statistics alone: by their type, their place, or a property."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.create.clustering_statistics import clustering_columns, clustering_statistics
from engine.create.provided_metadata import Provided
from engine.create.situation import Situation
from engine.model.create_values import StateColumn
from engine.sql.parse_create import parse_create

AROUND = Situation(None, "/w/t", True, None, False, False)
CREATE = parse_create("CREATE TABLE t (a INT) USING delta CLUSTER BY (a)")
LEAVES = {"a": "int", "S.x": "int", "S.b": "boolean", "l": "array<int>", "z": "string", "i": "interval day to second"}
COLUMNS = tuple(
    StateColumn(name=name, type=type_)
    for name, type_ in {**LEAVES, "S": "struct<x:int,b:boolean>"}.items()
    if "." not in name
)
TYPE, STATISTICS = "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED", "DELTA_CLUSTERING_COLUMN_MISSING_STATS"
NAMES, NUMBER = "delta.dataSkippingStatsColumns", "delta.dataSkippingNumIndexedCols"


@pytest.mark.parametrize(
    ("keys", "properties", "condition"),
    [
        (("a", "S.x", "z"), {}, None),
        (("S",), {}, TYPE),
        (("s.b",), {}, TYPE),
        (("l",), {}, TYPE),
        (("i",), {}, TYPE),
        (("nosuch",), {}, None),
        (("S.x",), {NUMBER: "2"}, None),
        (("z",), {NUMBER: "4"}, STATISTICS),
        (("z",), {NUMBER: "-1"}, None),
        (("a",), {NUMBER: "0"}, STATISTICS),
        (("z",), {NUMBER: "many"}, None),
        (("s.x", "z"), {NAMES: "`s`, Z"}, None),
        (("s.x",), {NAMES: "s.x"}, None),
        (("a",), {NAMES: "z", NUMBER: "-1"}, STATISTICS),
        # the type is looked at first, whichever key lacks what
        (("z", "l"), {NUMBER: "1"}, TYPE),
    ],
)
def test_a_key_without_statistics_is_refused(
    keys: tuple[str, ...], properties: dict[str, str], condition: str | None
) -> None:
    provided = Provided(COLUMNS, (), keys, configuration=properties, leaves=LEAVES)
    found = next(clustering_statistics(CREATE, AROUND, provided), None)
    assert (found.condition if found else None) == condition


@pytest.mark.parametrize(
    ("defaults", "given", "condition"),
    [
        ({NUMBER: "1"}, {}, STATISTICS),
        ({NUMBER: "1"}, {NUMBER: "-1"}, None),
        ({NAMES: "a"}, {}, STATISTICS),
        ({NUMBER: "1", NAMES: "z"}, {}, None),
        ({NUMBER: "1"}, {NAMES: "z"}, None),
    ],
)
def test_the_session_may_set_which_columns_get_them(
    defaults: dict[str, str], given: dict[str, str], condition: str | None
) -> None:
    provided = Provided(COLUMNS, (), ("z",), configuration=given, leaves=LEAVES)
    found = next(clustering_statistics(CREATE, replace(AROUND, defaults=defaults), provided), None)
    assert (found.condition if found else None) == condition


def test_a_clone_brings_the_keys_of_its_source() -> None:
    clone = parse_create("CREATE TABLE t SHALLOW CLONE s")
    assert not [*clustering_statistics(clone, AROUND, Provided(COLUMNS, (), ("l",), leaves=LEAVES))]


@pytest.mark.parametrize(("key", "is_there"), [("a", True), ("S", True), ("S.x", True), ("A", False), ("s.x", False)])
def test_spark_looks_for_a_key_as_it_is_written(key: str, is_there: bool) -> None:
    create = parse_create(f"CREATE TABLE t (a INT) USING delta CLUSTER BY ({key})")
    found = [one.condition for one in clustering_columns(create, AROUND, Provided(COLUMNS, (), leaves=LEAVES))]
    assert found == ([] if is_there else ["UNSUPPORTED_FEATURE.PARTITION_WITH_NESTED_COLUMN_IS_UNSUPPORTED"])
