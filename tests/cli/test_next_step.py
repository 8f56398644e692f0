"""What ``plan`` says to type next: it commits what was shown, checked by what it was checked with."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from console.cli import plan_command
from console.cli.invocation import Invocation
from engine.commit.policy import Policy, with_verdicts
from engine.model.plan_file import write_plan
from tests.cli.running import Shell
from tests.engine.plans import make_plan

SQL = "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET *"


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> None:
    session: Any = SimpleNamespace(close=lambda **_: None, keep=lambda: None)
    monkeypatch.setattr(Invocation, "connect", lambda *_, **__: session)
    monkeypatch.setattr(plan_command, "make_plan", lambda *_: make_plan())
    monkeypatch.setattr(plan_command, "dropped_if_lost", lambda *_: contextlib.nullcontext())


@pytest.mark.usefixtures("planned")
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--expect", "night.yml"), "apply f.sql --expect night.yml\n"),
        (("--no-prune",), "Next: save the plan with -o PLAN.json, and apply that.\n"),
        (("--no-checks",), "Next: save the plan with -o PLAN.json, and apply that.\n"),
        (("--rows", "3"), "apply f.sql\n"),
    ],
)
def test_what_comes_next_commits_what_was_shown(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.sql").write_text(SQL)
    Path("night.yml").write_text("demo.customers:\n  - unique: [id]\n")
    ran = shell("plan", "f.sql", *options)
    assert ran.out.endswith(told), ran.err


@pytest.mark.parametrize("options", [(), ("-o", "p.json")])
@pytest.mark.usefixtures("planned")
def test_what_the_policy_refuses_is_not_offered(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.sql").write_text(SQL)
    monkeypatch.setattr(plan_command, "make_plan", lambda *_: with_verdicts(Policy(read_only=True), make_plan()))
    ran = shell("plan", "f.sql", *options)
    assert ran.out.splitlines()[-1].startswith("Not to be applied. The policy refuses it (read_only): ")
    assert "apply f.sql" not in ran.out
    assert "apply p.json" not in ran.out


@pytest.mark.usefixtures("planned")
def test_a_plan_that_is_to_be_looked_at_is_shown_first(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.sql").write_text(SQL)
    monkeypatch.setattr(plan_command, "make_plan", lambda *_: with_verdicts(Policy(reviewed_plans=True), make_plan()))
    assert shell("plan", "f.sql", "-o", "p.json").out.endswith(" show p.json\n")
    assert shell("plan", "f.sql").out.endswith("Next: save the plan with -o PLAN.json, and show that.\n")


def test_show_offers_nothing_that_the_policy_refuses(shell: Shell, tmp_path: Path) -> None:
    write_plan(tmp_path / "p.json", make_plan())
    shell.home.mkdir(mode=0o700)
    (shell.home / "settings.toml").write_text("[profiles.prod.policy]\nmax_files_rewritten = 0.0\n")
    told = shell("--profile", "prod", "show", tmp_path / "p.json").out.splitlines()[-1]
    assert told.startswith("Not to be applied. The policy refuses it (max_files_rewritten): ")
    assert " apply " in shell("show", tmp_path / "p.json").out
