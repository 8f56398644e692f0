"""Promise against actual: what a commit did, beside what its plan said."""

from __future__ import annotations

from dataclasses import replace

from engine.commit.promise_check import deviations, outcome_of, outcome_of_commit
from engine.commit.staleness import Staleness
from engine.model.operation import Deviation
from engine.table.commits import Commit
from tests.engine.plans import make_plan

COMMIT = Commit(
    version=8,
    timestamp="2026-11-21T10:00:00.000Z",
    operation="MERGE",
    metrics={"numTargetRowsUpdated": 3, "numOutputRows": 9},
    read_version=7,
    user_metadata=None,
)
FRESH = Staleness("fresh", 7, ("v7 WRITE",))


def test_what_the_commit_shows_as_promised_deviates_in_nothing() -> None:
    assert deviations({"numTargetRowsUpdated": 3}, COMMIT, checked=7) == ()
    assert deviations({}, None, checked=7) == ()


def test_each_number_that_differs_is_told_in_the_promises_order() -> None:
    promise = {"numOutputRows": 8, "numTargetRowsUpdated": 3, "numSourceRows": 5}
    assert deviations(promise, COMMIT) == (
        Deviation(metric="numOutputRows", promised=8, actual=9),
        Deviation(metric="numSourceRows", promised=5, actual=None),
    )


def test_without_a_commit_each_promised_number_is_missing() -> None:
    assert deviations({"numOutputRows": 8}, None) == (Deviation(metric="numOutputRows", promised=8, actual=None),)


def test_another_version_that_was_read_than_the_one_that_was_checked_is_told() -> None:
    assert deviations({}, COMMIT, checked=6) == (Deviation(metric="readVersion", promised=6, actual=7),)
    assert deviations({}, COMMIT) == ()


def test_an_outcome_is_kept_where_nothing_deviates() -> None:
    plan = make_plan(promise={"numTargetRowsUpdated": 3})
    found = outcome_of(plan, "op", FRESH, COMMIT, 1200)
    assert (found.kept, found.version, found.read_version, found.deviations) == (True, 8, 7, ())
    assert (found.table, found.duration_ms, found.moved_by, found.verdict) == (
        plan.target.name,
        1200,
        ("v7 WRITE",),
        "fresh",
    )
    assert (found.metrics, found.promise) == (COMMIT.metrics, plan.promise)
    assert (found.plan_id, found.op_id) == (plan.plan_id, "op")


def test_a_commit_of_ours_whose_promise_is_not_known_is_told_as_it_is() -> None:
    found = outcome_of_commit(COMMIT, "plan", "op", "demo.orders")
    assert (found.plan_id, found.op_id, found.table, found.verdict) == ("plan", "op", "demo.orders", "fresh")
    assert (found.version, found.read_version, found.metrics) == (8, 7, COMMIT.metrics)
    assert (found.promise, found.deviations) == ({}, ())


def test_an_outcome_is_not_kept_with_a_deviation_or_without_a_commit() -> None:
    plan = make_plan(promise={})
    more = (Deviation(metric="x", promised=1, actual=2),)
    assert outcome_of(plan, "op", FRESH, COMMIT, more=more).deviations == more
    assert not outcome_of(plan, "op", FRESH, COMMIT, more=more).kept
    assert not outcome_of(plan, "op", replace(FRESH, version=6), COMMIT).kept
    nothing = outcome_of(plan, "op", FRESH, None)
    assert (nothing.kept, nothing.version, nothing.read_version, nothing.metrics) == (False, None, None, {})
