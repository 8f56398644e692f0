"""What the palette jumps to: tables, open merges and operations of the history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.app import SystemCommand

from console.words.format import local_time, short_id
from console.words.outcome_sentences import kind, status
from console.words.visible import table_name, visible

if TYPE_CHECKING:
    from console.places.history.history import HistoryPlace
    from console.places.place import Place
    from console.places.tables.tables import TablesPlace
    from console.shell import Shell
    from console.spark_app import SparkApp
    from engine.model.operation import Operation

OPERATIONS = 200


def learn_jumps(app: SparkApp, keep: Callable[[list[Operation]], None]) -> None:
    """Ask for what there is to jump to: it is there by the time that something is typed."""
    # who lists tables or the history says why that fails
    app.ask("operations", lambda: app.backend.history(limit=OPERATIONS), keep, lambda _: None)
    if app.status.spark == "warm" and not app.is_asking("tables"):
        # another program may have made one
        app.ask("tables", app.catalog.ask_tables, lambda _: None, lambda _: None)


def jumps(
    shell: Shell, places: Sequence[Place], operations: Sequence[Operation], go_to_merge: Callable[[int], None]
) -> Iterable[SystemCommand]:
    """Found when they are typed for; not listed before."""
    for name in _tables(shell, places):
        yield _jump(f"Table: {visible(name)}", "Open this table", partial(_open_table, shell, name))
    for number, table in shell.merges.items():
        yield _jump(f"Merge {number}: {visible(table) or 'new'}", "Go to this merge", partial(go_to_merge, number))
    for one in operations:
        title = f"History: {table_name(one.table)} {local_time(one.started_at, seconds=False)} {kind(one)}"
        ids = f"plan {short_id(one.plan_id)} {visible(one.op_id)}"
        yield _jump(f"{title} {status(one)} {ids}", "Show this operation", partial(_show_operation, shell, one.op_id))


def _jump(title: str, help: str, run: Callable[[], None]) -> SystemCommand:
    return SystemCommand(title, help, run, discover=False)


def _tables(shell: Shell, places: Sequence[Place]) -> Iterable[str]:
    """Those that Spark told of, and those of the last time."""
    from console.places.tables.tables import TablesPlace

    names = dict.fromkeys(table.name for table in shell.catalog.known_tables())
    for place in places:
        if isinstance(place, TablesPlace):
            names.update(dict.fromkeys(table.name for group in place.table_list.groups for table in group.tables or ()))
    return names


def _open_table(shell: Shell, name: str) -> None:
    place = cast("TablesPlace", shell.go_to("tables"))
    place.call_after_refresh(place.open_from_elsewhere, name)


def _show_operation(shell: Shell, op_id: str) -> None:
    place = cast("HistoryPlace", shell.go_to("history"))
    place.call_after_refresh(place.show_operation, op_id)
