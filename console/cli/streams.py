"""The two streams: data on stdout, as JSON or for people; narration on stderr."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import TYPE_CHECKING, Any

import click

from console.words.glyphs import ASCII, UNICODE, Glyphs
from console.words.visible import visible

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


def print_json(document: Any) -> None:
    """One JSON document. ASCII only, so that no locale spoils it and no control character reaches a terminal."""
    click.echo(json.dumps(document, indent=2))


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
        for part in parts:
            console.print(part, crop=False)
        return
    with console.capture() as captured:
        for part in parts:
            console.print(part, crop=False)
    # rich pads lines to the width; in a file or a mail that is noise
    text = "\n".join(line.rstrip() for line in captured.get().split("\n"))
    if error:
        _beside(text, nl=False)
    else:
        click.echo(text, nl=False)


def tell(line: str, hint: str = "") -> None:
    """One line on stderr, and a second of what to do. Neither can move the terminal's cursor or leak a token."""
    from engine.model.secrets import redact

    for text in filter(None, (line, hint)):
        _beside(visible(redact(text)))


def _beside(text: str, nl: bool = True) -> None:
    # as of a narrator: a closed stderr ends no work, and changes no exit code
    with contextlib.suppress(BrokenPipeError):
        click.echo(text, nl=nl, err=True)


def on_terminal() -> bool:
    """Whether a person sits there: the console needs to read keys and to draw."""
    return sys.stdin.isatty() and sys.stderr.isatty()
