"""A CHECK that calls a function in SQL: Delta takes it, and fails when it writes files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge
from engine.merge.find_touched_files import Matches
from engine.merge.planning_state import function_definitions
from engine.merge.session_definitions import body_of
from engine.model.plan import Refused
from engine.preflight.target_rules import TargetRules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def sql_function_in_check(
    spark: SparkSession, merge: AnalyzedMerge, matches: Matches, rules: TargetRules, functions: Sequence[str]
) -> Refused | None:
    """Spark unfolds the body of such a function in queries, and a check of Delta is none. The first, where Delta writes
    files, rows in them or not. ``functions``: see Surroundings."""
    if not (matches.touched or merge.statement.not_matched):
        return None
    for name, text in rules.checks.items():
        definitions = function_definitions(spark, functions, (text,))
        if called := next((one for one, definition in definitions.items() if body_of(definition)), None):
            return Refused(
                condition="UNSUPPORTED_SQL_UDF_USAGE",
                message=f"The CHECK constraint {name} ({text}) calls {called}, a function in SQL, which Spark cannot "
                "compute there.",
                hint=f"ALTER TABLE … DROP CONSTRAINT {name}, and add one with what the function says.",
            )
    return None
