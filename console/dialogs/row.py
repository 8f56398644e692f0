"""One row in full: each cell on lines of its own, before and after, to be read and copied."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Static

from console.dialogs.dialog import Dialog
from console.widgets.cell_lines import CellLines
from console.widgets.page import Paragraph
from console.words.format import cells, padded
from console.words.glyphs import Glyphs
from console.words.visible import cell, or_null, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from console.widgets.page import Row, Table

Line = tuple[str, "str | None", "str | None"]


def row_lines(table: Table, row: Row) -> list[Line]:
    """The cells of a row by the names of their columns."""
    return [(name, cell, cell) for name, cell in zip(table.names, row, strict=True)]


class RowDialog(Dialog[None]):
    """``lines``: column, value, and the value it becomes (the same object where it stays)."""

    AUTO_FOCUS = "#close"
    HELP = "One row, cell by cell. The arrow keys go from one to the next; a cell or the whole row can be copied."
    DEFAULT_CSS = """
    RowDialog #hint { width: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "c", "copy_cell", "copy cell", show=False, id="row.copy_cell", tooltip="Copy the cell under the cursor"
        ),
        Binding("y", "copy", "copy", show=False, id="row.copy", tooltip="Copy the row as text"),
        Binding("down,j", "move(1)", "down", show=False, id="row.down", tooltip="Next cell"),
        Binding("up,k", "move(-1)", "up", show=False, id="row.up", tooltip="Cell before"),
    ]

    def __init__(self, title: str, lines: Sequence[Line], *, texts: bool = False) -> None:
        """``texts``: the line ends of values are kept, and the lines that differ are marked."""
        super().__init__()
        self._title = title
        self._lines = list(lines)
        self._texts = texts

    def title_text(self) -> str:
        return visible(self._title)

    def compose_content(self) -> Iterable[Widget]:
        width = max((cells(visible(name)) for name, _, _ in self._lines), default=0)
        yield CellLines(self._line(line, width) for line in self._lines)

    def compose_buttons(self) -> Iterable[Widget]:
        hint = "{row.copy_cell} copies the cell, {row.copy} the row"
        yield Static(Content.styled(self.console_app.with_keys(hint), "$foreground-muted"), id="hint", markup=False)
        yield Button("Close", id="close")

    @on(Button.Pressed, "#close")
    def _close_pressed(self) -> None:
        self.dismiss(None)

    def action_move(self, step: int) -> None:
        lines = self.query_one(CellLines)
        lines.choose(lines.chosen + step)
        self.query_one("#content").scroll_to_region(lines.chosen_region, animate=False)

    def action_copy_cell(self) -> None:
        name, _, new = self._lines[self.query_one(CellLines).chosen]
        self.app.copy_to_clipboard(or_null(new))
        self.notify(f"Copied {visible(name)}.")

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(
            "\n".join(f"{name}\t{or_null(old)}\t{or_null(new)}" for name, old, new in self._lines)
        )
        self.notify("Copied the row.")

    def _line(self, line: Line, width: int) -> Paragraph:
        name, old, new = line
        glyphs = self.console_app.glyphs
        changed = ("  ", "") if old == new else (f"{glyphs.changed} ", "$text-warning")
        lead = Content.assemble(changed, (padded(visible(name), width + 2), "$foreground-muted"))
        if self._texts and old is not None and new is not None and "\n" in old + new:
            body = Content("\n").join(_text(old, new, glyphs))
        else:
            body = _value(old) if old == new else Content.assemble(_value(old), f" {glyphs.becomes} ", _value(new))
        return Paragraph(body, lead)


def _text(old: str, new: str, glyphs: Glyphs) -> Iterator[Content]:
    """The lines of a text: those that go, those that come, and those that stay."""
    before, after = old.split("\n"), new.split("\n")
    for tag, start, end, new_start, new_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (Content(f"  {visible(line)}") for line in before[start:end])
        else:
            gone, come = before[start:end], after[new_start:new_end]
            yield from (Content.styled(f"{glyphs.delete} {visible(line)}", "$text-error") for line in gone)
            yield from (Content.styled(f"{glyphs.insert} {visible(line)}", "$text-success") for line in come)


def _value(value: str | None) -> Content:
    return Content.styled(cell(value), "dim italic" if value is None else "")
