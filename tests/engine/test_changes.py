"""What a plan changes by column, against plain Python over the table before and after Delta's own MERGE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from engine.explore.changes import changes
from engine.model.changes import Changes, ColumnChange, Transition
from engine.model.errors import UsageError
from engine.model.plan import Plan
from engine.plan_statement import plan
from engine.preflight.concentrations import MOST
from tests.conftest import own_schema

ROWS = 80
NAMES = ("status", "day", "paid", "amount", "price", "weight", "note", "spot")
MERGE = """MERGE INTO {table} USING (
  SELECT id, CASE WHEN id % 3 = 0 THEN 'refunded' ELSE 'paid' END AS status,
    CASE WHEN id % 7 = 0 THEN NULL ELSE id * 2 END AS amount, CAST(id * 1.5 AS DECIMAL(10, 2)) AS price,
    id * 0.5D AS weight, named_struct('x', id % 2) AS spot
  FROM range(1, 100, 2)) AS s ON t.id = s.id
WHEN MATCHED AND s.id > 70 THEN DELETE
WHEN MATCHED AND t.country = 'DE' THEN UPDATE SET status = s.status, amount = s.amount, price = s.price,
  weight = s.weight, spot = s.spot, note = NULL
WHEN MATCHED THEN UPDATE SET day = DATE'2026-01-02', paid = NOT t.paid
WHEN NOT MATCHED THEN INSERT (id, country, status, amount) VALUES (s.id, 'DE', s.status, s.amount)
WHEN NOT MATCHED BY SOURCE AND t.id = 4 THEN DELETE
WHEN NOT MATCHED BY SOURCE AND t.id = 6 THEN UPDATE SET note = 'kept', tags = map('b', 1), seen = rand()"""


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[Any]:
    with own_schema(spark):
        for table in ("t", "copy_of_t"):
            spark.sql(
                f"CREATE TABLE {table} (id BIGINT, country STRING, status STRING, day DATE, paid BOOLEAN, "
                "amount BIGINT, price DECIMAL(10, 2), weight DOUBLE, note STRING, spot STRUCT<x: BIGINT>, "
                "tags MAP<STRING, INT>, "
                "seen DOUBLE) USING DELTA"
            )
            spark.sql(
                f"INSERT INTO {table} SELECT id, CASE WHEN id % 5 = 1 THEN 'DE' ELSE 'FR' END, 'paid', "
                "DATE'2026-01-01', id % 4 = 0, id, CAST(id AS DECIMAL(10, 2)), CAST(id AS DOUBLE), 'n', "
                f"named_struct('x', id % 2), map('a', 1), 0 FROM range(1, {ROWS + 1})"
            )
        yield spark


def planned(spark: Any, sql: str) -> Plan:
    found = plan(spark, sql, rows=0)
    assert isinstance(found, Plan)
    return found


def text(value: Any) -> str | None:
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def by_column(before: dict[int, Any], after: dict[int, Any], name: str) -> ColumnChange | None:
    pairs = [(before[key][name], after[key][name]) for key in before.keys() & after.keys()]
    changed = [(old, new) for old, new in pairs if old != new]
    if not changed:
        return None
    numbers = isinstance(next(one for pair in changed for one in pair if one is not None), int | float | Decimal)
    numbers = numbers and name != "paid"
    counted = Counter((text(old), text(new)) for old, new in changed)
    top = sorted(counted.items(), key=lambda one: (-one[1], one[0][0] or "", one[0][1] or ""))[:3]
    sums = [str(sum(one for one in side if one is not None)) for side in zip(*changed, strict=True)] if numbers else []
    return ColumnChange(
        name=name,
        type={"day": "date", "paid": "boolean", "amount": "bigint", "price": "decimal(10,2)", "weight": "double"}.get(
            name, "struct<x:bigint>" if name == "spot" else "string"
        ),
        changed=len(changed),
        to_null=sum(new is None for _, new in changed),
        from_null=sum(old is None for old, _ in changed),
        sum_before=sums[0] if numbers else None,
        sum_after=sums[1] if numbers else None,
        sums="estimated" if name == "weight" else "exact",
        transitions=()
        if numbers or name == "spot"
        else tuple(Transition(before=old, after=new, rows=rows) for (old, new), rows in top),
    )


def test_every_number_is_that_of_the_table_before_and_after(shop: Any) -> None:
    found = changes(shop, planned(shop, MERGE.format(table="t AS t")))
    before = {row["id"]: row for row in shop.table("copy_of_t").collect()}
    shop.sql(MERGE.format(table="copy_of_t AS t")).collect()
    after = {row["id"]: row for row in shop.table("copy_of_t").collect()}
    expected = {name: one for name in NAMES if (one := by_column(before, after, name))}
    assert {one.name: one for one in found.columns} == expected
    assert [one.changed for one in found.columns] == sorted((one.changed for one in found.columns), reverse=True)
    assert found.rows_before == len(before) == ROWS
    assert found.rows_after == len(after)
    assert found.inserted == len(after.keys() - before.keys())
    assert found.deleted == len(before.keys() - after.keys())
    assert set(found.not_compared) == {"tags", "seen"}
    assert found.not_compared["seen"] == "rand()"


def test_it_says_where_the_change_is_concentrated(shop: Any) -> None:
    sql = (
        "MERGE INTO t USING (SELECT id FROM range(1, 81)) AS s ON t.id = s.id "
        "WHEN MATCHED AND (t.country = 'DE' OR t.id = 2) THEN UPDATE SET note = 'x'"
    )
    found = changes(shop, planned(shop, sql)).concentrations
    assert found is not None
    assert [(one.column, one.value, one.rows) for one in found] == [("country", "DE", 16)]
    assert (found[0].share, found[0].table_share) == (16 / 17, 16 / 80)
    assert round(found[0].lift, 2) == 4.71


@pytest.mark.parametrize(("table", "told"), [("t", [("country", "XX", 0.0)]), ("empty", [])])
def test_a_value_that_the_table_has_not_is_told_unless_it_has_no_rows(
    shop: Any, table: str, told: list[tuple[str, str, float]]
) -> None:
    shop.sql("CREATE TABLE IF NOT EXISTS empty USING DELTA AS SELECT id, country FROM t WHERE FALSE").collect()
    sql = (
        f"MERGE INTO {table} AS t USING (SELECT id, 'XX' AS country FROM range(1000, 1020)) AS s ON t.id = s.id "
        "WHEN NOT MATCHED THEN INSERT (id, country) VALUES (s.id, s.country)"
    )
    found = changes(shop, planned(shop, sql)).concentrations
    assert found is not None
    assert [(one.column, one.value, one.table_share) for one in found if one.value] == told
    assert len(found) <= MOST


def test_an_update_that_changes_no_value_is_counted_apart(shop: Any) -> None:
    sql = "MERGE INTO t USING (SELECT 1 AS id) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET status = 'paid'"
    found = changes(shop, planned(shop, sql))
    assert (found.updated, found.updated_same, found.rows_changed, found.columns) == (1, 1, 0, ())


def test_a_row_that_several_source_rows_delete_is_one_row(shop: Any) -> None:
    sql = "MERGE INTO t USING (SELECT 1 AS id FROM range(3)) AS s ON t.id = s.id WHEN MATCHED THEN DELETE"
    found = changes(shop, planned(shop, sql))
    assert (found.deleted, found.rows_after) == (1, ROWS - 1)


def test_a_private_plan_has_counts_and_no_value(shop: Any) -> None:
    found = changes(shop, planned(shop, MERGE.format(table="t AS t")), private=True)
    assert isinstance(found, Changes)
    assert found.columns
    assert found.concentrations is None
    assert not any(one.transitions or one.sum_before or one.sum_after for one in found.columns)


def test_a_refused_plan_has_no_changes(shop: Any) -> None:
    sql = (
        "MERGE INTO t USING (SELECT 1 AS id FROM range(2)) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET note = 'x'"
    )
    with pytest.raises(UsageError, match="changes nothing"):
        changes(shop, planned(shop, sql))


def test_many_computed_columns_that_a_condition_compares_are_planned_at_once(spark: Any) -> None:
    names = [f"c{at}" for at in range(40)]
    new = ", ".join(f"concat('new_', {name}) AS {name}" for name in names)
    differ = " AND ".join(f"NOT (t.{name} <=> s.{name})" for name in names)
    with own_schema(spark):
        texts = ", ".join(f"concat('{name}_', id) AS {name}" for name in names)
        spark.sql(f"CREATE TABLE wide USING delta AS SELECT id, {texts} FROM range(1, 21)")
        merge = (
            f"MERGE INTO wide t USING (SELECT id + 10 AS id, {new} FROM wide) s ON t.id = s.id "
            f"WHEN MATCHED AND {differ} THEN UPDATE SET {', '.join(f'{name} = s.{name}' for name in names)} "
            "WHEN NOT MATCHED THEN INSERT *"
        )
        found = changes(spark, planned(spark, merge))
    assert (found.updated, found.inserted, found.deleted) == (10, 10, 0)
    assert [one.changed for one in found.columns] == [10] * len(names)
