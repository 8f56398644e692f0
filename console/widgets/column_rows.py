"""An expression beside each of many columns: only those in sight are widgets, so that a wide table opens at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Label, Static

from console.widgets.field import Field
from console.widgets.part_box import ProposalBox
from console.words.visible import visible

SHOWN = 8
"""Columns in sight: with them the dialog fits into 24 lines."""


class ColumnRows(Vertical):
    """``columns``: each with the expression that is typed beside it; ``proposal``: what may be taken for the one at
    a position, or ""."""

    DEFAULT_CSS = """
    ColumnRows { height: auto; }
    ColumnRows #rows-shown { color: $foreground-muted; padding: 0 1; }
    """
    HELP = (
        "The columns, each with the expression it is set to. The arrow keys and tab go from one to the next, page up "
        "and page down to those out of sight; space in an empty one takes what is proposed."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,tab", "move(1)", "next column", show=False, id="columns.next", tooltip="The next column"),
        Binding("up,shift+tab", "move(-1)", "column before", show=False, id="columns.before",
                tooltip="The column before"),
        Binding("pagedown", "page(1)", "more columns", show=False, id="columns.page_down",
                tooltip="The columns after those in sight"),
        Binding("pageup", "page(-1)", "columns before", show=False, id="columns.page_up",
                tooltip="The columns before those in sight"),
    ]  # fmt: skip

    def __init__(self, columns: Sequence[tuple[str, str]], proposal: Callable[[int], str]) -> None:
        super().__init__()
        self._names = [name for name, _ in columns]
        self._texts = [text for _, text in columns]
        self._proposal = proposal
        self._top = 0
        self._boxes = [ProposalBox() for _ in self._names[:SHOWN]]
        self._labels: list[Label] = []

    def compose(self) -> ComposeResult:
        yield from (Field("", box) for box in self._boxes)
        yield Static(id="rows-shown", markup=False)

    def on_mount(self) -> None:
        self._labels = list(self.query(Label))
        self.query_one("#rows-shown").display = len(self._names) > SHOWN
        self._draw()

    @property
    def assignments(self) -> list[tuple[str, str]]:
        """The columns that an expression stands beside, in their order."""
        self._keep()
        return [(name, text.strip()) for name, text in zip(self._names, self._texts, strict=True) if text.strip()]

    def draw(self) -> None:
        """Show the columns in sight, with what is proposed for them now."""
        if self._labels:  # else mounting does it
            self._keep()
            self._draw()

    def _draw(self) -> None:
        for at, (label, box) in enumerate(zip(self._labels, self._boxes, strict=True), start=self._top):
            label.update(Content(visible(self._names[at])))
            box.show(self._texts[at])
            box.propose(self._proposal(at))
        position = f"{self._top + 1} to {self._top + len(self._boxes)} of {len(self._names)} columns"
        self.query_one("#rows-shown", Static).update(position)

    def action_move(self, step: int) -> None:
        focused = self.screen.focused
        at = self._boxes.index(focused) if isinstance(focused, ProposalBox) and focused in self._boxes else 0
        if 0 <= at + step < len(self._boxes):
            self._boxes[at + step].focus()
        elif 0 <= self._top + at + step < len(self._names):
            self._show_from(self._top + step)
        elif step > 0:
            self.screen.focus_next()
        else:
            self.screen.focus_previous()

    def action_page(self, step: int) -> None:
        self._show_from(self._top + step * SHOWN)

    def _show_from(self, top: int) -> None:
        self._keep()
        self._top = max(min(top, len(self._names) - len(self._boxes)), 0)
        self._draw()

    def _keep(self) -> None:
        for at, box in enumerate(self._boxes):
            self._texts[self._top + at] = box.text
