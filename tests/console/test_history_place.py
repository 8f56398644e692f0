"""History: the ledger, newest first, and of each operation what was promised and what happened."""

from __future__ import annotations

from tests.console.drive import console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL


async def test_the_ledger_is_listed_newest_first_with_what_came_of_it(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("applied, kept", "failed", "cancelled", "applied, DEVIATED")
        rows = [line for line in operator.screen.splitlines() if line.startswith(" 2026-11-")]
        assert [row.split()[1] for row in rows[:4]] == ["12:05", "11:40", "09:00", "22:15"]


async def test_the_operation_under_the_cursor_shows_promise_against_actual(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.press("3")
        await operator.sees("promised", "actual", "numTargetRowsCopied", "869,298")
        await operator.press("down", "down", "down")
        await operator.sees("869,305", "DEVIATED")


async def test_the_filter_takes_several_words(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("DEVIATED")
        await operator.press("slash", *"customers cancel")
        await operator.misses("DEVIATED")
        await operator.sees("cancelled")
        assert "sales.orders  " not in operator.screen
        await operator.press(*" zzz")
        await operator.sees("Nothing matches the filter.")


async def test_an_empty_ledger_says_so(backend: FakeBackend) -> None:
    backend.ledger = []
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("Nothing was planned or committed yet.")


async def test_e_puts_the_sql_of_an_operation_back_into_the_editor(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("undo: RESTORE TABLE")
        await operator.press("e")
        await operator.sees("WHEN NOT MATCHED THEN INSERT *")
        assert operator.merge.editor.text == MERGE_SQL


async def test_a_commit_shows_up_without_being_asked_for(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("DEVIATED")
        await operator.plan(MERGE_SQL)
        await operator.press("c")
        await operator.sees("Commit plan")
        await operator.press("ctrl+y")
        await operator.sees("kept its promise")
        await operator.press("h")
        await operator.until(lambda: len(backend.called("history")) == 2)
