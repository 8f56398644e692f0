"""Tell of a silence: Spark brings nothing new, or the store does not answer, for seconds."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

from console.words.silence import SILENT_SECONDS, silence

if TYPE_CHECKING:
    from console.cli.narrator import Narrator
    from engine.session.session import Session

LOOK_SECONDS = 0.5


class Listening:
    """While its body runs, the narrator hears of each silence. ``heard()`` ends one."""

    def __init__(self, session: Session, narrator: Narrator) -> None:
        self._session = session
        self._narrator = narrator
        self._heard = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="listening", daemon=True)

    @property
    def quiet_seconds(self) -> float:
        """For how long Spark has told nothing."""
        return time.monotonic() - self._heard

    def heard(self) -> None:
        """Spark has come a step further."""
        self._heard = time.monotonic()

    def _listen(self) -> None:
        while not self._ended.wait(LOOK_SECONDS):
            store = self._session.store_silence()
            quiet = int(self.quiet_seconds)
            if store is not None and store.seconds < SILENT_SECONDS:
                store = None
            if sentence := silence(quiet, store):
                host, seconds = ("", quiet) if store is None else (store.host, store.seconds)
                self._narrator.silent(host, seconds, sentence)

    def __enter__(self) -> Listening:
        self._heard = time.monotonic()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
