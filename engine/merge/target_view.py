"""A temporary view as the target of a MERGE: Delta takes one of all columns of its table, in order and as they are.

Delta analyzes a MERGE into any other that neither filters nor joins, and then fails while it runs, or takes the view's
names for the table's: see DeltaViewHelper.stripTempView.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge
from engine.merge.source_plan import explain_view, query_tree
from engine.model.errors import EngineError
from engine.spark.explain import COLUMN_ID, Node
from engine.spark.not_understood import NOT_UNDERSTOOD
from engine.spark.schema import schema_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OTHER_COLUMNS = "DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS"
OTHER_VALUES = "MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT"
HINT = "Merge into the table itself, or into a view of SELECT * FROM it."


def check_target_view(spark: SparkSession, merge: AnalyzedMerge) -> None:
    """Raise for a view whose columns are not those of its table. Other targets are let pass."""
    view = f"SELECT * FROM {merge.typed.target.text}"
    # other work may have data skipping off meanwhile, without which Delta plans no read of deletion vectors
    root = query_tree(explain_view(spark, view), view)
    if root is None or not any(node.name == "View" for node in root.walk()):
        return
    names = merge.target_type.names
    if keeps_columns(root, names):
        return
    columns = len(schema_of(spark, view).names)
    if columns != len(names):
        condition, then = OTHER_COLUMNS, "Delta fails on that while it runs"
    elif not merge.typed.insert_only:
        condition, then = OTHER_VALUES, "Delta fails on that while it runs"
    else:
        condition, then = NOT_UNDERSTOOD, "nothing is promised of that"
    message = (
        f"The target {merge.typed.target.text} is a view that changes, renames, leaves out or reorders columns of "
        f"{merge.target_name}: {then}."
    )
    raise EngineError(condition, message, HINT)


def keeps_columns(plan: Node, names: list[str]) -> bool:
    """Whether every projection of an analyzed plan has these columns, in order and as they are."""
    bare = [rf"{re.escape(name)}{COLUMN_ID}" for name in names]
    items = ", ".join(f"{one}(?: AS {one})?" for one in bare)
    # a view casts each column to the type that it had when the view was made
    of_view = ", ".join(rf"cast\({one} as .+?\) AS {one}" for one in bare)
    projection = re.compile(rf"Project \[(?:{items}|{of_view})\]", re.IGNORECASE | re.DOTALL)
    return all(projection.fullmatch(node.text) for node in plan.walk() if node.name == "Project")
