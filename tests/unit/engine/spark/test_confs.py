"""A plan asks for the confs of a session once, and knows what it sets itself."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spark.confs import (
    MANY_FILES,
    OPEN_COST,
    confs_known,
    confs_set,
    for_files,
    read_confs,
    set_conf,
    unset_conf,
)
from engine.spark.printed_whole import FIELDS, WHOLE, printed_whole
from tests.unit.explained import Confs


class Counted(Confs):
    """Counts how often all are asked for."""

    asked = 0

    @property
    def getAll(self) -> dict[str, str]:
        self.asked += 1
        return dict(self.values)


class OfConnect:
    def __init__(self) -> None:
        self.conf = Counted({"a": "1"})


OfConnect.__module__ = "pyspark.sql.connect.session"


@pytest.fixture
def connected() -> Any:
    return OfConnect()


def test_the_confs_are_asked_for_once(connected: Any) -> None:
    with confs_known(connected):
        assert read_confs(connected, ("a", "b")) == {"a": "1"}
        assert read_confs(connected, ("a",)) == {"a": "1"}
    assert connected.conf.asked == 1
    connected.conf.values["a"] = "another program's"
    assert read_confs(connected, ("a",)) == {"a": "another program's"}


def test_what_is_set_is_known_and_what_was_there_is_put_back(connected: Any) -> None:
    with confs_known(connected):
        set_conf(connected, "b", "2")
        with confs_set(connected, {"a": "3", "c": "4"}), printed_whole(connected):
            known = {"a": "3", "b": "2", "c": "4", FIELDS: WHOLE[FIELDS]}
            assert read_confs(connected, ("a", "b", "c", FIELDS)) == connected.conf.values == known
        assert read_confs(connected, ("a", "b", "c", FIELDS)) == connected.conf.values == {"a": "1", "b": "2"}
        unset_conf(connected, "b")
        assert read_confs(connected, ("a", "b")) == connected.conf.values == {"a": "1"}
    assert connected.conf.asked == 1


def test_a_plan_that_begins_beside_another_asks_anew_and_neither_ends_the_other(connected: Any) -> None:
    first, second = confs_known(connected), confs_known(connected)
    with first:
        connected.conf.values["a"] = "set by a statement before the second MERGE"
        second.__enter__()
        assert read_confs(connected, ("a",)) == connected.conf.values
    set_conf(connected, "b", "2")
    assert read_confs(connected, ("b",)) == {"b": "2"}
    second.__exit__(None, None, None)
    assert connected.conf.asked == 2
    assert read_confs(connected, ("b",)) == {"b": "2"}
    assert connected.conf.asked == 3


def test_an_error_leaves_nothing_known(connected: Any) -> None:
    with pytest.raises(RuntimeError), confs_known(connected):
        raise RuntimeError
    read_confs(connected, ("a",))
    assert connected.conf.asked == 2


def test_only_of_many_files_each_task_opens_many() -> None:
    assert for_files(MANY_FILES - 1) == {}
    assert for_files(MANY_FILES) == OPEN_COST
