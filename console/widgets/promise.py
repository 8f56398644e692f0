"""Promise against actual, line by line, with a word for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.format import number
from console.visible import visible
from console.widgets.glyphs import Glyphs
from console.widgets.page import Column, Row, Table

if TYPE_CHECKING:
    from engine.values import Outcome, Plan


def promise_table(plan: Plan | None, outcome: Outcome | None, glyphs: Glyphs) -> Table:
    """The numbers that were promised and those that the commit reports."""
    columns = [
        Column("metric"),
        Column("promised", align="right"),
        Column("actual", align="right"),
        Column(""),
    ]
    promised = dict(plan.promise) if plan is not None else {}
    actual = dict(outcome.metrics) if outcome is not None else {}
    deviating = {one.metric for one in outcome.deviations} if outcome is not None else set()
    rows: list[Row] = []
    for metric, value in promised.items():
        if outcome is None or outcome.already_applied:
            word = ""
        elif metric in deviating or actual.get(metric, value) != value:
            word = f"{glyphs.error} DEVIATED"
        elif metric in actual:
            word = f"{glyphs.ok} kept"
        else:
            word = f"{glyphs.unknown} not reported"
        rows.append((visible(metric), number(value), number(actual.get(metric)), word))
    for metric, value in actual.items():
        if metric not in promised:
            rows.append((visible(metric), "-", number(value), "not promised"))
    return Table(columns, rows, "There are no numbers to compare.")
