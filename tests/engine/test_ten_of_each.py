"""Ten of each silent fault, planted among rows without any, and the clean twin of each.

SOURCE_SHRANK is about runs before: tests/engine/test_source_shrank.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.model.checks import Checks
from tests.conftest import own_schema
from tests.engine.test_silent_faults import INSERT, UPSERT, counts, planned


@pytest.fixture(scope="module")
def many(spark: Any) -> Iterator[Any]:
    with own_schema(spark):
        spark.sql(
            "CREATE TABLE many USING DELTA AS "
            "SELECT CAST(id AS INT) AS id, 'old' AS v, 5 AS seq, id >= 10 AS current FROM range(100)"
        )
        yield spark


def of_many(items: str, count: int, clauses: str = UPSERT, on: str = "t.id = s.id") -> str:
    """A MERGE of ``count`` rows, ``i`` from 0, into the table ``many``."""
    source = f"SELECT {items} FROM (SELECT CAST(id AS INT) AS i FROM range({count}))"
    return f"MERGE INTO many AS t USING ({source}) AS s ON {on} {clauses}"


LATER_ROW = "'new' AS v, 9 AS seq, true AS current"
SPELT = "concat({}, CAST(i DIV 2 AS STRING)) AS id, 'new' AS v"
SET_V = "WHEN MATCHED THEN UPDATE SET v = s.v"
INSERT_V = "WHEN NOT MATCHED THEN INSERT (v) VALUES (s.v)"
ABSENT = "WHEN NOT MATCHED BY SOURCE THEN DELETE"
# ten of each, and the twin that has none
TEN_OF_EACH: dict[str, tuple[str, str, Checks]] = {
    "NULL_KEYS_INSERTED": (
        of_many(f"if(i < 10, NULL, 1000 + i) AS id, {LATER_ROW}", 20),
        of_many(
            f"if(i < 10, NULL, 1000 + i) AS id, {LATER_ROW}", 20, "WHEN NOT MATCHED AND s.id IS NOT NULL THEN INSERT *"
        ),
        Checks(),
    ),
    "DUPLICATE_INSERTS": (
        of_many(f"1000 + i DIV 2 AS id, {LATER_ROW}", 20),
        of_many(f"1000 + i AS id, {LATER_ROW}", 20),
        Checks(),
    ),
    "KEY_EXISTS_OUTSIDE_ON": (
        of_many(f"i AS id, {LATER_ROW}", 20, on="t.id = s.id AND t.current"),
        of_many(f"i + 10 AS id, {LATER_ROW}", 20, on="t.id = s.id AND t.current"),
        Checks(),
    ),
    "ON_WITHOUT_KEY": (
        of_many(f"1000 + i AS id, {LATER_ROW}", 10, SET_V, on="t.id = s.id OR t.v = s.v"),
        of_many(f"1000 + i AS id, {LATER_ROW}", 10, INSERT, on="false"),
        Checks(),
    ),
    "UPDATES_CHANGE_NOTHING": (
        of_many("i AS id, if(i < 10, 'old', 'new') AS v, 5 AS seq, i >= 10 AS current", 20),
        of_many("i AS id, if(i < 10, 'old', 'new') AS v, 6 AS seq, i >= 10 AS current", 20),
        Checks(),
    ),
    "UPDATES_GO_BACK": (
        of_many("i AS id, 'new' AS v, if(i < 10, 4, 5) AS seq, true AS current", 20),
        of_many("i AS id, 'new' AS v, if(i < 10, 4, 5) AS seq, true AS current", 20, SET_V),
        Checks(),
    ),
    "SOURCE_EMPTY": (of_many(f"i AS id, {LATER_ROW}", 0), of_many(f"i AS id, {LATER_ROW}", 1), Checks()),
    "DELETES_BY_ABSENCE": (
        of_many("i + 10 AS id, 'new' AS v", 90, ABSENT),
        of_many("i + 5 AS id, 'new' AS v", 95, ABSENT),
        Checks(deletes_share=0.09),
    ),
    "KEYS_COLLIDE_BY_CAST": (
        of_many(SPELT.format("if(i % 2 = 0, '', '0')"), 10, INSERT_V),
        of_many(SPELT.format("if(i % 2 = 0, '', '9')"), 10, INSERT_V),
        Checks(off=("NULL_KEYS_INSERTED",)),
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("code", TEN_OF_EACH)
def test_ten_of_each_are_found_and_none_in_the_twin(many: Any, code: str) -> None:
    planted, twin, checks = TEN_OF_EACH[code]
    assert counts(planned(many, planted, checks)) == {code: 0 if code == "SOURCE_EMPTY" else 10}
    assert counts(planned(many, twin, checks)) == {}
