"""What the steps of a chain say, and how long they took."""

from __future__ import annotations

import pytest

from engine.model.progress import Progress
from engine.spark import clock
from engine.spark.clock import Clock
from tests.engine.plans import make_plan


def test_a_step_is_said_and_timed_and_one_that_runs_again_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([0.0, 0.5, 1.0, 1.25])
    monkeypatch.setattr(clock.time, "monotonic", lambda: next(times))
    said: list[Progress] = []
    steps = Clock(said.append)
    with steps.phase("find_touched_files"):
        pass
    with steps.phase("find_touched_files", "once more"):
        steps.answer(scan=make_plan().scan)
    assert steps.timings == {"find_touched_files": 750}
    assert [one.phase for one in said] == ["find touched files", "once more", "once more"]
    assert [one.is_answer for one in said] == [False, False, True]
