"""What is said of a plan whose tables were committed to since."""

from __future__ import annotations

import pytest

from console.words.moved import Moved, sentence


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
