"""How long each step of a chain took, and which one runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from engine.model.plan import Decision
from engine.model.progress import OnProgress, Progress
from engine.model.scan import Scan


class Clock:
    """Times the phases of the chain, and says which one runs."""

    def __init__(self, say: OnProgress) -> None:
        self.timings: dict[str, int] = {}
        self._say = say
        self._label = ""

    @contextmanager
    def phase(self, name: str, label: str = "") -> Iterator[None]:
        self._label = label or name.replace("_", " ")
        self._say(Progress(phase=self._label))
        began = time.monotonic()
        yield
        # a phase may run again, after blocks of the source were lost
        self.timings[name] = self.timings.get(name, 0) + round((time.monotonic() - began) * 1000)

    def answer(self, *, decision: Decision | None = None, scan: Scan | None = None) -> None:
        """Report what is known before the work is done."""
        self._say(Progress(phase=self._label, decision=decision, scan=scan))
