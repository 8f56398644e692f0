"""A reader that has gone: the exit code says what happened all the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from console.cli import apply_command, rehearse_command
from console.cli.exits import DEVIATED, DONE, FAILED
from engine.model.plan_file import write_plan
from tests.cli.running import Shell
from tests.engine.plans import make_outcome, make_plan, make_rehearsal


def run(home: Path, *arguments: str, closed: str) -> int:
    """The exit code of the program, whose stream of that name nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    command = (sys.executable, "-c", "from console.cli import main; main()", "--home", str(home), *arguments)
    streams: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, closed: writer}
    try:
        return subprocess.run(command, **streams, check=False).returncode
    finally:
        os.close(writer)


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_an_error_that_nobody_reads_is_none_the_less_one(tmp_path: Path, closed: str) -> None:
    assert run(tmp_path, "show-op", "beef", "--json", closed=closed) == FAILED


def test_who_has_seen_enough_of_a_list_ends_it_well(tmp_path: Path) -> None:
    assert run(tmp_path, "history", closed="stdout") == DONE


@pytest.mark.parametrize("command", ["apply", "rehearse"])
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_what_deviates_ends_with_7_though_nobody_reads_it(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, options: tuple[str, ...]
) -> None:
    plan, path = make_plan(), tmp_path / "p.json"
    write_plan(path, plan)
    outcome = make_outcome("op").model_copy(update={"kept": False})
    monkeypatch.setattr(apply_command, "_apply_plan", lambda *_: (plan, outcome))
    monkeypatch.setattr(rehearse_command, "_rehearse_plan", lambda *_: make_rehearsal(kept=False))
    assert shell(command, path, *options).code == DEVIATED
    sent: list[str] = []

    def echo(text: object = "", *_: object, **__: object) -> None:
        sent.append(json.dumps(str(text)))
        raise BrokenPipeError

    monkeypatch.setattr("click.echo", echo)
    assert shell(command, path, *options).code == DEVIATED
    assert sent
