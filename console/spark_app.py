"""The part of the app that starts Spark, watches whether it answers, and says when it is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from textual import on
from textual.app import App
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.signal import Signal

from console.catalog import Catalog
from console.status import WRITES, Job, Status
from console.words.format import duration
from console.words.glyphs import Glyphs
from console.words.silence import silence
from console.words.visible import table_name
from console.work import Asking, Failure

if TYPE_CHECKING:
    from console.backend import Backend
    from console.dialogs.confirm import ConfirmDialog
    from console.places.place import Place
    from engine.model.operation import Operation
    from engine.model.progress import Progress


HEARTBEAT_SECONDS = 15.0
LEDGER_SECONDS = 2.0
QUIT_PATIENCE_SECONDS = 6.0
LEDGER_PATIENCE_SECONDS = 2.0
LONGEST_PAUSE = 240.0
"""Between two looks at a Spark that is lost."""


def kinds_of(jobs: Iterable[Job]) -> str:
    """What is done in these jobs: the words in the status."""
    return ", ".join(dict.fromkeys(job.kind for job in jobs))


def tables_made(operations: Iterable[Operation]) -> frozenset[str]:
    """Those that made or dropped a table, by their ids."""
    from engine.ledger.history_rows import COMMITTED

    return frozenset(
        one.op_id for one in operations if one.kind in ("create_table", "drop") and one.status in COMMITTED
    )


class Narrated(Message, bubble=False):
    """The start of Spark has come to its next step."""

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self.sentence = sentence


class SparkApp(App[None], Asking):
    """An app on one Spark."""

    glyphs: Glyphs

    def __init__(self, backend: Backend, status: Status) -> None:
        super().__init__()
        self.backend = backend
        self.catalog = Catalog(backend)
        self.status = status
        self.status_signal: Signal[Status] = Signal(self, "status")
        self.clock: Callable[[], float] = monotonic
        """Seconds. A dialog measures by it whether it could be read."""
        self.spark_starts = 0
        self._looked = 0.0
        """When it was last asked whether Spark is alive."""
        self._silent_since: float | None = None
        """None while Spark answers, and if it was lost otherwise than by not answering."""
        self._looks_in_vain = 0
        self._stamp: int | None = None
        self._tables_made: frozenset[str] | None = None
        """The operations of the ledger that made or dropped a table; None until it was read."""
        self._notices_of_work: set[str] = set()
        self._jobs: dict[str, Job] = {}
        self._quitting: tuple[ConfirmDialog, Sequence[Job]] | None = None
        """The question whether to quit, while it is open, and what ran when it was asked."""
        self._leave: Callable[[], None] | None = None
        """Ends the console as soon as nothing runs; None unless it was told to."""

    def with_keys(self, text: str) -> str:
        """A sentence of ours, never anyone else's, with the keys in use in place of ``{merge.plan}``."""
        raise NotImplementedError

    def spark_again(self) -> str:
        """What brings a Spark back that is lost, with its key."""
        does = "connects to it again" if self.status.is_remote else "starts it again"
        return self.with_keys(f"{{app.restart_spark}} {does}")

    def record(self, text: str, severity: SeverityLevel = "information") -> None:
        """A line for the Log place."""
        raise NotImplementedError

    def open_places(self) -> list[Place]:
        """The places that were visited at least once."""
        raise NotImplementedError

    def ledger_changed(self) -> None:
        """Something was committed: every open place loads anew what it shows of it."""
        self.catalog.forget()
        for place in self.open_places():
            place.ledger_changed()

    def tables_changed(self) -> None:
        """A table was made or dropped: every open place loads anew what it shows of tables."""
        self.catalog.forget()
        for place in self.open_places():
            place.tables_changed()

    def set_status(self, **changes: str) -> None:
        """Change parts of the status, everywhere it is shown."""
        self.status = replace(self.status, **changes)  # type: ignore[arg-type]
        self.status_signal.publish(self.status)
        if not self.status.work:
            for notice in [one for one in self._notifications if one.message in self._notices_of_work]:
                self._unnotify(notice)
            self._notices_of_work.clear()

    def notify_of_work(self, text: str) -> None:
        """A notice that goes as soon as nothing runs."""
        self._notices_of_work.add(text)
        self.notify(text)

    # What runs, and how it is cancelled and left

    def begin(self, job: Job) -> None:
        """Spark works for us now."""
        self._jobs[job.operation_id] = job
        self._tell_work()

    def end(self, operation_id: str) -> None:
        """Spark finished that work, or gave up."""
        self._jobs.pop(operation_id, None)
        self._tell_work()
        if self._leave is not None and not self._jobs:
            self._leave()

    def writing_in(self, path: str) -> str:
        """What this console does in the table at ``path`` now, as the beginning of a sentence; "" if it writes nothing
        there."""
        writes = (job for job in self._jobs.values() if job.writes and job.path == path)
        return next((f"{WRITES[job.kind]} {table_name(job.table)}" for job in writes), "")

    def _tell_work(self) -> None:
        self.set_status(work=kinds_of(self._jobs.values()))
        if self._quitting is not None:
            dialog, jobs = self._quitting
            dialog.ask_anew(*self._quit_question(jobs))

    def action_cancel_work(self) -> None:
        if not self._jobs:
            self.notify(self.with_keys("Nothing is running. {app.quit} quits."))
            return
        self.notify_of_work("Cancelling…")
        self.cancel_jobs(list(self._jobs))

    def cancel_jobs(self, operations: list[str]) -> None:
        """Interrupt Spark's work for these operations; the work itself then says that it was cancelled."""

        def cancel() -> None:
            for operation_id in operations:
                self.backend.cancel(operation_id)

        self.ask("cancel", cancel, lambda _: None, lambda _: None)

    async def action_quit(self) -> None:
        if not self._jobs:
            self.exit()
            return
        from console.dialogs.confirm import ConfirmDialog

        jobs = list(self._jobs.values())
        title, sentence, label = self._quit_question(jobs)
        dialog = ConfirmDialog(title, sentence, confirm_label=label, refuse_label="Stay")

        def answered(confirmed: bool | None) -> None:
            self._quitting = None
            self._quit_confirmed(confirmed, jobs=jobs)

        self._quitting = dialog, jobs
        self.push_screen(dialog, answered)

    def _quit_question(self, asked: Sequence[Job]) -> tuple[str, str, str]:
        """Its title, its sentence and what confirms it, as it is now. ``asked``: what ran when it was asked."""
        running = self._jobs.values()
        if not running:
            ended = f"What Spark did for this console has ended meanwhile ({kinds_of(asked)})."
            return (
                "The work has ended",
                f"{ended} Quitting cancels nothing; what became of it is shown where it was begun.",
                "quit",
            )
        cancels = "Quitting cancels it first."
        if any(job.writes for job in running):
            cancels = (
                "Quitting tries to cancel it first; if it is in the table already, it stays, and the history says so."
            )
        return (
            "Work is running",
            f"Spark is {kinds_of(running)} for this console. {cancels}",
            "cancel it and quit",
        )

    def _quit_confirmed(self, confirmed: bool | None, code: int = 0, *, jobs: Sequence[Job] = ()) -> None:
        """``jobs``: what ran when it was asked, to be told of: none if the console is ended from outside, where there
        may be no terminal left."""
        if not confirmed:
            return
        written = [job for job in jobs if job.writes]
        leave: Callable[[], None] = partial(self._tell_and_exit, written) if written else partial(self.exit, None, code)
        if not self._jobs:
            leave()
            return
        # what was cancelled writes into the ledger what became of it
        self.cancel_jobs(list(self._jobs))
        self.notify_of_work("Cancelling… The console leaves as soon as it has ended.")
        # a server that does not answer must not keep the terminal
        patience = self.set_timer(QUIT_PATIENCE_SECONDS, leave)

        def ended() -> None:
            patience.stop()
            leave()

        self._leave = ended

    def _tell_and_exit(self, jobs: Sequence[Job]) -> None:
        """Exit with what became of these jobs, for the terminal."""
        from console.places.statement.steps_place import RECENT, newest_of
        from console.words.outcome_sentences import became

        running = set(self._jobs)
        self._leave = None

        def tell(operations: Sequence[Operation] | None) -> None:
            patience.stop()
            told = []
            for job in jobs:
                # the ledger cuts what is below a millisecond
                found = newest_of(job.plan_id, operations or (), job.began.replace(microsecond=0))
                ended = operations is not None and job.operation_id not in running
                told.append(became(f"{WRITES[job.kind]} {table_name(job.table)}", found, ended=ended))
            self.exit(message="\n".join(told))

        # nor must a ledger that another program holds
        patience = self.set_timer(LEDGER_PATIENCE_SECONDS, partial(tell, None))
        self.ask("became", partial(self.backend.history, limit=RECENT), tell, lambda _: tell(None))

    # Its start

    def _connect(self) -> None:
        self._start_spark(restart=False)

    def _start_spark(self, *, restart: bool) -> None:
        self._silent_since = None
        self.forget("alive")  # that look is at the Spark of before
        # of the first start the app itself says what works meanwhile
        again = self.status.spark != "starting"
        self.set_status(spark="starting", narration="Spark is starting…" if again else self.status.narration)

        def start() -> tuple[str, ...]:
            # looked up in the thread too: a backend may only be imported when it is first asked
            return (self.backend.restart if restart else self.backend.connect)(narrate)

        def narrate(progress: Progress) -> None:
            tasks = f" {progress.done}/{progress.total}" if progress.total else ""
            self.post_message(Narrated(f"Spark is starting: {progress.phase}{tasks}"))

        self.ask("connect", start, self._spark_is_warm, self.spark_is_lost)
        for screen in self.open_places():
            screen.spark_is_starting()

    @on(Narrated)
    def _narrate(self, event: Narrated) -> None:
        if self.status.spark == "starting":
            self.set_status(narration=event.sentence)

    def _spark_is_warm(self, sentences: tuple[str, ...]) -> None:
        self.spark_starts += 1
        self.set_status(spark="warm", narration="")
        self.screen.refresh_bindings()
        self.record(f"Spark is up: {self.backend.endpoint}.")
        for sentence in sentences:
            self.record(sentence, "warning")
            self.notify(sentence, severity="warning", timeout=10)
        self.catalog.forget()
        self.forget("tables")
        for screen in self.open_places():
            screen.spark_is_warm()
        if sentences:
            self.ledger_changed()

    def spark_is_lost(self, failure: Failure) -> None:
        """Say so on every place; nothing typed is touched."""
        # what to do comes first: a narrow screen cuts the end
        todo = f"{self.glyphs.error} Spark is lost: {self.spark_again()}, your text is kept"
        self.set_status(spark="lost", narration=f"{todo} ({failure.message})")
        self.screen.refresh_bindings()
        for place in self.open_places():
            place.spark_is_lost()

    def action_restart_spark(self) -> None:
        if self.status.spark != "lost":
            self.notify("Spark is not lost; there is nothing to restart.")
            return
        self.record("Spark is started again on request.")
        self._start_spark(restart=True)
        self.screen.refresh_bindings()

    def _check_alive(self) -> None:
        if self.status.spark == "starting" or self.is_asking("alive"):
            return
        lost = self.status.spark == "lost"
        if lost and self._silent_since is not None:
            self._tell_silence(self._silent_since)
        pause = min(HEARTBEAT_SECONDS * 2**self._looks_in_vain, LONGEST_PAUSE)
        if lost and self._looks_in_vain and self.clock() - self._looked < pause:
            return
        self._looked = self.clock()
        backend = self.backend

        def look() -> tuple[bool, bool]:
            alive = backend.is_alive()
            return alive, lost and not alive and backend.is_replaced()

        self.ask("alive", look, self._heartbeat)

    def _tell_of_the_store(self) -> None:
        """On every place: an undo, and what only reads, have no line that runs."""
        if self.status.spark != "warm":
            return
        store = self.backend.store_silence() if self.status.work else None
        sentence = silence(0, store)
        if sentence or self.status.narration:
            self.set_status(narration=sentence[:1].upper() + sentence[1:])

    def _watch_the_ledger(self) -> None:
        """Another console, or a shell, may write to it at any time."""
        if not self.is_asking("stamp"):
            self.ask("stamp", self.backend.ledger_stamp, self._ledger_stamped, lambda _: None)

    def _ledger_stamped(self, stamp: int) -> None:
        before, self._stamp = self._stamp, stamp
        if before == stamp:
            return
        if before is not None:
            for place in self.open_places():
                place.ledger_changed()
        self.ask("tables made", lambda: tables_made(self.backend.history()), self._found_tables_made, lambda _: None)

    def _found_tables_made(self, made: frozenset[str]) -> None:
        before, self._tables_made = self._tables_made, made
        # a Spark that is starting is asked for its tables as soon as it is up
        if before is not None and made - before and self.status.spark == "warm":
            self.tables_changed()

    def _heartbeat(self, found: tuple[bool, bool]) -> None:
        alive, replaced = found
        if self.status.spark == "warm":
            self._looks_in_vain = 0 if alive else self._looks_in_vain
            if not alive:
                failure = Failure("", "the driver does not answer any more", unreachable=True)
                self.record(f"Spark is lost: {failure.message}.", "error")
                self.spark_is_lost(failure)
                self._silent_since = self._looked
        elif self.status.spark == "lost":
            # also counted where it answers: one that is lost again at once is not connected to every few seconds
            self._looks_in_vain += 1
            if alive and self._silent_since is not None:
                self._answers_again()
            elif (alive or replaced) and not self.status.work:
                # what still runs has a session of its own
                self.record("Spark answers again.")
                self._start_spark(restart=False)

    def _tell_silence(self, since: float) -> None:
        silence = duration(round(self.clock() - since) * 1000)
        todo = f"Spark is lost, no answer for {silence}: {self.spark_again()}, your text is kept"
        self.set_status(narration=f"{self.glyphs.error} {todo}")

    def _answers_again(self) -> None:
        """It hung: its sessions, and the plans in them, are as they were."""
        self.record("Spark answers again.")
        self._silent_since = None
        self.spark_starts += 1  # what was asked while it hung says nothing of now
        self.set_status(spark="warm", narration="")
        self.screen.refresh_bindings()
        for place in self.open_places():
            place.spark_is_warm()
