"""What the ledger has of an undo that was committed, or interrupted."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from engine.commit import exactly_once
from engine.commit.staleness import BEYOND_RETENTION
from engine.model.errors import EngineError
from engine.model.operation import UndoPlan
from engine.model.plan import Undo
from engine.recovery import undo as module
from engine.recovery import undo_drop
from engine.spark.session_state import Whereabouts
from engine.table.commits import Commit

SPARK: Any = SimpleNamespace(
    addTag=lambda _: None, removeTag=lambda _: None, conf=SimpleNamespace(get=lambda _, default: default)
)
RESTORE = UndoPlan(undo_id="u", op_id="merge", table="db.t", path="/t", table_id="id", version=5, to_version=4)


DAY = 86_400_000
NOW = 1_800_000_000_000


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Undo]:
    """How v4 is judged, which is so many days old by the clock of Delta, the commit over it a day less."""

    def judge(days: int, *, refused: bool = False, enforced: bool = True, clock: int = NOW) -> Undo:
        def travel(*_: object) -> None:
            if refused:
                raise EngineError(BEYOND_RETENTION, "It is too old.")

        monkeypatch.setattr(module, "schema_of", travel)
        monkeypatch.setattr(module, "collected", lambda *_: [{"properties": {}}])
        monkeypatch.setattr(module, "is_enforced", lambda _: enforced)
        monkeypatch.setattr(module, "now_ms", lambda: clock)
        monkeypatch.setattr(module, "committed_times", lambda *_: {4: NOW - days * DAY, 5: NOW - (days - 1) * DAY})
        return module._judged(SPARK, "t", 4, 5)

    return judge


def test_where_age_is_no_matter_no_time_is_promised_that_is_over(judged: Callable[..., Undo]) -> None:
    found = judged(20, enforced=False)
    assert (found.possible, found.until) == (True, None)
    assert found.why.endswith("; the next VACUUM deletes files of v4")


def test_what_delta_allows_is_allowed_though_this_clock_is_fast(judged: Callable[..., Undo]) -> None:
    found = judged(6, clock=NOW + 3 * DAY)
    assert (found.possible, found.raise_retention) == (True, ())


def test_what_delta_refuses_is_raised_enough_though_this_clock_is_slow(judged: Callable[..., Undo]) -> None:
    found = judged(8, refused=True, clock=NOW - 5 * DAY)
    (raised,) = found.raise_retention
    assert raised.after == "interval 9 days"
    assert "was committed 7 days ago" in found.why


class FullDisk:
    """A ledger that cannot record the end of an undo."""

    def __init__(self) -> None:
        self.given_up: list[str] = []

    def get(self, op_id: str) -> None:
        raise EngineError("OPERATION_NOT_FOUND", f"The history has no operation {op_id}.")

    def begin_undo(self, *_: object, **__: object) -> str:
        return "op"

    def undone(self, *_: object) -> None:
        raise EngineError("LEDGER_DISK_FULL", "The disk is full.", "Make room there.")

    def failed_by(self, *_: object) -> None:
        raise EngineError("LEDGER_DISK_FULL", "The disk is full.", "Make room there.")

    def give_up(self, op_id: str) -> None:
        self.given_up.append(op_id)


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(module, "whereabouts", lambda _: Whereabouts())
    monkeypatch.setattr(module, "_check_version", lambda *_: None)
    monkeypatch.setattr(module, "check_still_ours", lambda *_: None)
    monkeypatch.setattr(module, "of_another_table", lambda *_, **__: ())
    return FullDisk()


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_restore_that_cannot_be_recorded_is_left_to_the_next_command(
    history: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_restore", lambda *_: None)
    monkeypatch.setattr(module, "commit_of", lambda *_: Commit(6, "now", "RESTORE", 5, {}, None, 4))
    with pytest.raises(EngineError, match="disk is full"):
        module.undo(SPARK, RESTORE, history=history)
    assert history.given_up == ["op"]


@pytest.mark.parametrize("kind", ["restore", "drop"])
def test_an_undo_that_is_interrupted_is_left_to_the_next_command(
    history: Any, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(module, "_restore", interrupted)
    monkeypatch.setattr(undo_drop, "collected", interrupted)
    monkeypatch.setattr(exactly_once, "is_connect", lambda _: True)
    with pytest.raises(KeyboardInterrupt):
        module.undo(SPARK, RESTORE.model_copy(update={"kind": kind}), history=history)
    assert history.given_up == ["op"]


def test_a_drop_that_failed_says_why_and_not_that_the_ledger_cannot_be_written(
    history: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise EngineError("INSUFFICIENT_PERMISSIONS", "No right to drop it.")

    monkeypatch.setattr(undo_drop, "collected", refused)
    monkeypatch.setattr(undo_drop, "is_dropped", lambda *_: False)
    with pytest.raises(EngineError, match="No right to drop it"):
        module.undo(SPARK, RESTORE.model_copy(update={"kind": "drop"}), history=history)
