"""Progress of an operation, from the thread that works to the screen that shows it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.dom import DOMNode
from textual.message import Message

if TYPE_CHECKING:
    from engine.model.progress import Progress

AT_MOST_EVERY_SECONDS = 0.05


class Advanced(Message, bubble=False):
    """Spark has come a step further with one operation."""

    def __init__(self, operation_id: str, progress: Progress) -> None:
        super().__init__()
        self.operation_id = operation_id
        self.progress = progress


def reporter(receiver: DOMNode, operation_id: str) -> Callable[[Progress], None]:
    """What the backend calls with each step; the receiver gets no more of them than a screen can show."""
    last_phase, last_time = "", 0.0

    def report(progress: Progress) -> None:
        nonlocal last_phase, last_time
        now = time.monotonic()
        if progress.is_answer or progress.phase != last_phase or now - last_time >= AT_MOST_EVERY_SECONDS:
            last_phase, last_time = progress.phase, now
            receiver.post_message(Advanced(operation_id, progress))

    return report
