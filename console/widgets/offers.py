"""What the word that is typed could become, as a list at the cursor."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Offset
from textual.widgets import Static

MOST = 8


class Offers(Static):
    """Covers the text below the cursor or above it, takes no focus, and is gone as soon as nothing is offered."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Offers {
        layer: _tooltips; display: none; width: auto; height: auto; constrain: inside none;
        background: $panel; color: $foreground; padding: 0 1;
    }
    """

    def show(self, words: Sequence[str], keys: str, at: Offset, bottom: int) -> None:
        """The words, the one that is taken first. ``at`` is where the cursor is on the screen; ``bottom`` is the row
        that the list leaves free."""
        self.display = True
        first, *others = words[:MOST]
        lines = [Content.styled(first, "bold $text-accent"), *map(Content, others)]
        more = f" of {len(words)}" if len(words) > MOST else ""
        lines.append(Content.styled(keys + more, "$foreground-muted"))
        self.update(Content("\n").join(lines))
        below, above = at.y + 1, at.y - len(lines)
        self.absolute_offset = Offset(at.x, below if below + len(lines) <= bottom else above)
