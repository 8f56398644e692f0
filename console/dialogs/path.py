"""Asks for a path, of a directory to open or of a file to write, or for a name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Input, Static
from typing_extensions import override

from console.dialogs.dialog import Dialog
from console.words.visible import visible

Check = Callable[[str], "str | None"]


def bare_name() -> str:
    """Where a name without a folder goes."""
    return f"A name alone goes into {Path.cwd()}."


def expanded(path: str) -> Path:
    """With the home of a user in place of ``~``; as it is typed where there is no such user."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


class PathDialog(Dialog[str]):
    """One input. ``check`` gives the sentence of why a path cannot be, or None.

    ``ask_twice`` gives the sentence of why a path needs ctrl+y rather than enter; only what it was said of is taken so.
    """

    AUTO_FOCUS = "Input"
    MISSING: ClassVar[str] = "Type a path first."
    IS_REPLACED: ClassVar[bool] = False
    """Whether what is typed replaces the value: a path is typed on."""
    HELP = "What is asked for is typed. Enter takes it, esc leaves everything as it is."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+y",
            "insist",
            "overwrite",
            show=False,
            id="path.insist",
            tooltip="Take it although it exists",
        ),
    ]

    def __init__(
        self,
        title: str,
        sentence: str,
        *,
        value: str = "",
        accept_label: str,
        check: Check,
        ask_twice: Check | None = None,
    ) -> None:
        super().__init__()
        self._title = title
        self._sentence = sentence
        self._value = value
        self._accept_label = accept_label
        self._check = check
        self._ask_twice = ask_twice
        self._is_asked = False
        """Whether what is typed was asked about."""

    def title_text(self) -> str:
        return visible(self._title)

    def compose_content(self) -> Iterable[Widget]:
        yield Static(Content(visible(self._sentence, lines=True)), markup=False)
        yield Input(self._value, select_on_focus=self.IS_REPLACED)
        yield Static("", classes="complaint", markup=False)

    def compose_buttons(self) -> Iterable[Widget]:
        yield Button("Cancel", id="refuse")
        yield Button(Content(self._accept_label), id="accept")

    @on(Button.Pressed, "#refuse")
    def _refused(self) -> None:
        self.dismiss(None)

    @on(Input.Changed)
    def _typed(self) -> None:
        self._is_asked = False

    @on(Input.Submitted)
    @on(Button.Pressed, "#accept")
    def _accepted(self) -> None:
        self._take(insist=False)

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._is_asked if action == "insist" else super().check_action(action, parameters)

    def action_insist(self) -> None:
        self._take(insist=True)

    def _take(self, *, insist: bool) -> None:
        path = self.query_one(Input).value.strip()
        try:
            complaint = self._complaint(path, insist=insist)
        except OSError as error:
            # of a folder that may not be searched, or a name that is too long
            complaint = f"{error.strerror or error}. Name another place."
        if complaint is None:
            self.dismiss(path)
        else:
            self.query_one(".complaint", Static).update(Content(visible(complaint)))

    def _complaint(self, path: str, *, insist: bool) -> str | None:
        complaint = self.MISSING if not path else self._check(path)
        if complaint is None and not insist and self._ask_twice is not None:
            complaint = self._ask_twice(path)
            self._is_asked = complaint is not None
        return complaint


class NameDialog(PathDialog):
    """The same for a name."""

    MISSING: ClassVar[str] = "Type a name first."
