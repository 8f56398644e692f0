"""A child process that runs the command line and dies, as by ``kill -9``, at a named point or after a while.

Where to die is decided here, by replacing functions of the program in the child: the program knows nothing of it.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

MOMENTS = {"a moment after": 0.05, "a while after": 0.6}
"""Seconds until it dies while something else goes on: the MERGE, of which it hears nothing more."""

# name: (the function beside which to die, when)
PLANNING = {
    "the session is open": ("engine.session.connect:_open", "after"),
    "the statement is analyzed": ("engine.preflight.analysis:analyze_explained", "after"),
    "the source is frozen": ("engine.plan_merge:prepare_source", "after"),
    "the touched files are found": ("engine.plan_merge:find_touched_files", "after"),
    "the plan is made": ("engine.ledger.history:History.record_planned", "before"),
    "the plan is half recorded": ("engine.ledger.history_rows:store_document", "before"),
    "the plan is recorded": ("engine.ledger.history:History.record_planned", "after"),
    "the plan file is half written": ("engine.files:os.fsync", "after"),
    "the plan file is written": ("engine.model.plan_file:write_plan", "after"),
}
APPLYING = {
    "the plan is checked": ("engine.ledger.history:History.begin", "before"),
    "the apply is half begun": ("engine.ledger.history_rows:run", "after"),
    "the apply is begun": ("engine.ledger.history:History.begin", "after"),
    "the MERGE is sent": ("engine.commit.apply_plan:running_sql", "a moment after"),
    "the MERGE runs": ("engine.commit.apply_plan:running_sql", "a while after"),
    "the MERGE has returned": ("engine.commit.apply_plan:Application.committed", "before"),
    "the commit is read": ("engine.ledger.history:History.applied", "before"),
    "the commit is half recorded": ("engine.ledger.history_rows:store_document", "for an outcome"),
    "the commit is recorded": ("engine.ledger.history:History.applied", "after"),
    "the source is dropped": ("engine.commit.apply_plan:free_source", "after"),
    "the session is closing": ("engine.session.channel:release", "before"),
}

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(
    [
        *("console.cli", "console.cli.plan_command", "console.cli.apply_command", "console.cli.view_plan"),
        *("engine.recovery.recover", "engine.plan_merge", "engine.ledger.history", "engine.session.channel", "duckdb"),
    ]
)


def run_and_die(arguments: list[str], point: str) -> int:
    """Run the command line in a child that dies at ``point``; its exit code (-9 when it died)."""
    return _run(_die_at, arguments, point)


def run_and_die_after(arguments: list[str], seconds: float) -> int:
    """The same, dying ``seconds`` after its start, wherever it is then."""
    return _run(_die_after, arguments, seconds)


def _run(target: Callable[..., None], arguments: list[str], when: object) -> int:
    process = _context.Process(target=target, args=(arguments, when))
    process.start()
    process.join()
    return process.exitcode or 0


def _die_at(arguments: list[str], point: str) -> None:
    place, when = {**PLANNING, **APPLYING}[point]
    module_name, _, path = place.partition(":")
    owner: Any = importlib.import_module(module_name)
    *parents, name = path.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    original = getattr(owner, name)

    @wraps(original)
    def dying(*args: Any, **kwargs: Any) -> Any:
        if when == "before" or (when == "for an outcome" and "outcome" in args):
            _die()
        result = original(*args, **kwargs)
        if when == "after":
            _die()
        if when in MOMENTS:
            _die_in(MOMENTS[when])
        return result

    setattr(owner, name, dying)
    _main(arguments)


def _die_after(arguments: list[str], seconds: float) -> None:
    _die_in(seconds)
    _main(arguments)


def _die_in(seconds: float) -> None:
    timer = threading.Timer(seconds, _die)
    timer.daemon = True
    timer.start()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()


def _main(arguments: list[str]) -> None:
    from console.cli import main

    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    if not os.environ.get("DELTAMERGE_TEST_NOISE"):
        os.dup2(null, 2)
    main(arguments)
