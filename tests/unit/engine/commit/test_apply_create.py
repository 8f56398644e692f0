"""Whether a CREATE kept its promise: the operation, the version, the metrics, and the table's state part by part."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from engine.commit.apply_create import _how_other, differences, state_deviations
from engine.model.create_values import StateColumn, TableState
from engine.model.identity import Identity
from engine.table.commits import Commit
from tests.engine.plans import make_create_plan

COUNTED, BY_TWO = (Identity(start=1, step=step, always=True) for step in (1, 2))
STATE = TableState(
    location="/t",
    columns=(StateColumn(name="id", type="int"),),
    properties={"known": "1", "unknown": None},
    min_reader_version=1,
    min_writer_version=2,
    features=("appendOnly",),
    num_files=3,
    num_bytes=30,
)


def after(**changes: Any) -> TableState:
    return STATE.model_copy(update=changes)


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({}, []),
        ({"location": "/u"}, ["location"]),
        ({"columns": (StateColumn(name="id", type="bigint"),)}, ["columns"]),
        ({"partition_columns": ("id",), "clustering_columns": ("id",)}, ["partitionColumns", "clusteringColumns"]),
        ({"comment": "c"}, ["comment"]),
        ({"features": ()}, ["protocol"]),
        ({"properties": {"known": "1", "unknown": "only the commit knew it"}}, []),
        ({"properties": {"known": "2"}}, ["properties"]),
        ({"num_files": 4, "num_bytes": 40}, ["numFiles", "sizeInBytes"]),
    ],
)
def test_each_part_of_the_state_is_compared(changes: dict[str, Any], parts: list[str]) -> None:
    assert [one.metric for one in state_deviations(STATE, after(**changes))] == parts


def test_files_that_only_the_commit_knows_are_not() -> None:
    assert state_deviations(after(num_files=None, num_bytes=None), STATE) == []


@pytest.mark.parametrize(
    ("promised", "actual", "parts"),
    [
        (COUNTED, COUNTED, []),
        (COUNTED, BY_TWO, ["columns"]),
        (COUNTED, None, ["columns"]),
        (None, COUNTED, []),
    ],
)
def test_how_an_identity_counts_is_compared_if_the_plan_says_it(
    promised: Identity | None, actual: Identity | None, parts: list[str]
) -> None:
    """The plan of an older version does not."""
    column = StateColumn(name="id", type="bigint", identity=True, counted=promised)
    now = column.model_copy(update={"counted": actual})
    assert [one.metric for one in state_deviations(after(columns=(column,)), after(columns=(now,)))] == parts


def test_a_table_that_is_not_there_deviates_in_all() -> None:
    found = state_deviations(STATE, None)
    assert found[0].metric == "location"
    assert (found[0].promised, found[0].actual) == ("/t", None)
    assert len(found) == 9


def test_the_commit_is_compared_and_not_a_state_that_moved_on() -> None:
    plan = make_create_plan()
    assert plan.operation is not None
    assert plan.after is not None
    version = plan.target.version + 1
    kept = Commit(version, "now", plan.operation, plan.target.version, dict(plan.promise), None)
    there: Any = SimpleNamespace(version=version, state=plan.after)
    assert differences(plan, kept, there) == ()
    moved: Any = SimpleNamespace(version=version + 1, state=STATE)
    assert differences(plan, kept, moved) == ()
    other = Commit(version + 1, "now", "WRITE", version, dict(plan.promise), None)
    assert [one.metric for one in differences(plan, other, moved)][:2] == ["operation", "version"]
    assert {"operation", "version"} < {one.metric for one in differences(plan, None, None)}


@pytest.mark.parametrize(
    ("version", "how"), [(-1, "it is gone"), (9, "it is at v9 now"), (5, "it was dropped and created again")]
)
def test_a_table_of_the_same_version_did_not_move_to_it(version: int, how: str) -> None:
    plan = make_create_plan()
    plan = plan.model_copy(update={"target": plan.target.model_copy(update={"version": 5})})
    assert _how_other(plan, version) == how
