"""The list of what can be browsed: favourites, recent tables, schemas and directories, with a filter above it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input
from typing_extensions import override

from console.places.tables.favourites import Change, TableMarks, change_marks, changed, load_marks
from console.widgets.table_tree import Group, TableTree
from console.work import Asking, Failure

if TYPE_CHECKING:
    from engine.model.browse import TableRef

IN_SCHEMA = re.compile(r"(.+)\.(?:`(?:[^`]|``)+`|[^.`]+)", re.DOTALL)


class TableList(Vertical, Asking):
    """What was listed the last time is shown until Spark has answered."""

    class Listed(Message):
        """There is a list: of the last time while Spark starts (``remembered``), or Spark's own."""

        def __init__(self, *, remembered: bool, empty: bool) -> None:
            super().__init__()
            self.remembered = remembered
            self.empty = empty

    class NotListed(Message):
        def __init__(self, failure: Failure) -> None:
            super().__init__()
            self.failure = failure

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.groups: list[Group] = []
        self.not_opened = ""
        """The directory that was typed last and is not shown, to be mended."""
        self.marks = TableMarks()
        self._unsaved: tuple[Change, ...] = ()
        self._favourites = Group("favourites", expanded=True)
        self._recent = Group("recent", expanded=True)

    @override
    def compose(self) -> Iterator[Widget]:
        yield Input(placeholder="/ filter", id="filter", compact=True)
        yield TableTree(plain=self.console_app.plain, id="tree")

    def on_mount(self) -> None:
        self.marks = load_marks(self.console_app.home)
        if not self.is_starting:
            self.list_schemas()
        elif self.console_app.is_asking("connect"):
            self.spark_is_starting()

    @property
    def is_starting(self) -> bool:
        return self.console_app.status.spark == "starting"

    @property
    def table_tree(self) -> TableTree:
        return self.query_one("#tree", TableTree)

    @property
    def filter(self) -> Input:
        return self.query_one("#filter", Input)

    # Groups

    def spark_is_starting(self) -> None:
        # a history that cannot be read says so in its own place
        self.ask("remembered", self.console_app.backend.remembered_tables, self._show_remembered, lambda _: None)

    def _show_remembered(self, tables: list[TableRef]) -> None:
        if tables and not self.groups and self.is_starting:
            self.groups = _by_schema(tables)
            self._mark()
            self._draw()
            self.post_message(self.Listed(remembered=True, empty=False))

    def list_anew(self) -> None:
        """Ask Spark for all that is looked at; what is not is asked for when it is."""
        for group in self.groups:
            if not group.expanded:
                group.tables = None
            elif group.is_directory:
                self._load_group(group)
        self.list_schemas()

    def list_schemas(self) -> None:
        self.ask("schemas", self.console_app.backend.list_schemas, self._schemas_listed, self._schemas_not_listed)

    def _schemas_listed(self, names: list[str]) -> None:
        known = {group.name: group for group in self.groups if not group.is_directory}
        directories = [group for group in self.groups if group.is_directory]
        schemas = [known.get(name) or Group(name) for name in names]
        self.groups = [*schemas, *directories]
        self.post_message(self.Listed(remembered=False, empty=not names))
        self._mark()
        # one schema is no choice: show what is in it
        if len(schemas) <= 2 and not any(group.expanded for group in schemas):
            for group in schemas:
                group.expanded = True
        self._draw()
        for group in schemas:
            if group.expanded or (self.filter.value and group.tables is None):
                self._load_group(group)

    def _schemas_not_listed(self, failure: Failure) -> None:
        self.post_message(self.NotListed(failure))

    def open_directory(self, path: str) -> None:
        self.not_opened = ""
        self.groups = [group for group in self.groups if not (group.is_directory and group.name == path)]
        group = Group(path, is_directory=True, expanded=True)
        self.groups.append(group)
        # it is to be seen, whatever was filtered for before
        self.filter.value = ""
        self._draw()
        self._load_group(group)

    def _leave_out(self, group: Group) -> None:
        self.not_opened = group.name
        self.groups = [one for one in self.groups if one is not group]
        self._draw()

    @on(TableTree.GroupOpened)
    def _group_opened(self, event: TableTree.GroupOpened) -> None:
        event.stop()
        self._load_group(event.group)

    def _load_group(self, group: Group) -> None:
        if self.is_starting:
            return
        backend, name = self.console_app.backend, group.name
        list_tables = backend.find_tables if group.is_directory else backend.list_tables
        self.ask(
            _question(group),
            lambda: list_tables(name),
            partial(self._tables_listed, group),
            partial(self._tables_not_listed, group),
        )

    def _tables_listed(self, group: Group, tables: list[TableRef]) -> None:
        if group.is_directory and not tables:
            self._leave_out(group)
            self.notify("There is no Delta table in it.", title=group.name, severity="warning")
            return
        group.tables = tables
        group.error = ""
        if group.is_directory:
            self.console_app.catalog.in_directories |= {table.name: table for table in tables}
        self._draw()
        if not any(self.is_asking(_question(one)) for one in self.groups):
            backend, schemas = self.console_app.backend, [one for one in self.groups if not one.is_directory]
            listed = [table for one in schemas for table in one.tables or ()]
            # what could not be remembered is listed by Spark the next time
            self.ask("remember", lambda: backend.remember_tables(listed), lambda _: None, lambda _: None)

    def _tables_not_listed(self, group: Group, failure: Failure) -> None:
        group.error = str(failure)
        if group.is_directory and group.tables is None:
            # what was typed is no directory, and nothing to come back to
            self._leave_out(group)
        else:
            self._draw()
        self.notify(str(failure), title=group.name, severity="error")

    # Favourites and recent tables

    def opened(self, name: str) -> None:
        """Remember that a table was opened."""
        self._change(lambda marks: marks.with_opened(name))

    def toggle_favourite(self, name: str) -> bool:
        """Whether it is one now."""
        wanted = name not in self.marks.favourites
        self._change(lambda marks: marks.with_favourite(name, wanted))
        self._mark()
        self._draw()
        return wanted

    def _change(self, change: Change) -> None:
        self.marks = change(self.marks)
        self._unsaved = changes = (*self._unsaved, change)

        def saved(marks: TableMarks) -> None:
            self._unsaved = self._unsaved[len(changes) :]
            self.marks = changed(marks, self._unsaved)

        self.ask(
            "marks",
            lambda: change_marks(self.console_app.home, changes),
            saved,
            lambda failure: self.notify(f"Favourites could not be saved: {failure.message}", severity="warning"),
        )

    def _mark(self) -> None:
        """The favourites of now, and what was opened lately until now: the list does not move under the cursor."""
        from engine.model.browse import TableRef

        for group, names in ((self._favourites, self.marks.favourites), (self._recent, self.marks.recent)):
            group.tables = [TableRef(name=name, table=name) for name in names]

    # The filter

    def _draw(self) -> None:
        words = self.filter.value.split()
        # what is filtered for is found where it is
        marks: Iterable[Group] = [] if words else [g for g in (self._favourites, self._recent) if g.tables]
        self.table_tree.show([*marks, *self.groups], words, typing=self.filter.has_focus)

    @on(Input.Changed, "#filter")
    def _filter_typed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value:
            # a filter looks into schemas that were not opened yet
            for group in self.groups:
                if group.tables is None and not self.is_asking(_question(group)):
                    self._load_group(group)
        self._draw()

    @on(Input.Submitted, "#filter")
    def _filter_done(self, event: Input.Submitted) -> None:
        event.stop()
        self.table_tree.focus()


def _question(group: Group) -> str:
    """What the tables of a group are asked for under: a directory may be called like a schema."""
    return f"{'directory' if group.is_directory else 'schema'}:{group.name}"


def _by_schema(tables: Sequence[TableRef]) -> list[Group]:
    groups: dict[str, list[TableRef]] = {}
    for table in tables:
        if found := IN_SCHEMA.fullmatch(table.name):
            groups.setdefault(found[1], []).append(table)
    return [Group(name, tables=inside, expanded=True) for name, inside in groups.items()]
