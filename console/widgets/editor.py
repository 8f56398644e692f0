"""SQL in a text area: one to type in, one to read. Colours come from the app's theme."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import TextAreaTheme

from console.widgets.theme_colour import theme_colour
from console.words.visible import is_visible

if TYPE_CHECKING:
    from textual.theme import Theme
    from textual.widgets.text_area import Edit, EditResult

Completer = Callable[[str, str], "tuple[str, list[str]]"]
"""From the text left and right of the cursor to the word that is typed, and what it could become."""

_SYNTAX = {
    "keyword": "text-primary",
    "keyword.operator": "text-primary",
    "conditional": "text-primary",
    "function.call": "text-secondary",
    "string": "text-success",
    "number": "text-accent",
    "float": "text-accent",
    "boolean": "text-accent",
    "comment": "foreground-muted",
}


def one_cell_each(line: str, *, plain: bool) -> str:
    """``line`` with every character that must not reach a terminal replaced by one sign, so columns stay."""
    if is_visible(line.replace("\t", " ")):
        return line
    return "".join(_sign(character, plain) for character in line)


def _sign(character: str, plain: bool) -> str:
    if character == "\t" or is_visible(character):
        return character
    if plain:
        return "?"
    code = ord(character)
    # Unicode has a picture of each C0 control
    return chr(0x2400 + code) if code < 0x20 else "�"


class SqlText(TextArea):
    """A text area for SQL that follows the app's theme."""

    DEFAULT_CSS = """
    SqlText { border: none; padding: 0; background: $background; }
    SqlText:focus { border: none; }
    """

    def __init__(self, text: str = "", *, read_only: bool = False, id: str | None = None) -> None:
        super().__init__(
            text,
            read_only=read_only,
            show_line_numbers=True,
            tab_behavior="focus" if read_only else "indent",
            highlight_cursor_line=not read_only,
            id=id,
        )
        self._error_at: tuple[int, int, int] | None = None

    def on_mount(self) -> None:
        # given to the constructor, it would be prepared twice, which takes a blink
        self.language = "sql"
        self.app.theme_changed_signal.subscribe(self, self._theme_changed)
        self._theme_changed(self.app.current_theme)

    def _theme_changed(self, theme: Theme) -> None:
        variables = self.app.theme_variables
        styles: dict[str, Style] = {}
        for token, name in _SYNTAX.items():
            styles[token] = Style(color=theme_colour(variables, name), italic=token == "comment" or None)
        name = f"sql-{theme.name}"
        self.register_theme(TextAreaTheme(name=name, syntax_styles=styles))
        self.theme = name

    def render_lines(self, crop: Region) -> list[Strip]:
        # the screen may draw it once more after it was removed, when Textual 8.2.8 has dropped its styles and crashes
        if not self.is_attached:
            return [Strip.blank(crop.width)] * crop.height
        return super().render_lines(crop)

    def get_line(self, line_index: int) -> Text:
        plain = bool(getattr(self.app, "plain", False))
        line = Text(one_cell_each(self.document.get_line(line_index), plain=plain), end="", no_wrap=True)
        if self._error_at is not None and self._error_at[0] == line_index:
            _, start, end = self._error_at
            color = theme_colour(self.app.theme_variables, "text-error")
            line.stylize(Style(color=color, underline=True, bold=True), start, max(end, start + 1))
        return line


class SqlView(SqlText):
    """SQL to read and to copy from."""

    HELP = "SQL to read. Select with shift and the arrow keys, ctrl+c copies."
    DEFAULT_CSS = """
    SqlView { height: 1fr; }
    """

    def __init__(self, text: str) -> None:
        super().__init__(text, read_only=True)
        self.show_cursor = False


def _nothing_offered(_before: str, _after: str) -> tuple[str, list[str]]:
    return "", []


class SqlEditor(SqlText):
    """SQL to type. Esc leaves it, so that plain keys work; tab indents."""

    HELP = (
        "SQL to type; esc leaves it. Where the rest of a column, a table or a keyword is offered while you type, tab "
        "takes it and ctrl+n offers another."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        # these too are handled in on_key
        Binding("tab", "complete", "take", show=False, id="editor.complete", tooltip="Take what is offered, or indent"),
        Binding("ctrl+n", "offer_next", "another", show=False, id="editor.offer_next", tooltip="Offer another word"),
        # the key is handled in on_key: the text area takes it before bindings are asked
        Binding("escape", "leave", "leave the text", id="editor.leave", tooltip="Leave the editor"),
        # what these do is done by the text area, and not everybody knows it
        Binding(
            "ctrl+z", "undo", "undo", show=False, id="editor.undo", tooltip="Take the last change of the text back"
        ),
        Binding("ctrl+y", "redo", "redo", show=False, id="editor.redo", tooltip="Make that change again"),
        Binding("f6", "select_line", "select line", show=False, id="editor.select_line", tooltip="Select the line"),
        Binding("f7", "select_all", "select all", show=False, id="editor.select_all", tooltip="Select the whole text"),
    ]

    class Left(Message):
        """The operator left the editor."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.completer: Completer = _nothing_offered
        self._offers: list[str] = []
        """The rests of the word that is being typed, the one on screen first."""
        self._word = ""
        """What is typed of it."""
        self._typing = False

    async def on_key(self, event: events.Key) -> None:
        actions = {"escape": self.action_leave, "ctrl+n": self.action_offer_next}
        if self.suggestion:
            actions["tab"] = self.action_complete
        if (action := actions.get(event.key)) is not None:
            event.stop()
            event.prevent_default()
            action()

    def edit(self, edit: Edit) -> EditResult:
        # only what is typed letter by letter is completed: the right arrow takes an offer, and must not
        # find one where the cursor merely passes
        self._typing = len(edit.text) == 1 and not edit.text.isspace()
        try:
            return super().edit(edit)
        finally:
            self._typing = False

    def update_suggestion(self) -> None:
        if not self._typing:
            self._offers = []
            self.suggestion = ""
            return
        row, column = self.cursor_location
        lines = self.document.lines
        before = "\n".join([*lines[:row], lines[row][:column]])
        after = "\n".join([lines[row][column:], *lines[row + 1 :]])
        word, offers = self.completer(before, after)
        # what cannot be seen must not be typed by accident
        self._offers = [offer[len(word) :] for offer in dict.fromkeys(offers) if is_visible(offer)]
        self._word = word
        self.suggestion = self._offers[0] if self._offers else ""

    @property
    def offers(self) -> list[str]:
        """The words that are offered now, the one on screen first."""
        return [self._word + rest for rest in self._offers] if self.suggestion else []

    def on_blur(self) -> None:
        self._offers = []
        self.suggestion = ""

    def action_complete(self) -> None:
        if self.suggestion:
            self.insert(self.suggestion)

    def action_offer_next(self) -> None:
        if len(self._offers) > 1 and self.suggestion:
            self._offers = [*self._offers[1:], self._offers[0]]
            self.suggestion = self._offers[0]

    def action_leave(self) -> None:
        self.screen.set_focus(None)
        self.post_message(self.Left())

    def mark_error(self, line: int | None, column: int | None) -> None:
        """Underline the word at a 1-based position, or nothing. Positions beyond the text mark its end."""
        place: tuple[int, int, int] | None = None
        if line is not None:
            row = min(max(line - 1, 0), self.document.line_count - 1)
            text = self.document.get_line(row)
            start = min(max((column or 1) - 1, 0), len(text))
            end = start
            while end < len(text) and (text[end].isalnum() or text[end] in "_.`$"):
                end += 1
            place = (row, start, end) if column is not None else (row, 0, len(text))
        if place != self._error_at:
            self._error_at = place
            self.notify_style_update()
            self.refresh()

    def go_to(self, line: int, column: int | None) -> None:
        """Put the cursor at a 1-based position, and the focus here."""
        self.move_cursor((max(line - 1, 0), max((column or 1) - 1, 0)), center=True)
        self.focus()

    def replace_all(self, text: str) -> None:
        """Other text in place of all there is; undo brings the old one back."""
        self.replace(text, self.document.start, self.document.end)
        self.move_cursor((0, 0))

    def change_to(self, text: str) -> None:
        """Other text by the smallest edit that makes it, as if that had been typed: undo takes just that back."""
        old, new = (one.replace("\r\n", "\n").replace("\r", "\n") for one in (self.text, text))
        start = _alike(old, new)
        end = _alike(old[start:][::-1], new[start:][::-1])
        # two that come soon after another are taken back one by one
        self.history.checkpoint()
        self.replace(new[start : len(new) - end], _location(old, start), _location(old, len(old) - end))
        self._offers = []
        self.suggestion = ""


def _alike(one: str, other: str) -> int:
    """How many signs two texts begin with alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _location(text: str, at: int) -> tuple[int, int]:
    before = text[:at]
    return before.count("\n"), at - (before.rfind("\n") + 1)
