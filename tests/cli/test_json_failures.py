"""With --json a failure is one object on stdout; the exit code and the lines for a person stay as they are."""

from __future__ import annotations

import pytest

from console.cli.failures import failed_by
from engine.model.errors import EngineError, StalePlanError
from tests.cli.running import Shell

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
