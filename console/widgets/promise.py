"""Promise against actual, line by line, with a word for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from console.widgets.page import Column, Row, Table
from console.words import plan_summary
from console.words.format import count, number
from console.words.glyphs import Glyphs
from console.words.plan_rows import beside_promise
from console.words.visible import visible

if TYPE_CHECKING:
    from engine.model.create_values import CreatePlan
    from engine.model.operation import Deviation, Outcome
    from engine.model.plans import AnyPlan

DEVIATED: Final = "DEVIATED"


def promise_table(plan: AnyPlan | None, outcome: Outcome | None, glyphs: Glyphs) -> Table:
    """The numbers that were promised and those that the commit reports."""
    # the parts of a table are words, which may be long
    fit: Literal["end"] | None = None if plan is None or plan.kind == "merge" else "end"
    columns = [
        Column("metric"),
        Column("promised", align="right", fit=fit),
        Column("actual", align="right", fit=fit),
        Column("", name="kept", failed=lambda at: DEVIATED in (rows[at][-1] or "")),
    ]
    promised = plan_summary.promise(plan) if plan is not None else dict(outcome.promise) if outcome is not None else {}
    actual = dict(outcome.metrics) if outcome is not None else {}
    deviating = {one.metric: one for one in outcome.deviations} if outcome is not None else {}
    rows: list[Row] = [] if plan is None or plan.kind == "merge" else _parts(plan, outcome, glyphs)
    told = {*promised, *(row[0] for row in rows)}
    # the version that was read and the table's id are promised by no number of the plan
    rows += [_deviating(one, glyphs) for name, one in deviating.items() if name not in told]
    for metric, value in promised.items():
        if outcome is None or outcome.committed_nothing:
            word = ""
        elif metric in deviating or actual.get(metric, value) != value:
            word = f"{glyphs.error} {DEVIATED}"
        elif metric in actual:
            word = f"{glyphs.ok} kept"
        else:
            word = f"{glyphs.unknown} not reported"
        committed = "" if outcome is None or outcome.committed_nothing else number(actual.get(metric))
        rows.append((visible(metric), number(value), committed, word))
    estimates = plan.estimates if plan is not None and plan.kind == "merge" else {}
    for metric, value in actual.items():
        if metric not in promised and metric not in deviating:
            shown, word = beside_promise(estimates.get(metric))
            rows.append((visible(metric), shown, number(value), word))
    return Table(columns, rows, "There are no numbers to compare.")


def _parts(plan: CreatePlan, outcome: Outcome | None, glyphs: Glyphs) -> list[Row]:
    """The commit and the table that it leaves, part by part: everything that is compared beside the metrics."""
    if plan.after is None or not plan.changes_something:
        return []
    after, committed = plan.after, plan.operation is not None
    promised = {
        "operation": plan.operation or "",
        "version": str(plan.target.version + 1) if committed else "",
        "columns": count(len(after.columns), "column"),
        "partitionColumns": ", ".join(after.partition_columns),
        "clusteringColumns": ", ".join(after.clustering_columns),
        "comment": after.comment,
        "location": after.location,
        "protocol": f"reader {after.min_reader_version}, writer {after.min_writer_version}",
        "properties": number(len(after.properties)) if after.properties else "",
        "numFiles": "" if after.num_files is None else number(after.num_files),
        "sizeInBytes": "" if after.num_bytes is None else number(after.num_bytes),
    }
    deviating = {one.metric: one for one in outcome.deviations} if outcome is not None else {}
    rows: list[Row] = []
    for name, value in promised.items():
        if (found := deviating.get(name)) is not None:
            rows.append(_deviating(found, glyphs))
        elif value:
            known = outcome is not None
            rows.append((name, visible(value), visible(value) if known else "", f"{glyphs.ok} kept" if known else ""))
    return rows


def _deviating(one: Deviation, glyphs: Glyphs) -> Row:
    promised, actual = ("" if value is None else str(value) for value in (one.promised, one.actual))
    return (visible(one.metric), visible(promised), visible(actual), f"{glyphs.error} {DEVIATED}")
