"""Long work, off the UI thread: ask in a thread, answer by message, drop answers that come too late.

Nothing stops a thread, so an answer carries the ticket it was asked with, and what it was asked of: only the newest
ticket of a group is delivered, and only if the same thing is still shown. Threads are daemons: a backend that hangs
never keeps the terminal.
"""

from __future__ import annotations

import itertools
import logging
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from textual import on
from textual.dom import DOMNode
from textual.message import Message

from console.shell import Shell, shell_of

T = TypeVar("T")
_TICKETS = itertools.count(1)
_LOGGER = logging.getLogger("deltamerge.console")


@dataclass(frozen=True)
class Failure:
    """An error as the console shows it: Spark's class, one line of what, one of what to do."""

    condition: str
    message: str
    hint: str = ""
    line: int | None = None
    column: int | None = None
    unreachable: bool = False
    cancelled: bool = False
    stale: bool = False
    trace: str = ""
    """A traceback, if the engine did not mean to raise the error."""

    def __str__(self) -> str:
        return f"[{self.condition}] {self.message}" if self.condition else self.message


def failure_of(error: BaseException) -> Failure:
    """What to show of an exception that came out of the backend."""
    from engine.model.errors import CancelledError, EngineError, InputFileError, StalePlanError, UnreachableError

    if isinstance(error, EngineError):
        # that of another file is in the message
        place = (None, None) if isinstance(error, InputFileError) else (error.line, error.column)
        return Failure(
            error.condition,
            error.message,
            error.hint,
            *place,
            unreachable=isinstance(error, UnreachableError),
            cancelled=isinstance(error, CancelledError),
            stale=isinstance(error, StalePlanError),
        )
    from engine.model.secrets import redact

    if isinstance(error, OSError) and error.filename is not None:
        return Failure("", f"{error.strerror}: {error.filename}.", "Name another place.")
    trace = redact("".join(traceback.format_exception(error)))
    _LOGGER.error("unexpected error\n%s", trace)
    return Failure(
        "INTERNAL_ERROR",
        redact(f"{type(error).__name__}: {error}"),
        "This is a fault of the console; the Log place has the details.",
        trace=trace,
    )


@dataclass(frozen=True)
class Question:
    """A question that is under way."""

    group: str
    ticket: int
    of: Callable[[], object]
    was: object
    """What ``of`` returned when it was asked."""
    spark: int
    """How often Spark had come up when it was asked."""
    ended: Callable[[], None]

    @property
    def still_holds(self) -> bool:
        """Whether the thing it was asked about is still shown."""
        return bool(self.of() == self.was)


class Answered(Message, bubble=False):
    """What came back from a thread. ``deliver`` runs on the UI thread, unless it came too late."""

    def __init__(self, question: Question, deliver: Callable[[], None]) -> None:
        super().__init__()
        self.question = question
        self.deliver = deliver


class Failed(Message):
    """Something asked for has failed. Bubbles, so that the app can log it and see a lost driver."""

    def __init__(self, failure: Failure, spark: int) -> None:
        super().__init__()
        self.failure = failure
        self.spark = spark
        """How often Spark had come up when it was asked."""


class Asking(DOMNode):
    """Mixed into a screen, a pane or the app: everything that asks the backend.

    It comes last among the bases: Textual looks for styles along the first one.
    """

    _tickets: dict[str, int]

    @property
    def console_app(self) -> Shell:
        """The console that this is shown in."""
        return shell_of(self)

    def ask(
        self,
        group: str,
        call: Callable[[], T],
        done: Callable[[T], None],
        failed: Callable[[Failure], None] | None = None,
        *,
        of: Callable[[], object] = lambda: None,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """Run ``call`` in a thread of ``group``; then ``done`` or ``failed`` with what came out.

        A later ``ask`` of the same group makes the answer to this one stale. So does ``of``, which returns what is
        asked about (a table, a version, a view), if it returns another thing by then. ``ended`` runs on the UI thread
        in either case, even if the asker is closed by then.
        """
        app = self.app
        question = Question(group, next(_TICKETS), of, of(), self.console_app.spark_starts, ended)
        self._newest_tickets()[group] = question.ticket

        def work() -> None:
            deliver: Callable[[], None]
            try:
                deliver = partial(done, call())
            except Exception as error:
                deliver = partial(self._deliver_failure, question, failure_of(error), failed)
            with suppress(RuntimeError):  # the app is gone
                if not self.post_message(Answered(question, deliver)):
                    app.call_later(ended)

        # no exclusive worker: one that is replaced before the loop runs is never started, and so never ends
        threading.Thread(target=work, name=f"deltamerge-{group}", daemon=True).start()

    def forget(self, group: str) -> None:
        """Whatever is still under way in ``group`` is stale from now on."""
        self._newest_tickets().pop(group, None)

    def is_asking(self, group: str) -> bool:
        """Whether an answer of ``group`` is awaited."""
        return group in self._newest_tickets()

    def _newest_tickets(self) -> dict[str, int]:
        if not hasattr(self, "_tickets"):
            self._tickets = {}
        return self._tickets

    def _deliver_failure(self, question: Question, failure: Failure, failed: Callable[[Failure], None] | None) -> None:
        self.post_message(Failed(failure, question.spark))
        shell = self.console_app
        if failure.unreachable and shell.status.spark != "starting" and question.spark == shell.spark_starts:
            # here a key does what the engine's hint says of a shell
            failure = replace(failure, hint=f"{shell.spark_again()}.")
        if failed is not None:
            failed(failure)

    @on(Answered)
    def _on_answered(self, event: Answered) -> None:
        event.stop()
        question = event.question
        question.ended()
        if self._newest_tickets().get(question.group) == question.ticket:
            del self._newest_tickets()[question.group]
            # an app that is closing has no screen to show it
            if question.still_holds and self.app.screen_stack:
                event.deliver()
