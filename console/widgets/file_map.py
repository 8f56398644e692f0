"""A map of files, one cell each: a letter and a colour for its class, in the order of the table beside it."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from console.widgets.page import FileMap
from console.widgets.theme_colour import theme_colour
from console.words.format import number

# from quiet to loud; the letter says the same
_COLOURS = ("foreground-muted", "text-secondary", "text-primary", "text-accent", "text-warning", "text-error")
MOST_LINES = 6
ROOMY = 30
"""Lower terminals get a map of half as many lines."""


class FileMapView(ScrollView, can_focus=True):
    """The last line is the legend. Only the lines in sight are drawn, so any number of files will do."""

    HELP = (
        "A map of the files, a letter for each, in the order of the table. The arrow keys go from file to file, and "
        "the table goes along; {map.mode} colours by something else. Tab goes to the table."
    )
    DEFAULT_CSS = """
    FileMapView { height: auto; max-height: 8; padding: 0 1; scrollbar-size-vertical: 1; overflow-x: hidden; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "next_mode", "colour by", id="map.mode", tooltip="Colour the map by size, by age, or by touch"),
        Binding("left,h", "move(-1)", "left", show=False, id="map.left", tooltip="File before"),
        Binding("right,l", "move(1)", "right", show=False, id="map.right", tooltip="Next file"),
        Binding("up,k", "move_line(-1)", "up", show=False, id="map.up", tooltip="Line above"),
        Binding("down,j", "move_line(1)", "down", show=False, id="map.down", tooltip="Line below"),
        Binding("home,g", "go_to(0)", "first", show=False, id="map.first", tooltip="First file"),
        Binding("end,G", "go_to(-1)", "last", show=False, id="map.last", tooltip="Last file"),
        Binding("enter", "open", "open", show=False, id="map.open", tooltip="Open the file's row"),
    ]

    cursor: reactive[int] = reactive(0)
    mode: reactive[int] = reactive(0)

    class Reached(Message):
        """The cursor has come to a file."""

        def __init__(self, files: FileMap, file: int) -> None:
            super().__init__()
            self.files = files
            self.file = file

    class Opened(Reached):
        """Enter was pressed on a file."""

    def __init__(self, files: FileMap) -> None:
        super().__init__()
        self.files = files

    @property
    def _per_line(self) -> int:
        return max(self.scrollable_content_region.width, 1)

    @property
    def _line_count(self) -> int:
        return -(-self.files.count // self._per_line)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        most = MOST_LINES if viewport.height >= ROOMY else MOST_LINES // 2
        return min(-(-self.files.count // max(width, 1)), most) + 1

    def on_resize(self) -> None:
        self.virtual_size = Size(self._per_line, self._line_count + 1)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        base = self.rich_style
        # the legend stays at the bottom
        if y == self.size.height - 1:
            return Strip(self._legend(base)).crop_extend(0, width, base)
        start = (self.scroll_offset.y + y) * self._per_line
        of, classes = self.files.modes[self.mode].class_of, self.files.modes[self.mode].classes
        styles = [self._style(kind, base) for kind in range(len(classes))]
        cells = []
        for file in range(start, min(start + self._per_line, self.files.count)):
            kind = of(file)
            style = styles[kind] + Style(reverse=True, bold=True) if file == self.cursor else styles[kind]
            cells.append(Segment(classes[kind][0], style))
        return Strip(Segment.simplify(cells)).crop_extend(0, width, base)

    def _style(self, kind: int, base: Style) -> Style:
        name = _COLOURS[min(kind, len(_COLOURS) - 1)]
        return base + Style(color=theme_colour(self.app.theme_variables, name), bold=kind >= 3)

    def _legend(self, base: Style) -> list[Segment]:
        mode = self.files.modes[self.mode]
        counts = self.files.counts(self.mode)
        segments = [Segment(f"{mode.label}: ", base)]
        for kind, (letter, meaning) in enumerate(mode.classes):
            if counts[kind]:
                segments += [
                    Segment(letter, self._style(kind, base)),
                    Segment(f" {meaning} {number(counts[kind])}   ", base),
                ]
        return segments

    def validate_cursor(self, file: int) -> int:
        return max(min(file, self.files.count - 1), 0)

    def watch_cursor(self, before: int, file: int) -> None:
        if self.is_mounted:
            line, lines = file // self._per_line, max(self.size.height - 1, 1)
            top = round(self.scroll_target_y)
            if not top <= line < top + lines:
                self.scroll_to(y=line if line < top else line - lines + 1, animate=False)
            # the table's cursor moves this one with every key: the other lines are not drawn again
            self.refresh_line(before // self._per_line)
            self.refresh_line(line)
            if self.has_focus:
                self.post_message(self.Reached(self.files, file))

    def watch_mode(self) -> None:
        self.refresh()

    def action_next_mode(self) -> None:
        self.mode = (self.mode + 1) % len(self.files.modes)

    def action_move(self, step: int) -> None:
        self.cursor += step

    def action_move_line(self, step: int) -> None:
        self.cursor += step * self._per_line

    def action_go_to(self, file: int) -> None:
        self.cursor = file if file >= 0 else self.files.count - 1

    def action_open(self) -> None:
        self.post_message(self.Opened(self.files, self.cursor))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and offset.y < self.size.height - 1:
            file = (self.scroll_offset.y + offset.y) * self._per_line + offset.x
            if file < self.files.count:
                self.cursor = file
