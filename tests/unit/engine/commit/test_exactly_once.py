"""An error whose commit cannot be looked for says that it may be there."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from engine.commit.exactly_once import as_done, commit_despite, given_up_if_interrupted, given_up_if_unknown
from engine.commit.lost_commit import raise_lost
from engine.model.errors import EngineError, LostCommitError
from engine.table.commits import Commit


class FakeHistory:
    def __init__(self) -> None:
        self.given_up: list[str] = []

    def give_up(self, op_id: str) -> None:
        self.given_up.append(op_id)


def connect_session() -> Any:
    return type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()


def classic_session() -> Any:
    return type("SparkSession", (), {"__module__": "pyspark.sql.session"})()


class FullDisk:
    """A ledger that cannot be written."""

    def failed(self, *_: object) -> NoReturn:
        raise EngineError("LEDGER_DISK_FULL", "The disk is full.")

    give_up = failed_by = failed


def unreachable() -> EngineError:
    return EngineError("STORE_UNREACHABLE", "The store does not answer.", "Check the network.")


def not_read() -> NoReturn:
    raise unreachable()


@pytest.mark.parametrize(("history", "said"), [(FakeHistory(), "the next command"), (None, "the table's history")])
def test_a_failed_write_whose_outcome_is_unknown_says_who_finds_out(history: Any, said: str) -> None:
    with pytest.raises(EngineError) as raised:
        commit_despite(unreachable(), OSError(), not_read, history, "op")
    assert raised.value.message == "The store does not answer."
    assert raised.value.hint.startswith("The commit may be there: ")
    assert said in raised.value.hint
    assert raised.value.hint.endswith("Check the network.")
    if history:
        assert history.given_up == ["op"]


def test_a_commit_that_cannot_be_read_back_says_so_and_a_lost_one_does_not() -> None:
    with pytest.raises(EngineError, match="does not answer") as raised, given_up_if_unknown(None, "op"):
        not_read()
    assert "may be there" in raised.value.hint
    with pytest.raises(LostCommitError) as lost, given_up_if_unknown(None, "op"):
        raise LostCommitError("COMMIT_LOST", "The commit is LOST.", "Plan again.")
    assert lost.value.hint == "Plan again."


@pytest.mark.parametrize(("history", "later"), [(FakeHistory(), " The next command"), (None, " Check the network.")])
def test_what_fails_after_a_commit_says_that_it_is_committed(history: Any, later: str) -> None:
    known = as_done(Commit(8, "", "MERGE", 7, {}, None))
    with pytest.raises(EngineError) as raised, given_up_if_unknown(history, "op", known=known):
        not_read()
    assert raised.value.hint.startswith(f"It is committed, as v8.{later}")
    assert raised.value.hint.endswith("Check the network.")


def test_a_ledger_that_cannot_be_written_does_not_hide_what_happened() -> None:
    full: Any = FullDisk()
    refused = EngineError("DELTA_CONCURRENT_APPEND", "Another commit was faster.")
    assert commit_despite(refused, OSError(), lambda: None, full, "op") is None, "its caller raises the error"
    with pytest.raises(EngineError, match="does not answer"):
        commit_despite(unreachable(), OSError(), not_read, full, "op")
    with pytest.raises(LostCommitError):
        raise_lost(LostCommitError("COMMIT_LOST", "The commit is LOST.", "Plan again."), full, "op")


def test_a_program_that_lives_on_after_an_interrupt_does_not_keep_the_row() -> None:
    history: Any = FakeHistory()
    with pytest.raises(KeyboardInterrupt), given_up_if_interrupted(classic_session(), history, "op"):
        raise KeyboardInterrupt
    assert history.given_up == [], "nobody else could tell when its work has ended"
    with pytest.raises(KeyboardInterrupt), given_up_if_interrupted(connect_session(), history, "op"):
        raise KeyboardInterrupt
    assert history.given_up == ["op"]
    with pytest.raises(EngineError), given_up_if_interrupted(connect_session(), history, "failed, and recorded so"):
        not_read()
    assert history.given_up == ["op"]
