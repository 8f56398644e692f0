"""Run the command line in this process, as a shell would see it."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from console.cli import main


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Shell:
    """``shell("plan", "a.sql")`` runs it on one home; ``options`` come before the command."""

    def __init__(self, capsys: pytest.CaptureFixture[str], home: Path, *options: str) -> None:
        self._capsys = capsys
        self._options = ("--home", str(home), *options)
        self.home = home

    def __call__(self, *arguments: object, stdin: bytes = b"", tty: bool = False) -> Ran:
        self._capsys.readouterr()
        given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
        given.isatty = lambda: tty  # type: ignore[method-assign]
        with mock.patch.object(sys, "stdin", given), pytest.raises(SystemExit) as exit_:
            main([*self._options, *map(str, arguments)])
        out, err = self._capsys.readouterr()
        code = exit_.value.code
        return Ran(code if isinstance(code, int) else 0, out, err)
