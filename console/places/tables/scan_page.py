"""Why Delta keeps or skips each file of a table under a predicate, as a page. Pure functions but for the asking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from console.places.tables.table_shown import Shown
from console.widgets.page import Column, FileMap, Head, LazyRows, MapMode, Page, Row, Table, facts, sentence
from console.words.format import count, number, size
from console.words.visible import visible

if TYPE_CHECKING:
    from console.backend import Backend
    from engine.explore.scan_explorer import QueryScan, ScanExplained, Size
    from engine.explore.skipping import Evidence, FileEvidence
    from engine.model.browse import TableDetail

ASK = (
    "Type what would stand after WHERE in a SELECT of this table, or a whole query, into the field above; enter asks "
    "Delta which files are left, and why. No data is read."
)
SCANS = (
    "The Delta tables that the query reads, and the files that Delta leaves of each. Equal scans are listed once. "
    "Where scans of a table differ, the files are those of all of them, and the number is estimated; what a subquery "
    "alone reads is unknown."
)
NO_COLUMN = "What names no column, as 1 = 0, Delta counts as a predicate on partitions."
# from quiet to loud
VERDICTS = (
    ("p", "partition"),
    ("g", "derived filter"),
    ("s", "statistics"),
    ("k", "kept"),
)
PARTITION, DERIVED, STATISTICS, KEPT = range(4)


def scan_page(backend: Backend, shown: Shown, detail: TableDetail) -> Page:
    """The files that a read with the predicate of ``shown`` leaves, those first."""
    if not shown.predicate.strip():
        return Page((sentence(ASK, "$foreground-muted"),))
    from engine.explore.scan_explorer import is_query

    if is_query(shown.predicate):
        return query_page(shown.predicate, backend.explore_query(shown.predicate))
    return page_of(backend.explore_scan(shown.name, shown.predicate, detail.version))


def query_page(query: str, scans: Sequence[QueryScan]) -> Page:
    def row(scan: QueryScan) -> Row:
        return (
            visible(scan.table),
            *_files_and_size(scan.after),
            scan.accuracy,
            *_files_and_size(scan.before),
            f"v{scan.version}" if scan.version is not None else "as written",
            number(scan.times),
            visible(" AND ".join(scan.filters)) or "none",
        )

    def of(label: str, value: Callable[[QueryScan], int | None]) -> Column:
        return Column(label, align="right", value=lambda at: value(scans[at]))

    columns = [
        Column("table"),
        of("files left", lambda scan: scan.after.files if scan.after else None),
        of("size left", lambda scan: scan.after.bytes if scan.after else None),
        Column("that is"),
        of("of files", lambda scan: scan.before.files if scan.before else None),
        of("of size", lambda scan: scan.before.bytes if scan.before else None),
        Column("version"),
        of("scans", lambda scan: scan.times),
        Column("filters", fit="end"),
    ]
    head = (*facts([("query", query)]), sentence(SCANS))
    table = Table(
        columns,
        LazyRows(scans, row),
        "The query reads no Delta table.",
        key=lambda at: (scans[at].table, scans[at].filters),
    )
    return Page(head, table)


def _files_and_size(of: Size | None) -> tuple[str, str]:
    return (number(of.files), size(of.bytes)) if of is not None else ("?", "?")


def page_of(found: ScanExplained) -> Page:
    order = sorted(range(len(found.paths)), key=lambda at: found.paths[at] not in found.kept)
    verdicts = [verdict(found.paths[at], found) for at in order]

    def row(at: int) -> Row:
        file = found.files[at]
        sign = " ".join(VERDICTS[verdict(file.path, found)])
        return (sign, visible(file.path), number(file.rows), visible(why(file, found)))

    rows = Column("rows", align="right", value=lambda at: found.files[order[at]].rows)
    columns = [Column("verdict"), Column("file", fit="file"), rows, Column("why", fit="end")]
    table = Table(columns, LazyRows(order, row), "This version has no files.", key=lambda at: found.paths[order[at]])
    return Page(_head(found), table, _map(verdicts))


def _head(found: ScanExplained) -> Head:
    known = [
        # another may be typed by now
        ("predicate", found.predicate),
        ("before", f"{_size(found.before)}, v{found.version}"),
        ("after partitions", ("at most " if found.unasked else "") + _size(found.after_partitions)),
        ("after statistics", _size(found.after_statistics)),
        *(("derived filter", text) for text in found.generated),
    ]
    notes = [sentence(found.note, "$text-warning")] if found.note else []
    if found.before.partitions <= 1 and found.after_partitions.files < found.before.files:
        notes.append(sentence(NO_COLUMN, "$foreground-muted"))
    return (*facts(known), *notes)


def _size(of: Size) -> str:
    where = f" in {count(of.partitions, 'partition')}" if of.partitions > 1 else ""
    return f"{count(of.files, 'file')}, {size(of.bytes)}{where}"


def _map(verdicts: Sequence[int]) -> FileMap | None:
    return FileMap(len(verdicts), [MapMode("skipped by", VERDICTS, verdicts.__getitem__)]) if verdicts else None


def verdict(path: str, found: ScanExplained) -> int:
    """PARTITION if a predicate on partition columns prunes the file, DERIVED if one of generated columns does,
    STATISTICS if only the statistics do, or KEPT."""
    if path in found.kept:
        return KEPT
    if path not in found.pruned:
        return STATISTICS
    return DERIVED if path in found.derived else PARTITION


def why(file: FileEvidence, found: ScanExplained) -> str:
    """The predicates that skip a file, or all that keep it, each after what the log holds of their columns."""
    if verdict(file.path, found) == DERIVED:
        return "; ".join(found.generated)
    # a file that no predicate skips alone is skipped by all together
    evidence = [one for one in file.evidence if one.kept == file.kept] or list(file.evidence)
    if verdict(file.path, found) == PARTITION:
        # the statistics may tell the same, but it is not by them that the file is skipped
        evidence.sort(key=lambda one: not all(fact.partition for fact in one.facts))
    # true keeps every file, and is no reason
    reasons = [one for one in evidence if one.facts or not one.kept]
    return "; ".join(map(_told, reasons)) or "no predicate names a column"


def _told(one: Evidence) -> str:
    held = ", ".join(map(str, one.facts))
    return f"{held} for {one.predicate}" if held else one.predicate
