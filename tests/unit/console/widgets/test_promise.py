"""Promise against actual: each deviation has its row."""

from __future__ import annotations

import pytest

from console.widgets.promise import promise_table
from console.words.glyphs import UNICODE
from engine.model.operation import Deviation
from tests.engine.plans import make_create_plan, make_outcome, make_plan


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
