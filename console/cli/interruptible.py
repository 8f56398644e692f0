"""Spark work that ctrl-c stops: not only this process lets go of it, Spark does too.

The work runs in a thread, the main thread waits for it and for signals. On the first one Spark is asked to
interrupt what runs under the work's tag, again and again until it has; then the work ends by itself, and writes its end
into the ledger. While Delta writes, only Spark ends the work: the ledger has a row of it that only the engine finishes.
Once it is committed, nothing is interrupted, so that what was committed is recorded as committed. If Spark has told
nothing for a minute, one more key ends the waiting; the next command then finds the commit.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

from console.backend import OnProgress
from console.cli.listening import Listening
from console.cli.narrator import Narrator

if TYPE_CHECKING:
    from engine.model.progress import Progress, Stage
    from engine.session.connect import Session, TaskProgress

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
POLL_SECONDS = 0.1
PATIENCE_SECONDS = 30.0  # for Spark to let go; then the session is closed under it
LOST_SECONDS = 60.0  # of silence, after which what is committed is not waited for any more


class Interruptible(Generic[T]):
    """One piece of work on ``session``. ``work`` gets (tag, on_progress) and hands both to the engine."""

    def __init__(self, session: Session, narrator: Narrator, work: Callable[[str, OnProgress], T]) -> None:
        self._session = session
        self._narrator = narrator
        self._listening = Listening(session, narrator)
        self._work = work
        self._tag = f"deltamerge-{uuid.uuid4().hex}"
        self._said: Progress | None = None
        self._stage: Stage = "reading"
        self._done_before = (0, 0, 0)
        self._asked = 0
        self._interrupted = False
        self._has_turn = False
        # No phase begins while an interrupt is on its way: it would hit the next one's queries.
        self._step = threading.Lock()
        self._finished = threading.Event()
        self._result: T
        self._error: BaseException | None = None

    @property
    def was_asked_to_stop(self) -> bool:
        """Whether somebody pressed ctrl-c, even if it was too late."""
        return self._asked > 0

    def run(self) -> T:
        """Do it, and return what it gives or raise what it raises. Interrupted: CancelledError."""
        stop_listening = self._session.on_progress(self._tasks)
        thread = threading.Thread(target=self._body, name="spark-work", daemon=True)
        try:
            with self._signals(), self._listening:
                thread.start()
                self._wait()
        finally:
            stop_listening()
        if self._error is not None:
            raise self._error
        return self._result

    def _body(self) -> None:
        try:
            with self._session.turn(self._wait_for_turn):
                self._has_turn = True
                self._result = self._work(self._tag, self._say)
        except BaseException as error:
            self._error = error
        finally:
            self._has_turn = False
            self._finished.set()

    def _wait(self) -> None:
        first, deadline, told = 0, 0.0, 0
        while not self._finished.wait(POLL_SECONDS):
            if not self._asked:
                continue
            if self._stage == "committed":
                # a session that is closed under it would leave the commit without its end in the ledger
                if not told:
                    self._narrator.say("it is committed: waiting for what it did")
                elif self._asked > told and self._listening.quiet_seconds > LOST_SECONDS:
                    self._give_up()
                    return
                told = self._asked
                continue
            if not first:
                self._narrator.say("cancelling: asking Spark to stop")
                # keys that came before anybody looked are one
                first, deadline = self._asked, time.monotonic() + PATIENCE_SECONDS
            elif self._asked > first or time.monotonic() > deadline:
                self._give_up()
                return
            self._interrupt()

    def _interrupt(self) -> None:
        with self._step:
            if self._interrupted or self._stage == "committed":
                return
            with contextlib.suppress(Exception):  # a Spark that is gone ends the work by itself
                self._interrupted = self._session.interrupt_tag(self._tag)

    def _give_up(self) -> None:
        """Close the session under the work, which ends whatever runs in it; a little later this process exits. While it
        waits for its turn, what runs there is another's."""
        from engine.model.errors import CancelledError, UnreachableError

        self._session.close(under_others=self._has_turn)
        self._finished.wait(2.0)
        if self._finished.is_set():
            return
        if self._stage == "committed":
            message = "It was committed, and Spark tells nothing of it any more."
            hint = "`deltamerge-console history` tells what it did, once Spark answers again."
            self._error = UnreachableError("SPARK_UNREACHABLE", message, hint)
        else:
            hint = "Spark did not confirm that it stopped; see `deltamerge-console history` before you go on."
            self._error = CancelledError("CANCELLED", "The work was cancelled.", hint)

    def _wait_for_turn(self) -> None:
        from engine.model.progress import OTHERS_TURN

        self._say(OTHERS_TURN)

    def _say(self, progress: Progress) -> None:
        from engine.model.errors import CancelledError

        with self._step:
            self._said, self._stage = progress, progress.stage
            if self._asked and self._stage != "committed":
                if self._stage == "reading":
                    # it came between two queries, where there is nothing to interrupt
                    raise CancelledError("CANCELLED", "The work was cancelled.", "Nothing of it goes on in Spark.")
                self._interrupted = False
        self._listening.heard()
        self._narrator.progress(progress)

    def _tasks(self, tasks: TaskProgress) -> None:
        from engine.model.progress import Progress

        done = (tasks.tasks_done, tasks.tasks, tasks.bytes_read)
        if done == self._done_before:
            return  # what is told of the silence stays
        self._done_before = done
        self._listening.heard()
        said = self._said or Progress(phase="")
        self._narrator.progress(said.with_tasks(*done))

    def _ask(self, *_: object) -> None:
        self._asked += 1

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        # what nohup or a parent told this process to ignore stays ignored
        heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._ask) for number in heard}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
