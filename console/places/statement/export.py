"""Writes the rows that are shown to a file: CSV, JSON or Parquet, by the ending of its name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from console.dialogs.path import PathDialog, bare_name, expanded
from console.words.format import count
from engine.files import write_private

if TYPE_CHECKING:
    from console.places.place import Place
    from console.widgets.page import Row, Table

NEEDS_QUOTES = re.compile('[",\r\n]')
EMPTY = '""'


def ask_where_to_export(place: Place, table: Table, name: str) -> None:
    """Ask for a path, then write every row of the table there."""
    dialog = PathDialog(
        f"Export {count(len(table.rows), 'row')}",
        f"Numbers, sizes and texts are in full{f', but {table.cut}' if table.cut else ''}; all are written as texts. "
        f"A name that ends in .csv, .json or .parquet says which; the file is yours alone to read. {bare_name()}",
        value=f"{name}.csv",
        accept_label="export",
        check=_why_not,
        ask_twice=lambda path: _exists(place) if expanded(path).exists() else None,
    )
    place.app.push_screen(dialog, partial(_export, place, table))


def as_csv(table: Table) -> str:
    """With a line of names. NULL is an empty cell and an empty text is in quotes, as they are to Spark; in a single
    column both are in quotes, for readers of CSV skip empty lines."""
    lines = (table.names, *plain_rows(table))
    return "".join(f"{','.join(map(_in_csv, line)) or EMPTY}\n" for line in lines)


def _in_csv(cell: str | None) -> str:
    if cell is None:
        return ""
    return '"{}"'.format(cell.replace('"', '""')) if not cell or NEEDS_QUOTES.search(cell) else cell


def as_json(table: Table) -> str:
    """An object a line, as Spark reads and writes JSON. All values are texts, NULL is null."""
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in _objects(table))


def as_parquet(table: Table) -> bytes:
    """Columns of texts, as they are shown."""
    # pyspark[connect] brings it; only an export to Parquet waits for its import
    import pyarrow as pa
    from pyarrow import parquet

    columns = list(zip(*plain_rows(table), strict=True)) or [()] * len(table.columns)
    arrays = [pa.array(column, pa.string()) for column in columns]
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table(arrays, names=table.names), sink)
    return bytes(sink.getvalue())


WRITERS: dict[str, Callable[[Table], str | bytes]] = {".csv": as_csv, ".json": as_json, ".parquet": as_parquet}


def _objects(table: Table) -> Iterator[dict[str, str | None]]:
    names = table.names
    return (dict(zip(names, row, strict=True)) for row in plain_rows(table))


def plain_rows(table: Table) -> Iterator[Row]:
    """The rows for a program to read: ``24200000`` where a person reads ``24.2 MB``."""
    values = [column.value for column in table.columns]
    for at, row in enumerate(table.rows):
        yield tuple(cell if value is None else _text(value(at)) for value, cell in zip(values, row, strict=True))


def _text(value: float | str | None) -> str | None:
    return None if value is None else str(value)


def _why_not(path: str) -> str | None:
    target = expanded(path)
    if target.suffix.lower() not in WRITERS:
        return "The name ends in .csv, .json or .parquet."
    return None if target.parent.is_dir() else f"There is no directory {target.parent}."


def _exists(place: Place) -> str:
    return place.console_app.with_keys("It exists already: {path.insist} overwrites it.")


def _export(place: Place, table: Table, path: str | None) -> None:
    if path is None:
        return
    target = expanded(path)
    write = WRITERS[target.suffix.lower()]
    place.ask(
        "export",
        lambda: write_private(target, write(table), durable=True),
        lambda _: place.notify(f"Written to {target}."),
        lambda failure: place.notify(f"It was not written: {failure.message}", severity="error"),
    )
