"""Errors that Delta would raise while running, foreseen."""

from __future__ import annotations

from engine.parse import MergeStatement
from engine.values import Conflicts, Refused

AMBIGUOUS = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"


def ambiguity(statement: MergeStatement, conflicts: Conflicts) -> Refused | None:
    """MergeIntoCommandBase.throwErrorOnMultipleMatches: several source rows for one target row."""
    if not conflicts.count or statement.only_one_unconditional_delete:
        return None
    return Refused(
        condition=AMBIGUOUS,
        message=f"{conflicts.count:,} target rows are matched by more than one source row.",
        rows=tuple({**key.key, "source rows": str(key.source_rows)} for key in conflicts.keys),
        hint="Keep one source row for each key"
        + (": the plan's conflicts hold a source that does, to paste after USING." if conflicts.dedupe else "."),
    )
