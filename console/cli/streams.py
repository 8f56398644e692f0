"""The two streams: data on stdout, as JSON or for people; narration on stderr."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from console.cli.exits import OutputError
from console.words.glyphs import ASCII, UNICODE, Glyphs
from console.words.visible import visible

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """Tell a full disk from the faults of the work itself. A reader that has gone is none."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.strerror or str(error)) from error


def put(text: str, nl: bool = True) -> None:
    """Text on stdout."""
    with printing():
        click.echo(text, nl=nl)


def print_json(document: Any) -> None:
    """One JSON document. ASCII only, so that no locale spoils it and no control character reaches a terminal."""
    put(json.dumps(document, indent=2))


def glyphs(error: bool = False) -> Glyphs:
    """The signs that the stream can spell."""
    encoding = (sys.stderr if error else sys.stdout).encoding or ""
    return UNICODE if "utf" in encoding.lower() else ASCII


def paper(error: bool = False) -> Console:
    """Where people read: stdout, or stderr for ``error``. Nothing in a text is markup, a link or an emoji."""
    from rich.console import Console

    return Console(
        file=sys.stderr if error else sys.stdout, markup=False, highlight=False, emoji=False, soft_wrap=False
    )


def show(*parts: RenderableType, error: bool = False) -> None:
    """Print each part for a person."""
    console = paper(error)
    if console.is_terminal:
        with printing():
            for part in parts:
                console.print(part, crop=False)
        return
    # rich's own capture writes an empty text to the stream, which a full disk refuses
    console.file = captured = io.StringIO()
    for part in parts:
        console.print(part, crop=False)
    # rich pads lines to the width; in a file or a mail that is noise
    text = "\n".join(line.rstrip() for line in captured.getvalue().split("\n"))
    if error:
        _beside(text, nl=False)
    else:
        put(text, nl=False)


def tell(line: str, hint: str = "") -> None:
    """One line on stderr, and a second of what to do. Neither can move the terminal's cursor or leak a token."""
    from engine.model.secrets import redact

    for text in filter(None, (line, hint)):
        _beside(visible(redact(text)))


def _beside(text: str, nl: bool = True) -> None:
    # as of a narrator: a closed or full stderr ends no work, and changes no exit code
    with contextlib.suppress(OSError):
        click.echo(text, nl=nl, err=True)


def on_terminal() -> bool:
    """Whether a person sits there: the console needs to read keys and to draw."""
    return sys.stdin.isatty() and sys.stderr.isatty()
