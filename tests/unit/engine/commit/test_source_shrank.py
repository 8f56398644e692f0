"""A source with far fewer rows than those of the runs before."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from engine.commit.source_shrank import CODE, with_source_shrank
from engine.model.checks import Checks
from engine.model.plan import Refused
from engine.model.plans import AnyPlan
from tests.engine.plans import make_create_plan, make_plan

ALL = Checks()


def planned(rows: int, *before: int, checks: Checks | None = ALL, plan: AnyPlan | None = None) -> AnyPlan:
    history: Any = SimpleNamespace(source_rows=lambda *_: before)
    merge = make_plan(warnings=())
    return with_source_shrank(
        history,
        plan or merge.model_copy(update={"source": merge.source.model_copy(update={"num_rows": rows})}),
        checks,
    )


@pytest.mark.parametrize(
    ("rows", "before", "warned"),
    [
        (49, (100, 100, 100), True),
        (50, (100, 100, 100), False),
        (49, (100, 100), False),
        # the median: one run that was small, or large, says little
        (49, (100, 100, 100, 1, 1), True),
        (49, (90, 1000, 90), False),
        # an empty source has a warning of its own
        (0, (100, 100, 100), False),
    ],
)
def test_less_than_half_of_the_median_of_three_runs_is_told(rows: int, before: tuple[int, ...], warned: bool) -> None:
    assert [one.code for one in planned(rows, *before).warnings] == [CODE] * warned


def test_it_says_what_the_runs_before_had() -> None:
    (remark,) = planned(10, 1_000, 2_000, 3_000).warnings
    assert remark.sentence == "The source has 10 rows; the last 3 runs had 2,000 in the median."
    assert remark.evidence.endswith("newest first: 1,000, 2,000, 3,000.")
    assert (remark.count, remark.severity) == (10, "warning")


def test_checks_make_it_an_error_or_leave_it_out() -> None:
    assert planned(10, 100, 100, 100, checks=Checks(errors=(CODE,))).warnings[0].severity == "error"
    assert planned(10, 100, 100, 100, checks=Checks(off=(CODE,))).warnings == ()
    assert planned(10, 100, 100, 100, checks=None).warnings == ()


def test_only_a_merge_that_can_run_is_compared() -> None:
    created = make_create_plan()
    assert planned(10, 100, 100, 100, plan=created) == created
    refused = make_plan(refused=Refused(condition="X", message="…"))
    assert planned(10, 10_000, 10_000, 10_000, plan=refused) == refused
