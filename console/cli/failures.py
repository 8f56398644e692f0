"""What went wrong, as the command line tells it: for a person, for a program, and by the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from console.cli.exits import CANCELLED, FAILED, USAGE, CrashError, OutputError, exit_code

if TYPE_CHECKING:
    from engine.model.errors import EngineError

PROGRAM = "deltamerge-console"


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


def failure_of(error: BaseException) -> Failed | None:
    """What went wrong, however it was raised; None for what nobody foresaw."""
    from engine.model.errors import EngineError

    if isinstance(error, click.Abort | KeyboardInterrupt):
        return CANCELLED_BY_KEY
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return Failed(USAGE, "USAGE", f"{error.ctx.command_path} needs a command.")
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else PROGRAM
        # click sets out the choices of an argument on lines of their own
        return Failed(USAGE, "USAGE", " ".join(error.format_message().split()), f"Try '{command} --help'.")
    if isinstance(error, CrashError):
        hint = f"Details are in {error.log}." if error.log else ""
        return Failed(FAILED, "UNEXPECTED", str(error), hint)
    if isinstance(error, OutputError):
        hint = "Make room, or print it elsewhere. What the command did otherwise is done."
        return Failed(error.code, "OUTPUT_NOT_WRITTEN", f"The output could not be written: {error.reason}.", hint)
    return failed_by(error) if isinstance(error, EngineError) else None


class ToldError(Exception):
    """The reason has been told on stderr already (as an event)."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.code)
        self.failed = failed
