"""The statement in the user's own editor. Blocks until the editor ends; nothing typed there is lost."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.files import write_private

USUAL = ("nano", "vim", "vi")


class EditorError(Exception):
    """The editor could not be used; the message says why, and where the text is."""


def editor_command() -> list[str]:
    """``$VISUAL``, ``$EDITOR``, or the first common one that is installed. Raises EditorError."""
    for variable in ("VISUAL", "EDITOR"):
        if wanted := os.environ.get(variable, "").strip():
            try:
                return shlex.split(wanted)
            except ValueError as error:
                raise EditorError(f"${variable} cannot be read ({error}): {wanted}") from error
    for name in USUAL:
        if shutil.which(name):
            return [name]
    raise EditorError("No editor is known: set EDITOR, for example EDITOR=nano.")


@contextmanager
def _interrupts_are_the_editors() -> Iterator[None]:
    """The terminal sends ctrl+c to this program, too, which would end with the editor's text unread. A signal that is
    handled here, and not ignored, is the editor's own to handle."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def edit_in(command: list[str], path: Path, text: str) -> str:
    """The text as the editor leaves it. Raises EditorError; what was written is in ``path`` then."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(path, text, durable=True)
    try:
        with _interrupts_are_the_editors():
            ended = subprocess.run([*command, str(path)], check=False).returncode
    except OSError as error:
        path.unlink(missing_ok=True)
        raise EditorError(f"{command[0]} cannot be started: {error.strerror}.") from error
    if ended != 0:
        raise EditorError(f"{command[0]} ended with {ended}: the text stays as it was. What it wrote is in {path}.")
    try:
        edited = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EditorError(f"What {command[0]} wrote cannot be read ({error}); it is in {path}.") from error
    # most editors end the last line, whether it was ended before or not
    edited = edited if text.endswith("\n") else edited.removesuffix("\n")
    if edited != text:
        path.unlink(missing_ok=True)
    return edited
