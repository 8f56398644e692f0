"""One line about work that runs: its phase, its tasks, how long it takes, how to stop it."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from textual.content import Content
from textual.timer import Timer

from console.format import duration, number, size
from console.visible import visible
from console.widgets.lines import OneLine

if TYPE_CHECKING:
    from engine.values import Progress

BAR_WIDTH = 24
TICK_SECONDS = 0.2


class Running(OneLine):
    """Hidden while nothing runs."""

    DEFAULT_CSS = """
    Running { display: none; padding: 0 1; background: $panel; }
    Running.-on { display: block; }
    """

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._what = ""
        self._started = 0.0
        self._progress: Progress | None = None
        self._cancelling = False
        self._timer: Timer | None = None

    def start(self, what: str) -> None:
        """Work begins: ``planning`` or ``committing``."""
        self._what = what
        self._started = monotonic()
        self._progress = None
        self._cancelling = False
        self.add_class("-on")
        if self._timer is None:
            self._timer = self.set_interval(TICK_SECONDS, self.refresh)
        self._timer.resume()
        self.refresh()

    def advance(self, progress: Progress) -> None:
        self._progress = progress
        self.refresh()

    def cancelling(self) -> None:
        """Cancel was asked for; Spark has not answered yet."""
        self._cancelling = True
        self.refresh()

    def stop(self) -> None:
        self.remove_class("-on")
        if self._timer is not None:
            self._timer.pause()

    @property
    def is_on(self) -> bool:
        return self.has_class("-on")

    def render(self) -> Content:
        glyphs = self.console_app.glyphs
        dot = f" {glyphs.dot} "
        parts: list[str] = []
        bar = Content("")
        progress = self._progress
        if progress is not None:
            parts.append(visible(progress.phase))
            if progress.total:
                filled = min(BAR_WIDTH * progress.done // progress.total, BAR_WIDTH)
                bar = Content.assemble(
                    (glyphs.bar * filled, "$text-primary"),
                    (glyphs.bar_rest * (BAR_WIDTH - filled), "$foreground-muted"),
                    " ",
                )
                parts.append(f"{number(progress.done)} of {number(progress.total)} tasks")
            if progress.bytes_read:
                parts.append(f"{size(progress.bytes_read)} read")
        parts.append(duration(int((monotonic() - self._started) * 1000) // 100 * 100))
        parts.append("cancelling…" if self._cancelling else "x cancels")
        return Content.assemble((f"{self._what} ", "bold $text-primary"), bar, dot.join(parts))
