"""Processes of this machine, named for good by pid and start time. Standard library only."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path


def start_time(pid: int) -> str:
    """When process ``pid`` started, as an opaque text, or "" when there is no such process.

    A pid is reused sooner or later; pid and start time together name one process. Raises OSError where this process
    cannot look, as it may open no more files.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return ""
    except ProcessLookupError:  # it ended while it was read
        return ""
    else:
        # The command name is in brackets and may hold blanks and brackets itself.
        fields = stat.rpartition(")")[2].split()
        # 0: state (Z is dead already), 19: start time in clock ticks since boot.
        return "" if fields[0] in ("Z", "X") else f"{_boot_id()}/{fields[19]}"
    return _start_told_by_ps(pid)  # no /proc (macOS, BSD)


def _start_told_by_ps(pid: int) -> str:
    # Each process compares this text with one that another wrote, maybe in another time zone or language.
    env = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    command = ["ps", "-o", "lstart=", "-p", str(pid)]
    output = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    return " ".join(output.stdout.split())


def _boot_id() -> str:
    with contextlib.suppress(FileNotFoundError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()[:8]
    return ""


def is_running(pid: int, started: str) -> bool:
    """Whether ``pid`` is alive and is the process that started at ``started``; as long as nobody can look, it is."""
    try:
        return pid > 0 and started != "" and start_time(pid) == started
    except OSError:
        return True


def signal_group(pid: int, number: signal.Signals) -> None:
    """Send a signal to the process group that ``pid`` leads; do nothing if it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def wait_gone(pid: int, started: str, seconds: float) -> bool:
    """Wait until that process is gone; False when it is still there after ``seconds``."""
    deadline = time.monotonic() + seconds
    while is_running(pid, started):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
