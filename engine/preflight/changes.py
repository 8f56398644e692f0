"""What a plan changes, by column. Delta has nothing like it.

A column whose new value only the commit knows, or whose values cannot be compared, is named and left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.merge.prepare_delta_scan import merge_reads
from engine.merge.run_with_source_lost_retries import lost_blocks
from engine.model.changes import Changes, ColumnChange, Transition
from engine.model.errors import ENDS_ALL, EngineError
from engine.model.plan import Plan, Remark, Target
from engine.preflight.changed_rows import ACTION, INTEGER, ChangedColumn, ChangedRows, changed_rows
from engine.preflight.concentrations import concentrations
from engine.preflight.counted_values import first_of_each
from engine.preflight.planned_merge import PlannedMerge
from engine.spark.confs import WITHOUT_INFERENCE, confs_set, for_rows
from engine.spark.spark_errors import collected
from engine.sql.literals import shown
from engine.sql.names import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRANSITIONS = 3
"""Transitions of a column that are kept."""
ACTIONS = ("insert", "update", "delete")


def with_changes(spark: SparkSession, plan: Plan, planned: PlannedMerge, *, private: bool) -> Plan:
    """``plan`` with what it changes, or with CHANGES_UNKNOWN: what fails here is no reason to have no plan."""
    try:
        return plan.model_copy(update={"changes": changes_of(spark, planned, plan.target, private=private)})
    except EngineError as error:
        if error.condition in ENDS_ALL or lost_blocks(error):
            raise
        remark = Remark(
            code="CHANGES_UNKNOWN",
            sentence="What the MERGE changes by column is not known: the question itself failed.",
            # the message may hold a value
            evidence=f"[{error.condition}]" if private else f"[{error.condition}] {error.message}",
            exactness="unknown",
        )
        return plan.model_copy(update={"warnings": (*plan.warnings, remark)})


def changes_of(spark: SparkSession, planned: PlannedMerge, target: Target, *, private: bool) -> Changes:
    """What the MERGE changes. It costs one more join of the source with the target.

    ``private`` leaves all values out: sums, transitions and concentrations. Raises EngineError.
    """
    sizes = for_rows(planned.source.num_rows, target.num_rows)
    with confs_set(spark, {**sizes, **merge_reads(spark, planned.merge, planned.files), **WITHOUT_INFERENCE}):
        return _changes(spark, planned, target, private)


def _changes(spark: SparkSession, planned: PlannedMerge, target: Target, private: bool) -> Changes:
    rows = changed_rows(spark, planned)
    counts = collected(spark, _counts_sql(rows, private))[0].asDict()
    transitions = {} if private else _transitions(spark, rows)
    before = target.num_rows
    if before is None:
        before = int(collected(spark, f"SELECT count(*) FROM {planned.merge.target_sql}")[0][0])
    of_columns = [_column_change(one, counts, transitions) for one in rows.compared]
    without = Changes(
        rows_before=before,
        inserted=int(counts["insert"]),
        updated=int(counts["update"]),
        updated_same=int(counts["same"]),
        deleted=int(counts["delete"]),
        columns=tuple(sorted((one for one in of_columns if one.changed), key=lambda one: -one.changed)),
        not_compared={one.name: one.why for one in rows.columns if one.why},
    )
    if private:
        return without
    found = concentrations(spark, target, planned.merge.target_sql, rows, without.rows_changed)
    return without.model_copy(update={"concentrations": found})


def _counts_sql(rows: ChangedRows, private: bool) -> str:
    items = [f"count_if({ACTION} = '{action}') AS {quote(action)}" for action in ACTIONS]
    items.append(f"count_if({ACTION} = 'update' AND NOT ({rows.some_value_changes})) AS same")
    for one in rows.compared:
        items += [
            f"count_if({one.changes}) AS changed_{one.at}",
            f"count_if({one.changes} AND {one.after} IS NULL) AS to_null_{one.at}",
            f"count_if({one.changes} AND {one.before} IS NULL) AS from_null_{one.at}",
        ]
        if one.is_number and not private:
            items += [
                f"CAST({_sum(one, text)} FILTER (WHERE {one.changes}) AS STRING) AS {name}_{one.at}"
                for name, text in (("sum_before", one.before), ("sum_after", one.after))
            ]
    return f"SELECT {', '.join(items)} FROM {rows.view}"


def _sum(column: ChangedColumn, text: str) -> str:
    if INTEGER.fullmatch(column.type):
        return f"try_sum(CAST({text} AS DECIMAL(38, 0)))"
    return f"try_sum({text})" if column.type.startswith("decimal") else f"sum(CAST({text} AS DOUBLE))"


def _column_change(
    one: ChangedColumn, counts: Mapping[str, Any], transitions: Mapping[int, tuple[Transition, ...]]
) -> ColumnChange:
    return ColumnChange(
        name=one.name,
        type=one.type,
        changed=int(counts[f"changed_{one.at}"]),
        to_null=int(counts[f"to_null_{one.at}"]),
        from_null=int(counts[f"from_null_{one.at}"]),
        sum_before=counts.get(f"sum_before_{one.at}"),
        sum_after=counts.get(f"sum_after_{one.at}"),
        sums="estimated" if one.type in ("float", "double") else "exact",
        transitions=transitions.get(one.at, ()),
    )


def _transitions(spark: SparkSession, rows: ChangedRows) -> dict[int, tuple[Transition, ...]]:
    """The commonest transitions of each column that is no number, by the column's place."""
    columns = [one for one in rows.compared if one.is_grouped and not one.is_number]
    if not columns:
        return {}
    cells = ", ".join(
        f"named_struct('at', {one.at}, 'changes', {one.changes}, "
        f"'before', {shown(one.before, one.type)}, 'after', {shown(one.after, one.type)})"
        for one in columns
    )
    grouped = (
        "SELECT cell.at, cell.before, cell.after, count(*) AS n "
        f"FROM (SELECT explode(`array`({cells})) AS cell FROM {rows.view}) WHERE cell.changes GROUP BY 1, 2, 3"
    )
    found: dict[int, tuple[Transition, ...]] = {}
    for row in collected(spark, first_of_each(grouped, "n DESC, before, after", TRANSITIONS)):
        transition = Transition(before=row["before"], after=row["after"], rows=int(row["n"]))
        found[row["at"]] = (*found.get(row["at"], ()), transition)
    return found
