"""Run the command line, and end with the contract's exit code and one line on stderr."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from console.cli.exits import DONE, CrashError, OutputError, PipeClosedError
from console.cli.failures import CANCELLED_BY_KEY, PROGRAM, Failed, ToldError, failure_of
from console.cli.streams import tell
from console.cli.title import hide_secrets_in_title

if TYPE_CHECKING:
    from engine.model.errors import EngineError

JSON, EVENTS = "--json", "--events"


def main(arguments: Sequence[str] | None = None) -> None:
    """The program: run ``arguments`` (default: those of the process) and exit."""
    if os.name == "nt":
        # flock, signals and permissions of files are Unix's
        sys.exit(f"{PROGRAM} runs on Linux and macOS. On Windows, run it in WSL.")
    hide_secrets_in_title()
    for stream in (sys.stdout, sys.stderr):
        # a name that the locale cannot spell must not stop anything
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    code = run(arguments)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            # Python would try again at exit, and end with a code of its own
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(code)


def run(arguments: Sequence[str] | None) -> int:
    """Run, tell what went wrong, and return the exit code."""
    from console.cli.group import cli

    given = sys.argv[1:] if arguments is None else arguments
    try:
        result = cli.main(args=arguments, prog_name=PROGRAM, standalone_mode=False)
        return result if isinstance(result, int) else DONE
    except PipeClosedError as closed:
        return closed.code
    except ToldError as told:
        failed = told.failed
    except OSError as error:
        # a command names its own: this is click, which prints a help
        failed = _told(OutputError(error.strerror or str(error)))
    except (Exception, KeyboardInterrupt) as error:
        failed = _told_as_event(error) if EVENTS in given else _told(error)
    if JSON in given:
        from console.cli.streams import print_json

        with contextlib.suppress(BrokenPipeError, OutputError):
            print_json(failed.document())
    return failed.code


def _told_as_event(error: BaseException) -> Failed:
    """The same for a program, whose stderr is NDJSON from the first line on."""
    from console.cli.narrator import EventNarrator

    try:
        with EventNarrator():
            raise error
    except ToldError as told:
        return told.failed


def _told(error: BaseException) -> Failed:
    """Tell a person what went wrong. What nobody foresaw is raised again."""
    from engine.model.errors import CancelledError, EngineError

    failed = failure_of(error)
    if failed is None:
        raise error
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        # the help itself, of several lines
        click.echo(error.format_message(), err=True)
    elif failed is CANCELLED_BY_KEY or isinstance(error, CancelledError):
        tell("cancelled", failed.hint)
    elif isinstance(error, EngineError):
        tell(with_place(error), failed.hint)
    elif isinstance(error, CrashError | OutputError):
        tell(f"[{failed.condition}] {failed.message}", failed.hint)
    else:
        tell(failed.message, failed.hint)
    return failed


def with_place(error: EngineError) -> str:
    """The error in one line, with its place in the text as typed where Spark named one. That of another file is in the
    message."""
    from engine.model.errors import InputFileError

    has_place = error.line is not None and not isinstance(error, InputFileError)
    place = f" (line {error.line}, column {error.column})" if has_place else ""
    return f"{error}{place}"
