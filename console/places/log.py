"""Log: what happened in this console, newest last. Errors in full."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import RichLog

from console.places.place import Place
from console.visible import visible

if TYPE_CHECKING:
    from console.app import LogLine

_WORDS = {"information": "info", "warning": "warning", "error": "error"}


class LogPlace(Place):
    PLACE = "log"
    HELP = "Log: what happened in this console since it was opened. The arrow keys scroll."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "copy_log", "copy", id="log.copy", tooltip="Copy the whole log"),
        Binding("end,G", "to_end", "newest", id="log.end", tooltip="Go to the newest line"),
    ]
    DEFAULT_CSS = """
    LogPlace RichLog { background: $background; padding: 0 1; scrollbar-size-vertical: 1; }
    """

    def compose_body(self) -> Iterable[Widget]:
        yield RichLog(id="lines", markup=False, highlight=False, wrap=True, max_lines=5000)

    def on_mount(self) -> None:
        for line in self.console_app.log_lines:
            self._write(line)
        self.console_app.log_signal.subscribe(self, self._write)
        self.log_view.focus()

    @property
    def log_view(self) -> RichLog:
        return self.query_one("#lines", RichLog)

    def _write(self, line: LogLine) -> None:
        word = _WORDS[line.severity]
        text = Text(f"{line.at:%H:%M:%S} ", style="dim")
        text.append(f"{word:8}", style="bold" if line.severity != "information" else "")
        text.append(visible(line.text, lines=True), style="not dim")
        self.log_view.write(text)

    def action_to_end(self) -> None:
        self.log_view.scroll_end(animate=False)

    def action_copy_log(self) -> None:
        lines = (
            f"{line.at:%Y-%m-%d %H:%M:%S} {line.severity} {line.text}" for line in self.console_app.log_lines
        )
        self.copy("\n".join(lines), "the log")
