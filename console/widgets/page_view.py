"""Shows one page at a time: its sentences, its table or SQL, or that it is on its way, or why it failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from console.visible import visible
from console.widgets.page import Page
from console.work import Failure

if TYPE_CHECKING:
    from textual_fastdatatable import DataTable

    from console.app import DeltaMergeApp


def failure_text(failure: Failure, mark: str) -> Content:
    """An error in place: Spark's class verbatim in brackets, what happened, what to do."""
    condition = f"[{visible(failure.condition)}] " if failure.condition else ""
    lines = [
        Content.assemble(
            (f"{mark} ", "$text-error"),
            (condition, "bold $text-error"),
            visible(failure.message, lines=True),
        )
    ]
    if failure.hint:
        lines.append(Content.styled(f"  {visible(failure.hint, lines=True)}", "$foreground-muted"))
    return Content("\n").join(lines)


class PageView(Vertical):
    """A page in the space it is given. Replaces what it showed, keeping the focus if it had it."""

    DEFAULT_CSS = """
    PageView { height: 1fr; }
    PageView > .page--head { height: auto; max-height: 50%; padding: 0 1; }
    PageView > .page--head.-alone { height: 1fr; max-height: 100%; }
    PageView > Grid { height: 1fr; max-height: 100%; }
    PageView > .page--sql { height: 1fr; border: none; padding: 0; }
    """
    HELP: ClassVar[str] = "A page of sentences, or a table under them. The arrow keys scroll."

    class RowOpened(Message):
        """Enter was pressed on a row of the table."""

        def __init__(self, view: PageView, row: int) -> None:
            super().__init__()
            self.view = view
            self.row = row

        @property
        def control(self) -> PageView:
            return self.view

    class RowReached(Message):
        """The cursor has come to a row of the table."""

        def __init__(self, view: PageView, row: int) -> None:
            super().__init__()
            self.view = view
            self.row = row

        @property
        def control(self) -> PageView:
            return self.view

    @property
    def console_app(self) -> DeltaMergeApp:
        return cast("DeltaMergeApp", self.app)

    def say(self, sentence: str) -> None:
        """A sentence of ours in place of a page."""
        self._replace([self._head(Content.styled(sentence, "$foreground-muted"), alone=True)])

    def fail(self, failure: Failure) -> None:
        """An error in place of a page."""
        mark = self.console_app.glyphs.error
        self._replace([self._head(failure_text(failure, mark), alone=True)])

    def show(self, page: Page) -> None:
        """A page."""
        has_rows = page.table is not None and bool(page.table.rows)
        head = page.head
        if page.table is not None and not has_rows:
            empty = Content.styled(page.table.empty, "$foreground-muted")
            head = Content.assemble(head, "\n\n", empty) if head else empty
        widgets: list[Widget] = []
        if head:
            widgets.append(self._head(head, alone=not has_rows and page.sql is None))
        if page.table is not None and has_rows:
            from console.widgets.grid import Grid

            # a scrollbar takes two columns of the width
            width = max(self.size.width - 2, 20)
            widgets.append(Grid(page.table, width=width, ellipsis=self.console_app.glyphs.ellipsis))
        if page.sql is not None:
            from console.widgets.editor import SqlView

            widgets.append(SqlView(page.sql))
        self._replace(widgets)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        self.post_message(self.RowOpened(self, event.cursor_row))

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        event.stop()
        self.post_message(self.RowReached(self, event.cursor_row))

    def focus_page(self) -> None:
        """Give the focus to the table, else to what scrolls."""
        for child in reversed(self.children):
            if child.focusable:
                child.focus()
                return

    @property
    def cursor_row(self) -> int | None:
        """The row under the cursor of the table that is shown."""
        for child in self.children:
            row = getattr(child, "cursor_row", None)
            if isinstance(row, int):
                return row
        return None

    def _head(self, content: Content, *, alone: bool) -> VerticalScroll:
        scroll = VerticalScroll(Static(content, markup=False), classes="page--head")
        scroll.set_class(alone, "-alone")
        # sentences above a table are read, not scrolled to: tab goes to the table
        scroll.can_focus = alone
        return scroll

    def _replace(self, widgets: list[Widget]) -> None:
        focused = self.screen.focused
        had_focus = focused is not None and self in focused.ancestors
        with self.app.batch_update():
            self.remove_children()
            self.mount_all(widgets)
        if had_focus:
            self.call_after_refresh(self.focus_page)
