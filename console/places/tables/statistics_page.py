"""What the log says of each column: bounds and NULLs, out of the statistics of the files. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from console.widgets.page import Column, Page, Row, Table, sentence
from console.words.format import count, number, parse_time, share
from console.words.visible import visible
from engine.sql.names import statistics_key

if TYPE_CHECKING:
    from engine.model.browse import DataFile, TableDetail

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
YEAR = re.compile(r"([+-]?\d+)(-.*)")
TOLD = (
    "Bounds out of the statistics in Delta's log, no data is read: a long text is cut in them, a time to its "
    "millisecond, and rows that a deletion vector marks count."
)


def statistics_page(files: Sequence[DataFile], detail: TableDetail) -> Page:
    """A line for each column of the table; partition columns by their values."""
    told = tuple(_told(files, column.name, column.type, detail) for column in detail.columns)
    rows = tuple(_row(one, files) for one in told)
    columns = [
        Column("column"),
        Column("least", fit="end", value=lambda at: told[at].least),
        Column("most", fit="end", value=lambda at: told[at].most),
        Column("NULLs", align="right", value=lambda at: told[at].nulls),
        Column("of rows", align="right", value=lambda at: told[at].share),
        Column("files with statistics", align="right", value=lambda at: told[at].having),
    ]
    # of files that are not listed nothing is known
    listed = detail.num_files is None or len(files) >= detail.num_files
    part = "" if listed else f"Of the first {count(len(files), 'file')} of {number(detail.num_files)} alone. "
    head = (sentence(f"{part}{TOLD}", "$foreground-muted"),) if rows else ()
    return Page(head, Table(columns, rows, "This table has no columns.", key=lambda at: told[at].name))


@dataclass(frozen=True)
class _Told:
    """What the files say of one column; None: they do not."""

    name: str
    least: str | None
    most: str | None
    nulls: int | None
    rows: int | None
    """Of all files, with those that a deletion vector marks: they are in the counts of NULLs, too."""
    having: int
    """So many files say something."""
    is_struct: bool = False

    @property
    def share(self) -> float | None:
        return None if self.nulls is None or not self.rows else self.nulls / self.rows


def _told(files: Sequence[DataFile], name: str, type_: str, detail: TableDetail) -> _Told:
    rows, key, column = _sum(map(_written, files)), ordering(type_), statistics_key(name)
    if name in detail.partition_columns:
        values = [file.partition.get(name) for file in files]
        known = sorted({value for value in values if value is not None}, key=key)
        nulls = _sum(_written(file) for file in files if file.partition.get(name) is None)
        least, most = (visible(known[0]), visible(known[-1])) if known else (None, None)
        return _Told(visible(name), least, most, nulls, rows, len(files))
    if type_.lower().startswith("struct<"):
        inside = sum(any(one.startswith(f"{column}.") for one in file.null_counts) for file in files)
        return _Told(visible(name), None, None, None, rows, inside, is_struct=True)
    having = sum(column in file.null_counts or file.min_values.get(column) is not None for file in files)
    lows = [low for file in files if (low := file.min_values.get(column)) is not None]
    highs = [high for file in files if (high := file.max_values.get(column)) is not None]
    nulls = _sum(file.null_counts.get(column) for file in files)
    # a bound of some files is no bound of the column
    is_whole = having == len(files)
    least = visible(min(lows, key=key)) if lows and is_whole else None
    most = visible(max(highs, key=key)) if highs and is_whole else None
    return _Told(visible(name), least, most, nulls, rows, having)


def _written(file: DataFile) -> int | None:
    return None if file.rows is None else file.rows + file.deletion_vector_rows


def _sum(counts: Iterable[int | None]) -> int | None:
    """None if a file does not say."""
    known, unknown = 0, False
    for one in counts:
        known, unknown = known + (one or 0), unknown or one is None
    return None if unknown else known


def _row(told: _Told, files: Sequence[DataFile]) -> Row:
    cells = ("?" if one is None else one for one in (told.least, told.most))
    part = "" if told.nulls is None or told.rows is None else share(told.nulls, told.rows)
    having = f"{'of its fields: ' if told.is_struct else ''}{_of(told.having, files)}"
    return (told.name, *cells, number(told.nulls), part, having)


def _of(having: int, files: Sequence[DataFile]) -> str:
    return f"{number(having)} of {count(len(files), 'file')}"


def ordering(type_: str) -> Callable[[str], Any]:
    """How texts of a type are in order: numbers by their value, times as moments, dates by their year, texts as they
    are."""
    if type_.lower().startswith(NUMBERS):
        return _by_value
    if type_.lower().startswith("timestamp"):
        return _by_moment
    return _by_year if type_.lower() == "date" else str


def _by_value(text: str) -> tuple[int, Decimal]:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return (2, Decimal(0))
    # for Spark it is the greatest of all numbers, and Python compares it with none
    return (1, Decimal(0)) if value.is_nan() else (0, value)


def _by_moment(text: str) -> tuple[int, datetime | tuple[int, str]]:
    """Delta writes a time with the offset that its session had there and then."""
    moment = parse_time(text)
    # Python's years are 1 to 9999
    return (0, moment) if moment is not None else (-1 if text.startswith("-") else 1, _by_year(text))


def _by_year(text: str) -> tuple[int, str]:
    """A year may have a sign, and more than four digits: ``-0005-01-01``, ``+10000-01-01``."""
    found = YEAR.match(text)
    return (int(found[1]), found[2]) if found else (0, text)


def bounds(file: DataFile, name: str) -> str | None:
    """``least … most`` of one column in one file, None if the log does not say."""
    column = statistics_key(name)
    least, most = file.min_values.get(column), file.max_values.get(column)
    if least is None or most is None:
        return None
    return visible(least) if least == most else f"{visible(least)} to {visible(most)}"
