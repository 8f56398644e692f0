"""Secrets stay out of all that is kept or shown; text that is not ours is shown inert; files are this user's alone."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from console.words.visible import is_visible
from engine.ledger.history import History
from engine.model.plan import Remark
from engine.model.plan_file import write_plan
from engine.session.home import ledger_path
from engine.session.state import read_state
from tests.cli.running import Shell
from tests.engine.plans import make_outcome, make_plan

NASTY = "[/x] \x1b[2J\x1b]0;pwned\x07 \u202eevil\u2066 \x9b31m\r\x08"
SECRET = "Zx81hunter2abcdef"
# Markdown's own sign holds a variation selector, which no text of others keeps
OUR_SIGN = "⚠️"


def is_inert(text: str) -> bool:
    return all(is_visible(line) for line in text.replace(OUR_SIGN, "").splitlines())


@pytest.fixture
def nasty(shell: Shell) -> tuple[str, Path]:
    """An operation and a plan file whose every text is hostile; the operation's id and the file."""
    plan = make_plan(table=f"`t{NASTY}`")
    samples = [sample.model_copy(update={"before": {NASTY: NASTY * 200}}) for sample in plan.samples]
    plan = plan.model_copy(
        update={
            "statement": plan.statement.model_copy(update={"sql": f"MERGE {NASTY}"}),
            "source": plan.source.model_copy(update={"sql": NASTY}),
            "decision": plan.decision.model_copy(update={"because": NASTY}),
            "scan": plan.scan.model_copy(update={"predicates": (NASTY,)}),
            "warnings": (Remark(code=NASTY, sentence=NASTY, evidence=NASTY),),
            "samples": tuple(samples),
        }
    )
    ledger = History(ledger_path(shell.home))
    op_id = ledger.begin(plan)
    ledger.failed(op_id, NASTY)
    ledger.applied(ledger.begin(plan), make_outcome("x", plan.plan_id).model_copy(update={"moved_by": (NASTY,)}))
    file = shell.home / "plan.json"
    write_plan(file, plan)
    return op_id, file


def test_hostile_text_is_inert_in_every_command_that_shows_it(shell: Shell, nasty: tuple[str, Path]) -> None:
    op_id, file = nasty
    for words in (("history",), ("show-op", op_id), ("show", file), ("show", file, "--markdown"), ("doctor",)):
        ran = shell(*words)
        assert "pwned" in ran.out or words == ("doctor",), words
        assert is_inert(ran.out), words
        assert is_inert(ran.err), words
    for words in (("history", "--json"), ("show-op", op_id, "--json"), ("show", file, "--json")):
        assert is_inert(shell(*words).out), "JSON escapes what a terminal would obey"
    ran = shell("undo", f"{NASTY}", "--yes")
    assert ran.code != 0
    assert is_inert(ran.err)


@pytest.mark.skipif(sys.platform != "linux", reason="a process cannot write over its own arguments elsewhere")
def test_a_token_is_not_in_the_process_title(tmp_path: Path) -> None:
    script = (
        "import pathlib, sys\nfrom console.cli import main\ntry:\n    main()\nfinally:\n"
        "    sys.stdout.write(pathlib.Path('/proc/self/cmdline').read_text())"
    )
    remote = f"sc://127.0.0.1:1/;token={SECRET};user_id=ann"
    words = ["--home", str(tmp_path / "home"), "--remote", remote, "history"]
    ran = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=False)
    assert "user_id=ann" in ran.stdout
    assert SECRET not in ran.stdout + ran.stderr


def test_a_token_reaches_no_error_and_no_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    home = tmp_path / "home"
    shell = Shell(capsys, home, "--remote", f"sc://127.0.0.1:1/;token={SECRET}", "--conf", f"spark.x.password={SECRET}")
    file = tmp_path / "m.sql"
    file.write_text("MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN DELETE")
    for words in (("tables",), ("plan", file, "-o", tmp_path / "p.json"), ("apply", file, "--yes"), ("doctor",)):
        ran = shell(*words)
        assert SECRET not in ran.out + ran.err, words
    assert holding(SECRET, tmp_path) == []


def test_the_servers_token_is_in_its_state_file_alone(session: Any, spark_home: Path) -> None:
    del session
    server = read_state(spark_home)
    assert server is not None
    assert server.token not in repr(server)
    assert [path.name for path in holding(server.token, spark_home, but="warehouse")] == ["server.json"]
    for pid in (server.pid, server.watchdog_pid, os.getpid()):
        assert server.token.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()


def test_what_this_program_writes_is_this_users_alone(session: Any, spark_home: Path) -> None:
    del session
    History(ledger_path(spark_home)).list()
    assert stat.S_IMODE(spark_home.stat().st_mode) == 0o700
    for folder in ("logs", "leases", "scratch", "warehouse"):
        assert stat.S_IMODE((spark_home / folder).stat().st_mode) == 0o700, folder
    files = [path for path in (*spark_home.iterdir(), *(spark_home / "leases").iterdir()) if path.is_file()]
    files.append(spark_home / "logs" / "server.log")
    assert {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in files} == {
        path.name: "0o600" for path in files
    }


def holding(secret: str, folder: Path, but: str = "") -> list[Path]:
    """The files under ``folder`` that hold the secret."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and but not in path.parts:
            try:
                content = path.read_bytes()
            except FileNotFoundError:
                continue  # Spark's scratch comes and goes
            if secret.encode() in content:
                found.append(path)
    return found
