"""What dialogs, widgets and places need of the console. The app has all of it, and knows them: they do not know it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.notifications import SeverityLevel
    from textual.screen import Screen
    from textual.signal import Signal

    from console.backend import Backend
    from console.catalog import Catalog
    from console.drafts import OwnDrafts
    from console.status import Job, LogLine, Status
    from console.words.glyphs import Glyphs


class NamesKeys(Protocol):
    """A screen, or the console, that knows which keys are in use."""

    def with_keys(self, text: str) -> str:
        """A sentence of ours, never anyone else's, with the keys in use in place of ``{merge.plan}``."""


class Shell(NamesKeys, Protocol):
    """The console as those see it who are shown in it."""

    backend: Backend
    home: Path
    catalog: Catalog
    open_sql: str | None
    clock: Callable[[], float]
    """Seconds. A dialog measures by it whether it could be read."""
    plain: bool
    """Whether to keep to ASCII."""
    glyphs: Glyphs
    keymap: Mapping[str, str]
    """The keys that the operator chose, by the id of their binding."""
    status: Status
    spark_starts: int
    """How often Spark has come up, or answered again."""
    status_signal: Signal[Status]
    log_lines: deque[LogLine]
    log_signal: Signal[LogLine]
    drafts: OwnDrafts
    merges: dict[int, str]
    """The open merges by number, and the table each goes into, if it is known."""
    merges_signal: Signal[int]
    tabs: list[tuple[str, str, str]]
    """The name, the key and the label of each place."""

    def spark_again(self) -> str:
        """What brings a Spark back that is lost, with its key."""

    def record(self, text: str, severity: SeverityLevel = "information") -> None:
        """A line for the Log place."""

    def is_asking(self, group: str) -> bool:
        """Whether an answer of ``group`` is awaited."""

    def begin(self, job: Job) -> None:
        """Spark works for us now."""

    def end(self, operation_id: str) -> None:
        """Spark finished that work, or gave up."""

    def writing_in(self, path: str) -> str:
        """What this console does in the table at ``path`` now, as the beginning of a sentence; "" if it writes nothing
        there."""

    def notify_of_work(self, text: str) -> None:
        """A notice that goes as soon as nothing runs."""

    def cancel_jobs(self, operations: list[str]) -> None:
        """Interrupt Spark's work for these operations."""

    def go_to(self, name: str) -> Screen[None]:
        """Switch to a place and give it back."""

    def ledger_changed(self) -> None:
        """Something was committed: every open place loads anew what it shows of it."""

    def tables_changed(self) -> None:
        """A table was made or dropped: every open place loads anew what it shows of tables."""

    def action_new_merge(self) -> None:
        """Open another merge, and go there."""

    async def close_merge(self, number: int) -> None:
        """Forget a merge; the first one always stays."""

    def name_merge(self, number: int, table: str) -> None:
        """Say which table a merge goes into."""


def shell_of(node: DOMNode) -> Shell:
    """The console that a widget or a screen is shown in."""
    return cast("Shell", node.app)
