"""What is shown of a table, each view a page. Called in a worker: pure functions over the backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from console import garbage
from console.places.statement.file_classes import by_size
from console.places.tables.scan_page import scan_page
from console.places.tables.statistics_page import bounds, statistics_page
from console.places.tables.table_shown import Shown
from console.widgets.page import Column, FileMap, Head, LazyRows, MapMode, Page, Row, Table, sentence, with_values
from console.words import column_sentences
from console.words.format import count, local_time, number, parse_time, short_id, size
from console.words.visible import visible
from engine.sql.names import statistics_key

if TYPE_CHECKING:
    from console.backend import Backend
    from engine.model.browse import DataFile, TableDetail, TableVersion
    from engine.model.value import Cells

FILES_LIMIT = 100_000
HOUR = 3600.0
AGES = (
    ("n", "in the newest hour", HOUR),
    ("d", "within a day of it", 24 * HOUR),
    ("w", "within a week", 7 * 24 * HOUR),
    ("m", "within a month", 31 * 24 * HOUR),
    ("o", "older or unknown", float("inf")),
)
VERSIONS_LIMIT = 100
FEWEST, MORE, MOST_ROWS = 100, 10, 10_000
"""Rows are asked for by the hundred, then ten times as many, never more than the last."""


Fact = tuple[str, str, "int | str | None"]
"""A name, its value for people, and for programs."""
Build = Callable[["Backend", Shown, "TableDetail"], Page]


def columns_page(_backend: Backend, _shown: Shown, detail: TableDetail) -> Page:
    has_values = any(map(column_sentences.value, detail.columns))
    rows: list[Row] = [
        (
            str(position),
            visible(column.name),
            visible(column.type),
            "" if column.nullable else "not null",
            _role(column.name, detail),
            *((column_sentences.value(column),) if has_values else ()),
            visible(column.comment),
        )
        for position, column in enumerate(detail.columns, start=1)
    ]
    columns = [
        Column("#", align="right"),
        Column("column"),
        Column("type"),
        Column("", name="constraint"),
        Column("role"),
        *((Column("value", fit="end"),) if has_values else ()),
        Column("comment", fit="end"),
    ]
    return Page(table=Table(columns, rows, "This table has no columns.", key=lambda at: detail.columns[at].name))


def properties_page(_backend: Backend, _shown: Shown, detail: TableDetail) -> Page:
    facts: list[Fact] = [
        ("location", detail.path, detail.path),
        ("format", detail.format, detail.format),
        *_of_delta(detail),
        ("created", local_time(detail.created_at, zone=True), detail.created_at),
        ("last modified", local_time(detail.last_modified, zone=True), detail.last_modified),
        ("description", detail.description or "none", detail.description),
        _names("partitioned by", detail.partition_columns),
        _names("clustered by", detail.clustering_columns),
        *((name, value, value) for name, value in sorted(detail.properties.items())),
    ]
    rows: list[Row] = [(visible(name), visible(shown)) for name, shown, _ in facts]
    values = Column("value", fit="end", value=lambda at: _plain(facts[at][2]))
    return Page(table=Table([Column("property"), values], rows, key=lambda at: facts[at][0]))


def _of_delta(detail: TableDetail) -> list[Fact]:
    """What the log of a Delta table alone says."""
    if detail.version is None:
        return []
    protocol = f"reader {detail.min_reader_version}, writer {detail.min_writer_version}"
    return [
        ("table id", detail.table_id, detail.table_id),
        ("version", str(detail.version), detail.version),
        ("size", size(detail.num_bytes), detail.num_bytes),
        ("files", number(detail.num_files), detail.num_files),
        ("protocol", protocol, protocol),
        _names("features", detail.features),
    ]


def _names(of: str, names: Sequence[str]) -> Fact:
    return of, ", ".join(names) or "none", ", ".join(names)


def _plain(value: int | str | None) -> int | str | None:
    return visible(value) if isinstance(value, str) else value


def versions_page(backend: Backend, shown: Shown, _detail: TableDetail) -> Page:
    table = versions_table(backend.table_versions(shown.name, VERSIONS_LIMIT))
    newest = f"The newest {VERSIONS_LIMIT}. " if len(table.rows) >= VERSIONS_LIMIT else ""
    head = (sentence(f"{newest}Enter shows the rows as of a version."),) if table.rows else ()
    return Page(head, table)


def versions_table(versions: Sequence[TableVersion]) -> Table:
    names_users = any(version.user for version in versions)
    rows: list[Row] = [
        (
            str(version.version),
            local_time(version.timestamp),
            visible(version.operation),
            *((visible(version.user),) if names_users else ()),
            _metrics(version, number),
            _by(version),
        )
        for version in versions
    ]
    columns = [
        Column("version", align="right"),
        Column("time", value=lambda at: versions[at].timestamp),
        Column("operation"),
        *((Column("user"),) if names_users else ()),
        Column("what it did", value=lambda at: _metrics(versions[at], str)),
        Column("by", fit="end"),
    ]
    return Table(columns, rows, "This table has no history.", key=lambda at: versions[at].version)


def files_page(backend: Backend, shown: Shown, detail: TableDetail) -> Page:
    files = _files(backend, shown.name, detail.table_id, detail.version)
    # a column or thirty: those that Delta keeps statistics of
    keys = {column.name: statistics_key(column.name) for column in detail.columns}
    bounded = [name for name, key in keys.items() if any(key in file.min_values for file in files[:100])]
    has_vectors = any(file.deletion_vector_rows for file in files)
    columns = [
        Column("file", fit="file"),
        Column("size", align="right", value=lambda at: files[at].bytes),
        Column("rows", align="right", value=lambda at: files[at].rows),
        *(
            [Column("marked deleted", align="right", value=lambda at: files[at].deletion_vector_rows)]
            if has_vectors
            else []
        ),
        *(Column(name) for name in detail.partition_columns),
        Column("modified", value=lambda at: files[at].modified_at),
        *(Column(name, beyond=True) for name in bounded),
    ]

    def row(file: DataFile) -> Row:
        return (
            visible(file.path),
            size(file.bytes),
            number(file.rows),
            *([number(file.deletion_vector_rows)] if has_vectors else []),
            *(_cell(file.partition, name) for name in detail.partition_columns),
            local_time(file.modified_at),
            *(bounds(file, name) for name in bounded),
        )

    table = Table(columns, LazyRows(files, row), "This version has no files.", key=lambda at: files[at].path)
    return Page(_files_head(files, detail), table, _map(files))


@lru_cache(maxsize=1)
def _files(backend: Backend, name: str, _table_id: str, version: int | None) -> list[DataFile]:
    """The files of a version: several views are made of them, and a long log is read once."""
    with garbage.put_off():
        files = backend.table_files(name, FILES_LIMIT, version)
        garbage.stays(len(files))
    return files


def _map(files: Sequence[DataFile]) -> FileMap | None:
    """By size, and by age as against the newest file: when a table rests, its files do not grow old on screen."""
    modes = [by_size([file.bytes for file in files])]
    # a commit writes many files at once: each of its times is read once
    times = {text: parse_time(text) for text in {file.modified_at for file in files} if text}
    known = [time for time in times.values() if time is not None]
    if known:
        newest = max(known)
        ages = {text: _age((newest - time).total_seconds()) for text, time in times.items() if time is not None}
        of_files = [ages.get(file.modified_at or "", len(AGES) - 1) for file in files]
        modes.append(MapMode("age", [(letter, words) for letter, words, _ in AGES], of_files.__getitem__))
    return FileMap(len(files), modes) if files else None


def _age(seconds: float) -> int:
    return next(kind for kind, (_, _, most) in enumerate(AGES) if seconds <= most)


def rows_page(backend: Backend, shown: Shown, detail: TableDetail) -> Page:
    percent, of = _sample(backend, shown, detail) if shown.sampled else (None, "")
    version = detail.version if shown.version is None else shown.version
    page = backend.table_rows(shown.name, shown.rows, version, percent)
    # numbers line up, whatever their width
    columns = [Column(column.name, align="right" if _is_number(column.type) else "left") for column in page.columns]
    rows: list[Row] = [tuple(None if cell is None else visible(cell) for cell in row) for row in page.rows]
    when = "" if shown.version is None else f" as of version {shown.version}"
    more = "there are more" if page.more else "that is all"
    if of:
        more = of if percent is not None else f"{more}; the first ones, not by chance: {of}"
    cut = "" if page.cut is None else f"cells of more than {count(page.cut, 'character')} are cut"
    fewer = " Opened again, the table has fewer rows and more of each." if cut and shown.rows > FEWEST else ""
    whole = f"{cut.capitalize()}.{fewer}" if cut else "Enter shows a row in full."
    text = sentence(f"{count(len(rows), 'row')}{when}; {more}. {whole}")
    empty = "Chance gave no row." if percent is not None else f"This table has no rows{when}."
    # of a share of the rows there are more, unless it is all of them
    is_part = page.more if percent is None else percent < 100
    table = Table(with_values(columns, page.rows), rows, empty, more=is_part, cut=cut)
    return Page((text,) if rows else (), table)


def _sample(backend: Backend, shown: Shown, detail: TableDetail) -> tuple[float | None, str]:
    """How many percent of the table give about as many rows as are wanted, and what they are told to be."""
    if not shown.is_newest(detail.version):
        # the files that are known are those of the newest version
        return None, "that is for the newest version"
    files = _files(backend, shown.name, detail.table_id, detail.version)
    if any(file.rows is None for file in files):
        return None, "files without statistics do not tell how many rows there are"
    # the log of a large table is listed in part
    rows = sum(file.rows or 0 for file in files) * max(detail.num_files or 0, len(files)) // max(len(files), 1)
    return min(100 * shown.rows / max(rows, 1), 100.0), f"drawn by chance of about {number(rows)}: all files are read"


def statistics(backend: Backend, shown: Shown, detail: TableDetail) -> Page:
    return statistics_page(_files(backend, shown.name, detail.table_id, detail.version), detail)


def describe_page(backend: Backend, shown: Shown, _detail: TableDetail) -> Page:
    rows = [tuple(map(visible, line)) for line in backend.describe_table(shown.name)]
    columns = [Column("col_name"), Column("data_type", fit="end"), Column("comment", fit="end")]
    head = (sentence("DESCRIBE TABLE EXTENDED, by Spark itself.", "$foreground-muted"),)
    return Page(head, Table(columns, rows))


def advice_page(backend: Backend, shown: Shown, _detail: TableDetail) -> Page:
    found = backend.table_advice(shown.name)
    rows: list[Row] = [tuple(map(visible, (one.sentence, one.evidence, one.command))) for one in found]
    columns = [Column("advice", fit="end"), Column("evidence", fit="end"), Column("the command, run by you", fit="end")]
    of_what = "Out of the table's files and its newest applied merges in the history, 20 at most."
    head = (sentence(f"{of_what} Enter shows one in full."),)
    return Page(head, Table(columns, rows, "Nothing to advise.", key=lambda at: found[at].code + found[at].command))


VIEWS: dict[str, tuple[str, Build]] = {
    "columns": ("Columns", columns_page),
    "properties": ("Properties", properties_page),
    "versions": ("Versions", versions_page),
    "files": ("Files", files_page),
    "scan": ("Scan", scan_page),
    "advice": ("Advice", advice_page),
    "rows": ("Rows", rows_page),
    "statistics": ("Statistics", statistics),
    "describe": ("Describe", describe_page),
}


def _role(name: str, detail: TableDetail) -> str:
    roles = []
    if name in detail.partition_columns:
        roles.append("partition")
    if name in detail.clustering_columns:
        roles.append("cluster")
    return ", ".join(roles)


def _metrics(version: TableVersion, written: Callable[[int], str]) -> str:
    """The row counts of an operation, in words; ``written``: how a number is."""
    words = {
        "numTargetRowsUpdated": "updated",
        "numTargetRowsInserted": "inserted",
        "numTargetRowsDeleted": "deleted",
        "numOutputRows": "written",
        "numUpdatedRows": "updated",
        "numDeletedRows": "deleted",
        "numRemovedFiles": "removed",
        "numAddedFiles": "added",
        "numRestoredFiles": "restored",
    }
    parts = []
    for metric, word in words.items():
        value = version.metrics.get(metric, "")
        if value.isdecimal() and (told := int(value)):
            noun = "" if not metric.endswith("Files") else " file" if told == 1 else " files"
            parts.append(f"{written(told)}{noun} {word}")
    return visible(", ".join(parts))


def _by(version: TableVersion) -> str:
    """What the commit says of itself; a plan of this console is named shortly."""
    from engine.table.commits import metadata_of

    plan_id, own = metadata_of(version.user_metadata)
    return visible(", ".join(filter(None, (f"plan {short_id(plan_id)}" if plan_id else "", own))))


def _files_head(files: list[DataFile], detail: TableDetail) -> Head:
    if not files:
        return ()
    shown = count(len(files), "file")
    if detail.num_files is not None and len(files) < detail.num_files:
        return (sentence(f"The first {shown} of {number(detail.num_files)} ({size(detail.num_bytes)} in all)."),)
    return (sentence(f"{shown}, {size(sum(file.bytes for file in files))} in all."),)


def _cell(cells: Cells, name: str) -> str | None:
    value = cells.get(name)
    return None if value is None else visible(value)


def _is_number(type_name: str) -> bool:
    return type_name.lower().startswith(("tinyint", "smallint", "int", "bigint", "float", "double", "decimal"))
