"""What goes on, told on stderr: a bar for a person, lines for a log, events for a program.

A narrator never stops the work that it tells of: a closed stderr is not a reason to leave a MERGE half told.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from console.cli.failures import CANCELLED_BY_KEY, ToldError, failure_of
from console.words.format import size
from console.words.visible import visible

if TYPE_CHECKING:
    from engine.model.operation import Outcome, Rehearsal
    from engine.model.plans import AnyPlan
    from engine.model.progress import Progress

EVENTS_AT_MOST_EVERY_SECONDS = 0.2
MINUTE = 60


class Narrator:
    """Plain lines: one for each phase. Called from the thread that works and from the one that waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._phase = ""
        self._silence = ("", 0)

    def say(self, sentence: str) -> None:
        """One line of what happens."""
        self._write(visible(sentence))

    def progress(self, progress: Progress) -> None:
        """One step of the work."""
        if progress.phase and progress.phase != self._phase:
            self._phase = progress.phase
            self._write(f"… {visible(progress.phase)}")

    def silent(self, host: str, seconds: int, sentence: str) -> None:
        """Nothing is heard for so long, of the store at ``host`` or, if that is "", of Spark. Called again and again: a
        log gets a line after 5 s, 10 s, 20 s and 40 s, and then each minute."""
        told_of, told = self._silence
        if host != told_of or seconds < told:
            told = 0  # another one
        if seconds >= told + min(told, MINUTE):
            self._silence = (host, seconds)
            self.say(sentence)

    def planned(self, plan: AnyPlan) -> None:
        """What was planned: a person reads it on stdout."""

    def committed(self, outcome: Outcome) -> None:
        """What was committed: a person reads it on stdout."""

    def rehearsed(self, rehearsal: Rehearsal) -> None:
        """What a rehearsal did: a person reads it on stdout."""

    def pause(self) -> None:
        """Leave the terminal to a question."""

    def _write(self, line: str) -> None:
        with self._lock, contextlib.suppress(OSError, ValueError):
            sys.stderr.write(line + "\n")
            sys.stderr.flush()

    def __enter__(self) -> Narrator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pause()


class BarNarrator(Narrator):
    """One line that moves, for a terminal."""

    def __init__(self) -> None:
        super().__init__()
        self._bar: Any = None
        self._task: Any = None

    def progress(self, progress: Progress) -> None:
        """One step of the work."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            if self._bar is None:
                self._start()
            known = progress.total > 0
            tasks = f"{progress.done}/{progress.total} {progress.counts}" if known else ""
            if progress.bytes_read:
                tasks += f" {size(progress.bytes_read)} read"
            self._bar.update(
                self._task,
                description=visible(progress.phase) or "working",
                completed=progress.done if known else 0,
                total=progress.total if known else None,
                tasks=tasks,
            )

    def silent(self, host: str, seconds: int, sentence: str) -> None:  # noqa: ARG002 - the newest is shown
        """It stands in the line that moves, until the next step."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            if self._bar is None:
                self._start()
            self._bar.update(self._task, tasks=visible(sentence))

    def _start(self) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        from console.cli.streams import paper

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[tasks]}", markup=False),
            TimeElapsedColumn(),
        )
        self._bar = Progress(*columns, console=paper(error=True), transient=True)
        self._task = self._bar.add_task("working", total=None, tasks="")
        self._bar.start()

    def pause(self) -> None:
        """Take the line away; the next step draws it anew."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            bar, self._bar = self._bar, None
            if bar is not None:
                bar.stop()

    def _write(self, line: str) -> None:
        with self._lock, contextlib.suppress(OSError, ValueError):
            if self._bar is None:
                sys.stderr.write(line + "\n")
                sys.stderr.flush()
            else:
                self._bar.console.print(line)


class EventNarrator(Narrator):
    """NDJSON, one event in each line: ``event`` is narration, progress, plan, outcome, rehearsal, done,
    cancelled or error."""

    def __init__(self) -> None:
        super().__init__()
        self._last = 0.0

    def say(self, sentence: str) -> None:
        """A narration event."""
        self._event("narration", text=sentence)

    def progress(self, progress: Progress) -> None:
        """A progress event; many of one phase are thinned out."""
        now = time.monotonic()
        is_repeated = progress.phase == self._phase and now - self._last < EVENTS_AT_MOST_EVERY_SECONDS
        if is_repeated and not progress.is_answer:
            return
        self._phase, self._last = progress.phase, now
        self._event("progress", **progress.model_dump(exclude_none=True))

    def planned(self, plan: AnyPlan) -> None:
        """A plan event: its id, a sentence, warnings, what Delta would refuse, what the policy says, the promise."""
        from console.words.plan_summary import summary

        self._event(
            "plan",
            plan_id=plan.plan_id,
            summary=summary(plan),
            warnings=[one.model_dump(mode="json") for one in plan.warnings],
            refused=plan.refused.model_dump(mode="json") if plan.refused is not None else None,
            policy=[one.model_dump(mode="json") for one in plan.policy],
            promise=plan.promise,
        )

    def committed(self, outcome: Outcome) -> None:
        """An outcome event: what ``apply --json`` prints."""
        self._event("outcome", **outcome.model_dump(mode="json"))

    def rehearsed(self, rehearsal: Rehearsal) -> None:
        """A rehearsal event: what ``rehearse --json`` prints."""
        self._event("rehearsal", **rehearsal.model_dump(mode="json"))

    def _event(self, event: str, **fields: Any) -> None:
        from engine.ledger.history_store import now

        self._write(json.dumps({"event": event, "at": now(), **fields}))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from engine.model.errors import CancelledError
        from engine.model.secrets import redact

        # stderr stays NDJSON to its end: the error is an event, not a line beside them
        if error is None:
            self._event("done")
            return
        failed = failure_of(error)
        if failed is None:
            return
        said = {"message": redact(failed.message), "hint": redact(failed.hint)}
        if failed is CANCELLED_BY_KEY or isinstance(error, CancelledError):
            self._event("cancelled", **said)
        else:
            place = {"line": failed.line, "column": failed.column}
            self._event("error", condition=failed.condition, **said, **place, exit=failed.code)
        raise ToldError(failed) from error


def narrate(events: bool = False) -> Narrator:
    """The one that fits stderr."""
    if events:
        return EventNarrator()
    return BarNarrator() if sys.stderr.isatty() else Narrator()
