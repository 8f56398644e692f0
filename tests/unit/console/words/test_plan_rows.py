"""A sample on one line: first what tells the row, then what changes in it."""

from __future__ import annotations

import pytest

from console.words.glyphs import ASCII
from console.words.plan_rows import estimated, plan_keys, sample_text
from engine.model.plan import Estimate, Sample
from tests.console.samples import a_plan


def test_the_key_of_a_sample_stands_first_however_late_its_column_is() -> None:
    wide = {f"c{number}": "1" for number in range(5)}
    before = {**wide, "order_date": "2026-11-19", "order_id": "7", "status": "paid"}
    update = Sample(action="update", clause=1, before=before, after={**before, "status": "shipped"})
    text = sample_text(a_plan(), update, ASCII)
    assert text.startswith("order_id=7, order_date=2026-11-19, c0=1: status paid")
    insert = Sample(action="insert", clause=1, after=before)
    assert sample_text(a_plan(), insert, ASCII).startswith("order_id=7, order_date=2026-11-19, c0=1")


def test_a_column_of_the_source_that_is_called_as_one_of_the_target_is_no_key() -> None:
    plan = a_plan()
    sql = "MERGE INTO shop.orders AS `my t` USING feed AS s ON `my t`.order_id = s.status WHEN MATCHED THEN DELETE"
    statement = plan.statement.model_copy(update={"sql": sql, "condition": "`my t`.order_id = s.status"})
    assert plan_keys(plan.model_copy(update={"statement": statement}), ["status", "order_id"]) == ("order_id",)


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (1, 2, "1 to 2"),
        (1, 164_712, "at least 1"),
        (100_000, 200_000, "100,000 to 200,000"),
        (0, 2_000, "0 to 2,000"),
        (3, 3, "3"),
    ],
)
def test_an_upper_bound_that_tells_nothing_is_left_out(low: int, high: int, told: str) -> None:
    assert estimated(Estimate(low=low, high=high)) == told
