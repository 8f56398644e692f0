"""Where a change is concentrated: values that most of the changed rows have, and few others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.model.changes import Concentration
from engine.model.checks import Checks
from engine.model.plan import Target
from engine.preflight.changed_rows import ACTION, ChangedColumn, ChangedRows
from engine.preflight.counted_values import first_of_each
from engine.spark.spark_errors import collected
from engine.sql.literals import shown
from engine.sql.names import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEW_ROWS = 10
"""With fewer changed rows nothing is called concentrated: a person reads them."""
MAX_DISTINCT, MIN_SHARE, MIN_LIFT, MAX_LENGTH, MOST = 1000, 0.5, 2.0, 100, 5


@dataclass(frozen=True)
class CommonValue:
    """A value, as text, that ``rows`` of the changed rows have in ``column``."""

    column: ChangedColumn
    value: str | None
    rows: int


def concentrations(
    spark: SparkSession, target: Target, target_sql: str, rows: ChangedRows, num_changed: int
) -> tuple[Concentration, ...]:
    """The likeliest causes first, by their share in the change and in the table before it.

    Columns with more than about 1,000 values are left out. The table is read for the columns in question alone, above
    the limit of the checks (``max_bytes``) for its partition columns alone; one without rows has no shares.
    """
    narrow = target.num_bytes > Checks().max_bytes
    columns = [
        one
        for one in rows.columns
        if one.column.before is not None and one.is_grouped and (not narrow or one.name in target.partition_columns)
    ]
    if num_changed < FEW_ROWS or not columns:
        return ()
    common = _common_values(spark, rows, columns, num_changed)
    if not common:
        return ()
    found = [
        Concentration(
            column=one.column.name, value=one.value, rows=one.rows, share=one.rows / num_changed, table_share=share
        )
        for one, (share, distinct) in zip(common, _in_table(spark, target_sql, common), strict=False)
        if distinct <= MAX_DISTINCT
    ]
    # inserted rows may be the first with NULL in many columns
    notable = sorted(found, key=lambda one: (-one.share, -one.lift, one.value is None))
    return tuple(one for one in notable if one.lift >= MIN_LIFT)[:MOST]


def _common_values(
    spark: SparkSession, rows: ChangedRows, columns: Sequence[ChangedColumn], num_changed: int
) -> list[CommonValue]:
    """The value of each column that most changed rows had before, or have after if they are inserted."""
    values = {one.at: f"CASE WHEN is_new THEN {one.after} ELSE {one.before} END" for one in columns}
    cells = ", ".join(f"named_struct('at', {one.at}, 'value', {shown(values[one.at], one.type)})" for one in columns)
    changed = f"{ACTION} <> 'update' OR {rows.some_value_changes}"
    grouped = (
        "SELECT cell.at, cell.value, count(*) AS n FROM (SELECT explode(`array`("
        f"{cells})) AS cell FROM (SELECT *, {ACTION} = 'insert' AS is_new FROM {rows.view}) WHERE {changed}) "
        f"GROUP BY 1, 2 HAVING count(*) >= {MIN_SHARE} * {num_changed}"
    )
    by_place = {one.at: one for one in columns}
    first = collected(spark, first_of_each(grouped, "n DESC, value", 1))
    return [
        CommonValue(by_place[row["at"]], row["value"], int(row["n"]))
        for row in first
        if len(row["value"] or "") <= MAX_LENGTH
    ]


def _in_table(spark: SparkSession, target_sql: str, common: Sequence[CommonValue]) -> list[tuple[float, int]]:
    """For each value its share of the table's rows, and how many values its column has, nearly; nothing if it has no
    rows."""
    items = ["count(*) AS n"]
    for place, one in enumerate(common):
        column = quote(one.column.name)
        # no quote or ${…} in a value can end it
        value = "NULL" if one.value is None else f"CAST(X'{one.value.encode().hex()}' AS STRING)"
        items.append(f"count_if({shown(column, one.column.type)} <=> {value}) AS n{place}")
        items.append(f"approx_count_distinct({column}) AS distinct{place}")
    row = collected(spark, f"SELECT {', '.join(items)} FROM {target_sql}")[0]
    places = range(len(common) if row["n"] else 0)
    return [(row[f"n{place}"] / row["n"], int(row[f"distinct{place}"])) for place in places]
