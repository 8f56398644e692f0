"""Whether Spark answers, asked by one thread at most."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Pulse:
    """Asks one question again and again, never anew before it was answered: a Spark that hangs holds one thread."""

    def __init__(self, question: Callable[[], None]) -> None:
        self._question = question
        self._thread: threading.Thread | None = None
        self._failed = False
        self._lock = threading.Lock()

    def beats(self, seconds: float) -> bool:
        """Whether the question was answered within ``seconds``, without an error."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._failed = False
                self._thread = threading.Thread(target=self._ask, name="spark-pulse", daemon=True)
                self._thread.start()
            thread = self._thread
        thread.join(seconds)
        return not (thread.is_alive() or self._failed)

    def _ask(self) -> None:
        try:
            self._question()
        except Exception:
            self._failed = True
