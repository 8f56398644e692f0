"""Browsing."""

from __future__ import annotations

from typing import Any

import pytest

from engine.model.browse import Column
from engine.model.errors import CancelledError
from engine.table.tables import has_cut, list_schemas, list_tables


class Cancelled:
    """A session whose work is cancelled at the statement that begins with ``at``."""

    def __init__(self, at: str) -> None:
        self.at = at
        self.asked: list[str] = []

    def sql(self, text: str) -> Cancelled:
        self.asked.append(text)
        if text.startswith(self.at):
            raise CancelledError("CANCELLED", "It was cancelled.")
        return self

    def collect(self) -> list[list[str]]:
        return [[{"SHOW CATALOGS": "other"}.get(self.asked[-1], "main")]]


@pytest.mark.parametrize(
    ("browse", "at"),
    [
        (lambda spark: list_tables(spark, "demo"), "SHOW TABLE EXTENDED"),
        (list_schemas, "SHOW SCHEMAS IN"),
    ],
)
def test_nothing_else_is_asked_after_a_cancel(browse: Any, at: str) -> None:
    spark = Cancelled(at)
    with pytest.raises(CancelledError):
        browse(spark)
    assert spark.asked[-1].startswith(at)


@pytest.mark.parametrize(
    ("type_", "cell", "cut"),
    [
        ("string", "1234", False),
        ("string", "1234… (+1)", True),
        ("string", "…(+)", False),
        ("binary", "0xABAB", False),
        ("binary", "0xABAB… (+1)", True),
        ("string", None, False),
        ("decimal(38,10)", "12345", False),
    ],
)
def test_a_cell_is_cut_where_it_is_longer_than_those_that_stay_whole(type_: str, cell: str | None, cut: bool) -> None:
    assert has_cut((Column(name="x", type=type_),), ((cell,),), 4) is cut
