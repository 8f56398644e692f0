"""What is said of long work of which nothing is heard."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.session.store_watch import Silence

SILENT_SECONDS = 5
"""Less is no silence."""


def silence(seconds: float, store: Silence | None = None, *, with_host: bool = True) -> str:
    """Spark has brought nothing new for ``seconds``, and ``store`` does not answer; "" if neither lasts.

    That the store does not answer is known by asking it. It may not be what Spark waits for.
    """
    if store is not None and store.seconds >= SILENT_SECONDS:
        where = f" at {store.host}" if with_host else ""
        return f"the store{where} has not answered for {store.seconds} s"
    # a job that waits for a core, or a task that takes long, looks like this too
    return f"nothing new for {int(seconds)} s" if seconds >= SILENT_SECONDS else ""
