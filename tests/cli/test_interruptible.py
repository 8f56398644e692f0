"""ctrl-c while Spark works: what is asked of Spark, and what is told of it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import click
import pytest

from console.cli import interruptible, listening
from console.cli.exits import CANCELLED, FAILED, USAGE
from console.cli.failures import ToldError
from console.cli.interruptible import Interruptible
from console.cli.narrator import BarNarrator, EventNarrator, Narrator
from engine.model.errors import CancelledError, EngineError, UnreachableError
from engine.model.progress import OTHERS_TURN, Progress
from engine.session.session import TaskProgress
from engine.session.store_watch import Silence
from tests.cli.lines import Lines


class FakeSession:
    """A session whose one query runs until it is interrupted."""

    def __init__(self) -> None:
        self.interrupted: list[str] = []
        self.query = threading.Event()
        self.asked = threading.Event()
        self.is_running = False
        self.closed = self.closed_under_others = False
        self.is_free = threading.Event()
        self.is_free.set()
        self.silence: Silence | None = None

    def store_silence(self) -> Silence | None:
        return self.silence

    def on_progress(self, _handler: Callable[..., None]) -> Callable[[], None]:
        return lambda: None

    def interrupt_tag(self, tag: str) -> bool:
        self.interrupted.append(tag)
        self.asked.set()
        if self.is_running:
            self.query.set()
        return self.is_running

    def run_query(self, seconds: float = 5.0) -> None:
        self.is_running = True
        was_interrupted = self.query.wait(seconds)
        self.is_running = False
        if was_interrupted:
            raise CancelledError("CANCELLED", "The work was cancelled.")

    @contextlib.contextmanager
    def turn(self, waits: Callable[[], object]) -> Iterator[None]:
        while not self.is_free.wait(0.05):
            waits()
        yield

    def close(self, *, under_others: bool = False) -> None:
        self.closed, self.closed_under_others = True, under_others
        self.query.set()


class Said(Narrator):
    """Keeps the phases that it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.phases: set[str] = set()

    def progress(self, progress: Progress) -> None:
        self.phases.add(progress.phase)


def press_soon(seconds: float = 0.2, number: signal.Signals = signal.SIGINT) -> None:
    threading.Timer(seconds, os.kill, (os.getpid(), number)).start()


def interruptible_on(session: FakeSession, work: Any) -> Interruptible[Any]:
    return Interruptible(session, Narrator(), work)  # type: ignore[arg-type]


def test_work_waits_for_its_turn_and_says_so() -> None:
    session, narrator = FakeSession(), Said()
    session.is_free.clear()
    threading.Timer(0.3, session.is_free.set).start()
    work: Any = Interruptible(session, narrator, lambda *_: session.is_free.is_set())  # type: ignore[arg-type]
    assert work.run()
    assert narrator.phases == {OTHERS_TURN.phase}


def test_ctrl_c_ends_the_wait_for_a_turn() -> None:
    session, ran = FakeSession(), threading.Event()
    session.is_free.clear()
    press_soon()
    with pytest.raises(CancelledError):
        interruptible_on(session, lambda *_: ran.set()).run()
    assert not ran.is_set()


def test_who_waits_for_a_turn_ends_nothing_of_the_one_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    session = FakeSession()
    session.is_free.clear()
    work = interruptible_on(session, lambda *_: None)
    for _ in range(2):  # before anybody looks
        work._ask()
    with pytest.raises(CancelledError):
        work.run()
    assert not session.closed_under_others


def test_nothing_pressed() -> None:
    assert interruptible_on(FakeSession(), lambda tag, _: tag).run().startswith("deltamerge-")


def test_error_comes_out() -> None:
    def work(tag: str, say: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        interruptible_on(FakeSession(), work).run()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_spark_is_interrupted(number: signal.Signals) -> None:
    session = FakeSession()
    seen: list[str] = []

    def work(tag: str, say: Any) -> None:
        seen.append(tag)
        say(Progress(phase="a"))
        session.run_query()

    before = signal.getsignal(number)
    press_soon(number=number)
    with pytest.raises(CancelledError):
        interruptible_on(session, work).run()
    assert session.interrupted == seen
    assert signal.getsignal(number) is before


def test_pressed_between_two_queries() -> None:
    session = FakeSession()

    def work(tag: str, say: Any) -> None:
        assert session.asked.wait(30)
        say(Progress(phase="b"))
        session.run_query()

    press_soon()
    with pytest.raises(CancelledError):
        interruptible_on(session, work).run()
    assert not session.query.is_set()


def test_work_that_has_begun_is_ended_by_spark_only() -> None:
    session = FakeSession()

    def work(tag: str, say: Any) -> None:
        assert session.asked.wait(30)
        say(Progress(phase="merge", stage="writing"))
        session.run_query()

    press_soon()
    with pytest.raises(CancelledError):
        interruptible_on(session, work).run()
    assert session.query.is_set()


def test_what_is_committed_is_let_go_on() -> None:
    session = FakeSession()

    def work(tag: str, say: Any) -> str:
        say(Progress(phase="compare", stage="committed"))
        session.run_query(0.8)
        return "committed"

    press_soon()
    one = interruptible_on(session, work)
    assert one.run() == "committed"
    assert one.was_asked_to_stop
    assert session.interrupted == []


def test_no_session_is_closed_under_what_is_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interruptible, "PATIENCE_SECONDS", 0.3)
    session, narrator = FakeSession(), Lines()

    def work(tag: str, say: Any) -> str:
        say(Progress(phase="compare", stage="committed"))
        session.run_query(1.5)
        return "committed"

    for seconds in (0.2, 0.5):
        press_soon(seconds)
    one: Any = Interruptible(session, narrator, work)  # type: ignore[arg-type]
    assert one.run() == "committed"
    assert not session.closed
    assert narrator.lines == ["… compare", "it is committed: waiting for what it did"]


def test_a_spark_that_is_lost_after_the_commit_is_left_at_the_second_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interruptible, "LOST_SECONDS", 1.0)
    session, narrator = FakeSession(), Lines()
    go_on = threading.Event()

    def work(tag: str, say: Any) -> None:
        say(Progress(phase="compare", stage="committed"))
        go_on.wait(10)

    # the second one comes while Spark may yet tell, the third after its silence
    for seconds in (0.2, 0.5, 1.5):
        press_soon(seconds)
    one: Any = Interruptible(session, narrator, work)  # type: ignore[arg-type]
    began = time.monotonic()
    with pytest.raises(UnreachableError, match="It was committed") as caught:
        one.run()
    go_on.set()
    assert time.monotonic() - began >= 1.5
    assert "deltamerge-console history" in caught.value.hint


def test_two_keys_that_come_together_ask_spark_first() -> None:
    session = FakeSession()
    work = interruptible_on(session, lambda *_: session.run_query())
    for _ in range(2):  # before anybody looks
        work._ask()
    with pytest.raises(CancelledError):
        work.run()
    assert session.interrupted
    assert not session.closed


def test_spark_that_does_not_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interruptible, "PATIENCE_SECONDS", 0.3)
    session = FakeSession()
    go_on = threading.Event()

    def work(tag: str, say: Any) -> None:
        go_on.wait(5)

    press_soon()
    with pytest.raises(CancelledError, match="cancelled") as caught:
        interruptible_on(session, work).run()
    go_on.set()
    assert session.closed
    assert "did not confirm" in caught.value.hint


def test_the_tasks_of_a_query_leave_the_count_of_a_step_as_it_is() -> None:
    class Counting(FakeSession):
        def on_progress(self, handler: Callable[..., None]) -> Callable[[], None]:
            self.handler = handler
            return super().on_progress(handler)

    class Keeping(Narrator):
        def __init__(self) -> None:
            super().__init__()
            self.counts: list[tuple[int, int, str]] = []

        def progress(self, progress: Progress) -> None:
            self.counts.append((progress.done, progress.total, progress.counts))

    def work(tag: str, say: Any) -> None:
        for done in range(2):
            say(Progress(phase="Generating", done=done, total=8, counts="tables"))
            session.handler(TaskProgress(tasks_done=8 + done, tasks=10, bytes_read=0))

    session, narrator = Counting(), Keeping()
    Interruptible(session, narrator, work).run()  # type: ignore[arg-type]
    assert narrator.counts == [(0, 8, "tables"), (0, 8, "tables"), (1, 8, "tables"), (1, 8, "tables")]


def test_narrator_never_stops_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    for narrator in (Narrator(), EventNarrator()):
        narrator.say("x")
        narrator.progress(Progress(phase="y"))


def test_what_a_cancel_goes_by_is_no_part_of_the_events(capsys: pytest.CaptureFixture[str]) -> None:
    EventNarrator().progress(Progress(phase="merge", done=1, total=2, stage="writing"))
    event = json.loads(capsys.readouterr().err)
    assert event.pop("at")
    assert event == {"event": "progress", "phase": "merge", "done": 1, "total": 2, "bytes_read": 0}


def test_a_store_that_does_not_answer_is_told_while_the_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "LOOK_SECONDS", 0.01)
    session, narrator = FakeSession(), Lines()
    store = "the store at lake:9000 has not answered for {} s"

    def work(tag: str, say: Any) -> None:
        for seconds in (4, 5, 7, 10, 19, 20, 21):
            session.silence = Silence("lake:9000", seconds)
            time.sleep(0.1)
        say(Progress(phase="b"))
        session.silence = None

    Interruptible(session, narrator, work).run()  # type: ignore[arg-type]
    assert narrator.lines == [*(store.format(seconds) for seconds in (5, 10, 20)), "… b"]


def test_work_that_brings_nothing_new_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "LOOK_SECONDS", 0.01)
    moment = 0.0
    monkeypatch.setattr(listening.time, "monotonic", lambda: moment)
    narrator = Lines()

    def work(tag: str, say: Any) -> None:
        nonlocal moment
        say(Progress(phase="a"))
        for moment in (4.0, 6.0, 13.0):  # noqa: B007
            time.sleep(0.1)

    Interruptible(FakeSession(), narrator, work).run()  # type: ignore[arg-type]
    assert narrator.lines == ["… a", "nothing new for 6 s", "nothing new for 13 s"]


def test_a_store_that_does_not_answer_is_told_though_spark_was_silent_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "LOOK_SECONDS", 0.01)
    moment = 0.0
    monkeypatch.setattr(listening.time, "monotonic", lambda: moment)
    session, narrator = FakeSession(), Lines()

    def work(tag: str, say: Any) -> None:
        nonlocal moment
        for moment, seconds in ((5.0, 4), (6.0, 5), (7.0, 6)):  # noqa: B007
            session.silence = Silence("lake:9000", seconds)
            time.sleep(0.1)
        session.silence, moment = None, 8.0
        time.sleep(0.1)

    Interruptible(session, narrator, work).run()  # type: ignore[arg-type]
    store = "the store at lake:9000 has not answered for 5 s"
    assert narrator.lines == ["nothing new for 5 s", store, "nothing new for 8 s"]


@pytest.mark.parametrize(
    ("error", "event", "told"),
    [
        (CancelledError("CANCELLED", "The work was cancelled.", "It was committed as v3."), "cancelled", CANCELLED),
        (KeyboardInterrupt(), "cancelled", CANCELLED),
        (click.UsageError("Nothing is expected of t."), "error", USAGE),
        (EngineError("STORE_DENIED", "The store refuses."), "error", FAILED),
    ],
)
def test_the_last_event_says_how_it_ended(
    capsys: pytest.CaptureFixture[str], error: BaseException, event: str, told: int
) -> None:
    with pytest.raises(ToldError) as raised, EventNarrator():
        raise error
    assert raised.value.failed.code == told
    last = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert last["event"] == event
    assert last["message"] == raised.value.failed.message
    assert last["hint"] == raised.value.failed.hint


@pytest.mark.parametrize("kind", [BarNarrator, EventNarrator])
def test_a_silence_stands_in_the_bar_and_is_a_narration_event(
    kind: type[Narrator], capsys: pytest.CaptureFixture[str]
) -> None:
    with kind() as narrator:
        narrator.silent("lake:9000", 5, "the store has not answered for 5 s")
        narrator.silent("lake:9000", 6, "the store has not answered for 6 s")
        if isinstance(narrator, BarNarrator):
            assert narrator._bar is not None
            assert narrator._bar.tasks[0].fields["tasks"] == "the store has not answered for 6 s"
    told = capsys.readouterr().err
    if kind is EventNarrator:
        first, done = [json.loads(line) for line in told.splitlines()]
        assert (first["event"], first["text"]) == ("narration", "the store has not answered for 5 s")
        assert done["event"] == "done"
