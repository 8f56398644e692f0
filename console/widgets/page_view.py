"""Shows one page at a time: its sentences, its table or SQL, or that it is on its way, or why it failed."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from console.shell import shell_of
from console.widgets.grid import Grid
from console.widgets.page import Head, Order, Page, Paragraph, Table, in_order, laid_out, sentence, signed
from console.widgets.sentences import Reading, Sentences
from console.words.format import elide_end
from console.words.visible import visible
from console.work import Failure

if TYPE_CHECKING:
    from console.shell import Shell
    from console.widgets.file_map import FileMapView
    from console.words.glyphs import Glyphs

# below this there is room for the table or for air, not for both
AIRY_ROWS = 16
AT_PLACE = 30
"""Characters of what was typed from the place of an error on."""
TABLE_ROWS = 3
"""Rows that a table keeps, its header among them, below sentences of any length: those are scrolled."""


def failure_head(failure: Failure, mark: str) -> Head:
    """An error in place: Spark's class verbatim in brackets, what happened, what to do."""
    condition = f"[{visible(failure.condition)}] " if failure.condition else ""
    text = Content.assemble((condition, "bold $text-error"), visible(failure.message, lines=True))
    hint = (Paragraph(sentence(failure.hint, "$foreground-muted").body, Content("  ")),) if failure.hint else ()
    return (signed(mark, "$text-error", text), *hint)


def failure_in(typed: str, failure: Failure, glyphs: Glyphs) -> Head:
    """An error of what was ``typed`` in one line, and where in it that is."""
    head = failure_head(failure, glyphs.error)
    if failure.line != 1 or failure.column is None:
        return head
    rest = typed[failure.column - 1 :]
    at = f"column {failure.column}: {elide_end(rest, AT_PLACE, glyphs.ellipsis)}" if rest.strip() else "at its end"
    return (*head, Paragraph(sentence(at, "$foreground-muted").body, Content("  ")))


class PageView(Vertical):
    """A page in the space it is given. Replaces what it showed, keeping the focus if it had it."""

    DEFAULT_CSS = """
    PageView { height: 1fr; }
    PageView > .page--head { height: auto; padding: 0 1; }
    PageView > .page--head.-airy { padding: 0 1 1 1; }
    PageView > .page--head.-alone { height: 1fr; max-height: 100%; }
    PageView > Grid { height: 1fr; max-height: 100%; }
    """

    class RowMessage(Message):
        """About a row of the table that was shown when it was sent."""

        def __init__(self, view: PageView, row: int) -> None:
            super().__init__()
            self.view = view
            self.row = row
            self._page = view.page

        @property
        def control(self) -> PageView:
            return self.view

        @property
        def is_old(self) -> bool:
            """Whether another page is shown by now, with another row of that number."""
            return self.view.page is not self._page

    class RowOpened(RowMessage):
        """Enter was pressed on a row of the table."""

    class RowReached(RowMessage):
        """The cursor has come to a row of the table."""

    def __init__(self, text: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self.page = Page((sentence(text, "$foreground-muted"),) if text else ())
        self._drawn: tuple[Page, int] = (self.page, 0)
        """The page on screen, and the width it was drawn for."""
        self.order: Order | None = None
        self._row = 0
        """Where the cursor of the table is, or begins: the number of a row."""
        self._swapping = False
        self._held = ExitStack()
        """Keeps the terminal from being drawn while the page on screen is not the newest."""
        self._focus_wanted = False

    @property
    def table(self) -> Table | None:
        """The table as it is shown, its rows in the order that was chosen."""
        return in_order(self.page.table, self.order) if self.page.table is not None else None

    @property
    def console_app(self) -> Shell:
        return shell_of(self)

    def compose(self) -> ComposeResult:
        # the first page needs no second pass
        yield from self._widgets(self.page)

    def say(self, text: str) -> None:
        """A sentence of ours in place of a page."""
        self.show(Page((sentence(text, "$foreground-muted"),)))

    def fail(self, failure: Failure) -> None:
        """An error in place of a page."""
        self.show(Page(failure_head(failure, self.console_app.glyphs.error)))

    @property
    def as_left(self) -> Page:
        """The page with the order that was chosen for its table, and the cursor where it is."""
        return replace(self.page, order=self.order, at=self._row)

    def show(self, page: Page) -> None:
        """A page in place of the one that is shown."""
        if page is self.page:
            return
        self.page, self.order, self._row = page, page.order, page.at
        # while it is not on screen there is no width to draw a table for: the resize draws it
        if self.size.width:
            self._draw_soon()
        elif self.children:
            # and until then the page before is not seen below another title
            self._drawn = (Page(), 0)
            for child in self.children:
                child.display = False

    def focus_page(self) -> None:
        """Give the focus to the table, else to what scrolls, as soon as it is there."""
        self._focus_wanted = True
        if not self._swapping:
            self._focus_now()

    def on_resize(self, event: events.Resize) -> None:
        width = event.size.width
        for head in self.query(Reading):
            self._fit(head)
        # sentences wrap by themselves; a table is cut to the width it is drawn for
        is_old = self._drawn[0] is not self.page or (self.page.table is not None and self._drawn[1] != width)
        if width and is_old:
            self._draw_soon()

    def _fit(self, head: Reading) -> None:
        """Let the sentences above a table have what it can spare; above SQL or a map of files, half."""
        rows, page = self.size.height, self._drawn[0]
        spare = rows - TABLE_ROWS if page.sql is None and page.files is None else 0
        if not head.is_alone:
            room = max(spare, rows // 2, 1)
            head.styles.max_height = room
            text = laid_out(self._drawn[0].head, max(self.size.width - 2, 1)).plain
            head.foreseen_long = text.count("\n") + 1 + head.has_class("-airy") > room

    def on_grid_row_selected(self, event: Grid.RowSelected) -> None:
        event.stop()
        if event.table is self.page.table:
            self.post_message(self.RowOpened(self, event.row))

    def on_grid_sorted(self, event: Grid.Sorted) -> None:
        event.stop()
        if event.table is self.page.table:
            self.order = event.order

    def on_grid_row_highlighted(self, event: Grid.RowHighlighted) -> None:
        event.stop()
        if event.table is not self.page.table:
            return
        self._row = event.row
        for files in self.query("FileMapView"):
            files.cursor = event.row  # type: ignore[attr-defined]
        self.post_message(self.RowReached(self, event.row))

    def on_file_map_view_reached(self, event: FileMapView.Reached) -> None:
        event.stop()
        for grid in self.query(Grid):
            grid.show_row(event.file)

    def on_file_map_view_opened(self, event: FileMapView.Opened) -> None:
        event.stop()
        if event.files is self.page.files:
            self.post_message(self.RowOpened(self, event.file))

    def _draw_soon(self) -> None:
        # one swap at a time, and it draws the newest page
        if not self._swapping:
            self._swapping = True
            # the title above it is of the new page already: they are drawn together
            self._held.enter_context(self.app.batch_update())
            self.call_next(self._swap)

    def on_unmount(self) -> None:
        # a swap that never came may not keep the terminal
        self._held.close()

    async def _swap(self) -> None:
        with self._held:
            while self._drawn[0] is not self.page or self._drawn[1] != self.size.width:
                self._drawn = (self.page, self.size.width)
                focused = self.screen.focused
                if focused is not None and self in focused.ancestors:
                    self._focus_wanted = True
                    # else Textual gives it to the next widget as soon as this one is removed
                    self.screen.set_focus(None)
                await self.remove_children()
                await self.mount_all(self._widgets(self._drawn[0]))
            self._swapping = False
        # updates of the visible screen were postponed meanwhile, and nothing else would wake it
        self.app.screen.check_idle()
        # a widget that took the focus meanwhile keeps it
        if self._focus_wanted and self.screen.focused is None:
            self._focus_now()

    def _focus_now(self) -> None:
        focusable = [child for child in self.children if child.focusable]
        # one goes down a table by its rows; what is only read is read from its beginning
        wanted = [child for child in focusable if isinstance(child, Grid)] or focusable[:1]
        if wanted:
            self._focus_wanted = False
            # at once: a swap that comes before the focus would take away what it is for
            self.screen.set_focus(wanted[0])

    def _widgets(self, page: Page) -> list[Widget]:
        table, head = page.table, page.head
        if table is not None and not table.rows:
            head = (*head, *([sentence("")] if head else []), sentence(table.empty, "$foreground-muted"))
            table = None
        alone = table is None and page.sql is None
        widgets: list[Widget] = []
        if head:
            scroll = Reading(Sentences(head), classes="page--head")
            scroll.set_class(alone, "-alone")
            scroll.set_class(self.size.height >= AIRY_ROWS, "-airy")
            scroll.is_alone = alone
            self._fit(scroll)
            widgets.append(scroll)
        if table is not None:
            # the scrollbar takes a column of the width
            width = max(self.size.width - 1, 20)
            if page.files is not None and page.files.count >= page.files.LEAST:
                from console.widgets.file_map import FileMapView

                widgets.append(FileMapView(page.files))
            at, glyphs = min(self._row, len(table.rows) - 1), self.console_app.glyphs
            widgets.append(Grid(table, width=width, glyphs=glyphs, order=self.order, at=at))
        if page.sql is not None:
            from console.widgets.editor import SqlView

            widgets.append(SqlView(page.sql))
        return widgets
