"""What a plan that was made changes: asked when somebody looks, so that a plan costs nothing more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.explore.reopen_plan import planned_merge
from engine.model.changes import Changes
from engine.model.errors import EngineError, UsageError
from engine.model.plan import Plan
from engine.preflight.changes import changes_of
from engine.spark.confs import AS_WRITTEN, confs_set
from engine.spark.session_state import tagged
from engine.spark.spark_errors import translate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def changes(spark: SparkSession, plan: Plan, *, private: bool = False, tag: str | None = None) -> Changes:
    """What ``plan`` changes: its own ``changes``, or asked in the session that planned.

    ``private`` leaves all values out: sums, transitions and concentrations. Raises EngineError ``SOURCE_GONE`` if the
    frozen source is not there any more, and UsageError ``PLAN_IS_REFUSED`` for a plan that commits nothing.
    """
    if plan.refused is not None:
        raise UsageError(
            "PLAN_IS_REFUSED", "A refused plan changes nothing.", "Mend what it is refused for, and plan again."
        )
    if plan.changes is not None:
        return plan.changes
    with tagged(spark, tag), confs_set(spark, AS_WRITTEN):
        try:
            return changes_of(spark, planned_merge(spark, plan), plan.target, private=private)
        except EngineError:
            raise
        except Exception as error:
            raise translate(error) from error
