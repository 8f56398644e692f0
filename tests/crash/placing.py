"""A foreign commit at a named place of an apply or an undo, by Delta's own phase locks (``delta.fuzzer``).

Delta asks an observer, one for each thread, before each phase of a transaction. The one that is set here waits at the
phase that is wanted until the other commit is made. PySpark gives each thread of Python one of its own in the JVM, so
what runs in a new thread is observed, and nothing else is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from engine.model.errors import EngineError
from engine.model.operation import Outcome
from engine.model.progress import OnProgress, Progress

PHASES = {
    "the transaction starts": "initialPhase",
    "it has read and written": "preparePhase",
    "it is checked": "commitPhase",
    "it is in the log": "backfillPhase",
    "it is committed": "postCommitPhase",
}
"""What Delta does next or has done, and the phase that waits there."""
BEFORE = "nothing is checked"
CHECKED = "the version is checked"
AFTER = "the statement has returned"
PLACES = (BEFORE, CHECKED, *PHASES, AFTER)
REQUESTED, PASSED = 2, 3
SECONDS = 60.0


@dataclass
class Placed:
    """What came of it. ``reached``: whether that place was passed, and the foreign commit made there."""

    outcome: Outcome | None = None
    error: EngineError | None = None
    reached: bool = False


@dataclass
class _Gate:
    """A place in Python."""

    reached: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)

    def wait(self) -> None:
        self.reached.set()
        assert self.opened.wait(SECONDS)


def placed(
    spark: Any,
    place: str,
    ours: Callable[[OnProgress], Outcome],
    foreign: Callable[[], None],
    phases: dict[str, str],
) -> Placed:
    """Run ``ours`` in a thread, and ``foreign`` here once it has come to ``place``. ``phases`` are what ours says of
    itself, by place: BEFORE, CHECKED, AFTER."""
    jvm = spark.sparkContext._jvm
    delta = jvm.org.apache.spark.sql.delta
    locks = delta.fuzzer.OptimisticTransactionPhases.forName("ours")
    gate, found = _Gate(), Placed()
    for phase in PHASES.values():
        if phase != PHASES.get(place):
            getattr(locks, phase)().entryBarrier().unblock()

    def say(step: Progress) -> None:
        if place in phases and step.phase.startswith(phases[place]) and not gate.reached.is_set():
            gate.wait()

    def run() -> None:
        delta.TransactionExecutionObserver.setObserver(delta.fuzzer.PhaseLockingTransactionExecutionObserver(locks))
        try:
            found.outcome = ours(say)
        except EngineError as error:
            found.error = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    barrier = getattr(locks, PHASES[place])().entryBarrier() if place in PHASES else None
    deadline = time.monotonic() + SECONDS
    try:
        while thread.is_alive() and not found.reached:
            assert time.monotonic() < deadline, f"stuck before: {place}"
            found.reached = gate.reached.is_set() if barrier is None else barrier.load().ordinal() == REQUESTED
            time.sleep(0.002)
        if found.reached:
            _bounded(foreign, place)
    finally:
        gate.opened.set()
        if barrier is not None and barrier.load().ordinal() != PASSED:
            barrier.unblock()
        thread.join(SECONDS)
    assert not thread.is_alive()
    return found


def _bounded(foreign: Callable[[], None], place: str) -> None:
    """Run ``foreign``: what ours holds there may keep it waiting, and then a test is to fail rather than hang."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            foreign()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert not thread.is_alive(), f"the foreign commit does not come through where {place}"
    if failures:
        raise failures[0]
