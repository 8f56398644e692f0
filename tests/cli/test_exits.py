"""The exit codes: which comes first, and that help and docs say the same of them."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from console.cli.exits import CHANGES, DONE, FAILED, MEANINGS, REFUSED, plan_code
from console.cli.group import cli
from console.cli.invocation import Invocation
from engine.model.operation import Deviation
from engine.model.plan import PolicyVerdict, Refused
from tests.cli.running import Shell
from tests.engine.plans import make_create_plan, make_outcome, make_plan

CI_PAGE = Path(__file__).parents[2] / "docs/how-to/ci.md"
BROKEN = PolicyVerdict(rule="read_only", verdict="refused", how="no table may be written")
ASKING = PolicyVerdict(rule="typed_confirmation", verdict="asks", how="type the table's name")
NO = Refused(condition="X", message="No.", hint="")


@pytest.mark.parametrize(
    ("refused", "policy", "check", "detailed", "code"),
    [
        (NO, (BROKEN,), True, True, FAILED),
        (None, (BROKEN,), True, True, REFUSED),
        (None, (BROKEN,), False, True, CHANGES),
        (None, (ASKING,), True, True, CHANGES),
        (None, (BROKEN,), False, False, DONE),
        (None, (), True, True, CHANGES),
    ],
)
def test_delta_comes_before_the_policy_and_both_before_a_change(
    refused: Refused | None, policy: tuple[PolicyVerdict, ...], check: bool, detailed: bool, code: int
) -> None:
    for plan in (make_plan(refused=refused, policy=policy), make_create_plan(refused=refused, policy=policy)):
        assert plan_code(plan, check_policy=check, detailed=detailed) == code


def test_a_plan_that_changes_nothing_is_done() -> None:
    plan = make_create_plan(effect="nothing", policy=(BROKEN,))
    assert plan_code(plan, check_policy=False, detailed=True) == DONE


def commands() -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = [()]
    for name, command in cli.commands.items():
        found.append((name,))
        if isinstance(command, click.Group):
            found += [(name, inner) for inner in command.commands]
    return found


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_each_help_ends_with_the_exit_codes(shell: Shell, command: tuple[str, ...]) -> None:
    told = shell(*command, "--help").out.partition("Exit codes:\n")[2].splitlines()
    codes = [re.fullmatch(r" +(\d+) +(.+)", line) for line in told]
    assert codes
    assert all(one is not None and MEANINGS[int(one[1])] == one[2] for one in codes)
    if not command:
        assert len(codes) == len(MEANINGS)


def test_the_docs_have_the_same_codes() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", CI_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {int(code): meaning.replace("`", "") for code, meaning in rows} == MEANINGS


def test_the_demo_exits_as_apply_does(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from console.cli import demo_command

    plan, outcome = make_plan(), make_outcome("1")
    broken = outcome.model_copy(
        update={"kept": False, "deviations": (Deviation(metric="numTargetRowsUpdated", promised=900, actual=1),)}
    )
    monkeypatch.setattr(demo_command, "read_script", lambda *_: None)
    monkeypatch.setattr(demo_command, "make_plan", lambda *_, **_options: plan)
    for result, code in ((outcome, 0), (broken, 7)):
        monkeypatch.setattr(demo_command, "commit", lambda *_, result=result: result)
        told = demo_command.narrate()
        made = type("Made", (), {"statements": ("a.sql",)})()
        assert demo_command._plan_and_apply(Invocation("local", tmp_path), None, told, made) == code  # type: ignore[arg-type]
