"""What is said of a plan whose tables were committed to since."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from console.words.moved import Moved, moved_since, moved_to, sentence
from engine.model.operation import Operation
from engine.model.plan import Clause
from engine.model.plans import AnyPlan
from tests.engine.plans import make_create_plan, make_plan


@pytest.mark.parametrize(
    ("planned", "now", "is_target", "said"),
    [
        (3, 5, True, "demo.t moved from v3 to v5 since this plan: stale, unless other rows changed."),
        (-1, 0, True, "demo.t moved to v0 since this plan: stale, unless other rows changed."),
        (3, 5, False, "demo.t, which it reads, is at v5 by now: this plan is of its v3."),
        (3, None, True, "demo.t was dropped since this plan: stale."),
    ],
)
def test_a_table_is_called_as_everywhere_and_its_versions_are_told(
    planned: int, now: int | None, is_target: bool, said: str
) -> None:
    assert sentence(Moved("spark_catalog.demo.t", planned, now, is_target)) == said


def absent(kind: str) -> AnyPlan:
    clauses = (Clause(kind=kind, condition=None, action="DELETE", action_kind="delete"),)  # type: ignore[arg-type]
    plan = make_plan()
    return plan.model_copy(update={"statement": plan.statement.model_copy(update={"clauses": clauses})})


@pytest.mark.parametrize(
    ("plan", "kinds", "certain"),
    [
        (absent("matched"), ["merge"], False),
        (absent("not_matched_by_source"), ["merge"], True),
        (make_create_plan(), ["merge"], True),
        (absent("matched"), ["merge", "restore"], True),
        (absent("matched"), ["create_table"], True),
    ],
)
def test_a_plan_that_any_commit_makes_stale_is_called_so_for_certain(
    plan: AnyPlan, kinds: list[str], certain: bool
) -> None:
    def one(kind: str, version: int) -> Operation:
        row: dict[str, Any] = {"op_id": "o", "plan_id": "another", "kind": kind, "table": "t", "sql": ""}
        times = {"started_at": "2026-11-21T10:00:00Z", "finished_at": "2026-11-21T10:00:01Z"}
        return Operation(status="applied", version=version, **row, **times)

    newest = plan.target.version + len(kinds)
    since = [one(kind, newest - at) for at, kind in enumerate(kinds)]
    moved = moved_since(plan, datetime(2026, 11, 20, tzinfo=timezone.utc), lambda _: since)
    assert moved is not None
    assert moved.now == newest
    assert sentence(moved).endswith("stale." if certain else "stale, unless other rows changed.")


@pytest.mark.parametrize(
    ("plan", "certain"), [(make_plan(), False), (absent("not_matched_by_source"), True), (make_create_plan(), True)]
)
def test_a_version_that_no_ledger_knows_is_told_if_it_is_newer(plan: AnyPlan, certain: bool) -> None:
    planned = plan.target.version
    assert moved_to(plan, planned) is None
    assert moved_to(plan, -1) is None
    assert moved_to(plan, planned + 2) == Moved(
        plan.target.name, planned, planned + 2, is_target=True, is_stale=certain
    )
