"""Promise against actual: each deviation has its row."""

from __future__ import annotations

import pytest

from console.places.merge.rehearse import rehearsal_page
from console.places.statement.plan_pages import promise_page
from console.widgets.page import Page, Table
from console.widgets.promise import promise_table
from console.words.glyphs import UNICODE
from engine.model.operation import Deviation
from tests.engine.plans import make_create_plan, make_outcome, make_plan, make_rehearsal


def table_of(page: Page) -> Table:
    assert page.table is not None
    return page.table


@pytest.mark.parametrize(
    ("found", "row"),
    [
        (Deviation(metric="readVersion", promised=7, actual=8), ("readVersion", "7", "8", "✖ DEVIATED")),
        (Deviation(metric="tableId", promised="a\x1b", actual="b"), ("tableId", r"a\x1b", "b", "✖ DEVIATED")),
        (Deviation(metric="columns", promised="k", actual=None), ("columns", "k", "", "✖ DEVIATED")),
    ],
)
def test_what_deviates_beside_the_promised_numbers_has_a_row(found: Deviation, row: tuple[str, ...]) -> None:
    outcome = make_outcome("op").model_copy(update={"kept": False, "deviations": (found,)})
    for plan in (make_plan(), make_create_plan(), None):
        rows = promise_table(plan, outcome, UNICODE).rows
        assert [one for one in rows if one[0] == found.metric] == [row]


def test_what_was_estimated_stands_beside_what_came() -> None:
    outcome = make_outcome("op").model_copy(update={"metrics": {"numTargetFilesAdded": 4, "scanTimeMs": 7}})
    rows = promise_table(make_plan(), outcome, UNICODE).rows
    assert ("numTargetFilesAdded", "1 to 2", "4", "estimated") in rows
    assert ("scanTimeMs", "-", "7", "not promised") in rows
    assert ("numTargetFilesAdded", "1 to 2", "≈", "estimated") in table_of(promise_page(make_plan(), UNICODE)).rows


def test_a_rehearsal_says_of_an_estimate_what_the_plan_and_its_commit_say() -> None:
    rehearsal = make_rehearsal(metrics={"numTargetFilesAdded": 4, "scanTimeMs": 7})
    rows = table_of(rehearsal_page(rehearsal, make_plan().estimates, UNICODE)).rows
    assert ("numTargetFilesAdded", "1 to 2", "4", "estimated") in rows
    assert ("scanTimeMs", "-", "7", "not promised") in rows
