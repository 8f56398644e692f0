"""The statement that runs: the operator's own text, the source put in its frozen form. Every change is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge
from engine.merge.prepare_source import PreparedSource
from engine.merge.stage_source import staged_name, version_of
from engine.model.errors import UsageError
from engine.model.plan import Decision, Plan, Splice
from engine.sql.expressions import read_expression
from engine.sql.positions import edited
from engine.sql.sql_text import free_names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = "deltamerge_rows"
"""What a hint calls the table that the source is staged in."""


def source_splice(
    merge: AnalyzedMerge, source: PreparedSource, decision: Decision, *, narrows: bool = False
) -> Splice | None:
    """How the source is frozen in the text: the table that it is staged in, the checkpoint where Delta would
    materialize, a pinned version where it is one plain Delta table; the checkpoint as well where ON ``narrows`` the
    target to its keys, which would be untrue of rows that come later, and where the source gives other rows each time
    it is read; else not at all (its tables' versions are
    checked at apply instead)."""
    written = merge.typed.source
    if named_in_full(merge):
        return None
    alias = f" AS {written.reference}" if written.reference else ""
    if source.staged:
        hint, name = (f"/*+ {source.hint}({ROWS}) */ ", f" AS {ROWS}") if source.hint else ("", "")
        return Splice(
            start=written.start,
            end=written.end_alias,
            text=f"(SELECT {hint}* FROM {source.staged} VERSION AS OF {version_of(source.num_rows)}{name}){alias}",
            why="the source as it was planned, which is kept in a table",
        )
    live = not source.pinned_table and (narrows or bool(source.volatile))
    if decision.materialize or live:
        # Delta puts the hints of the source back on its checkpoint (MergeIntoMaterializeSource.addHintsToPlan)
        why, wanted = "the frozen source, so that the rows that were previewed are those that are merged", source.hint
        if source.is_small and not wanted:
            why, wanted = f"{why}; it is small, so Spark need not shuffle the target to join it", "BROADCAST"
        hinted = f"(SELECT /*+ {wanted}({source.view}) */ * FROM {source.view})"
        return Splice(
            start=written.start,
            end=written.end_alias,
            text=f"{hinted if wanted else source.view}{alias}",
            why=why,
        )
    if source.pinned_table:
        version = source.pinned_versions[source.pinned_table]
        return Splice(
            start=written.start,
            end=written.end_alias,
            text=f"(SELECT * FROM {source.pinned_table} VERSION AS OF {version}){alias}",
            why="the source table at the version that was previewed",
        )
    return None


def planned_splices(
    merge: AnalyzedMerge, source: PreparedSource, decision: Decision, bounds: Splice | None
) -> tuple[Splice, ...]:
    """What changes in the text. ``bounds``: what is derived of the source's keys."""
    return tuple(one for one in (source_splice(merge, source, decision, narrows=bounds is not None), bounds) if one)


def named_in_full(merge: AnalyzedMerge) -> bool:
    """Whether the text names the source's columns by more than its last name (``db.s.id``), which nothing that is put
    in its place can be called. Then the source runs as typed, and apply compares its rows with those of the plan."""
    source, _ = merge.sides
    if merge.typed.source.alias is not None or len(source.qualifier) < 2:
        return False
    texts = [merge.typed.condition]
    for clause in merge.typed.clauses:
        texts += [clause.condition] if clause.condition is not None else []
        texts += [value for _, value in clause.assignments]
    return any(
        source.qualifies(node.names[:length])
        for text in texts
        for node in free_names(read_expression(text)[1])
        for length in range(2, len(node.names))
    )


def spliced(sql: str, splices: Sequence[Splice]) -> str:
    """``sql`` with ``splices`` applied; they may not overlap."""
    return edited(sql, splices)


def frozen_sql(plan: Plan) -> str:
    """The statement with its source in its frozen form, and nothing else changed."""
    return spliced(plan.statement.sql, [one for one in plan.splices if one.part == "source"])


def running_sql(plan: Plan) -> str:
    """The statement that apply sends to Spark."""
    return spliced(plan.statement.sql, plan.splices)


def table_to_freeze_in(spark: SparkSession, merge: AnalyzedMerge, view: str) -> str:
    """The table that the source is staged in. Raises UsageError where nothing can be put in its place."""
    if named_in_full(merge):
        raise UsageError(
            "SOURCE_WITHOUT_ALIAS", "A frozen source needs an alias.", "Write USING name AS s, and s.column."
        )
    return staged_name(spark, merge.typed.target, view)
