"""The tree of what can be browsed: catalogs, their schemas and tables, directories and theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from console.fuzzy import match
from console.words.visible import visible

# the catalog and the schema of SQL text; the schemas of the current catalog have one part
_IN_CATALOG = re.compile(r"(`(?:[^`]|``)+`|[^.`]+)\.(.+)", re.DOTALL)

if TYPE_CHECKING:
    from engine.model.browse import TableRef


@dataclass
class Group:
    """A schema or a directory. ``tables`` is None until they were asked for."""

    name: str
    is_directory: bool = False
    tables: Sequence[TableRef] | None = None
    error: str = ""
    expanded: bool = False


class TableTree(Tree[object]):
    """Groups that open lazily. Labels are plain text, whatever is in them."""

    HELP = "What can be browsed. Enter opens a schema, a directory or a table; type / to filter."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "open", id="tree.select", tooltip="Open the schema or the table"),
        Binding("j", "cursor_down", "Down", show=False, id="tree.down", tooltip="Next entry"),
        Binding("k", "cursor_up", "Up", show=False, id="tree.up", tooltip="Entry before"),
        Binding("right,l", "open_node", "Open", show=False, id="tree.open", tooltip="Open the schema"),
        Binding("left,h", "close_node", "Close", show=False, id="tree.close", tooltip="Close the schema"),
    ]

    class GroupOpened(Message):
        """A group was opened whose tables are not known yet."""

        def __init__(self, group: Group) -> None:
            super().__init__()
            self.group = group

    class TableOpened(Message):
        def __init__(self, table: TableRef) -> None:
            super().__init__()
            self.table = table

    def __init__(self, *, plain: bool, id: str | None = None) -> None:
        super().__init__("tables", id=id)
        self.show_root = False
        self.guide_depth = 3
        self.show_guides = False
        self.auto_expand = True
        if plain:
            self.ICON_NODE, self.ICON_NODE_EXPANDED = "> ", "v "
        self._words: list[str] = []
        self._groups: list[Group] = []
        self._catalogs: dict[str, TreeNode[object]] = {}
        self._folded: set[str] = set()
        """The catalogs whose schemas are not looked at."""

    def show(self, groups: Iterable[Group], words: Sequence[str], *, typing: bool = False) -> None:
        """Draw the groups; with ``words``, only the tables that hold all of them, or their letters in order. While
        somebody is ``typing`` them, the cursor is on the best match."""
        self._groups = list(groups)
        self._words = [word.lower() for word in words]
        chosen = self.cursor_node.data if self.cursor_node is not None else None
        with self.app.batch_update():
            self.clear()
            self._catalogs.clear()
            for group in self._groups:
                self._add_group(group)
            # what is filtered for is a table
            self._put_cursor(None if self._words and (typing or isinstance(chosen, Group | str)) else chosen)
            if self._words and not self.root.children:
                self.root.add_leaf(Text("Nothing matches the filter.", style="italic"), data=None)

    def _add_group(self, group: Group) -> None:
        tables = None if group.tables is None else [table for table in group.tables if self._fit(group, table)]
        if self._words and not tables:
            return
        above, name = self._place_of(group)
        label = visible(name) + ("/" if group.is_directory and not group.name.endswith("/") else "")
        counted = "" if tables is None else f" ({len(tables)})"
        text = Text.assemble(label, counted)
        node = above.add(text, data=group, expand=bool(self._words) or group.expanded)
        if tables is None:
            node.add_leaf(
                Text("loading", style="italic") if not group.error else Text(visible(group.error)),
                data=None,
            )
        for table in tables or ():
            node.add_leaf(self._label(group, table), data=table)
        if tables is not None and not tables:
            node.add_leaf(Text("no tables", style="italic"), data=None)

    def _place_of(self, group: Group) -> tuple[TreeNode[object], str]:
        """The node that a group goes under, and what it is called there: under its catalog, if another."""
        found = None if group.is_directory else _IN_CATALOG.fullmatch(group.name)
        if found is None:
            return self.root, group.name
        catalog, schema = found.groups()
        if catalog not in self._catalogs:
            opened = bool(self._words) or catalog not in self._folded
            self._catalogs[catalog] = self.root.add(Text(visible(catalog)), data=catalog, expand=opened)
        return self._catalogs[catalog], schema

    def _fit(self, group: Group, table: TableRef) -> tuple[int, int] | None:
        """How well a table fits the words, less is better; None if it does not."""
        if any("/" in word for word in self._words):
            return match(self._words, table.path or "")
        above = "" if group.is_directory else f"{group.name}."
        return match(self._words, f"{above}{_called(group, table)}")

    @staticmethod
    def _label(group: Group, table: TableRef) -> Text:
        text = Text(visible(_called(group, table)))
        if table.is_delta is False:
            text.append(" not Delta", style="italic")
        return text

    def _put_cursor(self, chosen: object) -> None:
        nodes = list(_below(self.root))
        best = next((node for node in nodes if chosen is not None and node.data == chosen), None)
        if best is None:
            best = self._best(nodes) if self._words else next(iter(nodes), None)
        if best is not None:
            self.call_after_refresh(self.move_cursor, best)

    def _best(self, nodes: Sequence[TreeNode[object]]) -> TreeNode[object] | None:
        """The table that fits the words best; the first of equals."""
        fits = [
            (fit, node)
            for node in nodes
            if (table := self.table_of(node)) is not None
            and node.parent is not None
            and isinstance(group := node.parent.data, Group)
            and (fit := self._fit(group, table)) is not None
        ]
        return min(fits, key=lambda pair: pair[0])[1] if fits else next(iter(nodes), None)

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[object]) -> None:
        event.stop()
        group = event.node.data
        if isinstance(group, str):
            self._folded.discard(group)
        if isinstance(group, Group):
            group.expanded = True
            if group.tables is None:
                self.post_message(self.GroupOpened(group))

    def on_tree_node_collapsed(self, event: Tree.NodeCollapsed[object]) -> None:
        event.stop()
        if isinstance(event.node.data, Group):
            event.node.data.expanded = False
        elif isinstance(event.node.data, str):
            self._folded.add(event.node.data)

    def on_tree_node_selected(self, event: Tree.NodeSelected[object]) -> None:
        event.stop()
        table = self.table_of(event.node)
        if table is not None:
            self.post_message(self.TableOpened(table))

    def action_open_node(self) -> None:
        node = self.cursor_node
        if node is not None and node.allow_expand and not node.is_expanded:
            node.expand()
        elif node is not None and (table := self.table_of(node)) is not None:
            self.post_message(self.TableOpened(table))

    def action_close_node(self) -> None:
        node = self.cursor_node
        if node is None:
            return
        if node.is_expanded and node.allow_expand:
            node.collapse()
        elif node.parent is not None and node.parent is not self.root:
            self.move_cursor(node.parent)

    @property
    def chosen_table(self) -> TableRef | None:
        """The table under the cursor."""
        return None if self.cursor_node is None else self.table_of(self.cursor_node)

    @staticmethod
    def table_of(node: TreeNode[object]) -> TableRef | None:
        from engine.model.browse import TableRef

        return node.data if isinstance(node.data, TableRef) else None


def _below(node: TreeNode[object]) -> Iterator[TreeNode[object]]:
    for child in node.children:
        yield child
        yield from _below(child)


def _called(group: Group, table: TableRef) -> str:
    """What a table is called in its group."""
    if group.is_directory and table.path:
        return name_in(table.path, group.name) or table.table
    return table.table


def name_in(path: str, directory: str) -> str:
    """How a table at ``path`` is called in a directory as it was typed (engine.table.tables.find_tables); "" if it is
    that directory."""
    root = Path(re.sub(r"^file:/+", "/", directory.strip())).expanduser().absolute()
    if Path(path).is_relative_to(root):
        return str(Path(path).relative_to(root)).removeprefix(".")
    return path.removeprefix(directory).lstrip("/")
