"""A dialog before something is written: its confirm key works only after the dialog could be read."""

from __future__ import annotations

from typing import ClassVar, Final, TypeVar

from textual.content import Content
from textual.widgets import Button

from console.dialogs.dialog import Dialog

READABLE_SECONDS: Final = 0.7
"""A key that comes sooner was meant for the screen before."""
Result = TypeVar("Result")


class WritingDialog(Dialog[Result]):
    """The button ``#confirm`` shows its label as soon as it works."""

    refuses_earlier_keys: ClassVar = True
    shown_at: float | None = None
    """When the dialog was drawn, by the console's clock."""

    def confirm_label(self) -> str:
        raise NotImplementedError

    def may_confirm(self) -> bool:
        """Whether all that is asked for is given. To be overridden."""
        return True

    def on_screen_resume(self) -> None:
        self.shown_at = None
        self._draw_button()
        self.call_after_refresh(self._is_drawn)

    @property
    def was_readable(self) -> bool:
        """Whether the dialog has been on the screen for long enough."""
        return self.shown_at is not None and self._waits <= 0

    @property
    def _waits(self) -> float:
        """Seconds."""
        return READABLE_SECONDS - (self.console_app.clock() - (self.shown_at or 0))

    def _is_drawn(self) -> None:
        if not self.is_current:
            return  # it was closed before
        self.shown_at = self.console_app.clock()
        self._draw_button()

    def _draw_button(self) -> None:
        button = self.query_one("#confirm", Button)
        label = self.confirm_label()
        ready = self.was_readable
        button.label = Content(label if ready else self.console_app.glyphs.ellipsis.center(len(label)))
        button.disabled = not (ready and self.may_confirm())
        if not ready and self.shown_at is not None:
            self.set_timer(max(self._waits, 0.01), self._draw_button)
