"""Take tokens out of the process title: what was typed after ``--remote`` is there for every user's ``ps``.

On Linux a process may write over its own arguments in memory, whose addresses are in ``/proc/self/stat``. Elsewhere,
and where that is not allowed, they stay; ``SPARK_CONNECT_AUTHENTICATE_TOKEN`` in the environment shows to nobody.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
from pathlib import Path

_SECRET = re.compile(rb"(?<=token=)[^;\0]+|(?<=password=)[^;\0]+", re.IGNORECASE)
_ARG_START = 45  # field 48 of proc(5), counted from 0 after the name's bracket and the state


def hide_secrets_in_title() -> None:
    """Write stars over the tokens among this process's own arguments."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        arguments = Path("/proc/self/cmdline").read_bytes()
        found = list(_SECRET.finditer(arguments))
        if not found:
            return
        start = int(Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[_ARG_START])
        # only what is there for sure: the same bytes that /proc shows
        if start and ctypes.string_at(start, len(arguments)) == arguments:
            for one in found:
                ctypes.memset(start + one.start(), ord("*"), one.end() - one.start())
