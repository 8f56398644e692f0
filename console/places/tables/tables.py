"""Tables: what there is, and everything about one of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static
from typing_extensions import override

from console.places.place import Place
from console.places.tables.table_keys import KEYS
from console.places.tables.table_list import TableList
from console.widgets.lines import TabLine
from console.widgets.page import Page, sentence
from console.widgets.page_view import PageView
from console.widgets.table_tree import TableTree
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
STARTING = (
    "Spark is starting; tables are listed as soon as it is up.\n\n"
    "Until then: {app.merge} opens your draft, {app.history} the history."
)
REMEMBERED = (
    "Spark is starting; these are the tables of the last time.\n\n"
    "One that you open is shown as soon as Spark is up. {app.merge} opens your draft, {app.history} the history."
)
NOT_YET = "Spark is not up yet; try again in a moment."


class TablesPlace(Place):
    PLACE = "tables"
    CSS_PATH = Path(__file__).with_name("tables.tcss")
    HELP = (
        "Tables: schemas and directories at the left, one table at the right. Enter opens what the cursor "
        "is on; {tables.view_before} and {tables.view_next} go through the views of a table; "
        "{tables.merge} starts a merge into it; {tables.like} creates a table like it, {tables.clone} clones it to "
        "rehearse on."
    )
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self) -> None:
        super().__init__()
        self.shown: Shown | None = None
        self.detail: TableDetail | None = None
        self.view = "columns"
        self._pages: dict[str, Page] = {}

    def compose_body(self) -> Iterable[Widget]:
        with Horizontal(id="split"):
            yield TableList(id="browser")
            with Vertical(id="detail"):
                yield Static(id="table-name", markup=False)
                yield TabLine(VIEW_NAMES, "screen.view", chosen=self.view, id="views")
                yield Input(
                    placeholder="a predicate, as after WHERE, or a query",
                    id="predicate",
                    compact=True,
                    select_on_focus=False,
                )
                yield PageView(self.console_app.told(STARTING), id="page")

    def on_mount(self) -> None:
        self.table_list.table_tree.focus()
        self.query_one("#views").display = False
        self.query_one("#predicate").display = False

    @property
    def table_list(self) -> TableList:
        return self.query_one("#browser", TableList)

    @property
    def page(self) -> PageView:
        return self.query_one("#page", PageView)

    # The list

    @override
    def spark_is_starting(self) -> None:
        self.table_list.spark_is_starting()

    @override
    def spark_is_warm(self) -> None:
        self.table_list.spark_is_warm()
        if self.shown is not None and self.detail is None:
            self.open_table(self.shown.name, self.shown.version)

    def ledger_changed(self) -> None:
        # a commit makes versions, files and rows old; they are asked for again when looked at
        self._pages.clear()
        if self.shown is not None:
            self.open_table(self.shown.name)

    @override
    def tables_changed(self) -> None:
        self.table_list.list_anew()

    @on(TableList.Listed)
    def _tables_are_listed(self, event: TableList.Listed) -> None:
        event.stop()
        if self.shown is not None:
            return
        lists = "{tables.directory} lists the Delta tables of a directory."
        told = f"Open a table with enter.\n\n{{tables.merge}} starts a merge into it, {lists}"
        if event.remembered:
            told = REMEMBERED
        elif event.empty:
            told = f"Spark knows no schema here. {lists}"
        self.page.say(self.console_app.told(told))

    @on(TableList.NotListed)
    def _tables_are_not_listed(self, event: TableList.NotListed) -> None:
        event.stop()
        self.page.fail(event.failure)

    # One table

    @on(TableTree.TableOpened)
    def _table_opened(self, event: TableTree.TableOpened) -> None:
        event.stop()
        self.open_table(event.table.name)

    def open_table(self, name: str, version: int | None = None) -> None:
        """Show a table, or its rows as of a version."""
        from console.places.tables.table_shown import Shown

        same = self.shown is not None and self.shown.name == name and self.detail is not None
        predicate = self.query_one("#predicate", Input)
        if self.shown is None or self.shown.name != name:
            predicate.value = ""
        self.shown = Shown(name, version, predicate.value)
        self._pages.pop("rows", None)
        # the tree may be hidden now: focus goes with what was asked for, not to whatever is next
        self.set_focus(None)
        self.add_class("-opened")
        self.query_one("#views").display = True
        if same and version is not None:
            self.action_view("rows")
            return
        self.detail = None
        self._pages.clear()
        self._draw_name()
        self.page.focus_page()
        if self.table_list.is_starting:
            self.page.say(f"Spark is starting; {name} is shown as soon as it is up.")
            self.ask(
                "remembered",
                lambda: self.backend.remembered_versions(name),
                self._show_remembered,
                lambda _: None,
                of=lambda: (self._name_shown, self.detail),
            )
            return
        self.page.say(f"Looking at {name}…")
        self.ask(
            "detail",
            lambda: self.backend.table_detail(name),
            self._described,
            self._failed,
            of=lambda: self._name_shown,
        )

    def _show_remembered(self, versions: list[TableVersion]) -> None:
        from console.places.tables.table_pages import versions_table

        if versions and self.table_list.is_starting and self.shown is not None:
            told = f"Spark is starting; these are the versions of {self.shown.name} as of the last time."
            self.page.show(Page((sentence(told),), versions_table(versions)))

    def _described(self, detail: TableDetail) -> None:
        self.detail = detail
        if self.shown is not None:
            self.table_list.opened(self.shown.name)
        self._draw_name()
        self.action_view(self.view)
        self.refresh_bindings()

    @property
    def _name_shown(self) -> str:
        return self.shown.name if self.shown is not None else ""

    def _failed(self, failure: Failure) -> None:
        self.page.fail(failure)

    def _draw_name(self) -> None:
        if self.shown is None:
            return
        detail, dot = self.detail, f" {self.console_app.glyphs.dot} "
        parts: list[str] = []
        if detail is not None:
            from console.words.format import count, size

            parts = [f"v{detail.version}", count(detail.num_files, "file"), size(detail.num_bytes)]
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
        """Show one of the views of the table, asking for it if it was not looked at yet."""
        from console.places.tables.table_pages import VIEWS

        self.view = view
        self.query_one("#views", TabLine).chosen = view
        self.query_one("#predicate").display = view == "scan"
        shown, detail = self.shown, self.detail
        if shown is None or detail is None:
            return
        if (known := self._pages.get(view)) is not None:
            self._show(known)
            return
        build = VIEWS[view][1]
        self.page.say("Asking Spark…")
        self.ask(
            "view",
            lambda: build(self.backend, shown, detail),
            partial(self._built, view),
            self._failed,
            of=lambda: (self.shown, self.detail, self.view),
        )

    def _built(self, view: str, page: Page) -> None:
        self._pages[view] = page
        self._show(page)
        predicate = self.query_one("#predicate")
        if view == "scan" and page.table is not None and self.focused is predicate:
            # after an error it stays where the predicate is mended
            self.set_focus(None)
            self.page.focus_page()

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
            self.shown = replace(self.shown, predicate=event.value)
            self._pages.pop("scan", None)
            self.action_view("scan")

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

    # Small actions

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("cycle", "view", "explore"):
            return self.shown is not None
        if action in ("more", "sample"):
            return self.shown is not None and self.view == "rows"
        if action == "export":
            page = self._pages.get(self.view) if self.shown is not None else None
            return page is not None and page.table is not None and bool(page.table.rows)
        if action == "back":
            # beside the list there is nothing to go back to, but for whoever is in the filter
            return self.has_class("-opened") or self.focused is not self.table_list.table_tree
        return True

    def _chosen_name(self) -> str | None:
        tree = self.table_list.table_tree
        if self.focused is tree and tree.chosen_table is not None:
            return tree.chosen_table.name
        return self.shown.name if self.shown is not None else None

    def action_filter(self) -> None:
        self.remove_class("-opened")
        self.table_list.filter.focus()

    def action_back(self) -> None:
        self.remove_class("-opened")
        self.table_list.table_tree.focus()

    def action_reload(self) -> None:
        if self.table_list.is_starting:
            self.notify(NOT_YET)
            return
        self._pages.clear()
        if self.shown is not None and self.focused is not self.table_list.table_tree:
            self.open_table(self.shown.name, self.shown.version)
            return
        self.console_app.catalog.forget()
        self.table_list.list_anew()

    def action_favourite(self) -> None:
        if (name := self._name_or_tell()) is not None:
            is_one = self.table_list.toggle_favourite(name)
            self.notify(f"{name} is {'now a favourite' if is_one else 'no favourite any more'}.")

    def action_copy_name(self) -> None:
        if (name := self._name_or_tell()) is not None:
            self.copy(name, name)

    def action_export(self) -> None:
        page = self._pages.get(self.view)
        if page is None or page.table is None or self.shown is None:
            self.notify("There are no rows to export here.")
            return
        from console.places.statement.export import ask_where_to_export

        ask_where_to_export(
            self, self.page.table or page.table, f"{self.shown.name.strip('`').rpartition('.')[2]}-{self.view}"
        )

    def action_more(self) -> None:
        from console.places.tables.table_pages import MORE, MOST_ROWS

        page = self._pages.get("rows")
        if self.shown is None or page is None or page.table is None:
            return
        if len(page.table.rows) < self.shown.rows and not self.shown.sampled:
            self.notify("These are all rows.")
        elif self.shown.rows >= MOST_ROWS:
            self.notify(f"No more than {MOST_ROWS:,} rows are fetched; a predicate or a version shows others.")
        else:
            self._fetch(replace(self.shown, rows=self.shown.rows * MORE))

    def action_sample(self) -> None:
        if self.shown is not None:
            self._fetch(replace(self.shown, sampled=not self.shown.sampled))

    def _fetch(self, shown: Shown) -> None:
        self.shown = shown
        self._pages.pop("rows", None)
        self.action_view("rows")

    def action_merge(self) -> None:
        if (name := self._name_for_spark()) is not None:
            from console.places.merge.propose import propose_into

            propose_into(self, name)

    def action_create_like(self) -> None:
        if (name := self._name_for_spark()) is not None:
            from console.places.create.propose_table import create_like

            create_like(self, name)

    def action_clone(self) -> None:
        if (name := self._name_for_spark()) is not None:
            from console.places.create.propose_table import clone_to_rehearse

            shown = self.shown
            clone_to_rehearse(self, name, shown.version if shown is not None and shown.name == name else None)

    def _name_for_spark(self) -> str | None:
        """The table that Spark is to be asked about; where there is none or no Spark yet, a notice says so."""
        if self.table_list.is_starting:
            self.notify(NOT_YET)
            return None
        return self._name_or_tell()

    def _name_or_tell(self) -> str | None:
        """The table that is meant; where there is none, a notice says so."""
        name = self._chosen_name()
        if name is None:
            self.notify("There is no table under the cursor.")
        return name

    def action_open_directory(self) -> None:
        from console.dialogs.path import PathDialog

        dialog = PathDialog(
            "Open a directory",
            "Its Delta tables are listed: every directory in it that holds a _delta_log.",
            accept_label="open",
            # what a path means is for Spark to say: it may be of an object store
            check=lambda _: None,
        )
        self.app.push_screen(dialog, self._directory_chosen)

    def _directory_chosen(self, path: str | None) -> None:
        if path is not None:
            self.table_list.open_directory(path)
