"""The table's rows after the MERGE, and the rows of its change feed, computed and not committed.

SQL over the frozen source and the target at its version: each part is one clause's own rows, joined as
writeAllChanges and writeOnlyInserts join them. What only the commit knows (identity values) is NULL, and what gives
other values each time (rand, current_timestamp) gives others than the commit's. Where several source rows match one
target row the plan is refused (or warned of, NULL_CONDITION_WRONG_RESULT), and these rows mean nothing.

The frames are lazy: read under other confs than those of ``engine.merge.prepare_delta_scan.merge_reads``, they may lack
rows that a MERGE finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge
from engine.merge.join_sides import (
    BY_SOURCE_CLAUSE,
    INSERT_CLAUSE,
    SOURCE_ROW,
    SeenRows,
    clause_number,
    matched_clause,
    source_relation,
    target_relation,
    unmatched_source,
)
from engine.merge.prepare_source import PreparedSource
from engine.preflight.assignments import Assignment, ClauseAssignments, kept
from engine.preflight.target_rules import ANSI, TargetRules
from engine.spark.confs import confs_set
from engine.sql.names import quote, string
from engine.sql.parse import MergeClause

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CHANGE = "_change_type"


def rows_after(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: PreparedSource,
    rules: TargetRules,
    assigned: Sequence[ClauseAssignments],
) -> DataFrame:
    """What ``SELECT * FROM target`` would give after the commit, in the schema after."""
    untouched = _select(kept(merge, rules), unchanged_rows(merge, source))
    written = [_select(one.columns, clause_rows(merge, source, one.clause)) for one in assigned]
    return _frame(spark, source, "rows", rules, (untouched, *written))


def unchanged_after(spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, rules: TargetRules) -> DataFrame:
    """Those of them that no clause takes."""
    return _frame(spark, source, "kept", rules, (_select(kept(merge, rules), unchanged_rows(merge, source)),))


def change_feed(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: PreparedSource,
    rules: TargetRules,
    assigned: Sequence[ClauseAssignments],
) -> DataFrame:
    """What ``table_changes`` would give of the commit: the columns after, and ``_change_type``.

    An updated row has two images even where no value changes; a row that several source rows delete is one row.
    """
    before = kept(merge, rules)
    by_clause = {merge.statement.clauses.index(one.clause): one.columns for one in assigned}
    parts = []
    for index, clause in enumerate(merge.statement.clauses):
        rows = clause_rows(merge, source, clause)
        if clause.action_kind == "update":
            parts.append(_select(before, rows, "update_preimage"))
            parts.append(_select(by_clause[index], rows, "update_postimage"))
        elif clause.action_kind == "insert":
            parts.append(_select(by_clause[index], rows, "insert"))
        else:
            parts.append(_select(before, deleted_rows(merge, source, clause), "delete"))
    return _frame(spark, source, "feed", rules, parts)


def _frame(
    spark: SparkSession, source: PreparedSource, what: str, rules: TargetRules, parts: Sequence[str]
) -> DataFrame:
    """A view keeps the confs that it was made under: under LEGACY its CAST is the one that the write does."""
    query = "\nUNION ALL\n".join(parts)
    if rules.cast.exact:
        return spark.sql(query)
    view = source.view.replace("_source_", f"_{what}_")
    with confs_set(spark, {ANSI: "false"}):
        spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {view} AS {query}").collect()
    return spark.sql(f"SELECT * FROM {view}")


def clause_rows(merge: AnalyzedMerge, source: PreparedSource, clause: MergeClause, seen: SeenRows | None = None) -> str:
    """What follows FROM: the rows that ``clause`` takes, the sides it may name in scope under their own names.

    ``seen``, of the Matches, spares an insert clause the target, where it was joined before.
    """
    statement = merge.statement
    on = statement.condition
    number = clause_number(statement, clause)
    if clause.kind == "not_matched":
        return f"{unmatched_source(merge, source, seen)} WHERE {INSERT_CLAUSE} = {number}"
    if clause.kind == "not_matched_by_source":
        joined = f"{target_relation(merge)} LEFT ANTI JOIN {source_relation(merge, source)} ON {on}\n"
        return f"{joined}WHERE {BY_SOURCE_CLAUSE} = {number}"
    taken = matched_clause(merge)
    joined = f"{source_relation(merge, source)} INNER JOIN {target_relation(merge)} ON {on}\n"
    return f"{joined}WHERE {taken} = {number}"


def unchanged_rows(merge: AnalyzedMerge, source: PreparedSource) -> str:
    """What follows FROM: the target rows that no clause takes, copied or in files that are not touched."""
    statement = merge.statement
    target = target_relation(merge, whole=True)
    if statement.insert_only:
        return target
    taken = matched_clause(merge)
    return (
        f"{source_relation(merge, source)} RIGHT OUTER JOIN {target} ON {statement.condition}\n"
        f"WHERE CASE WHEN {SOURCE_ROW} IS NULL THEN {BY_SOURCE_CLAUSE} ELSE {taken} END = 0"
    )


def deleted_rows(merge: AnalyzedMerge, source: PreparedSource, clause: MergeClause) -> str:
    """:func:`clause_rows` of a DELETE: a row that several source rows delete is one row."""
    if not (merge.statement.only_one_unconditional_delete and clause.kind == "matched"):
        return clause_rows(merge, source, clause)
    on = merge.statement.condition
    return f"{target_relation(merge)} LEFT SEMI JOIN {source_relation(merge, source)} ON {on}\n"


def _select(columns: Sequence[Assignment], rows: str, change: str | None = None) -> str:
    items = [f"{one.read_value} AS {quote(one.column.name)}" for one in columns]
    if change is not None:
        items.append(f"{string(change)} AS {CHANGE}")
    return f"SELECT {', '.join(items)} FROM {rows}"
