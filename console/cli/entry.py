"""Run the command line, and end with the contract's exit code and one line on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from console.cli.exits import (
    CANCELLED,
    DONE,
    FAILED,
    USAGE,
    CrashError,
    PipeClosedError,
    ToldError,
    exit_code,
)
from console.cli.title import hide_secrets_in_title
from console.visible import visible

if TYPE_CHECKING:
    from engine.errors import EngineError

PROGRAM = "deltamerge-console"


def main(arguments: Sequence[str] | None = None) -> None:
    """The program: run ``arguments`` (default: those of the process) and exit."""
    hide_secrets_in_title()
    for stream in (sys.stdout, sys.stderr):
        # a name that the locale cannot spell must not stop anything
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = run(arguments)
    except (BrokenPipeError, PipeClosedError):
        # Python must not try again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = DONE
    sys.exit(code)


def run(arguments: Sequence[str] | None) -> int:
    """Run, tell what went wrong, and return the exit code."""
    from console.cli.group import cli

    try:
        result = cli.main(args=arguments, prog_name=PROGRAM, standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else DONE
    except click.ClickException as error:
        return _usage(error)
    except (KeyboardInterrupt, click.Abort):
        tell("cancelled")
        return CANCELLED
    except ToldError as told:
        return told.code
    except CrashError as crash:
        tell(f"[UNEXPECTED] {crash}", f"Details are in {crash.log}." if crash.log else "")
        return FAILED
    except (BrokenPipeError, PipeClosedError):
        raise
    except Exception as error:
        from engine.errors import EngineError

        if not isinstance(error, EngineError):
            raise
        return refused(error)


def refused(error: EngineError) -> int:
    """Tell what the engine refuses: ``[CONDITION] message``, then what to do."""
    from engine.errors import CancelledError

    if isinstance(error, CancelledError):
        tell("cancelled", error.hint)
    else:
        tell(with_place(error), error.hint)
    return exit_code(error)


def with_place(error: EngineError) -> str:
    """The error in one line, with its place in the text as typed where Spark named one."""
    place = f" (line {error.line}, column {error.column})" if error.line is not None else ""
    return f"{error}{place}"


def tell(line: str, hint: str = "") -> None:
    """One line on stderr, and a second of what to do. Neither can move the terminal's cursor or leak a token."""
    from engine.secrets import redact

    for text in filter(None, (line, hint)):
        click.echo(visible(redact(text)), err=True)


def _usage(error: click.ClickException) -> int:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else PROGRAM
    tell(error.format_message(), f"Try '{command} --help'.")
    return USAGE
