"""The first frame comes before Spark, and before anything of Spark is even imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.console.drive import console
from tests.console.fake_backend import FakeBackend

HEAVY = ("pyspark", "delta", "duckdb", "grpc", "sqlglot", "pandas", "pyarrow", "pydantic", "click")

FIRST_FRAME = """
import asyncio, sys
from pathlib import Path
from console.app import DeltaMergeApp
from tests.console.lazy import LazyFake

DeltaMergeApp._connect = lambda app: None

async def main():
    home = Path(sys.argv[1])
    app = DeltaMergeApp(LazyFake(home), home=home)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        strips = app.screen._compositor.render_strips()
        assert any("Tables" in strip.text for strip in strips), "no frame was drawn"
        print(*sorted({name.partition(".")[0] for name in sys.modules}))

asyncio.run(main())
"""


def imported_by(program: str, *arguments: str) -> set[str]:
    """The top-level packages that a program of its own process has imported."""
    run = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def test_the_first_frame_imports_nothing_of_spark(tmp_path: Path) -> None:
    assert imported_by(FIRST_FRAME, str(tmp_path)).isdisjoint(HEAVY)


@pytest.mark.parametrize("module", ["console.app", "console.spark_backend"])
def test_a_module_of_the_console_imports_nothing_of_spark(module: str) -> None:
    program = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    assert imported_by(program).isdisjoint(HEAVY)


async def test_the_places_are_there_while_spark_starts(backend: FakeBackend) -> None:
    backend.hold("connect")
    async with console(backend) as operator:
        await operator.sees("1 Tables", "2 Merge", "3 History", "? help", "ctrl+p all")
        assert "starting" in operator.first_line
        await operator.sees("Spark is starting: finding Java")
        assert not backend.called("list_schemas")
        backend.release("connect")
        await operator.sees("orders_feed")


async def test_history_can_be_browsed_while_spark_starts(backend: FakeBackend) -> None:
    backend.hold("connect")
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("sales.customers", "applied, kept")
        assert operator.app.status.spark == "starting"
        backend.release("connect")


async def test_a_merge_can_be_written_while_spark_starts_and_is_checked_when_it_is_up(
    backend: FakeBackend,
) -> None:
    backend.hold("connect")
    async with console(backend) as operator:
        await operator.write("MERGE INTO sales.orders")
        await operator.sees("The text is saved; Spark checks it as soon as it is up.")
        backend.release("connect")
        await operator.sees("Spark accepts it")


async def test_a_plan_asked_for_too_early_is_made_when_spark_is_up(backend: FakeBackend) -> None:
    backend.hold("connect")
    async with console(backend) as operator:
        await operator.write("MERGE INTO sales.orders")
        await operator.press("ctrl+r")
        await operator.sees("the plan is made as soon as it is up")
        backend.release("connect")
        await operator.sees("updates 1,204")


async def test_when_spark_is_up_the_top_line_says_so(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.sees("local[*]", "warm", "idle")
