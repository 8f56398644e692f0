"""How long from the command to the tables on the screen, on a warm server: ``python -m tests.benchmarks.launch``.

The real program in a pty, on a home with a small demo and its server running; the time runs from the start of the
process to the frame that names a table of the demo, which the list of the last time does, and to the one that comes
when Spark has answered. Goal: 1.5 s. Its memory is read at the end. It reports and never fails.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pexpect

GOAL_SECONDS = 1.5
REPOSITORY = Path(__file__).parents[2]
CONSOLE = [sys.executable, "-c", "from console.cli import main; main()"]


def launch(home: Path) -> tuple[float, float, float]:
    """(seconds until a table is on the screen, until Spark has listed, megabytes of the process a little later)."""
    environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began = time.perf_counter()
    child = pexpect.spawn(
        CONSOLE[0],
        [*CONSOLE[1:], "--home", str(home)],
        dimensions=(36, 120),
        timeout=60,
        cwd=REPOSITORY,
        env=environment,
    )
    try:
        child.expect_exact(b"customers")
        listed = time.perf_counter() - began
        child.expect_exact(b"Open a table with enter")
        answered = time.perf_counter() - began
        time.sleep(2)
        status = Path(f"/proc/{child.pid}/status").read_text()
        resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return listed, answered, int(resident.split()[1]) / 1024
    finally:
        child.sendcontrol("q")
        child.expect(pexpect.EOF)
        child.close(force=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="deltamerge-benchmark-"))
    run = [*CONSOLE, "--home", str(home)]
    subprocess.run(
        [*run, "demo", "--headless", "--scale", "0.01"], cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL
    )
    try:
        # the first round warms the server's catalog, and is not counted
        rounds = [launch(home) for _ in range(options.rounds + 1)][1:]
    finally:
        subprocess.run([*run, "server", "stop"], cwd=REPOSITORY, check=False)
    listed, answered, megabytes = zip(*rounds, strict=True)
    print(f"launch to listed tables   {statistics.median(listed):.2f} s (goal {GOAL_SECONDS})")
    print(f"launch to Spark's answer  {statistics.median(answered):.2f} s")
    print(f"resident memory           {max(megabytes):.0f} MB")


if __name__ == "__main__":
    main()
