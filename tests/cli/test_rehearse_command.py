"""``rehearse``: what it says and its exit codes, without Spark."""

from __future__ import annotations

import io
from pathlib import Path
from unittest import mock

import pytest
from rich.console import Console

from console.cli.exits import DEVIATED, DONE, FAILED, REFUSED, rehearsal_code
from console.cli.view_outcome import rehearsal_page
from console.words.glyphs import UNICODE
from engine.commit.rehearse import refusal_deviations
from engine.model.errors import EngineError
from engine.model.expectation import ExpectationResult
from engine.model.operation import Deviation
from engine.model.plan import Refused
from engine.model.plan_file import write_plan
from tests.cli.running import Shell
from tests.cli.test_usage import NO_SPARK
from tests.engine.plans import make_plan, make_rehearsal

DEVIATING = Deviation(metric="rows", promised=6, actual=5)


FAILING = ExpectationResult(
    name="unique_id", kind="unique", severity="error", status="fail", value="1", sentence="Two."
)


def test_the_exit_code_of_a_rehearsal() -> None:
    kept = make_rehearsal()
    assert rehearsal_code(kept) == DONE
    assert rehearsal_code(make_rehearsal(kept=False)) == DEVIATED
    assert rehearsal_code(make_rehearsal(refused="DELTA_X")) == FAILED
    assert rehearsal_code(make_rehearsal(expectations=(FAILING,))) == REFUSED
    assert rehearsal_code(make_rehearsal(expectations=(FAILING,), kept=False)) == DEVIATED
    assert rehearsal_code(make_rehearsal(expectations=(FAILING.model_copy(update={"severity": "warn"}),))) == DONE


def page(**changes: object) -> str:
    shown = Console(file=io.StringIO(), width=100)
    shown.print(rehearsal_page(make_rehearsal(**changes), UNICODE))
    return shown.file.getvalue()  # type: ignore[attr-defined]


def test_what_it_says() -> None:
    assert "✔ measured: 12.3 s on a clone, all 3 metrics as promised, and every row\n" in page()
    assert "the clone of its v7 is dropped" in page()
    failing = page(expectations=(FAILING,)).splitlines()
    assert "1 of 1 expectation fails: unique_id" in failing[0]
    assert "unique_id fails (error): Two." in failing[1]
    broken = page(kept=False, deviations=(DEVIATING,))
    assert "✖ measured: 12.3 s on a clone, DEVIATED in 1 number" in broken
    assert ["rows", "6", "5", "✖", "deviates"] in [line.split() for line in broken.splitlines()]
    assert "refused by Delta as the plan says: DELTA_X" in page(refused="DELTA_X")
    stale = page(stale="t moved from v7 to v8 since the plan (v8 DELETE): it is another.")
    assert "⚠ The plan is stale, and apply refuses it: t moved from v7 to v8 since the plan (v8 DELETE)" in stale
    assert "stale" not in page()


def test_a_refusal_that_did_not_come_or_is_another_deviates() -> None:
    refused = Refused(condition="A", message="", also=("B",))
    assert [refusal_deviations(refused, EngineError(one, "")) for one in ("A", "B")] == [(), ()]
    assert [refusal_deviations(refused, one)[0].actual for one in (None, EngineError("C", ""))] == [None, "C"]


def test_expectations_of_the_plan_that_are_not_given_are_told(shell: Shell, tmp_path: Path) -> None:
    plan, expected = tmp_path / "p.json", tmp_path / "e.yaml"
    held = tuple(FAILING.model_copy(update={"name": name}) for name in ("first", "second"))
    write_plan(plan, make_plan("1" * 32, expectations=held))
    expected.write_text("demo.orders:\n- {name: first, unique: [order_id]}\nother.t:\n- {name: second, unique: [id]}\n")
    gone = EngineError("CONNECT_FAILED", "No Spark here.")
    with mock.patch("console.cli.rehearse_command.attach", side_effect=gone):
        told = shell("rehearse", plan).err
        assert "2 expectations of the plan not checked, name the file with --expect: first, second" in told
        told = shell("rehearse", plan, "--expect", expected).err
        assert "1 expectation of the plan not checked, name the file with --expect: second" in told
    with mock.patch("console.cli.apply_command.attach", side_effect=gone):
        told = shell("apply", plan, "--yes", "--accept", "expect:first", "--accept", "expect:second", "--verify",
                     "--expect", expected).err  # fmt: skip
        assert "1 expectation of the plan not checked, name the file with --expect: second" in told


def test_a_read_only_profile_and_wrong_usage_are_refused_before_spark(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plan = tmp_path / "p.json"
    write_plan(plan, make_plan("1" * 32))
    shell.home.mkdir(exist_ok=True)
    (shell.home / "settings.toml").write_text('[profiles.look]\nmaster = "spark://h:7077"\npolicy.read_only = true\n')
    with NO_SPARK:
        assert shell("rehearse", plan, "--param", "a=b").code == 64
        assert shell("rehearse", "no.sql").code == 64
        ran = Shell(capsys, shell.home, "--profile", "look")("rehearse", plan, "--json")
    assert (ran.code, ran.json["error"]["condition"]) == (6, "POLICY_READ_ONLY")
