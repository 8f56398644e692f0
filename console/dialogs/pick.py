"""Asks for one of several things: type to narrow the list, enter takes the one under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option
from typing_extensions import override

from console.dialogs.dialog import FRAME_ROWS, READABLE_SECONDS, Dialog
from console.fuzzy import best_matches
from console.words.visible import visible

NOTHING_FITS = "Nothing fits."
MOST_ROWS = 12
MARK = "choice "
"""Before a key, which may be empty, in the id of its row."""
ROWS_ABOVE = 5


@dataclass(frozen=True)
class Choice:
    """``key`` is what the dialog gives back. ``detail`` is a few words beside the label."""

    key: str
    label: str
    detail: str = ""


class PickDialog(Dialog[str]):
    """One list. Gives back the key of the choice, or None."""

    AUTO_FOCUS = "Input"
    HELP = "A list. Type to narrow it down, the arrow keys move, enter takes, esc leaves everything as it is."
    # before the body of the dialog, which would scroll if the list is longer than the screen
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,ctrl+n", "move(1)", "down", show=False, id="pick.down", tooltip="Next choice", priority=True),
        Binding("up", "move(-1)", "up", show=False, id="pick.up", tooltip="Choice before", priority=True),
        Binding("pagedown", "move(8)", "page down", show=False, id="pick.page_down", tooltip="A page down",
                priority=True),
        Binding("pageup", "move(-8)", "page up", show=False, id="pick.page_up", tooltip="A page up", priority=True),
    ]  # fmt: skip

    def __init__(
        self,
        title: str,
        sentence: str,
        choices: Iterable[Choice],
        *,
        last: Choice | None = None,
        typed: Callable[[str], Choice | None] = lambda _: None,
        empty: str = NOTHING_FITS,
        awaits: str = "",
    ) -> None:
        """``typed`` makes a choice of what is typed, below those that fit. ``empty`` is said where there is no choice
        at all; ``awaits`` until ``add`` brings more, or ``add(())`` says that there are none.
        """
        super().__init__()
        self._title = title
        self._sentence = sentence
        self._choices = list(choices)
        self._last = [last] if last is not None else []
        self._typed_choice = typed
        self._empty = empty
        self._awaits = awaits
        self._at: str | None = None
        self._shown: Sequence[Choice] = ()
        self._moved = False
        self._came_at: float | None = None
        """When another choice came under the cursor than the one that was there, or none was."""
        self._added_at: float | None = None
        self._before: Sequence[Choice] = ()
        """When choices were added, and what was shown until then."""

    def begin_at(self, now: str) -> None:
        """What is there now: the cursor is on that choice, or the list narrowed down to what fits it."""
        self._at = now

    def title_text(self) -> str:
        return visible(self._title)

    def compose_content(self) -> Iterable[Widget]:
        yield Static(Content(visible(self._sentence)), markup=False)
        yield Input(placeholder="type to narrow down", compact=True, id="narrow")
        options = OptionList(id="choices", compact=True, markup=False)
        options.can_focus = False
        yield options
        yield Static(id="none", markup=False)

    def compose_buttons(self) -> Iterable[Widget]:
        yield Button("Cancel", id="refuse")

    def on_mount(self) -> None:
        self._narrow("")
        self._begin()

    def _begin(self) -> None:
        """As soon as there are choices."""
        narrow, keys = self.query_one("#narrow", Input), [choice.key for choice in self._shown]
        if self._moved or narrow.value or not keys:
            return
        if self._at in keys:
            self.query_one("#choices", OptionList).highlighted = keys.index(self._at)
            self._moved = True
        elif self._at and self._fitting(self._at):
            narrow.value = self._at
            narrow.action_select_all()

    @override
    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        room = event.size.height - FRAME_ROWS - ROWS_ABOVE
        self.query_one("#choices").styles.max_height = max(min(room, MOST_ROWS), 3)

    def add(self, choices: Iterable[Choice]) -> None:
        """Add choices that came later; the dialog may not be drawn yet, or be closed already."""
        self._awaits = ""
        self._choices += choices
        for narrow in self.query("#narrow").results(Input):
            before, self._before, self._added_at = self._chosen, self._shown, self.console_app.clock()
            self._narrow(narrow.value)
            keys = [choice.key for choice in self._shown]
            if self._moved and before is not None and before.key in keys:
                self.query_one("#choices", OptionList).highlighted = keys.index(before.key)
            elif before != self._chosen:
                self._came_at = self.console_app.clock()
            self._begin()

    @property
    def _chosen(self) -> Choice | None:
        """The choice under the cursor."""
        at = self.query_one("#choices", OptionList).highlighted
        return self._shown[at] if at is not None and at < len(self._shown) else None

    @on(Input.Changed, "#narrow")
    def _typed(self, event: Input.Changed) -> None:
        self._moved = False
        self._narrow(event.value)

    def _narrow(self, words: str) -> None:
        options = self.query_one("#choices", OptionList)
        every = [*self._choices, *self._last]
        own = self._typed_choice(words)
        fitting = self._fitting(words)
        # what came again, or is typed though it is listed, is one row
        by_key: dict[str, Choice] = {}
        for choice in (*fitting, *([own] if own else [])):
            by_key.setdefault(choice.key, choice)
        self._shown = list(by_key.values())
        options.clear_options()
        options.add_options(Option(self._line(choice), id=f"{MARK}{choice.key}") for choice in self._shown)
        # Textual keeps the height it found for a list whose last layout is still due, and an empty list has none:
        # a change of style makes it measure again
        options.styles.height = None
        options.styles.height = "auto"
        options.highlighted = 0 if self._shown else None
        empty = NOTHING_FITS if every else self._empty
        self.query_one("#none", Static).update(Content(self._awaits or ("" if self._shown else empty)))

    def _fitting(self, words: str) -> list[Choice]:
        return best_matches(words, [*self._choices, *self._last], lambda choice: f"{choice.label} {choice.detail}")

    @staticmethod
    def _line(choice: Choice) -> Content:
        detail = ("  " + visible(choice.detail), "$foreground-muted") if choice.detail else ""
        return Content.assemble(visible(choice.label), detail)

    def action_move(self, step: int) -> None:
        options = self.query_one("#choices", OptionList)
        self._moved = True
        if self._shown:
            options.highlighted = min(max((options.highlighted or 0) + step, 0), len(self._shown) - 1)

    @on(Input.Submitted, "#narrow")
    def _submitted(self) -> None:
        if (chosen := self._chosen) is not None:
            self._take(chosen.key, self._came_at)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        key, at = (event.option_id or "").removeprefix(MARK), event.option_index
        was_there = key in (choice.key for choice in self._before[at : at + 1])
        self._take(key, None if was_there else self._added_at)

    def _take(self, key: str, came_at: float | None) -> None:
        """Close with a choice; ``came_at``: when it came to where it is. What has just come there was not chosen."""
        has_come = came_at is not None and self.console_app.clock() - came_at < READABLE_SECONDS
        if self.was_readable and not has_come:
            self.dismiss(key)

    @on(Button.Pressed, "#refuse")
    def _refused(self) -> None:
        self.dismiss(None)
