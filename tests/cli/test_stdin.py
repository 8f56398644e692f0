"""``-``: a plan or a statement from stdin, and the schema of what goes through the pipe."""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import pytest

from console.cli import apply_command
from engine.model.plan_file import CREATE_SCHEMA_FILE, SCHEMA_FILE
from tests.cli.running import Ran, Shell
from tests.engine.plans import make_create_plan, make_outcome, make_plan

NO_SPARK = mock.patch("engine.session.connect.connect", side_effect=AssertionError("Spark was asked for"))
FORMAT_1 = Path(__file__).parents[1] / "unit/engine/model/plan_files"


@pytest.fixture(autouse=True)
def _without_spark() -> object:
    with NO_SPARK:
        yield


@pytest.mark.parametrize("plan", [make_plan(), make_create_plan()], ids=["merge", "create"])
def test_show_reads_a_plan_from_stdin(shell: Shell, tmp_path: Path, plan: object) -> None:
    text = plan.to_json()  # type: ignore[attr-defined]
    (tmp_path / "p.json").write_text(text)
    for options in ((), ("--json",), ("--markdown",)):
        ran = shell("show", "-", *options, stdin=text.encode())
        assert ran.code == 0, ran.err
        as_file = shell("show", tmp_path / "p.json", *options).out
        if options:
            assert ran.out == as_file
        else:
            *page, following = as_file.splitlines()
            assert str(tmp_path / "p.json") in following
            # it has no name that a command could have
            assert ran.out.splitlines() == [*page, "Next: save the plan with -o PLAN.json, and apply that."]


def test_show_prints_what_plan_json_prints(shell: Shell) -> None:
    text = json.dumps(json.loads(make_plan().to_json()), indent=2)
    assert shell("show", "-", stdin=text.encode()).code == 0


@pytest.mark.parametrize(
    ("given", "condition"),
    [
        (b"", "PLAN_FILE_DAMAGED"),
        (b"MERGE INTO t", "PLAN_FILE_DAMAGED"),
        (b"\xff\xfe", "PLAN_FILE_DAMAGED"),
        (b"{}", "NOT_A_PLAN"),
        (make_plan().to_json().replace("900", "901").encode(), "PLAN_FILE_EDITED"),
    ],
)
def test_what_is_no_plan_is_refused_from_stdin_too(shell: Shell, given: bytes, condition: str) -> None:
    ran = shell("show", "-", "--json", stdin=given)
    assert (ran.code, ran.json["error"]["condition"]) == (1, condition)
    assert ("is empty" in ran.json["error"]["message"]) is (not given)


def applied(shell: Shell, given: bytes, *options: str) -> tuple[Ran, list[object]]:
    plans: list[object] = []

    def apply_plan(_: object, plan: object, *__: object) -> object:
        plans.append(plan)
        return plan, make_outcome("1")

    with mock.patch.object(apply_command, "_apply_plan", apply_plan):
        return shell("apply", "-", *options, stdin=given), plans


@pytest.mark.parametrize("before", [b"", b"\n  ", b"\xef\xbb\xbf"])
def test_apply_takes_a_plan_from_stdin(shell: Shell, before: bytes) -> None:
    ran, plans = applied(shell, before + make_plan().to_json().encode(), "--yes", "--json")
    assert ran.code == 0, ran.err
    assert plans == [make_plan()]


def test_apply_takes_no_edited_plan_from_stdin(shell: Shell) -> None:
    ran, plans = applied(shell, make_plan().to_json().replace("900", "901").encode(), "--yes")
    assert (ran.code, plans) == (1, [])
    assert ran.err.startswith("[PLAN_FILE_EDITED]")


def test_who_hands_in_the_text_cannot_answer(shell: Shell) -> None:
    for given in (make_plan().to_json().encode(), b"MERGE INTO"):
        ran, plans = applied(shell, given)
        assert (ran.code, plans) == (6, [])
        assert ran.err.startswith("[NOT_CONFIRMED]")


def test_apply_still_takes_a_statement_from_stdin(shell: Shell) -> None:
    ran, _ = applied(shell, b"SELECT 1", "--yes")
    assert (ran.code, ran.err.split()[0]) == (64, "[NOT_A_MERGE]")
    ran, _ = applied(shell, make_plan().to_json().encode(), "--yes", "--param", "a=1")
    assert ran.code == 64


@pytest.mark.parametrize("name", ["merge_format_1", "create_format_1"])
def test_a_plan_of_format_1_is_shown(shell: Shell, name: str) -> None:
    file = FORMAT_1 / f"{name}.json"
    assert shell("show", file, "--json").json["format_version"] == 1
    assert shell("show", file).code == 0
    assert shell("show", "-", stdin=file.read_bytes()).code == 0


def test_the_schema_of_each_kind_of_plan_file_is_printed(shell: Shell) -> None:
    for kind, file in (("plan", SCHEMA_FILE), ("create", CREATE_SCHEMA_FILE)):
        ran = shell("schema", kind)
        assert ran.code == 0
        assert ran.json == json.loads(file.read_text(encoding="utf-8"))
    assert shell("schema", "other").code == 64


def test_the_shell_completes_commands_and_options(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs/reference/command-line.md").read_text(encoding="utf-8")
    assert "_DELTAMERGE_CONSOLE_COMPLETE=zsh_source" in page
    monkeypatch.setenv("_DELTAMERGE_CONSOLE_COMPLETE", "zsh_source")
    assert "#compdef deltamerge-console" in shell().out
    monkeypatch.setenv("_DELTAMERGE_CONSOLE_COMPLETE", "zsh_complete")
    for words, at, offer in (("sh", 1, "show-op"), ("plan --de", 2, "--detailed-exitcode"), ("schema c", 2, "create")):
        monkeypatch.setenv("COMP_WORDS", f"deltamerge-console {words}")
        monkeypatch.setenv("COMP_CWORD", str(at))
        assert offer in shell().out.split()
