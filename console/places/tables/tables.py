"""Tables: what there is, and everything about one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Input, Static
from typing_extensions import override

from console.places.tables.one_table import VIEW_NAMES, OneTable
from console.places.tables.table_keys import KEYS
from console.places.tables.table_list import TableList
from console.widgets.lines import TabLine
from console.widgets.page_view import PageView
from console.widgets.table_tree import TableTree

if TYPE_CHECKING:
    from console.places.tables.table_shown import Shown

WITHOUT_SPARK = "{app.merge} opens your draft, {app.history} the history."
STARTING = f"Spark is starting; tables are listed as soon as it is up.\n\nUntil then: {WITHOUT_SPARK}"
REMEMBERED = (
    "Spark is starting; these are the tables of the last time.\n\n"
    f"One that you open is shown as soon as Spark is up. {WITHOUT_SPARK}"
)
LISTING = "These are the tables of the last time, until Spark has listed them.\n\nEnter opens one."
NOT_YET = "Spark is not up yet; try again in a moment."


def file_name(table: str) -> str:
    """The last part of a table's name, or of its path, as the name of a file."""
    last = table.replace("`", "").rstrip("/").rpartition("/")[2]
    return re.sub(r"[^\w-]", "_", last if "/" in table else last.rpartition(".")[2])


class TablesPlace(OneTable):
    PLACE = "tables"
    CSS_PATH = Path(__file__).with_name("tables.tcss")
    HELP = (
        "Tables: schemas and directories at the left, one table at the right. Enter opens what the cursor "
        "is on; {tables.view_before} and {tables.view_next} go through the views of a table; "
        "{tables.merge} starts a merge into it; {tables.like} creates a table like it, {tables.clone} clones it to "
        "rehearse on."
    )
    BINDINGS: ClassVar[list[BindingType]] = KEYS

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
                yield PageView(self.console_app.with_keys(STARTING), id="page")

    def on_mount(self) -> None:
        self.table_list.table_tree.focus()
        self.query_one("#views").display = False
        self.query_one("#predicate").display = False

    # The list

    @override
    def spark_is_starting(self) -> None:
        self.table_list.spark_is_starting()
        if self.shown is None:
            self.page.say(self.with_keys(REMEMBERED if self.table_list.groups else STARTING))
        elif self.detail is None:
            self.page.say(self.awaited(self.shown.name))

    @override
    def spark_is_warm(self) -> None:
        self.table_list.list_anew()
        if self.shown is None:
            if self.table_list.groups:
                self.page.say(LISTING)
            return
        # what was asked of the Spark of before has failed, or will
        self.action_view(self.view)

    @override
    def spark_is_lost(self) -> None:
        if self.detail is None:
            # what is shown says that it comes as soon as Spark is up
            self.page.say(f"Spark is lost: {self.console_app.spark_again()}.\n\n{self.with_keys(WITHOUT_SPARK)}")
        elif self.view in self._pages:
            self.page.show(self._pages[self.view])

    def ledger_changed(self) -> None:
        # a commit makes versions, files and rows old; elsewhere they are asked for when one comes back
        if self.app.screen is self and self.console_app.status.spark == "warm":
            self.look_for_changes()

    def on_screen_resume(self) -> None:
        if self.console_app.status.spark == "warm":
            self.look_for_changes()

    @override
    def tables_changed(self) -> None:
        self.table_list.list_anew()

    @on(TableList.Listed)
    def _tables_are_listed(self, event: TableList.Listed) -> None:
        event.stop()
        if self.shown is not None:
            return
        lists = "{tables.directory} lists the Delta tables of a directory."
        text = f"Open a table with enter.\n\n{{tables.merge}} starts a merge into it, {lists}"
        if event.remembered:
            text = REMEMBERED
        elif event.empty:
            text = f"Spark knows no schema here. {lists}"
        self.page.say(self.console_app.with_keys(text))

    @on(TableList.NotListed)
    def _tables_are_not_listed(self, event: TableList.NotListed) -> None:
        event.stop()
        self.page.fail(event.failure)

    # One table

    @on(TableTree.TableOpened)
    def _table_opened(self, event: TableTree.TableOpened) -> None:
        event.stop()
        self.open_table(event.table.name)

    # Small actions

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("cycle", "view", "explore"):
            return self.shown is not None
        if action == "leave_field":
            return self.focused is not None and self.focused.id == "predicate"
        if action == "more":
            return self.view == "rows" and self._may_have_more
        if action == "sample":
            return self._is_of_now and self.view == "rows"
        if action == "export":
            page = self._pages.get(self.view) if self.shown is not None else None
            return page is not None and page.table is not None and bool(page.table.rows)
        if action == "back":
            # beside the list there is nothing to go back to, but for whoever is in the filter
            return self.has_class("-opened") or self.focused is not self.table_list.table_tree
        return True

    @property
    def _is_of_now(self) -> bool:
        """Whether the rows are those of the newest version: no other is sampled."""
        newest = self.detail.version if self.detail is not None else None
        return self.shown is not None and self.shown.is_newest(newest)

    @property
    def _may_have_more(self) -> bool:
        """Whether there may be rows beside those that are shown."""
        page = self._pages.get("rows")
        if self.shown is None or page is None or page.table is None:
            return False
        return page.table.more and (self._is_of_now or not self.shown.sampled)

    @override
    def here(self) -> object:
        return self.is_current, self._chosen_name()

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

    def action_leave_field(self) -> None:
        # it is not left for what may be beside the table
        self.set_focus(None)
        self.page.focus_page()

    def action_reload(self) -> None:
        if self.table_list.is_starting:
            self.notify(NOT_YET)
            return
        if self.shown is not None:
            self._forget_version()
            self.look_again()
        if self.shown is None or self.focused is self.table_list.table_tree:
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

        ask_where_to_export(self, self.page.table or page.table, f"{file_name(self.shown.name)}-{self.view}")

    def action_more(self) -> None:
        from console.places.tables.table_pages import MORE, MOST_ROWS

        page = self._pages.get("rows")
        if self.shown is None or page is None or page.table is None:
            return
        if self.shown.rows >= MOST_ROWS:
            self.notify(f"No more than {MOST_ROWS:,} rows are fetched; a sample or another version shows others.")
        else:
            # the first that was not there before is looked at
            self._left["rows"] = replace(self.page.as_left, at=len(page.table.rows))
            self._fetch(replace(self.shown, rows=self.shown.rows * MORE))

    def action_sample(self) -> None:
        if self.shown is not None:
            self.sampled ^= {self.shown.name}
            self._forget_rows()
            self._fetch(replace(self.shown, sampled=self.shown.name in self.sampled))

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

            shown, is_one = self.shown, self._name_shown == name and self.view == "rows"
            clone_to_rehearse(self, name, shown.version if shown is not None and is_one else None)

    def _name_for_spark(self) -> str | None:
        """The table to ask Spark about; if there is none, or no Spark yet, a notice says so."""
        if self.table_list.is_starting:
            self.notify(NOT_YET)
            return None
        return self._name_or_tell()

    def _name_or_tell(self) -> str | None:
        """The table that is meant; if there is none, a notice says so."""
        name = self._chosen_name()
        if name is None:
            self.notify("There is no table under the cursor.")
        return name

    def action_open_directory(self) -> None:
        from console.dialogs.path import PathDialog

        dialog = PathDialog(
            "Open a directory",
            "Its Delta tables are listed: every directory in it that holds a _delta_log.",
            value=self.table_list.not_opened,
            accept_label="open",
            # what a path means is for Spark to say: it may be of an object store
            check=lambda _: None,
        )
        self.app.push_screen(dialog, self._directory_chosen)

    def _directory_chosen(self, path: str | None) -> None:
        if path is not None:
            self.table_list.open_directory(path)
