"""With --json a failure is one object on stdout; the exit code and the lines for a person stay as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from console.cli.failures import failed_by
from engine.model.errors import EngineError, StalePlanError
from engine.model.plan import PolicyVerdict, Remark
from engine.model.plan_file import write_plan
from tests.cli.running import Shell
from tests.engine.plans import make_plan

KEYS = ["condition", "message", "hint", "position"]


@pytest.mark.parametrize(
    ("arguments", "code", "condition"),
    [
        (("show-op", "beef", "--json"), 1, "OPERATION_NOT_FOUND"),
        (("history", "--json", "--limit", "no"), 64, "USAGE"),
        (("no-such-command", "--json"), 64, "USAGE"),
        (("show", "/no/such/plan.json", "--json"), 64, "FILE_NOT_READ"),
    ],
)
def test_each_failure_is_one_object(shell: Shell, arguments: tuple[str, ...], code: int, condition: str) -> None:
    ran = shell(*arguments)
    assert ran.code == code
    assert list(ran.json) == ["error"]
    assert list(ran.json["error"]) == KEYS
    assert ran.json["error"]["condition"] == condition
    assert ran.json["error"]["message"] in " ".join(ran.err.split())


def test_without_it_stdout_stays_empty(shell: Shell) -> None:
    assert shell("show-op", "beef").out == ""


def test_a_place_in_the_text_and_a_secret_that_stays_one() -> None:
    error = EngineError("PARSE_SYNTAX_ERROR", "near sc://h/;token=abc", "", line=2, column=7)
    told = failed_by(error).document()["error"]
    assert told["position"] == {"line": 2, "column": 7}
    assert "abc" not in told["message"]
    assert failed_by(StalePlanError("STALE_PLAN", "moved")).code == 5


def test_the_plan_event_says_what_a_person_reads_and_what_the_policy_has_against_it(
    shell: Shell, tmp_path: Path
) -> None:
    verdict = PolicyVerdict(rule="read_only", verdict="refused", how="no table may be written")
    plan = make_plan(policy=(verdict,), warnings=(Remark(code="W", sentence="Mind.", evidence=""),))
    write_plan(tmp_path / "p.json", plan)
    ran = shell("apply", tmp_path / "p.json", "--events")
    events = [json.loads(line) for line in ran.err.splitlines()]
    assert (ran.code, [one["event"] for one in events]) == (6, ["plan", "error"])
    assert events[0]["summary"].startswith("updates 900")
    assert events[0]["policy"] == [verdict.model_dump(mode="json")]
    assert [one["code"] for one in events[0]["warnings"]] == ["W"]
    assert (events[0]["plan_id"], events[0]["promise"]) == (plan.plan_id, plan.promise)


@pytest.mark.parametrize("arguments", [("apply", "/no/such/plan.json"), ("plan",), ("apply", "--nosuch")])
def test_an_error_before_the_first_event_is_an_event(shell: Shell, arguments: tuple[str, ...]) -> None:
    ran = shell(*arguments, "--events", "--json")
    (event,) = (json.loads(line) for line in ran.err.splitlines())
    assert (event["event"], event["condition"]) == ("error", ran.json["error"]["condition"])
    assert (event["message"], event["exit"]) == (ran.json["error"]["message"], ran.code)


def test_a_cancel_is_an_object_too(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("engine.ledger.history.History.list", interrupted)
    ran = shell("history", "--json")
    assert (ran.code, ran.json["error"]["condition"]) == (130, "CANCELLED")


def test_what_nobody_foresaw_is_an_object_too(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("engine.ledger.history.History.list", broken)
    ran = shell("history", "--json")
    assert ran.code == 1
    assert ran.json["error"]["condition"] == "UNEXPECTED"
    assert "ZeroDivisionError" in ran.json["error"]["message"]
