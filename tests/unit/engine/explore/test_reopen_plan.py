"""What is asked of a plan after its table moved."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from engine.explore import reopen_plan
from engine.model.errors import StalePlanError
from engine.table.logged_schema import LoggedMetadata
from tests.engine.plans import make_plan

PLAN = make_plan()


def field(type_: str) -> str:
    name, _, comment = type_.partition(" ")
    return json.dumps({"type": name, "metadata": {"comment": comment} if comment else {}})


class AnalyzedError(Exception):
    pass


def ask(monkeypatch: pytest.MonkeyPatch, later: int, fields: dict[str, str], **now: str) -> None:
    """Ask when the table is ``later`` versions on, and has these fields, by their types, and properties."""

    def logged(_: object, __: object, version: int) -> LoggedMetadata:
        before = version == PLAN.target.version
        of = {name: field(type_) for name, type_ in ({"key": "long"} if before else fields).items()}
        return LoggedMetadata("t", "", of, (), {} if before else now, 1, 2, ())

    def analyzed(*_: object) -> Any:
        raise AnalyzedError

    monkeypatch.setattr(reopen_plan, "get_merge_source", lambda *_: None)
    monkeypatch.setattr(reopen_plan, "current_version", lambda *_: PLAN.target.version + later)
    monkeypatch.setattr(reopen_plan, "logged_metadata", logged)
    monkeypatch.setattr(reopen_plan, "analyze_again", analyzed)
    reopen_plan.planned_merge(SimpleNamespace(), PLAN)  # type: ignore[arg-type]


def test_nothing_is_told_by_columns_that_the_plan_did_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StalePlanError, match="itself changed since the plan: column key is another; column v is new"):
        ask(monkeypatch, 2, {"key": "int", "v": "string"})


@pytest.mark.parametrize("later", [0, 3])
def test_other_commits_keep_no_question_from_being_answered(monkeypatch: pytest.MonkeyPatch, later: int) -> None:
    with pytest.raises(AnalyzedError):
        ask(monkeypatch, later, {"key": "long"})


def test_only_what_says_how_a_row_is_written_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AnalyzedError):
        ask(monkeypatch, 1, {"key": "long the key"}, **{"delta.deletedFileRetentionDuration": "interval 40 days"})
    with pytest.raises(StalePlanError, match=r"property delta\.constraints\.c is another"):
        ask(monkeypatch, 1, {"key": "long"}, **{"delta.constraints.c": "key > 0"})
