"""Whether the work of a program that died has ended, as far as Spark tells, and who may be settling it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.ledger.abandoned import Abandoned
from engine.ledger.history import History
from engine.model.errors import EngineError
from engine.model.operation import UndoPlan
from engine.recovery import recover
from engine.recovery.recover import end_work
from engine.session.leases import note_session
from engine.spark.session_state import Whereabouts
from tests.engine.plans import make_plan


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


def test_what_a_program_that_may_live_has_given_up_is_waited_for_and_not_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recover.time, "sleep", lambda _: None)
    client: Any = Client((True,), (True, False))
    client.interrupt_tag = None
    assert end_work(client, "tag", interrupts=False)
    client.busy = [None]
    assert not end_work(client, "tag", interrupts=False), "Spark does not tell"


@pytest.mark.parametrize(
    ("has_log", "files_stay", "elsewhere", "is_done"),
    [
        (False, False, False, True),
        # its name is missing in this catalog, and the table is there: it was not dropped
        (True, False, False, False),
        # DROP leaves the files of an external table
        (True, True, False, True),
        # the process that drops it may live
        (False, False, True, False),
    ],
)
def test_an_undo_by_drop_is_done_where_the_table_is_gone_and_not_its_name_alone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    has_log: bool,
    files_stay: bool,
    elsewhere: bool,
    is_done: bool,
) -> None:
    monkeypatch.setattr(recover, "catalog_entry", lambda *_: None)
    monkeypatch.setattr(recover, "has_log_directory", lambda *_: has_log)
    history = History(tmp_path / "history.duckdb")
    dropping = UndoPlan(
        undo_id="u", op_id=history.begin(make_plan()), kind="drop", table="db.t", path="/t", table_id="id", version=0,
        to_version=-1, files_stay=files_stay,
    )  # fmt: skip
    op_id = history.begin_undo(dropping)
    one = Abandoned(op_id, "u", "drop", "db.t", "/t", Whereabouts(), 0, None, elsewhere)
    found = recover._if_committed(None, history, one, None)  # type: ignore[arg-type]
    assert (found is not None) is is_done
    assert history.get(op_id).operation.status == ("applied" if is_done else "running")


def abandoned(endpoint: str) -> Abandoned:
    return Abandoned("op", "plan", "merge", "db.t", "/t", Whereabouts(endpoint, "s", "u"), 0, None, False)


def embedded(home: Path) -> Any:
    """A session on the embedded server of ``home``, whose other sessions are named by their ids."""
    spark: Any = SimpleNamespace(endpoint="127.0.0.1:2")
    return SimpleNamespace(
        spark=spark, server=SimpleNamespace(log=str(home / "logs" / "server.log")), attach=lambda one, _: one
    )


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recover, "answers", lambda _: False)
    monkeypatch.setattr(recover, "whereabouts", lambda spark: Whereabouts(spark.endpoint))


@pytest.mark.parametrize("endpoint", ["localhost:15002", "[::1]:15002", "spark.example.org:15002"])
def test_a_tunnel_that_is_down_does_not_say_that_its_server_has_ended(
    tmp_path: Path, silent: None, endpoint: str
) -> None:
    with pytest.raises(EngineError) as raised:
        recover._session_of(embedded(tmp_path), tmp_path, abandoned(endpoint))
    assert (raised.value.condition, endpoint in raised.value.hint) == ("RUNS_ELSEWHERE", True)


def test_an_embedded_server_that_does_not_answer_has_ended(tmp_path: Path, silent: None) -> None:
    assert recover._session_of(embedded(tmp_path), tmp_path, abandoned("127.0.0.1:1")) is None


def test_a_home_that_is_spelled_otherwise_is_the_same(tmp_path: Path, silent: None) -> None:
    home, link = tmp_path / "home", tmp_path / "link"
    (home / "leases").mkdir(parents=True)
    link.symlink_to(home)
    note_session(home, "s", "u")
    found: Any = recover._session_of(embedded(home), link, abandoned("127.0.0.1:2"))
    assert found == "s"


def test_a_session_in_which_another_process_settles_an_operation_is_left_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: set[str] = set()
    session: Any = SimpleNamespace(spark=None, close_left_behind=kept.update)
    monkeypatch.setattr(recover, "rebuild", lambda *_: 0)
    monkeypatch.setattr(recover, "drop_left_over", lambda _: None)
    history = History(tmp_path / "history.duckdb")
    op_id = history.begin(make_plan(), where=Whereabouts("127.0.0.1:1", "theirs", "u"))
    history.give_up(op_id)
    assert history.take_over(op_id), "by the one that settles it now"
    assert recover.recover(session, history) == ()
    assert kept == {"theirs"}


def test_what_another_program_works_in_is_left_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its apply runs under the id of the same plan."""
    closed: list[bool] = []

    @contextlib.contextmanager
    def turn(waits: Callable[[], object]) -> Iterator[None]:
        waits()
        yield

    def close(*, keep: bool) -> None:
        closed.append(keep)

    client = SimpleNamespace(turn=turn, close=close)
    monkeypatch.setattr(recover, "_session_of", lambda *_: client)
    history = History(tmp_path / "history.duckdb")
    one = dataclasses.replace(abandoned("here"), op_id=history.begin(make_plan()))
    with pytest.raises(EngineError) as raised:
        recover._settle(SimpleNamespace(), history, one)  # type: ignore[arg-type]
    assert (raised.value.condition, closed) == ("STILL_RUNNING", [True])


def test_what_could_not_be_settled_is_still_of_the_process_that_died(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next command interrupts its work, which it does not for a program that may live."""
    history = History(tmp_path / "history.duckdb")
    op_id = history.begin(make_plan())
    monkeypatch.setattr("engine.processes.is_running", lambda *_: False)
    (before,) = history.unsettled()

    def fails(*_: object) -> None:
        raise EngineError("STILL_RUNNING", "")

    monkeypatch.setattr(recover, "_settle", fails)
    monkeypatch.setattr(recover, "rebuild", lambda *_: None)
    monkeypatch.setattr(recover, "drop_left_over", lambda *_: None)
    session: Any = SimpleNamespace(spark=None, close_left_behind=lambda _: None)
    (found,) = recover.recover(session, history)
    assert (found.op_id, found.status) == (op_id, "running")
    assert history.unsettled() == [before]
    assert not before.given_up
