"""The progress of long work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from pydantic import Field

from engine.model.plan import Decision
from engine.model.scan import Scan
from engine.model.value import Value

Stage = Literal["reading", "writing", "committed"]
"""Whether nothing is written yet, or Delta's command runs, which only Spark can end, or it is too late to cancel."""


class Progress(Value):
    """One step of long work. ``done`` and ``total`` are Spark's tasks, or what ``counts`` names; ``total`` 0 means not
    known yet.

    ``decision`` and ``scan`` are a plan's answers that cost nothing, reported as soon as they are known. That scan is
    by the target's own predicates: what the source's keys add is unknown until the source is frozen.
    """

    phase: str
    done: int = 0
    total: int = 0
    bytes_read: int = 0
    decision: Decision | None = None
    scan: Scan | None = None
    stage: Stage = Field(default="reading", exclude=True)
    """What a cancel goes by. Not part of ``--events``."""
    counts: str = Field(default="tasks", exclude=True)
    """Not part of ``--events``."""

    def with_tasks(self, done: int, total: int, bytes_read: int) -> Progress:
        """The same step with the tasks of the query that runs. A step that counts by itself keeps its count: each of
        its queries begins at 0 again."""
        return self if self.total else Progress(phase=self.phase, done=done, total=total, bytes_read=bytes_read)

    @property
    def is_answer(self) -> bool:
        """Whether it holds an answer that no later step repeats."""
        return self.decision is not None or self.scan is not None


OTHERS_TURN: Final = Progress(phase="wait until what else works in this session has ended")
"""One session may be open in several programs, and one at a time works in it (engine.session.sharing)."""

OnProgress = Callable[[Progress], None]
"""Called at each step of long work. If it raises, the work ends."""
