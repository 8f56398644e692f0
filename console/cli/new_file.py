"""A file that a command writes, and none that is there already."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from console.words.visible import visible

Command = TypeVar("Command", bound=Callable[..., object])


def output_option(metavar: str, help: str, *, with_folders: bool = False) -> Callable[[Command], Command]:
    """The option ``-o`` of a command that writes a file, and the folders above it if they are made ``with`` it."""
    check = _may_be_made if with_folders else _in_a_folder
    return click.option("-o", "output", type=click.Path(path_type=Path), callback=check, metavar=metavar, help=help)


def _may_be_made(_: click.Context, __: click.Parameter, file: Path | None) -> Path | None:
    """Raises BadParameter for ``-``, which the commands that read a file take for stdin."""
    if file == Path("-"):
        raise click.BadParameter("- is no file. Stdout has what is printed without -o; plan --json prints the plan.")
    return file


def _in_a_folder(context: click.Context, option: click.Parameter, file: Path | None) -> Path | None:
    """Raises BadParameter if there is no such folder: before there is something to be lost."""
    found = _may_be_made(context, option, file)
    if found is not None and not (folder := found.expanduser().parent).is_dir():
        raise click.BadParameter(f"there is no folder {folder}.")
    return found


def write_new(file: Path, text: str, *, with_folders: bool = False) -> None:
    """Write ``text``, and say so. Raises EngineError (``FILE_NOT_WRITTEN``) where it is there or cannot be written."""
    from engine.model.errors import EngineError

    try:
        if with_folders:
            file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise EngineError(
            "FILE_NOT_WRITTEN", f"{file} cannot be written: {error.strerror or error}.", "Name another place with -o."
        ) from error
    click.echo(f"Wrote {visible(str(file))}", err=True)
