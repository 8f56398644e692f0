"""Rehearse from the preview: says what it costs, runs beside all else; the commit dialog shows what was measured."""

from __future__ import annotations

import pytest

from engine.commit.policy import Policy
from engine.model.errors import EngineError
from engine.model.expectation import ExpectationResult
from tests.console import samples
from tests.console.drive import Operator, console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL
from tests.unit.console.words.test_projection import ROWS, took


async def rehearse(operator: Operator) -> None:
    """The plan that is shown."""
    await operator.press("R")
    await operator.sees("Rehearse plan 7f3a9c", "A rehearsal costs one MERGE")
    await operator.press("ctrl+y")


async def test_what_was_measured_is_shown_in_the_preview_and_in_the_commit_dialog(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await rehearse(operator)
        measured = f"measured: 12.3 s on a clone, all {len(samples.a_plan().promise)} metrics as promised"
        await operator.sees(measured, "the clone of its v41 is dropped", "numTargetRowsUpdated")
        assert backend.called("rehearse")[0][0] == samples.a_plan().plan_id
        await operator.press("c")
        await operator.sees("Commit plan 7f3a9c", measured)
        await operator.press("escape", "r")
        await operator.sees("data skipping leaves")
        assert "Rehearsal" not in operator.screen, "another plan was not rehearsed"


async def test_the_commit_is_estimated_by_what_its_rehearsal_took(backend: FakeBackend) -> None:
    backend.outcomes = lambda limit=500: [took(ROWS, 60_000)]  # type: ignore[method-assign]  # noqa: ARG005
    backend.hold("apply")
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.until(lambda: operator.merge.projection)
        await rehearse(operator)
        await operator.sees("measured: 12.3 s on a clone")
        await operator.commit()
        await operator.sees("of ≈ 12.3 s")
        backend.release("apply")
        await operator.sees("took 6.2 s; estimated 12.3 s from its rehearsal on a clone")


async def test_a_deviation_is_said_first(backend: FakeBackend) -> None:
    backend.deviates = True
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await rehearse(operator)
        await operator.sees("measured: 12.3 s on a clone, DEVIATED in 1 number", "✖ DEVIATED")


async def test_an_expectation_that_fails_on_the_clone_is_said_first(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = ExpectationResult(name="unique_id", kind="unique", status="fail", sentence="2 keys.")
    rehearsal = samples.a_rehearsal(samples.a_plan()).model_copy(update={"expectations": (fails,)})
    monkeypatch.setattr(samples, "a_rehearsal", lambda *_, **__: rehearsal)
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await rehearse(operator)
        await operator.sees("unique_id fails (error): 2 keys.", "metrics as promised")


async def test_a_plan_that_is_stale_is_said_to_be(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    rehearsal = samples.a_rehearsal(samples.a_plan()).model_copy(update={"stale": "orders moved from v41 to v42."})
    monkeypatch.setattr(samples, "a_rehearsal", lambda *_, **__: rehearsal)
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await rehearse(operator)
        await operator.sees("metrics as promised", "The plan is stale, and apply refuses it: orders moved from v41")


async def test_a_policy_that_forbids_to_write_is_told_before_anything_is_asked(backend: FakeBackend) -> None:
    backend.policy = Policy(read_only=True)
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("R")
        await operator.sees("POLICY_READ_ONLY", "nothing may be written")
        assert "A rehearsal costs" not in operator.screen


async def test_it_can_be_declined_and_cancelled_and_may_fail(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("R")
        await operator.sees("A rehearsal costs one MERGE")
        await operator.press("enter")
        await operator.misses("A rehearsal costs one MERGE")
        assert not backend.called("rehearse")
        backend.hold("rehearse")
        await rehearse(operator)
        await operator.until(lambda: operator.merge.operation is not None, "it runs")
        await operator.until(lambda: backend.called("rehearse"), "the backend has it")
        await operator.press("x")
        await operator.sees("The rehearsal was cancelled; its clone is dropped.")
        assert backend.called("cancel")
        backend.release("rehearse")
        backend.errors["rehearse"] = EngineError("SCHEMA_NOT_FOUND", "No clone can be made [/x].", "Name a schema.")
        await rehearse(operator)
        await operator.sees("[SCHEMA_NOT_FOUND] No clone can be made [/x].", "Name a schema.")
