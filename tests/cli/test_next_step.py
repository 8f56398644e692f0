"""What ``plan`` says to type next: it commits what was shown, checked by what it was checked with."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from console.cli import plan_command
from console.cli.invocation import Invocation
from tests.cli.running import Shell
from tests.engine.plans import make_plan

SQL = "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET *"


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> None:
    session: Any = SimpleNamespace(close=lambda **_: None)
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
