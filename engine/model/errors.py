"""Errors for people: one line that says what happened, one that says what to do."""

from __future__ import annotations

from typing import Final

ENDS_ALL: Final = ("CANCELLED", "SPARK_UNREACHABLE")
"""After these nothing else is asked of Spark."""
NOT_CONFIRMED: Final = "NOT_CONFIRMED"
"""Whoever was to confirm did not, or was not there."""


class EngineError(Exception):
    """What Spark, Delta or the engine refuses.

    ``condition`` is Spark's or Delta's error class if there is one (``TABLE_OR_VIEW_NOT_FOUND``),
    ``message`` one line of what happened, ``hint`` one line of what to do about it. ``outer`` is the class of
    the error that Spark wrapped around this one, "" if it is the outermost. ``line`` and ``column`` (1-based)
    point into ``counted_in``, the text that Spark read; ``engine.sql.positions.as_typed`` makes them point into the
    text as the operator typed it.
    """

    def __init__(
        self,
        condition: str,
        message: str,
        hint: str = "",
        *,
        line: int | None = None,
        column: int | None = None,
        counted_in: str = "",
        outer: str = "",
    ) -> None:
        super().__init__(f"[{condition}] {message}" if condition else message)
        self.condition = condition
        self.message = message
        self.hint = hint
        self.line = line
        self.column = column
        self.counted_in = counted_in
        self.outer = outer

    def say(self, message: str) -> None:
        """Tell the same in other words."""
        self.message = message
        self.args = (f"[{self.condition}] {message}" if self.condition else message,)


class UnreachableError(EngineError):
    """Spark cannot be reached: exit code 3."""


class StalePlanError(EngineError):
    """The table or the source moved since the plan: exit code 5."""


class SessionChangedError(StalePlanError):
    """The session is in another state than when it planned. If that is restored, the same plan can be applied."""


class ConflictError(EngineError):
    """Another commit was faster, and nothing of ours was written: exit code 1. The same plan can be applied again."""


class RefusedError(EngineError):
    """Not confirmed, or refused by policy: exit code 6."""


class UsageError(EngineError):
    """The input itself is wrong (an empty file, not UTF-8, no MERGE in it): exit code 64."""


class InputFileError(UsageError):
    """A file beside the statement is wrong, which the message names: line and column are of that file."""


class LostCommitError(EngineError):
    """Delta reported a commit, and the table's log does not hold it: exit code 7."""


class CancelledError(EngineError):
    """The operator cancelled: exit code 130."""
