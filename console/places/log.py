"""Log: what happened in this console, newest last. Errors in full."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from rich.table import Table
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import RichLog

from console.places.place import Place
from console.words.visible import visible

if TYPE_CHECKING:
    from console.status import LogLine

_WORDS = {"information": "info", "warning": "warning", "error": "error"}


class LogPlace(Place):
    PLACE = "log"
    HELP = "Log: what happened in this console since it was opened. The arrow keys scroll."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "copy_log", "copy", id="log.copy", tooltip="Copy the whole log"),
    ]
    DEFAULT_CSS = """
    LogPlace RichLog { background: $background; padding: 0 1; scrollbar-size-vertical: 1; }
    """

    def compose_body(self) -> Iterable[Widget]:
        yield RichLog(id="lines", markup=False, highlight=False, wrap=True, min_width=20, max_lines=5000)

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
        row = Table.grid(padding=(0, 2), expand=True)
        row.add_column(style="dim", no_wrap=True)
        row.add_column(width=8, no_wrap=True)
        row.add_column(ratio=1)
        style = "" if line.severity == "information" else "bold"
        row.add_row(Text(f"{line.at:%H:%M:%S}"), Text(word, style), Text(visible(line.text, lines=True), style))
        self.log_view.write(row, expand=True)

    def action_copy_log(self) -> None:
        lines = (f"{line.at:%Y-%m-%d %H:%M:%S} {line.severity} {line.text}" for line in self.console_app.log_lines)
        self.copy("\n".join(lines), "the log")
