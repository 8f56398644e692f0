"""The exit codes of the contract, and which error has which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.model.errors import EngineError
    from engine.model.operation import Outcome

DONE: Final = 0
FAILED: Final = 1
CHANGES: Final = 2
UNREACHABLE: Final = 3
STALE: Final = 5
REFUSED: Final = 6
DEVIATED: Final = 7
USAGE: Final = 64
CANCELLED: Final = 130


def exit_code(error: EngineError) -> int:
    """The exit code for what the engine refuses."""
    from engine.model import errors

    codes = (
        (errors.UnreachableError, UNREACHABLE),
        (errors.StalePlanError, STALE),
        (errors.RefusedError, REFUSED),
        (errors.UsageError, USAGE),
        (errors.CancelledError, CANCELLED),
    )
    return next((code for kind, code in codes if isinstance(error, kind)), FAILED)


def outcome_code(outcome: Outcome) -> int:
    """The exit code for what was committed: a broken promise is no success."""
    return DONE if outcome.kept else DEVIATED


class CrashError(Exception):
    """Something that nobody foresaw: its traceback is in the file ``log`` (None: it could not be written)."""

    def __init__(self, message: str, log: str | None) -> None:
        super().__init__(message)
        self.log = log


class PipeClosedError(Exception):
    """Who reads our output has seen enough (``… | head``). No OSError, which click would take for a failure."""
