"""The right half of the Tables place: one table, and the views of it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.content import Content
from textual.widgets import Input, Static

from console.places.place import Place
from console.places.tables.table_list import TableList
from console.widgets.lines import TabLine
from console.widgets.page import Page, order_again, row_again, sentence
from console.widgets.page_view import PageView, failure_in
from console.words.visible import visible
from console.work import Failure

if TYPE_CHECKING:
    from console.places.tables.table_shown import Shown
    from engine.model.browse import TableDetail, TableVersion

VIEW_NAMES = (
    ("columns", "Columns"),
    ("statistics", "Statistics"),
    ("properties", "Properties"),
    ("describe", "Describe"),
    ("versions", "Versions"),
    ("files", "Files"),
    ("scan", "Scan"),
    ("advice", "Advice"),
    ("rows", "Rows"),
)

OF_DETAIL = ("columns", "properties")
"""Views that are made of what stands above them."""


class OneTable(Place):
    """Composes ``#browser``, the list of tables, and ``#table-name``, ``#views``, ``#predicate`` and ``#page``."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: Shown | None = None
        self.detail: TableDetail | None = None
        self.view = "columns"
        self.sampled: set[str] = set()
        """The tables whose rows are drawn by chance, until the first ones are asked for again."""
        self._pages: dict[str, Page] = {}
        self._left: dict[str, Page] = {}
        """The views as the operator left them, those that are old by now among them."""
        self._submitted = False
        """Whether the operator waits for the files of the predicate."""
        self._view_failed = self._look_once_more = False

    @property
    def table_list(self) -> TableList:
        return self.query_one("#browser", TableList)

    @property
    def page(self) -> PageView:
        return self.query_one("#page", PageView)

    def open_from_elsewhere(self, name: str) -> None:
        """Show a table that the filter may hide in the list."""
        self.table_list.filter.value = ""
        self.open_table(name)

    def open_table(self, name: str, version: int | None = None) -> None:
        """Show a table, or its rows as of a version."""
        from console.places.tables.table_shown import Shown

        before = self.shown if self._name_shown == name else None
        same = before is not None and self.detail is not None
        if before is None:
            self.query_one("#predicate", Input).value = ""
            self._left.clear()
        # what is typed there is asked with enter alone
        self.shown = Shown(name, version, before.predicate if before else "", sampled=name in self.sampled)
        self._forget_rows()
        # the tree may be hidden now: focus goes with what was asked for, not to whatever is next
        self.set_focus(None)
        self.add_class("-opened")
        self.query_one("#views").display = True
        self.page.focus_page()
        if same and version is not None:
            self.action_view("rows")
        else:
            self.look_again()

    def look_again(self) -> None:
        """Forget what is known of the table that is shown, and ask anew. The focus stays where the operator is."""
        self._forget_table()
        self.action_view(self.view)

    def look_for_changes(self) -> None:
        """Ask whether the table is as it was. What is shown, or asked, of it stays if it is."""
        self._forget_rows_of_no_version()
        if self.is_asking("detail"):
            # that answer may be of before
            self._look_once_more = True
        else:
            self._ask_detail()

    def _ask_detail(self) -> None:
        if self.shown is None or self.table_list.is_starting:
            return
        self._look_once_more = False
        name = self.shown.name
        self.ask(
            "detail",
            lambda: self.backend.table_detail(name),
            self._described,
            self._not_described,
            of=lambda: self._name_shown,
        )

    def _forget_table(self) -> None:
        self.detail, self._view_failed = None, False
        self._pages.clear()
        self._draw_name()

    def _forget_version(self) -> None:
        """The rows are those of now again."""
        if self.shown is not None and self.shown.version is not None:
            self.shown = replace(self.shown, version=None)
            self._forget_rows()

    def _forget_rows(self) -> None:
        """Other rows are to be shown, in the order that the operator chose."""
        self._pages.pop("rows", None)

    def _forget_rows_of_no_version(self) -> None:
        """Nothing tells when rows of a table that is not Delta are old."""
        if self.detail is not None and self.detail.version is None:
            self._pages.pop("rows", None)

    @staticmethod
    def awaited(name: str) -> str:
        return f"Spark is starting; {name} is shown as soon as it is up."

    def _show_remembered(self, versions: list[TableVersion]) -> None:
        from console.places.tables.table_pages import versions_table

        if versions and self.table_list.is_starting and self.shown is not None:
            text = f"Spark is starting; these are the versions of {self.shown.name} as of the last time."
            self.page.show(Page((sentence(text),), versions_table(versions)))

    def _described(self, detail: TableDetail) -> None:
        shown = self.shown
        if shown is None:
            return
        if detail != self.detail:
            # another program has committed, or made the table anew: every view is of one version
            self._forget_table()
            self.detail = detail
            self.table_list.opened(shown.name)
            self._draw_name()
            self.refresh_bindings()
            self._ask_view(shown, detail)
        elif self.view in self._pages:
            self._show_asked(self._pages[self.view])
        elif not self.is_asking("view") and not self._view_failed:
            self._ask_view(shown, detail)
        if self._look_once_more:
            self._ask_detail()

    def _ask_view(self, shown: Shown, detail: TableDetail) -> None:
        from console.places.tables.table_pages import VIEWS

        build, self._view_failed = VIEWS[self.view][1], False
        before = self._left.get(self.view)

        def built() -> Page:
            page = build(self.backend, shown, detail)
            if before is None:
                return page
            # many rows take a moment to sort: here nobody waits for them
            order = order_again(page.table, before.order)
            first = order.rows[0] if order is not None and order.rows else 0
            at = row_again(page.table, before.table, before.at, first) if before.table is not None else first
            return replace(page, order=order, at=at)

        self.page.say("Asking Spark…")
        self.ask(
            "view",
            built,
            partial(self._built, self.view),
            self._not_built,
            of=lambda: (self.shown, self.detail, self.view),
        )

    def _not_described(self, failure: Failure) -> None:
        self._submitted = self._look_once_more = False
        if not failure.unreachable:
            self._forget_table()
        elif self.view in self._pages:
            # what was read stays true of its version
            self._show_asked(self._pages[self.view])
            return
        self.page.fail(failure)

    @property
    def _name_shown(self) -> str:
        return self.shown.name if self.shown is not None else ""

    def _draw_name(self) -> None:
        if self.shown is None:
            return
        detail, dot = self.detail, f" {self.console_app.glyphs.dot} "
        parts: list[str] = []
        if self.view == "rows" and self.shown.version is not None:
            # the numbers are those of the newest one
            parts = [f"rows as of v{self.shown.version}", self.with_keys("{tables.refresh} shows those of now")]
        elif detail is not None:
            from console.words.format import count, size

            if detail.is_delta:
                parts = [f"v{detail.version}", count(detail.num_files, "file"), size(detail.num_bytes)]
            else:
                parts = [f"{visible(detail.format) or 'a view'}, not Delta"]
            if detail.partition_columns:
                parts.append(f"by {visible(', '.join(detail.partition_columns))}")
            if detail.clustering_columns:
                parts.append(f"clustered by {visible(', '.join(detail.clustering_columns))}")
        self.query_one("#table-name", Static).update(
            Content.assemble(
                (visible(self.shown.name), "bold"),
                (dot + dot.join(parts) if parts else "", "$foreground-muted"),
            )
        )

    def action_view(self, view: str) -> None:
        """Show one of the views of the table as it is now: what was looked at before, until Spark says it is old.

        Spark is asked for a view while it is asked whether the table is as it was: both answers are awaited.
        """
        self.view, self._submitted, self._view_failed = view, False, False
        self.query_one("#views", TabLine).chosen = view
        self.query_one("#predicate").display = view == "scan"
        self._draw_name()
        if self.shown is None:
            return
        self._forget_rows_of_no_version()
        if view in self._pages:
            self._show(self._as_left(view))
        elif self.table_list.is_starting:
            self._ask_remembered(self.shown.name)
        elif self.detail is None:
            self.page.say(f"Looking at {self.shown.name}…")
        else:
            self._ask_view(self.shown, self.detail)
        self._ask_detail()

    def _as_left(self, view: str) -> Page:
        """A page that is known, in the order and with the cursor that the operator left it with."""
        known, left = self._pages[view], self._left.get(view)
        if left is not None and left.table is known.table and known is not self.page.page:
            self._pages[view] = left
        return self._pages[view]

    def _ask_remembered(self, name: str) -> None:
        self.page.say(self.awaited(name))
        self.ask(
            "remembered",
            lambda: self.backend.remembered_versions(name),
            self._show_remembered,
            lambda _: None,
            of=lambda: (self._name_shown, self.detail),
        )

    def _built(self, view: str, page: Page) -> None:
        self._pages[view] = page
        if view in OF_DETAIL or not self.is_asking("detail"):
            self._show_asked(page)

    def _show_asked(self, page: Page) -> None:
        if page is not self.page.page:
            self._show(page)
        predicate, submitted = self.query_one("#predicate", Input), self._submitted
        as_asked = self.shown is not None and predicate.value == self.shown.predicate
        self._submitted = False
        if submitted and self.view == "scan" and page.table is not None and self.focused is predicate and as_asked:
            # after an error, and once somebody types on, it stays where the predicate is
            self.set_focus(None)
            self.page.focus_page()

    def _not_built(self, failure: Failure) -> None:
        self._submitted, self._view_failed = False, True
        if self.view != "scan" or self.shown is None:
            self.page.fail(failure)
            return
        typed, predicate = self.shown.predicate, self.query_one("#predicate", Input)
        self.page.show(Page(failure_in(typed, failure, self.console_app.glyphs)))
        if failure.line == 1 and failure.column is not None and predicate.value == typed:
            predicate.cursor_position = failure.column - 1

    def _show(self, page: Page) -> None:
        self.page.show(page)
        self.refresh_bindings()

    def action_cycle(self, step: int) -> None:
        names = [name for name, _ in VIEW_NAMES]
        self.action_view(names[(names.index(self.view) + step) % len(names)])

    def action_explore(self) -> None:
        self.action_view("scan")
        self.query_one("#predicate").focus()

    @on(Input.Submitted, "#predicate")
    def _predicate_typed(self, event: Input.Submitted) -> None:
        event.stop()
        if self.shown is not None:
            if event.value != self.shown.predicate and (left := self._left.get("scan")) is not None:
                # other files are read from the first on, in the order that was chosen
                self._left["scan"] = replace(left, table=None)
            self.shown = replace(self.shown, predicate=event.value)
            self._pages.pop("scan", None)
            self.action_view("scan")
            self._submitted = True

    @on(PageView.RowReached)
    def _row_reached(self, event: PageView.RowReached) -> None:
        event.stop()
        if not event.is_old:
            self._left[self.view] = self.page.as_left

    @on(PageView.RowOpened)
    def _row_opened(self, event: PageView.RowOpened) -> None:
        event.stop()
        page = self._pages.get(self.view)
        if event.is_old or page is None or page.table is None or self.shown is None:
            return
        if self.view == "versions":
            self.open_table(self.shown.name, int(page.table.rows[event.row][0] or 0))
            return
        self.open_row(event, self.shown.name)
