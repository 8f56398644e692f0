"""What went wrong, as the command line tells it: for a person, for a program, and by the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from console.cli.exits import CANCELLED, exit_code

if TYPE_CHECKING:
    from engine.model.errors import EngineError


@dataclass(frozen=True)
class Failed:
    """``condition`` is the error class; ``line`` and ``column`` are those of the text as typed, from 1."""

    code: int
    condition: str
    message: str
    hint: str = ""
    line: int | None = None
    column: int | None = None

    def document(self) -> dict[str, Any]:
        """What ``--json`` prints: ``error`` with condition, message, hint, and position, null where there is none."""
        from engine.model.secrets import redact

        position = None if self.line is None else {"line": self.line, "column": self.column}
        message, hint = redact(self.message), redact(self.hint)
        return {"error": {"condition": self.condition, "message": message, "hint": hint, "position": position}}


CANCELLED_BY_KEY = Failed(CANCELLED, "CANCELLED", "The work was cancelled.")


def failed_by(error: EngineError) -> Failed:
    """What the engine refuses."""
    return Failed(exit_code(error), error.condition, error.message, error.hint, error.line, error.column)


class ToldError(Exception):
    """The reason has been told on stderr already (as an event)."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.code)
        self.failed = failed
