"""What a person hands in: files of SQL, plan files, ``K=V`` pairs. Checked before Spark is asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from engine.expect.read_expectations import Declared
    from engine.model.plans import AnyPlan

MAX_SCRIPT_BYTES = 16 * 1024 * 1024
STDIN = "-"
BOM = b"\xef\xbb\xbf"


def pairs(given: Iterable[str], option: str) -> dict[str, str]:
    """``K=V`` options as a mapping. Raises BadParameter, also for a name with two values."""
    found: dict[str, str] = {}
    for one in given:
        key, sign, value = one.partition("=")
        name = key.strip()
        if not sign or not name:
            raise click.BadParameter(f"{one!r} is not of the form K=V.", param_hint=option)
        if found.setdefault(name, value) != value:
            raise click.BadParameter(f"{name} has two values: {found[name]!r} and {value!r}.", param_hint=option)
    return found


@dataclass(frozen=True)
class Script:
    """A file of SQL, its name as typed, and what its ``:name`` markers stand for."""

    name: str
    text: str
    params: Mapping[str, str]


@dataclass(frozen=True)
class Given:
    """What is in a file or comes from stdin (``-``), not looked into yet."""

    name: str
    data: bytes

    @property
    def shown(self) -> str:
        return "stdin" if self.name == STDIN else self.name


def read_input(name: str) -> Given:
    """What is in a file or comes from stdin (``-``). Raises UsageError."""
    from engine.model.errors import UsageError
    from engine.model.plan_file import MAX_BYTES

    try:
        if name == STDIN:
            return Given(name, sys.stdin.buffer.read(MAX_BYTES + 1))
        with Path(name).open("rb") as file:
            return Given(name, file.read(MAX_BYTES + 1))
    except OSError as error:
        raise UsageError(
            "FILE_NOT_READ",
            f"{name} cannot be read: {error.strerror or error}.",
            "Check the path and its permissions.",
        ) from error


def read_script(name: str, params: Mapping[str, str]) -> Script:
    """The SQL of a file or of stdin (``-``), which holds one MERGE or CREATE. Raises UsageError for what does not."""
    return script_in(read_input(name), params)


def script_in(given: Given, params: Mapping[str, str]) -> Script:
    """The SQL that was given, which holds one MERGE or CREATE. Raises UsageError for what does not."""
    from engine.plan_statement import check_statement
    from engine.sql.params import fill
    from engine.sql.parse import parse_script

    script = Script(given.name, _text_in(given), params)
    check_statement(parse_script(fill(script.text, params)).statement)
    return script


def _text_in(given: Given) -> str:
    from engine.model.errors import UsageError

    shown, data = given.shown, given.data
    if len(data) > MAX_SCRIPT_BYTES:
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


def read_expectations(paths: Iterable[str], file: str, home: Path) -> tuple[Declared, ...]:
    """The expectations in ``paths``; without any, those in the folder ``expect`` beside ``file``, else in that of the
    home. Raises UsageError."""
    from engine.expect.read_expectations import read_beside, read_files

    named = [Path(path) for path in paths]
    return read_files(named) if named else read_beside("" if file == STDIN else file, home)


def read_plan(name: str) -> AnyPlan:
    """The plan in a file or from stdin (``-``). What is wrong with it is an EngineError; a file that is not there, a
    UsageError."""
    from engine.model.errors import UsageError
    from engine.model.plan_file import read_plan_file

    if name == STDIN:
        return plan_in(read_input(name))
    path = Path(name)
    if not path.is_file():
        what = "is no file" if path.exists() else "does not exist"
        raise UsageError("FILE_NOT_READ", f"{name} {what}.", "Name a file written by plan -o.")
    return read_plan_file(path)


def plan_in(given: Given) -> AnyPlan:
    """The plan that was given. Raises EngineError for what is none."""
    from engine.model.plan_file import plan_of

    return plan_of(given.data, given.shown)


def read_plan_or_script(name: str) -> AnyPlan | Given:
    """A plan; or what is in a file or comes from stdin (``-``), where that is none."""
    if name.lower().endswith(".json"):
        return read_plan(name)
    given = read_input(name)
    # no SQL begins with a brace
    return plan_in(given) if given.data.removeprefix(BOM).lstrip().startswith(b"{") else given
