"""What a RESTORE does to a table beside its rows: its columns, its layout, its comment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from engine.model.operation import ColumnsChange, PartChange
from engine.table.logged_schema import LoggedTable, logged_clustering

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

    from engine.model.plans import AnyPlan


def clustering(spark: SparkSession, plan: AnyPlan, detail: Row, before: int) -> tuple[Sequence[str], Sequence[str]]:
    """The clustering columns of now, and those of the version ``before``."""
    if "clustering" not in {*(detail["tableFeatures"] or ()), *plan.target.features}:
        return (), ()  # a look at the log less
    return detail["clusteringColumns"] or (), logged_clustering(spark, plan.target.path, before)


def part_changes(
    now: LoggedTable, before: LoggedTable, clustered: Sequence[str], clustered_before: Sequence[str]
) -> tuple[PartChange, ...]:
    parts = (
        ("partitioned by", ", ".join(now.partition_columns), ", ".join(before.partition_columns)),
        ("clustered by", ", ".join(clustered), ", ".join(clustered_before)),
        ("comment", now.description, before.description),
    )
    return tuple(PartChange(name=name, now=new, before=old) for name, new, old in parts if new != old)


def columns_change(now: Mapping[str, str], before: Mapping[str, str]) -> ColumnsChange | None:
    """Both are fields of a schema by name, as they mean."""
    change = ColumnsChange(
        back=tuple(name for name in before if name not in now),
        gone=tuple(name for name in now if name not in before),
        changed=tuple(name for name, field in before.items() if now.get(name, field) != field),
    )
    return change if change != ColumnsChange() else None
