"""Values as text, counted by column: each row of a query has its column's place ``at``."""

from __future__ import annotations


def first_of_each(grouped: str, order: str, limit: int) -> str:
    """The first ``limit`` rows of each column."""
    # QUALIFY came with Spark 4.2
    ranked = f"SELECT *, row_number() OVER (PARTITION BY at ORDER BY {order}) AS nth FROM ({grouped})"
    return f"SELECT * EXCEPT (nth) FROM ({ranked}) WHERE nth <= {limit} ORDER BY at, {order}"
