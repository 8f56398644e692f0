"""What the log says of each column: bounds and NULLs, out of the statistics of the files. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from console.widgets.page import Column, Page, Row, Table, sentence
from console.words.format import count, number, share
from console.words.visible import visible

if TYPE_CHECKING:
    from engine.model.browse import DataFile, TableDetail

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
TOLD = (
    "Bounds out of the statistics in Delta's log, no data is read: a long text is cut in them, a time to its "
    "millisecond, and rows that a deletion vector marks count."
)


def statistics_page(files: Sequence[DataFile], detail: TableDetail) -> Page:
    """A line for each column of the table; partition columns by their values."""
    rows = tuple(_row(files, column.name, column.type, detail) for column in detail.columns)
    columns = [
        Column("column"),
        Column("least", fit="end"),
        Column("most", fit="end"),
        Column("NULLs", align="right"),
        Column("of rows", align="right"),
        Column("files with statistics", align="right"),
    ]
    # of files that are not listed nothing is known
    listed = detail.num_files is None or len(files) >= detail.num_files
    part = "" if listed else f"Of the first {count(len(files), 'file')} of {number(detail.num_files)} alone. "
    head = (sentence(f"{part}{TOLD}", "$foreground-muted"),) if rows else ()
    return Page(head, Table(columns, rows, "This table has no columns."))


def _row(files: Sequence[DataFile], name: str, type_: str, detail: TableDetail) -> Row:
    if name in detail.partition_columns:
        values = [file.partition.get(name) for file in files]
        known = sorted({value for value in values if value is not None}, key=ordering(type_))
        nulls = _sum(file.rows for file in files if file.partition.get(name) is None)
        least, most = (known[0], known[-1]) if known else (None, None)
        return _told(name, least, most, nulls, files, len(files))
    if type_.lower().startswith("struct<"):
        inside = sum(any(one.startswith(f"{name}.") for one in file.null_counts) for file in files)
        return (visible(name), "?", "?", "?", "", f"of its fields: {_of(inside, files)}")
    having = [file for file in files if name in file.null_counts or file.min_values.get(name) is not None]
    lows = [low for file in files if (low := file.min_values.get(name)) is not None]
    highs = [high for file in files if (high := file.max_values.get(name)) is not None]
    key = ordering(type_)
    least, most = min(lows, key=key, default=None), max(highs, key=key, default=None)
    nulls = _sum(file.null_counts.get(name) for file in files)
    return _told(name, least, most, nulls, files, len(having))


def _sum(counts: Iterable[int | None]) -> int | None:
    """None if a file does not say."""
    known, unknown = 0, False
    for one in counts:
        known, unknown = known + (one or 0), unknown or one is None
    return None if unknown else known


def _told(
    name: str, least: str | None, most: str | None, nulls: int | None, files: Sequence[DataFile], having: int
) -> Row:
    rows = _sum(file.rows for file in files)
    part = "" if nulls is None or rows is None else share(nulls, rows)
    # a bound of some files is no bound of the column
    cells = ("?" if one is None or having < len(files) else visible(one) for one in (least, most))
    return (visible(name), *cells, number(nulls), part, _of(having, files))


def _of(having: int, files: Sequence[DataFile]) -> str:
    return f"{number(having)} of {count(len(files), 'file')}"


def ordering(type_: str) -> Callable[[str], Any]:
    """How texts of a type are in order: numbers by their value, dates and texts as they are."""

    def by_value(text: str) -> tuple[int, Decimal]:
        try:
            value = Decimal(text)
        except InvalidOperation:
            return (2, Decimal(0))
        # for Spark it is the greatest of all numbers, and Python compares it with none
        return (1, Decimal(0)) if value.is_nan() else (0, value)

    return by_value if type_.lower().startswith(NUMBERS) else str


def bounds(file: DataFile, name: str) -> str | None:
    """``least … most`` of one column in one file, None if the log does not say."""
    least, most = file.min_values.get(name), file.max_values.get(name)
    if least is None or most is None:
        return None
    return visible(least) if least == most else f"{visible(least)} to {visible(most)}"
