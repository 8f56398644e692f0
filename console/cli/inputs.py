"""What a person hands in: files of SQL, plan files, ``K=V`` pairs. Checked before Spark is asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from engine.model.plans import AnyPlan

MAX_BYTES = 16 * 1024 * 1024
STDIN = "-"


def pairs(given: Iterable[str], option: str) -> dict[str, str]:
    """``K=V`` options as a mapping; the last one of a name wins."""
    found = {}
    for one in given:
        name, sign, value = one.partition("=")
        if not sign or not name.strip():
            raise click.BadParameter(f"{one!r} is not of the form K=V.", param_hint=option)
        found[name.strip()] = value
    return found


@dataclass(frozen=True)
class Script:
    """A file of SQL, its name as typed, and what its ``:name`` markers stand for."""

    name: str
    text: str
    params: Mapping[str, str]


def read_script(name: str, params: Mapping[str, str]) -> Script:
    """The SQL of a file or of stdin (``-``), which holds one MERGE or CREATE. Raises UsageError for what does not."""
    from engine.plan_statement import check_statement
    from engine.sql.params import fill
    from engine.sql.parse import parse_script

    script = Script(name, read_text(name), params)
    check_statement(parse_script(fill(script.text, params)).statement)
    return script


def read_text(name: str) -> str:
    """The text of a file or of stdin (``-``). Raises UsageError."""
    from engine.model.errors import UsageError

    shown = "stdin" if name == STDIN else name
    try:
        if name == STDIN:
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(
            "FILE_NOT_READ",
            f"{shown} cannot be read: {error.strerror or error}.",
            "Check the path and its permissions.",
        ) from error
    if len(data) > MAX_BYTES:
        raise UsageError("FILE_TOO_BIG", f"{shown} is too big for a file of SQL.", "Name a file that holds one MERGE.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            "NOT_UTF8",
            f"{shown} is not UTF-8: byte 0x{data[error.start]:02x} in line {line}.",
            "Save it as UTF-8 and try again.",
        ) from error
    if not text.strip():
        raise UsageError("EMPTY_STATEMENT", f"{shown} is empty.", "Write a MERGE into it and try again.")
    return text


def is_plan_file(name: str, text: str) -> bool:
    """Whether it is meant as a plan file: no SQL begins with a brace."""
    return name.lower().endswith(".json") or text.lstrip().startswith("{")


def read_plan(name: str) -> AnyPlan:
    """The plan in a file. What is wrong with it is an EngineError; a file that is not there, a UsageError."""
    from engine.model.errors import UsageError
    from engine.model.plan_file import read_plan_file

    path = Path(name)
    if not path.is_file():
        what = "is no file" if path.exists() else "does not exist"
        raise UsageError("FILE_NOT_READ", f"{name} {what}.", "Name a file written by plan -o.")
    return read_plan_file(path)
