"""What can be told wrong before Spark is asked: exit 64, one line and a hint on stderr, nothing on stdout."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from unittest import mock

import click
import pytest

from console.cli.invocation import Invocation
from console.cli.undo_command import undo
from engine.model.plan import Refused
from engine.model.plan_file import write_plan
from engine.recovery.undo import LATER_COMMITS, RAISE_RETENTION
from tests.cli.running import Shell
from tests.engine.plans import make_plan

MERGE = "MERGE INTO a.b t USING c s ON t.k = s.k WHEN MATCHED THEN DELETE"
NO_SPARK = mock.patch("engine.session.connect.connect", side_effect=AssertionError("Spark was asked for"))


@pytest.fixture(autouse=True)
def _without_spark() -> object:
    with NO_SPARK:
        yield


@pytest.mark.parametrize(
    ("content", "condition"),
    [
        (b"", "EMPTY_STATEMENT"),
        (b" \n\t ", "EMPTY_STATEMENT"),
        (b"-- only a comment", "EMPTY_STATEMENT"),
        (b"SELECT 1", "NOT_A_MERGE"),
        (b"MERGE INTO t", "PARSE_SYNTAX_ERROR"),
        (b"DROP TABLE t; " + MERGE.encode(), "UNSUPPORTED_STATEMENT"),
        ("MERGE INTO tä".encode("latin-1"), "NOT_UTF8"),
        ("\ufeff".encode("utf-16-le") + MERGE.encode("utf-16-le"), "NOT_UTF8"),
        (b"MERGE INTO a t USING b s ON t.k = :k WHEN MATCHED THEN DELETE", "UNBOUND_SQL_PARAMETER"),
        (b"MERGE INTO a t USING b s ON t.k = 'x WHEN MATCHED THEN DELETE", "PARSE_SYNTAX_ERROR"),
    ],
)
@pytest.mark.parametrize("command", [("plan",), ("apply", "--yes")])
def test_file_that_holds_no_merge(
    shell: Shell, tmp_path: Path, command: tuple[str, ...], content: bytes, condition: str
) -> None:
    file = tmp_path / "m.sql"
    file.write_bytes(content)
    ran = shell(*command, file, "--json")
    assert ran.code == 64
    assert ran.json["error"]["condition"] == condition
    message, hint = ran.err.splitlines()
    assert message.startswith(f"[{condition}] ")
    assert hint


def test_file_that_is_not_there(shell: Shell, tmp_path: Path) -> None:
    for arguments in (
        ("plan", "no.sql"),
        ("apply", "no.sql"),
        ("apply", "no.json"),
        ("show", "no.json"),
        ("show", tmp_path),
    ):
        ran = shell(*arguments, *(["--yes"] if arguments[0] == "apply" else []))
        assert ran.code == 64, arguments
        assert ran.err.startswith("[FILE_NOT_READ] ")


def test_stdin(shell: Shell) -> None:
    assert shell("plan", "-", stdin=b"SELECT 1").err.startswith("[NOT_A_MERGE]")
    assert shell("plan", "-").err.startswith("[EMPTY_STATEMENT] stdin is empty.")


@pytest.mark.parametrize(
    "arguments",
    [
        ("nope",),
        ("plan",),
        ("plan", "x.sql", "--rows", "many"),
        ("plan", "x.sql", "--param", "novalue"),
        ("plan", "x.sql", "--param", "k=1", "--param", "k=2"),
        ("show", "p.json", "--json", "--markdown"),
        ("history", "--limit", "0"),
        ("--master", "local", "--remote", "sc://x", "history"),
        ("--remote", "spark://x", "history"),
        ("--conf", "novalue", "history"),
        ("--remote", "sc://x", "server", "status"),
        ("--profile", "nope", "history"),
        ("plan", "x.sql", "--freeze"),
        ("plan", "x.sql", "-o", "-"),
        ("expect", "t", "-o", "-"),
        ("plan", "x.sql", "-o", "no/such/folder/p.json"),
        ("expect", "t", "-o", "no/such/folder/t.yml"),
        ("template", "cdc", "--table", "t", "--source", "s", "-o", "-"),
        ("undo",),
        ("undo", "x", "--accept", "FOO"),
        ("schema",),
        ("template",),
        (),
        ("demo",),
    ],
)
def test_wrong_usage(shell: Shell, arguments: tuple[str, ...]) -> None:
    ran = shell(*arguments)
    assert ran.code == 64
    assert ran.out == "" or ran.json["error"]["condition"] == "USAGE"
    assert "Traceback" not in ran.err
    assert "\\" not in ran.err
    assert len(ran.err.splitlines()) == 2


def test_a_code_to_accept_that_is_none_of_the_plan_is_told(shell: Shell, tmp_path: Path) -> None:
    write_plan(tmp_path / "p.json", make_plan(refused=Refused(condition="X", message="No.")))
    ran = shell("apply", tmp_path / "p.json", "--yes", "--accept", "BOGUS", "--accept", "expect:none")
    for code in ("BOGUS", "expect:none"):
        assert f"--accept {code}: this plan has no warning and no expectation of that name" in ran.err


@pytest.mark.parametrize("wrong", [("--param",), ("--nosuch",), ("x.sql", "--rows", "z"), ("x.sql", "y.sql")])
def test_what_is_wrong_with_an_option_names_the_help_of_its_command(shell: Shell, wrong: tuple[str, ...]) -> None:
    ran = shell("plan", *wrong)
    assert ran.code == 64
    assert ran.err.splitlines()[-1] == "Try 'deltamerge-console plan --help'."


def test_undo_takes_the_codes_that_the_engine_asks_for() -> None:
    option = next(one for one in undo.params if one.name == "accept")
    assert isinstance(option.type, click.Choice)
    assert set(option.type.choices) == {LATER_COMMITS, RAISE_RETENTION}


def test_help_and_version(shell: Shell) -> None:
    ran = shell("--help")
    assert ran.code == 0
    for command in ("plan", "show", "apply", "tables", "describe", "history", "show-op", "server", "doctor", "demo"):
        assert command in ran.out
        assert shell(command, "--help").code == 0
    assert shell("--version").code == 0


def test_plan_file_that_is_none(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    document = json.loads(make_plan().to_json())
    for text, condition in (
        ("", "PLAN_FILE_DAMAGED"),
        (make_plan().to_json()[:200], "PLAN_FILE_DAMAGED"),
        ("{}", "NOT_A_PLAN"),
        (json.dumps({**document, "format_version": 3}), "PLAN_FILE_NEWER"),
        (json.dumps({**document, "extra": 1}), "PLAN_FILE_EDITED"),
        (json.dumps({**document, "promise": {}}), "PLAN_FILE_EDITED"),
        (json.dumps({**document, "format_version": 1, "checksum": None, "extra": 1}), "PLAN_FILE_INVALID"),
    ):
        file.write_text(text, encoding="utf-8")
        for command in (("show",), ("apply", "--yes")):
            ran = shell(*command, file)
            assert ran.code == 1
            assert ran.err.startswith(f"[{condition}] ")
            assert ran.out == ""


def test_param_with_plan_file(shell: Shell, tmp_path: Path) -> None:
    write_plan(tmp_path / "p.json", make_plan())
    assert shell("apply", tmp_path / "p.json", "--yes", "--param", "a=1").code == 64


def test_home_that_cannot_be_written(shell: Shell, tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    for command in ("history", "tables"):
        ran = shell("--home", in_the_way / "home", command)
        assert ran.code == 1
        assert ran.err.startswith("[HOME_NOT_WRITABLE] ")
        assert len(ran.err.splitlines()) == 2


def test_what_nobody_foresaw(shell: Shell) -> None:
    with mock.patch("engine.ledger.history.History.list", side_effect=ZeroDivisionError("a\x1b[2J\nb")):
        ran = shell("history")
    assert ran.code == 1
    assert ran.out == ""
    log = shell.home / "logs" / "console.log"
    assert ran.err.splitlines() == [
        r"[UNEXPECTED] ZeroDivisionError: a\x1b[2J",
        f"Details are in {log}.",
    ]
    assert "Traceback" in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_keyboard_interrupt(shell: Shell) -> None:
    with mock.patch("engine.ledger.history.History.list", side_effect=KeyboardInterrupt):
        ran = shell("history")
    assert (ran.code, ran.out, ran.err) == (130, "", "\ncancelled\n")


def test_secret_in_an_error_is_masked(shell: Shell) -> None:
    ran = shell("--remote", "sc://h:1/;token=hunter2", "--master", "x", "history")
    assert "hunter2" not in ran.err


def test_nothing_heavy_is_imported_before_a_command_runs() -> None:
    heavy = ("rich", "textual", "pydantic", "pyspark", "duckdb", "sqlglot", "grpc", "pandas")
    code = f"import sys, console.cli, console.cli.group; print([m for m in {heavy} if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_the_console_draws_before_spark(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "sys.stdin.isatty = sys.stderr.isatty = lambda: True\n"
        "from console.app import DeltaMergeApp\n"
        "heavy = ('pyspark', 'duckdb', 'grpc', 'pandas', 'sqlglot')\n"
        "def run(app): print(app.backend.endpoint, app.open_sql, [m for m in heavy if m in sys.modules])\n"
        "DeltaMergeApp.run = run\n"
        "from console.cli import main\n"
        "main()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, "--home", str(tmp_path), "--master", "local[3]"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "local[3] None []\n"


def test_broken_pipe_is_quiet(tmp_path: Path) -> None:
    write_plan(tmp_path / "p.json", make_plan())
    code = "from console.cli import main; main()"
    read, write = os.pipe()
    os.close(read)
    ran = subprocess.run(
        [sys.executable, "-c", code, "--home", str(tmp_path), "show", str(tmp_path / "p.json"), "--json"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_global_option_behind_the_command_is_told_its_place(shell: Shell) -> None:
    ran = shell("history", "--profile", "prod")
    assert ran.code == 64
    assert "--profile stands before the command: deltamerge-console --profile … history" in ran.err
    assert "No such option" in shell("history", "--nope").err


def test_a_directory_without_tables_is_told_with_what_was_not_searched(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".hidden" / "t" / "_delta_log").mkdir(parents=True)
    session = mock.Mock(store_silence=lambda: None)
    monkeypatch.setattr(Invocation, "connect", lambda *_: nullcontext(session))
    out = shell("tables", tmp_path).out
    assert out.startswith(f"No Delta table was found in {tmp_path}. Folders whose name begins with . or _")
    assert "are not searched" in out
    found = shell("tables", tmp_path / ".hidden").out
    assert "delta" in found
