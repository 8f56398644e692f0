"""How Spark joins source and target once it has optimized ON: Delta counts the source rows that the join reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from engine.merge.analyze import AnalyzedMerge, Key
from engine.merge.find_touched_files import Matches
from engine.merge.prepare_delta_scan import where
from engine.merge.session_definitions import ask_rows, if_found
from engine.spark.explain import explain, tree
from engine.sql.resolve import TARGET
from engine.sql.sql_text import is_name_of
from engine.sql.store_types import can_up_cast, is_same

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Join = Literal["by key", "by loops", "none"]
KEYED = ("BroadcastHashJoin", "ShuffledHashJoin", "SortMergeJoin")
LOOPS = ("BroadcastNestedLoopJoin", "CartesianProduct")
ABOVE = ("AdaptiveSparkPlan", "Project")


def join_of_match(spark: SparkSession, merge: AnalyzedMerge) -> Join:
    """Spark's plan of the inner join of ClassicMergeExecutor.findTouchedFiles.

    It is "none" where Spark proves that nothing can match, by ON itself (``t.v NOT IN ('x', NULL)``) or by what the
    source is (``t.id = 1`` and only ids of 9), and where it does not answer. A key that is a constant is joined by
    loops.
    """
    query = (
        f"{merge.statement.before_select}SELECT 1 FROM {merge.source_sql} "
        f"JOIN {merge.target_sql} AS {TARGET} ON ({merge.statement.condition}\n)"
    )
    plan = if_found(lambda: explain(spark, query))
    node = tree(plan.physical) if plan else None
    while node and node.name in ABOVE and node.children:
        node = node.children[0]
    if node and node.name in KEYED:
        return "by key"
    return "by loops" if node and node.name in LOOPS else "none"


def join_that_reads(spark: SparkSession, merge: AnalyzedMerge, join: Join, matches: Matches) -> Join:
    """``join``, or "none" where Spark may find as it runs that it leaves no row of the target to join with: then it
    may not read the source (AQEPropagateEmptyRelation)."""
    if join == "none" or merge.statement.not_matched_by_source or any(file.pairs for file in matches.files):
        return join
    filters = filters_of_target(merge)
    if filters is None or not if_found(lambda: ask_rows(spark, f"SELECT 1 FROM ({where(merge, filters)}) LIMIT 1")):
        return "none"
    return join


def filters_of_target(merge: AnalyzedMerge) -> tuple[str, ...] | None:
    """What the optimizer filters the target by before it joins: the conjuncts of ON over the target alone, and that no
    key is NULL. None where it may infer more: from a conjunct over the source, from two keys of one column, from what
    is no key."""
    names: list[str] = []
    filters = ["TRUE"]
    for e in merge.on:
        key = next((key for key in merge.keys if key.typed == e.typed), None)
        if not e.source_columns:
            filters.append(e.text)
        elif key is None or not _is_plain(merge, key):
            return None
        else:
            names += key.source.source_columns
            filters.append(f"({key.target.text}\n) IS NOT NULL")
    return tuple(filters) if len(names) == len(set(names)) else None


def _is_plain(merge: AnalyzedMerge, key: Key) -> bool:
    """Whether a key is a column of each side, and no cast of either can make it NULL."""
    source, target = key.source.source_columns, key.target.target_columns
    if not (is_name_of(key.source.typed, source[0]) and is_name_of(key.target.typed, target[0])):
        return False
    given, wanted = merge.source_type[source[0]].dataType, merge.target_type[target[0]].dataType
    return is_same(given, wanted) or (given.typeName() != "string" != wanted.typeName() and can_up_cast(given, wanted))
