"""Random keys on a real Spark: nothing crashes, and nothing is written that nobody confirmed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from console.app import DeltaMergeApp
from console.places.statement.statement import StatementPlace
from console.spark_backend import SparkBackend
from engine.model.errors import UsageError
from engine.model.operation import Outcome, UndoPlan
from engine.model.plans import AnyPlan
from engine.model.progress import Progress
from tests.conftest import TEST_CONFS, own_schema
from tests.console import drive
from tests.console.drive import Clock, Operator
from tests.console.test_key_fuzzer import Totals, Witness, fuzz_consoles, random_moves

# most keys meet work that runs, some meet its answer
REAL_SECONDS = (0.0, 0.0, 0.0, 0.05, 0.3)
ANSWERED = 0.7
"""How often a key that plans or looks up is followed by the answer."""


class RecordingBackend(SparkBackend):
    """Keeps what is written. The server is of all tests: it is not stopped."""

    def __init__(self, home: Path) -> None:
        super().__init__("local[2]", home, TEST_CONFS)
        self.calls: list[tuple[str, str]] = []

    def called(self, method: str) -> list[tuple[object, ...]]:
        return [(subject,) for name, subject in self.calls if name == method]

    def apply(
        self, plan: AnyPlan, *, accept: tuple[str, ...], operation_id: str, on_progress: Callable[[Progress], None]
    ) -> Outcome:
        self.calls.append(("apply", plan.plan_id))
        return super().apply(plan, accept=accept, operation_id=operation_id, on_progress=on_progress)

    def undo(self, looked: UndoPlan, *, operation_id: str, on_progress: Callable[[Progress], None]) -> Outcome:
        self.calls.append(("undo", looked.op_id))
        return super().undo(looked, operation_id=operation_id, on_progress=on_progress)

    def stop_server(self) -> None:
        raise UsageError("NOT_OUR_SERVER", "The server is of all tests.")


async def answered(operator: Operator) -> None:
    """Wait until nothing is under way."""

    def is_idle() -> bool:
        looks = any(place.is_asking("plan_undo") for place in operator.app.open_places())
        return not operator.app.status.work and not looks

    await operator.until(is_idle, "an answer")


async def fuzz(seed: int, keys: int, home: Path, schema: str, totals: Totals, pressed: list[str]) -> Witness:
    """One console, until it is left or ``keys`` are pressed."""
    chance = random.Random(seed)
    backend = RecordingBackend(home)
    source = "(SELECT id AS k, id + 1 AS v FROM range(3, 8))"
    merge = f"MERGE INTO {schema}.t USING {source} AS s ON t.k = s.k WHEN MATCHED THEN UPDATE SET * "
    merge += "WHEN NOT MATCHED THEN INSERT *"
    app = DeltaMergeApp(backend, home=home, open_sql=merge)
    app.clock = clock = Clock()
    async with app.run_test(size=chance.choice(((80, 24), (120, 36))), notifications=True) as pilot:
        operator = Operator(pilot, app)
        witness = Witness(operator, backend, clock)
        await operator.warm()
        create = app.go_to("create")
        assert isinstance(create, StatementPlace)
        await pilot.pause()
        create.use_text(f"CREATE OR REPLACE TABLE {schema}.made AS SELECT 1 AS x")
        clock.stands = True

        async def linger() -> None:
            await asyncio.sleep(chance.choice(REAL_SECONDS))

        async for move in random_moves(witness, chance, keys, pressed, linger):
            if move[-1] in ("ctrl+r", "u") and chance.random() < ANSWERED:
                await answered(operator)
        if app.is_running:
            await answered(operator)
        witness.check()
    await asyncio.to_thread(backend.close)
    totals.count(pressed, witness)
    return witness


@pytest.mark.thorough
async def test_random_keys_write_nothing_to_real_tables_that_nobody_confirmed(
    request: pytest.FixtureRequest, spark: Any, spark_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "PATIENCE_SECONDS", 120.0)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VISUAL", "true")
    confirmed = 0
    with own_schema(spark) as schema:
        spark.sql(f"CREATE TABLE {schema}.t USING delta AS SELECT id AS k, id AS v FROM range(5)").collect()

        async def fuzz_one(seed: int, keys: int, totals: Totals, pressed: list[str]) -> None:
            nonlocal confirmed
            witness = await fuzz(seed, keys, spark_home, schema, totals, pressed)
            confirmed += witness.confirmed.total()

        totals = await fuzz_consoles(request, fuzz_one)
        # the table itself says the same
        commits = spark.sql(f"DESCRIBE HISTORY {schema}.t").count() - 1
    print(totals, f"{commits} commits")
    assert commits <= confirmed
