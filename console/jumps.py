"""What the palette jumps to: tables, open merges and operations of the history."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.app import SystemCommand

from console.words.format import local_time
from console.words.sentences import kind
from console.words.visible import visible

if TYPE_CHECKING:
    from console.app import DeltaMergeApp
    from console.places.history.history import HistoryPlace
    from console.places.tables.tables import TablesPlace
    from engine.model.operation import Operation

OPERATIONS = 200


def learn_jumps(app: DeltaMergeApp) -> None:
    """Ask for what there is to jump to: it is there by the time that something is typed."""

    def learn() -> list[Operation]:
        if app.status.spark == "warm":
            app.catalog.load_tables()
        return app.backend.history(limit=OPERATIONS)

    def keep(operations: list[Operation]) -> None:
        app.recent = operations

    # who lists tables or the history says why that fails
    app.ask("jumps", learn, keep, lambda _: None)


def jumps(app: DeltaMergeApp) -> Iterable[SystemCommand]:
    """Found when they are typed for; not listed before."""
    for name in _tables(app):
        yield _jump(f"Table: {visible(name)}", "Open this table", partial(_open_table, app, name))
    for number, table in app.merges.items():
        yield _jump(f"Merge {number}: {visible(table) or 'new'}", "Go to this merge", partial(app.action_merge, number))
    for one in app.recent:
        title = f"History: {visible(one.table)} {local_time(one.started_at, seconds=False)} {kind(one.kind)}"
        yield _jump(f"{title} {one.status} {visible(one.op_id)}", "Show this operation",
                    partial(_show_operation, app, one.op_id))  # fmt: skip


def _jump(title: str, help: str, run: Callable[[], None]) -> SystemCommand:
    return SystemCommand(title, help, run, discover=False)


def _tables(app: DeltaMergeApp) -> Iterable[str]:
    """Those that Spark told of, and those of the last time."""
    from console.places.tables.tables import TablesPlace

    names = dict.fromkeys(table.name for table in app.catalog.known_tables())
    for place in app.open_places():
        if isinstance(place, TablesPlace):
            names.update(dict.fromkeys(table.name for group in place.table_list.groups for table in group.tables or ()))
    return names


def _open_table(app: DeltaMergeApp, name: str) -> None:
    place = cast("TablesPlace", app.go_to("tables"))
    place.call_after_refresh(place.open_table, name)


def _show_operation(app: DeltaMergeApp, op_id: str) -> None:
    place = cast("HistoryPlace", app.go_to("history"))
    place.call_after_refresh(place.show_operation, op_id)
