"""How long until the first frame, against the smallest Textual app: ``python -m tests.benchmarks.first_frame``.

Both programs run in a terminal of their own (a pty), by turns, so that a busy machine slows both alike. The
time runs from the start of the process to the first frame that holds its text. Goal: at most twice the
smallest app. It reports and never fails: times differ between machines, imports are held by a test instead.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import pexpect

GOAL = 2.0
PATIENCE_SECONDS = 30
REPOSITORY = Path(__file__).parents[2]
SMALLEST = """
from textual.app import App
from textual.widgets import Static

class Smallest(App):
    def compose(self):
        yield Static("hello")

Smallest().run()
"""


def first_frame(arguments: list[str], text: bytes) -> float:
    """Milliseconds from the start of ``python arguments`` to the first frame with ``text``."""
    environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    # a program that is started for real has its bytecode
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started = time.perf_counter()
    child = pexpect.spawn(
        sys.executable, arguments, dimensions=(24, 80), timeout=PATIENCE_SECONDS, cwd=REPOSITORY, env=environment
    )
    try:
        child.expect_exact(text)
        return (time.perf_counter() - started) * 1000
    finally:
        child.close(force=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    smallest: list[float] = []
    console: list[float] = []
    with tempfile.TemporaryDirectory(prefix="first-frame-") as folder:
        program = Path(folder, "smallest.py")
        program.write_text(SMALLEST)
        home = Path(folder, "home")
        home.mkdir()
        # the first round fills the caches of bytecode and of the disk, and is not counted
        for number in range(options.rounds + 1):
            pair = (
                first_frame([str(program)], b"hello"),
                first_frame(["-m", "tests.console.run_fake", "--home", str(home)], b"Tables"),
            )
            if number:
                smallest.append(pair[0])
                console.append(pair[1])

    result = {
        "smallest_ms": round(statistics.median(smallest)),
        "console_ms": round(statistics.median(console)),
        "ratio": round(statistics.median(console) / statistics.median(smallest), 2),
        "ratio_of_the_fastest": round(min(console) / min(smallest), 2),
        "goal": GOAL,
        "rounds": options.rounds,
    }
    if options.json:
        print(json.dumps(result))
        return
    print(f"smallest Textual app  {result['smallest_ms']:>6} ms  (median of {options.rounds})")
    print(f"deltamerge-console    {result['console_ms']:>6} ms")
    print(
        f"ratio                 {result['ratio']:>6}    "
        f"(goal: at most {GOAL}; fastest: {result['ratio_of_the_fastest']})"
    )


if __name__ == "__main__":
    main()
