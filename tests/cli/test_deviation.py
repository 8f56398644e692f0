"""A commit that breaks its promise: exit code 7, said first, and said wherever the operation is listed."""

from __future__ import annotations

import json

from console.cli.exits import DEVIATED, DONE, exit_code, outcome_code
from console.places.history.history_pages import list_page
from console.words.glyphs import UNICODE
from engine.ledger.history import History
from engine.model.errors import LostCommitError
from engine.model.operation import Deviation, Outcome
from tests.cli.running import Shell
from tests.console.samples import a_restore, an_undo
from tests.engine.plans import make_outcome, make_plan


def test_the_exit_code_of_an_outcome() -> None:
    kept = make_outcome("1")
    assert (outcome_code(kept), outcome_code(kept.model_copy(update={"kept": False}))) == (DONE, DEVIATED)


def deviating(outcome: Outcome, metric: str) -> Outcome:
    found = Deviation(metric=metric, promised=outcome.promise.get(metric, 0), actual=77)
    return outcome.model_copy(update={"kept": False, "deviations": (found,)})


def test_the_list_says_it_in_words(shell: Shell) -> None:
    ledger = History(shell.home / "history.duckdb")
    for at, kept in (("plan-1", True), ("plan-2", False)):
        op_id = ledger.begin(make_plan(at))
        ledger.applied(op_id, make_outcome(op_id, at).model_copy(update={"kept": kept}))
    assert [line.count("applied, DEVIATED") for line in shell("history").out.splitlines() if "applied" in line] == [
        1,
        0,
    ]


def test_the_numbers_of_a_restore_are_compared_too(shell: Shell) -> None:
    ledger = History(shell.home / "history.duckdb")
    merged = ledger.begin(make_plan())
    ledger.applied(merged, make_outcome(merged))
    looked = an_undo(merged)
    done = deviating(a_restore(looked), "numRestoredFiles")
    op_id = ledger.begin_undo(looked)
    ledger.undone(op_id, done.model_copy(update={"op_id": op_id}))
    text = shell("show-op", op_id).out
    assert "DEVIATED from its promise" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["numRestoredFiles", str(looked.promise["numRestoredFiles"]), "77", "✖", "deviates"] in rows
    assert [row[-1] for row in rows if row[:1] == ["numRemovedFiles"]] == ["✔"]


def test_a_lost_commit_is_said_in_the_list_and_is_exit_7(shell: Shell) -> None:
    ledger = History(shell.home / "history.duckdb")
    op_id = ledger.begin(make_plan("plan-1"))
    ledger.failed(op_id, "The commit is LOST.", "lost")
    text = shell("history").out
    assert "✖ LOST" in text
    assert "The commit is LOST." in text
    (row,) = json.loads(shell("history", "--json").out)
    assert (row["status"], row["version"]) == ("lost", None)
    assert exit_code(LostCommitError("COMMIT_LOST", "")) == DEVIATED
    page = list_page(ledger.list(), {}, 1, UNICODE)
    assert page.table is not None
    status = page.table.columns[3]
    assert (page.table.rows[0][3], status.failed is not None and status.failed(0)) == ("✖ LOST", True)
