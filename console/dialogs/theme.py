"""Choose the colours: each theme is shown as soon as the cursor is on it."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.widgets import OptionList

from console.dialogs.pick import Choice, PickDialog


class ThemeDialog(PickDialog):
    """Gives back the theme that was taken, or None; whoever asked puts the one before back then."""

    HELP = "The themes. The console shows the one under the cursor; enter takes it, esc goes back to the one before."

    def __init__(self, names: Iterable[str], now: str) -> None:
        others = [Choice(name, name) for name in sorted(names) if name != now]
        sentence = "The console shows the theme under the cursor. Enter takes it, esc goes back to the one before."
        super().__init__("Theme", sentence, [Choice(now, now, "now"), *others])

    @on(OptionList.OptionHighlighted)
    def _preview(self, event: OptionList.OptionHighlighted) -> None:
        # one that comes when the dialog is left would undo what was chosen
        if self.is_current and event.option_index < len(self._shown):
            self.app.theme = self._shown[event.option_index].key
