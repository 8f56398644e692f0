"""The view Spark of a plan: what Spark itself says of the statement that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.widgets.page import Column, Page, Row, Table, sentence
from console.words.visible import visible

if TYPE_CHECKING:
    from engine.spark.explain import Explained


def spark_page(explained: Explained) -> Page:
    """Spark's plans of the statement that runs, a line of theirs a row: they are wider than any screen."""
    known = {
        "Analyzed Logical": explained.analyzed,
        "Optimized Logical": explained.optimized,
        "Physical": explained.physical,
    }
    rows: list[Row] = []
    for name, text in known.items():
        if text:
            rows += [(f"== {name} Plan ==",), *((visible(line),) for line in text.splitlines()), ("",)]
    words = (
        "EXPLAIN EXTENDED of the statement that runs, by Spark itself; Delta plans the merge's own joins as it runs."
    )
    return Page((sentence(words, "$foreground-muted"),), Table([Column("plan")], rows))
