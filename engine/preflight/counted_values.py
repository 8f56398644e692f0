"""Values as text, counted by column: each row of a query has its column's place ``at``."""

from __future__ import annotations


def first_of_each(grouped: str, order: str, limit: int) -> str:
    """The first ``limit`` rows of each column."""
    return (
        f"SELECT * FROM ({grouped}) QUALIFY row_number() OVER (PARTITION BY at ORDER BY {order}) <= {limit} "
        f"ORDER BY at, {order}"
    )
