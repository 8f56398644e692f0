"""A shutdown, or a terminal that is closed: the console ends as by its own key."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable


def when_told_to_end(end: Callable[[int], object]) -> None:
    """Call ``end`` with the exit code on SIGTERM and SIGHUP; what nohup or a parent ignores stays ignored."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(number, end, 128 + number)
