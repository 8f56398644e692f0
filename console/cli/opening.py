"""Open the console itself. It draws before Spark is looked for."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import NoReturn

import click

from console.cli.invocation import Invocation
from console.cli.streams import on_terminal

CLOSE_SECONDS = 2.0


def need_terminal(instead: str) -> None:
    """A console needs someone at a terminal; ``instead`` says what to do without one."""
    if not on_terminal():
        raise click.UsageError(f"The console needs a terminal; {instead}")


def open_console(invocation: Invocation, open_sql: str | None = None) -> None:
    """The console, on Spark as asked for, with ``open_sql`` as the merge in the making."""
    need_terminal("name a command to use it without one.")
    home = invocation.home
    from console.app import DeltaMergeApp
    from console.spark_backend import SparkBackend

    backend = SparkBackend(
        invocation.target,
        home,
        invocation.confs,
        private=invocation.private,
        policy=invocation.policy,
        checks=invocation.checks,
        store=invocation.store,
        server_home=invocation.server_home,
        fault=invocation.fault,
    )
    app = DeltaMergeApp(
        backend, home=home, open_sql=open_sql, profile=invocation.profile, production=invocation.production
    )
    app.run()
    # a Spark that does not answer must not keep the terminal: what is not given back now times out there
    closing = threading.Thread(target=backend.close, name="close", daemon=True)
    closing.start()
    closing.join(CLOSE_SECONDS)
    leave(app.return_code or 0)


def leave(code: int) -> NoReturn:
    """End the process at once: threads that still wait for Spark would hold it, and what an interpreter tears down
    under them complains on the terminal (DuckDB's bindings do). What must be kept was written when it happened."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
