"""How Spark joins source and target once it has optimized ON: Delta counts the source rows that the join reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from engine.merge.analyze import AnalyzedMerge
from engine.merge.session_definitions import if_found
from engine.spark.explain import explain, tree
from engine.sql.resolve import TARGET

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
