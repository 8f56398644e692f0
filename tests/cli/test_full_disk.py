"""An output that cannot be written: one sentence on stderr, and no exit code that says that all is well."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from console.cli import apply_command
from console.cli.exits import DEVIATED, FAILED
from console.cli.group import cli
from console.cli.printed_help import CliCommand
from console.cli.server_command import server
from engine.model.plan_file import write_plan
from tests.cli.running import Shell
from tests.engine.plans import make_outcome, make_plan

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="Linux's own")
@pytest.mark.parametrize(
    "arguments",
    [
        *(("history", "--json"), ("history",), ("doctor", "--json"), ("doctor",), ("schema", "plan")),
        *(("--help",), ("history", "--help"), ("server", "--help"), ("server", "status", "--help")),
    ],
    ids=" ".join,
)
def test_a_full_disk_is_one_sentence(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    command = (sys.executable, "-c", "from console.cli import main; main()", "--home", str(tmp_path), *arguments)
    with FULL.open("w") as full:
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == FAILED
    sentence, hint = ran.stderr.splitlines()
    assert sentence == "[OUTPUT_NOT_WRITTEN] The output could not be written: No space left on device."
    assert hint.startswith("Make room")


def test_each_help_is_an_output() -> None:
    assert all(isinstance(one, CliCommand) for one in (*cli.commands.values(), *server.commands.values()))


def test_what_deviates_ends_with_7_though_it_cannot_be_printed(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, path = make_plan(), tmp_path / "p.json"
    write_plan(path, plan)
    for kept, code in ((False, DEVIATED), (True, FAILED)):
        outcome = make_outcome("op").model_copy(update={"kept": kept})
        monkeypatch.setattr(apply_command, "_apply_plan", lambda *_, done=outcome: (plan, done))
        with monkeypatch.context() as patched:

            def echo(*_: object, err: bool = False, **__: object) -> None:
                if not err:
                    raise OSError(errno.ENOSPC, "No space left on device")

            patched.setattr("click.echo", echo)
            assert shell("apply", path, "--json").code == code
