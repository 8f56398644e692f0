"""Whether the work of a program that died has ended, as far as Spark tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from engine.recovery import recover
from engine.recovery.recover import end_work


class Client:
    """A session that answers interrupts and questions from these lists, the last answer for ever."""

    def __init__(self, interrupted: Sequence[bool], busy: Sequence[bool | None]) -> None:
        self.interrupted, self.busy = [*interrupted], [*busy]

    def interrupt_tag(self, _: str) -> bool:
        return self.interrupted.pop(0) if len(self.interrupted) > 1 else self.interrupted[0]

    def is_busy(self) -> bool | None:
        return self.busy.pop(0) if len(self.busy) > 1 else self.busy[0]


@pytest.mark.parametrize(
    ("interrupted", "busy", "is_known", "waits"),
    [
        # 4.2 tells when it has ended
        ((True, False), (True, True, False), True, False),
        ((False,), (False,), True, False),
        # before, only whether there was something to end
        ((False,), (None,), True, False),
        ((True, False), (None,), False, True),
        ((False, True, False), (None,), False, True),
    ],
)
def test_what_was_interrupted_has_ended_where_spark_tells_it(
    monkeypatch: pytest.MonkeyPatch, interrupted: Any, busy: Any, is_known: bool, waits: bool
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(recover.time, "sleep", slept.append)
    client: Any = Client(interrupted, busy)
    assert end_work(client, "tag") is is_known
    assert (recover.BLIND_SECONDS in slept) is waits
