"""What every place has: the tab line above, the keys below, and a way to ask the backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, TextArea

from console.widgets.lines import KeyLine, Rule, TopLine
from console.work import Asking, Failure

if TYPE_CHECKING:
    from console.backend import Backend
    from console.widgets.page_view import PageView

T = TypeVar("T")


class Place(Screen[None], Asking):
    """One place of the console. Its state stays while another place is shown."""

    PLACE: ClassVar[str]
    HELP: ClassVar[str | None]
    AUTO_FOCUS: ClassVar[str | None] = ""

    @property
    def backend(self) -> Backend:
        return self.console_app.backend

    def with_keys(self, text: str) -> str:
        """A sentence of ours, never anyone else's, with the keys in use here in place of ``{merge.plan}``."""
        return self.console_app.with_keys(text)

    def compose(self) -> ComposeResult:
        yield TopLine(self.console_app.tabs, self.PLACE)
        yield Rule()
        with Vertical(id="body"):
            yield from self.compose_body()
        yield KeyLine()

    def compose_body(self) -> Iterable[Widget]:
        raise NotImplementedError

    def come_from(self, before: Place) -> None:
        """Where nothing was typed nothing is: the same key works again, and is not typed into a text here."""
        if not isinstance(before.focused, Input | TextArea):
            # after what asks for the focus as soon as it is mounted
            self.call_later(self.app.call_later, self._leave_text)

    def _leave_text(self) -> None:
        if isinstance(self.focused, Input | TextArea):
            self.set_focus(None)

    def here(self) -> object:
        """What the user is at: what was to go on from here is dropped if this is another by then."""
        return self.is_current

    def ask_here(
        self,
        group: str,
        call: Callable[[], T],
        done: Callable[[T], None],
        failed: Callable[[Failure], None],
        *,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """Ask for what the user is to go on with: it opens a dialog, or puts other text or another place here."""
        self.ask(group, call, self.unless_covered(done), failed, of=self.here, ended=ended)

    def unless_covered(self, go_on: Callable[[T], None]) -> Callable[[T], None]:
        """Go on with an answer, but not above or below a dialog that is open by then: its keys are not meant for it."""

        def answered(answer: T) -> None:
            if self.app.screen is self:
                go_on(answer)
            else:
                self.notify("The answer came while a dialog was open: ask for it again.")

        return answered

    def spark_is_starting(self) -> None:
        """The first frame is drawn and Spark was asked for. To be overridden."""

    def spark_is_warm(self) -> None:
        """Called whenever Spark has come up: the place may load what it left out."""

    def spark_is_lost(self) -> None:
        """Called when Spark does not answer any more, or did not come up. To be overridden."""

    def ledger_changed(self) -> None:
        """Called whenever something was committed, here or elsewhere: what the place shows may be old."""

    def show_operation(self, op_id: str) -> None:
        """Put the cursor on an operation of the ledger. The history does."""

    def tables_changed(self) -> None:
        """Called whenever a table was made."""

    def open_row(self, event: PageView.RowOpened, title: str) -> None:
        """Show a row of a page, with all that was read of its cells, to be read and copied cell by cell."""
        from console.dialogs.row import RowDialog, row_lines
        from console.widgets.page import Full

        if not event.is_old and (table := event.view.page.table) is not None and event.row < len(table.rows):
            full = table.full(event.row) if table.full else Full(title, row_lines(table, table.rows[event.row]))
            heading = f"{full.title}: {table.cut}" if table.cut else full.title
            self.app.push_screen(RowDialog(heading, full.lines, texts=full.texts))

    async def action_press(self, action: str) -> None:
        """Run the action of the key line's entry that was clicked, where its binding is."""
        for active in self.active_bindings.values():
            if active.binding.action == action:
                await self.app.run_action(action, default_namespace=active.node)
                return

    def copy(self, text: str, what: str) -> None:
        """Copy to the terminal's clipboard (OSC 52), and say so. Nothing would wipe what was copied before."""
        if not text:
            self.notify("There is nothing to copy.")
            return
        self.app.copy_to_clipboard(text)
        self.notify(f"Copied {what}.")
