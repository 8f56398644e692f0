"""What a commit may take is shown before it, while it runs, and beside what it took."""

from __future__ import annotations

from tests.console.drive import console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL
from tests.unit.console.words.test_projection import ROWS, took


async def test_it_is_shown_before_the_commit_while_it_runs_and_beside_what_it_took(backend: FakeBackend) -> None:
    backend.outcomes = lambda limit=500: [took(ROWS, 6_000)] * 3  # type: ignore[method-assign]  # noqa: ARG005
    backend.hold("apply")
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.until(lambda: operator.merge.projection)
        await operator.press("c")
        await operator.sees("takes about 6.0 s (≈ from 3 commits of this statement, as large)")
        await operator.press("ctrl+y")
        await operator.sees("of ≈ 6.0 s")
        backend.release("apply")
        await operator.sees("took 6.2 s; estimated 6.0 s from 3 commits of this statement, as large")
