"""The sessions of plans: which are open, what runs in them, when they close, and how their work is cancelled."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from console.backend import OnProgress

if TYPE_CHECKING:
    from engine.session.connect import Session, TaskProgress

T = TypeVar("T")
INTERRUPT_SECONDS = 1.0
"""How long what was cancelled just now gets to reach Spark before all is closed."""
KEPT_PLANS = 4
"""Sessions of older plans are closed; applying such a plan prepares its source again and compares it."""


class PlanSessions:
    """Each plan has a session of its own, which holds its frozen source. Never closes one in which something runs."""

    def __init__(self) -> None:
        self._plans: OrderedDict[str, Session] = OrderedDict()
        self._dropped: list[tuple[str, Session]] = []
        self._saved: set[str] = set()
        self._running: dict[str, Session] = {}
        self._cancelled: set[str] = set()
        self._committed: set[str] = set()
        self._lock = threading.Lock()
        self._interrupts: list[threading.Thread] = []
        self._interrupting = threading.Lock()
        """Held while an interrupt is on its way, which a Spark that hangs does not answer."""

    def get(self, plan_id: str) -> Session | None:
        return self._plans.get(plan_id)

    def take(self, plan_id: str, operation_id: str) -> Session | None:
        """The session of a plan, which stays open for ``operation_id`` from now on."""
        with self._lock:  # another plan may be kept at the same time, and drop this one
            session = self._plans.get(plan_id)
            if session is not None:
                self._running[operation_id] = session
        return session

    def keep(self, plan_id: str, session: Session) -> None:
        with self._lock:
            old = self._plans.pop(plan_id, None)
            self._plans[plan_id] = session
            if old is not None and old is not session:
                self._dropped.append((plan_id, old))
        self._close_old()

    def save(self, plan_id: str) -> None:
        """The plan is in a file: what its session holds outlives it."""
        with self._lock:
            self._saved.add(plan_id)
            session = self._plans.get(plan_id)
        if session is not None:
            session.keep()

    def close(self) -> None:
        until = time.monotonic() + INTERRUPT_SECONDS
        for thread in self._interrupts:  # the session of a saved plan stays, and its work would go on there
            thread.join(max(0.0, until - time.monotonic()))
        with self._lock:
            plans = [*self._plans.items(), *self._dropped]
            keep = [session for plan_id, session in plans if plan_id in self._saved]
            sessions = [*self._running.values(), *(session for _, session in plans)]
            self._plans.clear()
            self._dropped.clear()
            self._running.clear()
        with contextlib.ExitStack() as stack:  # each is closed, whatever another one raises
            for session in dict.fromkeys(sessions):
                stack.callback(session.close, keep=session in keep)

    def _close_old(self) -> None:
        """Close what was replaced, and the oldest above the limit."""
        from engine.merge.prepare_source import free_sources

        with self._lock:
            busy = set(self._running.values())
            # the newest is about to be looked at
            idle = [plan_id for plan_id, session in list(self._plans.items())[:-1] if session not in busy]
            for plan_id in idle[: max(0, len(self._plans) - KEPT_PLANS)]:
                self._dropped.append((plan_id, self._plans.pop(plan_id)))
            gone = [one for one in self._dropped if one[1] not in busy]
            self._dropped = [one for one in self._dropped if one[1] in busy]
        for plan_id, session in gone:
            keep = plan_id in self._saved
            if not keep:
                free_sources(session.spark)
            session.close(keep=keep)

    # Work

    def run(self, session: Session, operation_id: str, on_progress: OnProgress, work: Callable[[OnProgress], T]) -> T:
        """Run ``work`` with Spark's task counts joined to its phases, cancellable under ``operation_id``.

        Waits while another work, of this process or of another one, runs in the session.
        """
        from engine.model.progress import OTHERS_TURN, Progress

        phase = Progress(phase="")

        def say(progress: Progress) -> None:
            nonlocal phase
            if progress.stage == "committed":
                with self._interrupting:  # one on its way goes before the queries of this phase
                    self._committed.add(operation_id)
            else:
                self._stop_if_cancelled(operation_id)
            phase = progress
            on_progress(progress)

        def count(tasks: TaskProgress) -> None:
            on_progress(phase.with_tasks(tasks.tasks_done, tasks.tasks, tasks.bytes_read))

        with self._lock:
            self._running[operation_id] = session
        try:
            with session.turn(lambda: say(OTHERS_TURN)):
                stop = session.on_progress(count)
                try:
                    return work(say)
                finally:
                    stop()
        finally:
            with self._lock:
                self._running.pop(operation_id, None)
                self._cancelled.discard(operation_id)
                self._committed.discard(operation_id)
            with contextlib.suppress(Exception):  # what the work came to is not lost over it
                self._close_old()

    def _stop_if_cancelled(self, operation_id: str) -> None:
        from engine.model.errors import CancelledError

        if operation_id in self._cancelled:
            raise CancelledError("CANCELLED", "The work was cancelled.", "Nothing of it goes on in Spark.")

    def cancel(self, operation_id: str) -> None:
        with self._lock:
            self._cancelled.add(operation_id)
        thread = threading.Thread(target=self._interrupt, args=(operation_id,), name="cancel", daemon=True)
        thread.start()
        with self._lock:
            self._interrupts = [*(one for one in self._interrupts if one.is_alive()), thread]

    def _interrupt(self, operation_id: str) -> None:
        """Again and again until it hits: a cancel between two queries finds nothing to interrupt."""
        while True:
            with self._lock:
                session = self._running.get(operation_id)
            if session is None:
                return
            with self._interrupting:
                if operation_id in self._committed:
                    return
                with contextlib.suppress(Exception):  # a Spark that is gone ends the work by itself
                    if session.interrupt_tag(operation_id):
                        return
            time.sleep(0.2)
