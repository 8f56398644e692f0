"""Whether Spark answers, asked by one thread at most."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable


class Pulse:
    """Asks one question again and again, never anew before it was answered: a Spark that hangs holds one thread."""

    def __init__(self, question: Callable[[], None]) -> None:
        self._question = question
        self._thread: threading.Thread | None = None
        self._answered = threading.Event()
        self._lock = threading.Lock()

    def beats(self, seconds: float) -> bool:
        """Whether the question was answered within ``seconds``, without an error."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._answered = threading.Event()
                self._thread = threading.Thread(
                    target=self._ask, args=(self._answered,), name="spark-pulse", daemon=True
                )
                self._thread.start()
            thread, answered = self._thread, self._answered
        thread.join(seconds)
        return answered.is_set()

    def _ask(self, answered: threading.Event) -> None:
        with contextlib.suppress(Exception):
            self._question()
            answered.set()
