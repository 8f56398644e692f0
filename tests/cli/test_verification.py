"""The undo of a commit whose expectations fail, without a Spark: what is told of it."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from console.cli import verification
from console.cli.view_outcome import page
from console.words.glyphs import UNICODE
from engine.model.errors import CancelledError, StalePlanError
from engine.model.operation import Deviation, Outcome
from tests.cli.lines import Lines
from tests.cli.test_interruptible import FakeSession, press_soon
from tests.console.samples import a_restore, an_undo
from tests.engine.plans import make_outcome, make_plan


@pytest.fixture
def invocation() -> Any:
    return SimpleNamespace(history=lambda: SimpleNamespace(get=lambda op_id: op_id))


class WithSpark(FakeSession):
    spark = None


def test_an_undo_that_deviates_is_not_called_as_before(invocation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looked, differs = an_undo("op"), Deviation(metric="numRestoredFiles", promised=2, actual=3)
    restored = a_restore(looked).model_copy(update={"kept": False, "deviations": (differs,)})
    monkeypatch.setattr("engine.recovery.undo.plan_undo", lambda *_, **__: looked)
    monkeypatch.setattr("engine.recovery.undo.undo", lambda *_, **__: restored)
    narrator = Lines()
    outcome = verification._taken_back(invocation, WithSpark(), narrator, make_outcome("op"))  # type: ignore[arg-type]
    assert outcome.undone_as == restored.version
    assert len(narrator.lines) == 1
    assert "DEVIATED in 1 number, undone" in narrator.lines[0]


def test_what_another_apply_of_the_plan_took_back_meanwhile_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def plan_undo(*_: object, **__: object) -> None:
        raise StalePlanError("ALREADY_UNDONE", "v8 is taken back already, by v9.")

    monkeypatch.setattr("engine.recovery.undo.plan_undo", plan_undo)
    detail, narrator = SimpleNamespace(taken_back_by=SimpleNamespace(version=9)), Lines()
    invocation: Any = SimpleNamespace(history=lambda: SimpleNamespace(get=lambda _: detail))
    outcome = verification._taken_back(invocation, WithSpark(), narrator, make_outcome("op"))  # type: ignore[arg-type]
    assert (outcome.undone_as, narrator.lines) == (9, [])


def test_an_undo_that_is_cancelled_says_what_is_committed(invocation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session, told = WithSpark(), []

    def undo(*_: object, **__: object) -> Outcome:
        session.run_query()
        raise AssertionError

    monkeypatch.setattr("engine.recovery.undo.plan_undo", lambda *_, **__: an_undo("op"))
    monkeypatch.setattr("engine.recovery.undo.undo", undo)
    narrator: Any = Lines()
    narrator.committed = told.append
    press_soon()
    with pytest.raises(CancelledError) as caught:
        verification._taken_back(invocation, session, narrator, make_outcome("op"))  # type: ignore[arg-type]
    assert caught.value.hint == "It was committed as v8; `history` says whether that is taken back."
    assert told == [make_outcome("op")]
    assert session.interrupted


@pytest.mark.parametrize("kept", [True, False])
def test_what_was_committed_before_and_is_taken_back_now_is_not_said_to_be_unchanged(kept: bool) -> None:
    """apply, and later apply --undo-on-failure of the same plan."""
    differs = () if kept else (Deviation(metric="numTargetRowsUpdated", promised=900, actual=901),)
    again = {"already_applied": True, "undone_as": 9, "kept": kept, "deviations": differs}
    shown = io.StringIO()
    outcome = make_outcome("op").model_copy(update=again)
    Console(file=shown, width=100).print(page(outcome, make_plan(), UNICODE, "undo op"))
    said = shown.getvalue().splitlines()
    sign = "✔" if kept else "✖ DEVIATED in 1 number ·"
    assert said[0] == f"{sign} was committed before, as v8"
    assert said[-1] == "taken back, by v9"
