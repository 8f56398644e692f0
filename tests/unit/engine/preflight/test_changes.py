"""What becomes of a plan whose changes cannot be asked."""

from __future__ import annotations

from typing import Any

import pytest

from engine.model.errors import EngineError
from engine.preflight import changes
from engine.preflight.changes import with_changes
from tests.engine.plans import make_plan


def asked(monkeypatch: pytest.MonkeyPatch, condition: str, *, private: bool = False) -> Any:
    def fails(*_: object, **__: object) -> None:
        raise EngineError(condition, "The value 'x' is none.")

    monkeypatch.setattr(changes, "changes_of", fails)
    return with_changes(None, make_plan(), None, private=private)  # type: ignore[arg-type]


@pytest.mark.parametrize("private", [False, True])
def test_a_question_for_the_changes_that_fails_does_not_end_the_plan(
    monkeypatch: pytest.MonkeyPatch, private: bool
) -> None:
    found = asked(monkeypatch, "CAST_INVALID_INPUT", private=private)
    assert found.changes is None
    assert found.warnings[-1].code == "CHANGES_UNKNOWN"
    assert ("'x'" in found.warnings[-1].evidence) is not private


def test_a_cancel_ends_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EngineError):
        asked(monkeypatch, "CANCELLED")
