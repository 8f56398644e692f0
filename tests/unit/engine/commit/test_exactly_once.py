"""An error whose commit cannot be looked for says that it may be there."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from engine.commit.exactly_once import commit_despite, given_up_if_unknown
from engine.model.errors import EngineError, LostCommitError


class FakeHistory:
    def __init__(self) -> None:
        self.given_up: list[str] = []

    def give_up(self, op_id: str) -> None:
        self.given_up.append(op_id)


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
    with pytest.raises(EngineError) as known, given_up_if_unknown(None, "op", known=True):
        not_read()
    assert known.value.hint == "Check the network."
    with pytest.raises(LostCommitError) as lost, given_up_if_unknown(None, "op"):
        raise LostCommitError("COMMIT_LOST", "The commit is LOST.", "Plan again.")
    assert lost.value.hint == "Plan again."
