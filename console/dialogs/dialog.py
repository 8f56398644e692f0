"""The frame of every dialog: a box in the middle that fits 80x24 and never clips its buttons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Input, Static, TextArea

from console.widgets.one_of import OneOf
from console.work import Asking

Result = TypeVar("Result")
FRAME_ROWS = 8
READABLE_SECONDS: Final = 0.7
"""A key that comes sooner was meant for the screen before."""

HELP_KEY = Binding(
    "f1", "app.help", "help", show=False, id="dialog.help", tooltip="What this dialog is for, and its keys"
)
"""A dialog hides the bindings of the console."""


class Dialog(ModalScreen[Result], Asking):
    """A title, a body that scrolls if it must, and a row of buttons that is always in sight."""

    CSS_PATH = "dialog.tcss"
    must_be_read = False
    """Whether nothing is confirmed before it could be read, nor by a key that was pressed before it came."""
    shown_at: float | None = None
    """When the dialog was drawn, by the console's clock."""
    BINDINGS: ClassVar[list[BindingType]] = [
        HELP_KEY,
        Binding(
            "f9",
            "app.restart_spark",
            "restart Spark",
            show=False,
            id="dialog.restart_spark",
            tooltip="Start Spark again after it was lost; the dialog stays",
        ),
        Binding("escape", "refuse", "Close", show=False, id="dialog.close", tooltip="Close, changing nothing"),
        Binding("pagedown", "page(1)", "page down", show=False, id="dialog.page_down", tooltip="A page down"),
        Binding("pageup", "page(-1)", "page up", show=False, id="dialog.page_up", tooltip="A page up"),
        Binding(
            "right",
            "button(1)",
            "next button",
            show=False,
            id="dialog.button_next",
            tooltip="From a button: the next one",
        ),
        Binding(
            "left",
            "button(-1)",
            "button before",
            show=False,
            id="dialog.button_before",
            tooltip="From a button: the one before",
        ),
    ]

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static(Content(self.title_text()), id="title", markup=False)
            with VerticalScroll(id="content", can_focus=False):
                yield from self.compose_content()
            yield from self.compose_foot()
            with Horizontal(id="buttons"):
                yield from self.compose_buttons()

    def on_screen_resume(self) -> None:
        self.to_be_read()

    def to_be_read(self) -> None:
        """What it says is drawn next, and could not be read yet."""
        self.mark_drawn(None)
        self.call_after_refresh(self._is_drawn)

    def _is_drawn(self) -> None:
        # it may be closed by now
        if self.is_current:
            self.mark_drawn(self.console_app.clock())

    def mark_drawn(self, at: float | None) -> None:
        """It is drawn since then, or not yet."""
        self.shown_at = at
        if self.must_be_read:
            self._draw_waiting()

    def _draw_waiting(self) -> None:
        """Show whether it waits, and again as soon as it does not."""
        waits = not self.was_readable
        self.show_waiting(waits)
        if waits and self.shown_at is not None:
            self.set_timer(max(self.to_be_readable, 0.01), self._draw_waiting)

    def show_waiting(self, waits: bool) -> None:
        """Show that nothing is confirmed yet, or that it is. To be replaced where a button says it."""
        sign = f" {self.console_app.glyphs.ellipsis}" if waits else ""
        self.query_one("#title", Static).update(Content(f"{self.title_text()}{sign}"))

    @property
    def was_readable(self) -> bool:
        """Whether the dialog has been on the screen for long enough."""
        return not self.must_be_read or (self.shown_at is not None and self.to_be_readable <= 0)

    @property
    def to_be_readable(self) -> float:
        """Seconds, of a dialog that is shown."""
        return READABLE_SECONDS - (self.console_app.clock() - (self.shown_at or 0))

    def on_resize(self, event: events.Resize) -> None:
        # the title, the buttons and the frame stay in sight at every size; the body scrolls
        self.query_one("#content").styles.max_height = max(event.size.height - FRAME_ROWS, 1)

    def title_text(self) -> str:
        raise NotImplementedError

    def compose_content(self) -> Iterable[Widget]:
        raise NotImplementedError

    def compose_foot(self) -> Iterable[Widget]:
        """What stays in sight above the buttons. To be overridden."""
        return ()

    def compose_buttons(self) -> Iterable[Widget]:
        raise NotImplementedError

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(OneOf.Changed)
    def _complaint_is_old(self) -> None:
        """What it complained of is typed anew."""
        for complaint in self.query(".complaint").results(Static):
            complaint.update("")

    def action_button(self, step: int) -> None:
        buttons = [one for one in self.query(Button) if one.focusable]
        if self.focused in buttons:
            at = buttons.index(self.focused) + step
            buttons[max(min(at, len(buttons) - 1), 0)].focus()

    def action_refuse(self) -> None:
        self.dismiss(None)

    def action_page(self, pages: int) -> None:
        content = self.query_one("#content")
        content.scroll_relative(y=pages * max(content.size.height - 1, 1), animate=False)
