"""One input for each ``:name`` marker of the statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual import on
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.widgets import Input, Label

from console.words.visible import visible


class Parameters(VerticalScroll):
    """The values of the markers. Hidden if the statement has none."""

    DEFAULT_CSS = """
    Parameters { height: auto; max-height: 6; display: none; }
    Parameters.-some { display: block; }
    Parameters Horizontal { height: 1; }
    Parameters Label {
        width: 20; padding: 0 1; color: $foreground-muted; text-wrap: nowrap; text-overflow: ellipsis;
    }
    Parameters Input { width: 1fr; height: 1; border: none; padding: 0 1; background: $surface; }
    Parameters Input:focus { border: none; background: $panel; }
    """

    HELP = "The values of the :parameters. Enter goes to the next one without a value, and plans once each has one."

    class Changed(Message):
        """A value was typed."""

    class Completed(Message):
        """Enter was pressed, and each marker has a value."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, can_focus=False)
        self._names: tuple[str, ...] = ()
        self._values: dict[str, str] = {}

    @property
    def values(self) -> dict[str, str]:
        """The value of each marker that the statement has now."""
        return {name: self._values.get(name, "") for name in self._names}

    def remember(self, values: Mapping[str, str]) -> None:
        """Values to start from, for markers seen now or later."""
        self._values.update(values)
        for shown in self.query(Input):
            if shown.name is not None and shown.name in values:
                shown.value = values[shown.name]

    def set_names(self, names: Sequence[str]) -> None:
        """Show inputs for these markers. A value typed before is kept, should its marker come back."""
        if tuple(names) == self._names:
            return
        self._names = tuple(names)
        self.set_class(bool(names), "-some")
        self.remove_children()
        self.mount_all(
            Horizontal(
                Label(f":{visible(name)}", markup=False),
                Input(self._values.get(name, ""), name=name, placeholder="value", compact=True),
            )
            for name in names
        )

    @on(Input.Changed)
    def _value_changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.input.name is not None and self._values.get(event.input.name, "") != event.value:
            self._values[event.input.name] = event.value
            self.post_message(self.Changed())

    @on(Input.Submitted)
    def _value_entered(self, event: Input.Submitted) -> None:
        event.stop()
        boxes = list(self.query(Input))
        at = boxes.index(event.input)
        empty = next((box for box in (*boxes[at:], *boxes[:at]) if not box.value), None)
        if empty is None:
            self.post_message(self.Completed())
        else:
            empty.focus()
