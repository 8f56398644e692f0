"""What Delta derives from generated columns, asked of Delta by itself."""

from __future__ import annotations

import pytest

from engine.explore.scan_explorer import as_sql
from engine.model.browse import Column

TYPES = {"d": "date", "y": "int", "m": "int", "p": "string", "b": "binary"}
SCHEMA = [Column(name=name, type=of_type, nullable=True) for name, of_type in TYPES.items()]
DAY = "CAST('2024-01-03' AS date)"


@pytest.mark.parametrize(
    ("printed", "sql"),
    [
        ("((d >= 2024-01-03) OR isnull((d >= 2024-01-03)))", f"((`d` >= {DAY}) OR isnull((`d` >= {DAY})))"),
        ("isnull(d)", "isnull(`d`)"),
        ("(isnull(p) OR (p = a b))", "(isnull(`p`) OR (`p` = CAST('a b' AS string)))"),
        (
            "((y > 2024) OR ((y = 2024) AND (m >= 3)))",
            "((`y` > CAST('2024' AS int)) OR ((`y` = CAST('2024' AS int)) AND (`m` >= CAST('3' AS int))))",
        ),
        # a text that looks like another comparison, and one that Spark prints as bytes
        ("(isnull(p) OR (p = a) OR (p = b))", None),
        ("((p <= a) OR (p <= b) OR isnull((p <= a) OR (p <= b)))", None),
        ("(isnull(p) OR (p = isnull(p)))", None),
        ("(isnull(b) OR (b = 0x61))", None),
        # what is no comparison of a column
        ("((unix_timestamp(p, yyyy-MM, Some(UTC), true) >= 1704067200) OR isnull(p))", None),
        ("(isnull(gone) OR (gone = 1))", None),
        ("true", None),
    ],
)
def test_a_derived_filter_is_asked_as_delta_applies_it(printed: str, sql: str | None) -> None:
    assert as_sql(printed, SCHEMA) == sql
