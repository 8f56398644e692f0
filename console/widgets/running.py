"""One line about work that runs: its phase, its tasks, how long it takes, how to stop it."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, cast

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, TextArea

from console.widgets.lines import OneLine
from console.words.format import duration, elide_end, number, size
from console.words.silence import silence
from console.words.visible import visible

if TYPE_CHECKING:
    from console.shell import NamesKeys
    from engine.model.progress import Progress

BAR_WIDTH = 24
MINIMUM_BAR_WIDTH = 8
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
        self._projected: int | None = None
        self._started = 0.0
        self._heard = 0.0
        self._progress: Progress | None = None
        self._cancelling = False
        self._timer: Timer | None = None

    def start(self, what: str, projected: int | None = None) -> None:
        """Work begins: ``planning`` or ``committing``; ``projected`` are the milliseconds that it may take."""
        self._what = what
        self._projected = projected
        self._started = self._heard = monotonic()
        self._progress = None
        self._cancelling = False
        self.add_class("-on")
        if self._timer is None:
            self._timer = self.set_interval(TICK_SECONDS, self.refresh)
        self._timer.resume()
        self.refresh()

    def advance(self, progress: Progress) -> None:
        if progress != self._progress:
            self._heard = monotonic()
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

    def render(self) -> Content:
        width = self.content_size.width
        # how to stop it and how long it takes stay in sight: the bar shrinks, then what was read gives way
        for with_bytes in (True, False):
            room = width - self._line(bar_width=0, with_bytes=with_bytes).cell_length - 1
            if room >= MINIMUM_BAR_WIDTH:
                return self._line(bar_width=min(room, BAR_WIDTH), with_bytes=with_bytes)
        line = self._line(bar_width=0, with_bytes=False)
        too_long = line.cell_length - width
        return self._line(bar_width=0, with_bytes=False, cut=too_long) if too_long > 0 else line

    def _line(self, *, bar_width: int, with_bytes: bool, cut: int = 0) -> Content:
        """``cut`` is how much of the phase's name is left out."""
        progress = self._progress
        parts: list[str] = []
        bar = Content("")
        if progress is not None:
            phase = visible(progress.phase)
            parts.append(elide_end(phase, max(len(phase) - cut, 0), self.console_app.glyphs.ellipsis))
            if progress.total:
                bar = self._bar(progress.done, progress.total, bar_width)
                parts.append(f"{number(progress.done)} of {number(progress.total)} {progress.counts}")
            if progress.bytes_read and with_bytes:
                parts.append(f"{size(progress.bytes_read)} read")
        parts.append(self._time())
        store = self.console_app.backend.store_silence()
        if silent := silence(monotonic() - self._heard, store, with_host=False):
            parts.append(silent)
        # in a text, x is a letter
        typing = isinstance(self.screen.focused, Input | TextArea)
        stop = "{editor.leave}, then {merge.cancel} cancels" if typing else "{merge.cancel} cancels"
        parts.append("cancelling…" if self._cancelling else cast("NamesKeys", self.screen).with_keys(stop))
        dot = f" {self.console_app.glyphs.dot} "
        return Content.assemble((f"{self._what} ", "bold $text-primary"), bar, dot.join(parts))

    def _time(self) -> str:
        """How long it takes so far, and of about how long."""
        elapsed = int((monotonic() - self._started) * 1000) // 100 * 100
        if self._projected is None:
            return duration(elapsed)
        estimated = f"{self.console_app.glyphs.estimated} {duration(self._projected)}"
        return f"{duration(elapsed)} of {estimated}"

    def _bar(self, done: int, total: int, width: int) -> Content:
        if not width:
            return Content("")
        glyphs = self.console_app.glyphs
        filled = min(width * done // total, width)
        return Content.assemble(
            (glyphs.bar * filled, "$text-primary"),
            (glyphs.bar_rest * (width - filled), "$foreground-muted"),
            " ",
        )
