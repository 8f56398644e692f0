"""How fast the console answers: ``python -m tests.benchmarks.console_speed``.

The program on the fake backend, in a terminal of its own (a pty). A key is written and the time runs until the frame
that holds what it brings: a row scrolled to in a list of 100,000, and another view of a plan, both while a merge
commits and tells of its tasks a hundred times a second. Then that list is opened, and the longest time that the
screen stood still from the first frame until the tables are listed; ``--spark HOME`` measures that one on real Spark.
Goals: a key 50 ms at the 99th percentile, the list 200 ms, standing still 250 ms. It reports and never fails.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pexpect

if TYPE_CHECKING:
    from engine.model.browse import DataFile

FILES = 100_000
REPOSITORY = Path(__file__).parents[2]
REPORTS_SECONDS = 0.01
STILL = "longest time standing still until ready"
BEAT_SECONDS = 0.005
MERGE_SQL = "MERGE INTO sales.orders AS t USING orders_feed AS s ON t.order_id = s.order_id WHEN MATCHED THEN DELETE"


# The program that is measured


def child(home: Path, spark: bool, gaps: Path) -> None:
    """The console, noting the longest time that its loop stood still until it was ready."""
    from console.app import DeltaMergeApp
    from console.widgets.page_view import PageView

    backend: Any
    if spark:
        from console.spark_backend import SparkBackend

        backend = SparkBackend("local[*]", home)
    else:
        backend = _fake(home)

    class Measured(DeltaMergeApp):
        CSS_PATH = [REPOSITORY / "console" / sheet for sheet in DeltaMergeApp.CSS_PATH]  # noqa: RUF012

        def on_mount(self) -> None:  # Textual calls that of the console too
            self._beat = asyncio.create_task(self._watch())

        async def _watch(self) -> None:
            longest, last = 0.0, time.perf_counter()
            while not self._is_ready():
                await asyncio.sleep(BEAT_SECONDS)
                now = time.perf_counter()
                longest, last = max(longest, now - last), now
            part = gaps.with_suffix(".part")
            part.write_text(json.dumps(longest * 1000))
            part.rename(gaps)

        def _is_ready(self) -> bool:
            head = self.screen.query_one("#page", PageView).page.head
            return bool(head) and head[0].body.plain.startswith("Open a table")

    Measured(backend, home=home, open_sql=None if spark else MERGE_SQL, initial="tables").run()


def _fake(home: Path) -> Any:
    from engine.model.progress import Progress
    from tests.console import samples
    from tests.console.fake_backend import FakeBackend

    files: list[DataFile] = []

    class Busy(FakeBackend):
        def table_files(self, name: str, limit: int = 10_000, version: int | None = None) -> list[DataFile]:
            return files or super().table_files(name, limit, version)

        def apply(self, plan: Any, *, accept: Any, operation_id: str, on_progress: Any) -> Any:  # noqa: ARG002
            step = 0
            while operation_id not in self._cancelled:
                step += 1
                on_progress(Progress(phase="merging", done=step % 200, total=200, bytes_read=step * 1_000_000))
                time.sleep(REPORTS_SECONDS)
            raise KeyboardInterrupt

    files += samples.some_files(FILES)
    return Busy(home)


# The one who measures


class Terminal:
    """The program, and how long a key takes until a text is on the screen."""

    def __init__(self, folder: str, spark: Path | None) -> None:
        self.gaps = Path(folder, "gaps.json")
        arguments = ["-m", __spec__.name, "--child", str(self.gaps)]
        arguments += ["--spark", str(spark)] if spark is not None else ["--home", folder]
        environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self._child = pexpect.spawn(
            sys.executable,
            arguments,
            dimensions=(36, 120),
            timeout=120,
            cwd=REPOSITORY,
            env=environment,
            maxread=200_000,
        )
        self._child.delaybeforesend = None

    def key(self, keys: str, text: str) -> float:
        """Milliseconds."""
        began = time.perf_counter()
        self._child.send(keys)
        self._child.expect_exact(text.encode())
        return (time.perf_counter() - began) * 1000

    def longest_gap(self) -> float:
        deadline = time.monotonic() + 120
        while not self.gaps.exists() and time.monotonic() < deadline:
            self._read()
        return float(json.loads(self.gaps.read_text()))

    def settle(self, seconds: float = 1.0) -> None:
        """Read what comes by itself, so that it is not taken for an answer."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._read()

    def _read(self) -> None:
        with contextlib.suppress(pexpect.TIMEOUT):
            self._child.read_nonblocking(200_000, timeout=0.05)

    def cpu(self) -> float:
        """Milliseconds of a processor that the program took so far."""
        times = Path(f"/proc/{self._child.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, times)) * 1000 / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self._child.close(force=True)


@dataclass
class Timed:
    """Milliseconds of each time, and what it cost the processor each, as far as that was measured."""

    milliseconds: list[float]
    cpu: float | None = None


def measure(terminal: Terminal, keys: int) -> dict[str, Timed]:
    found = {STILL: Timed([terminal.longest_gap()])}
    # to sales.orders, and its files
    terminal.key("\x1b[B" * 4 + "\r", "decimal(12,2)")
    terminal.settle()
    found[f"list of {FILES:,} files, the first time"] = Timed([terminal.key("]]]]]", "part-00000")])
    terminal.settle()
    again = []
    for _ in range(10):
        terminal.key("[", "OPTIMIZE")
        terminal.settle(0.3)
        again.append(terminal.key("]", "part-00000"))
        terminal.settle(0.3)
    found[f"list of {FILES:,} files, again"] = Timed(again)
    # a merge that commits
    terminal.key("2", "Spark accepts it")
    terminal.key("\x12", "data skipping")
    terminal.settle()
    terminal.key("c", "Commit plan")
    terminal.settle(0.3)
    terminal.key("\x19", "committing")
    terminal.key("v", "data skipping")
    terminal.settle()
    began, views = terminal.cpu(), []
    for _ in range(keys // 4):
        views.append(terminal.key("]", "a changed cell"))
        views.append(terminal.key("[", "data skipping"))
    found["another view of the plan, while a merge commits"] = Timed(views, (terminal.cpu() - began) / len(views))
    terminal.key("1", "part-00000")
    terminal.settle()
    # from the last row on screen on, each key scrolls one into sight
    terminal.key("\x1b[B" * 60, "part-00060")
    terminal.settle(2)
    began, rows = terminal.cpu(), []
    for number in range(61, 61 + keys):
        rows.append(terminal.key("\x1b[B", f"part-{number:05}"))
    found[f"a row further in {FILES:,}, while a merge commits"] = Timed(rows, (terminal.cpu() - began) / keys)
    return found


def told(name: str, timed: Timed) -> str:
    values = timed.milliseconds
    if len(values) == 1:
        return f"{name}: {values[0]:.0f} ms"
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    cpu = "" if timed.cpu is None else f", {timed.cpu:.0f} ms of a processor each"
    return (
        f"{name}: median {cuts[49]:.0f} ms, 95th {cuts[94]:.0f} ms, 99th {cuts[98]:.0f} ms, most {max(values):.0f} ms"
        f" ({len(values)} times{cpu})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--spark", type=Path, help="a home with a warm server: only how long the screen stands still")
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is not None:
        child(options.spark or options.home, options.spark is not None, options.child)
        return
    with tempfile.TemporaryDirectory(prefix="console-speed-") as folder:
        terminal = Terminal(folder, options.spark)
        try:
            if options.spark is not None:
                print(told(f"{STILL}, on Spark", Timed([terminal.longest_gap()])))
                return
            for name, timed in measure(terminal, options.keys).items():
                print(told(name, timed))
        finally:
            terminal.close()


if __name__ == "__main__":
    main()
