"""Why Delta keeps or skips each file of a table under a predicate, as a page. Pure functions but for the asking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from console.format import count, number, size
from console.places.table_shown import Shown
from console.visible import visible
from console.widgets.page import Column, FileMap, Head, LazyRows, MapMode, Page, Row, Table, facts, sentence

if TYPE_CHECKING:
    from console.backend import Backend
    from engine.scan_explorer import ScanExplained, Size
    from engine.skipping import Evidence, FileEvidence
    from engine.values import TableDetail

ASK = (
    "Type what would stand after WHERE in a SELECT of this table (e goes there); enter asks Delta which files are "
    "left, and why. No data is read."
)
# from quiet to loud
VERDICTS = (
    ("p", "partition"),
    ("g", "derived filter"),
    ("s", "statistics"),
    ("k", "kept"),
)
PARTITION, DERIVED, STATISTICS, KEPT = range(4)


def scan_page(backend: Backend, shown: Shown, _detail: TableDetail) -> Page:
    """The files that a read with the predicate of ``shown`` leaves, those first."""
    if not shown.predicate.strip():
        return Page((sentence(ASK, "$foreground-muted"),))
    return page_of(backend.explore_scan(shown.name, shown.predicate, shown.version))


def page_of(found: ScanExplained) -> Page:
    files = sorted(found.files, key=lambda file: not file.kept)
    columns = [Column("verdict"), Column("file", fit="file"), Column("rows", align="right"), Column("why", fit="end")]
    table = Table(columns, LazyRows(files, _row), "This version has no files.")
    return Page(_head(found), table, _map(files))


def _head(found: ScanExplained) -> Head:
    known = [
        ("before", f"{_size(found.before)}, v{found.version}"),
        ("after partitions", _size(found.after_partitions)),
        ("after statistics", _size(found.after_statistics)),
        *(("derived filter", text) for text in found.generated),
    ]
    return (*facts(known), *((sentence(found.note, "$text-warning"),) if found.note else ()))


def _size(of: Size) -> str:
    where = f" in {count(of.partitions, 'partition')}" if of.partitions > 1 else ""
    return f"{count(of.files, 'file')}, {size(of.bytes)}{where}"


def _map(files: Sequence[FileEvidence]) -> FileMap | None:
    verdicts = [verdict(file) for file in files]
    return FileMap(len(files), [MapMode("skipped by", VERDICTS, verdicts.__getitem__)]) if files else None


def verdict(file: FileEvidence) -> int:
    """PARTITION, STATISTICS or KEPT; DERIVED where no predicate as typed skips it: a filter derived of them does."""
    if file.kept:
        return KEPT
    skipping = [one for one in file.evidence if not one.kept]
    if not skipping:
        return DERIVED
    return PARTITION if any(all(fact.partition for fact in one.facts) for one in skipping) else STATISTICS


def _row(file: FileEvidence) -> Row:
    word = VERDICTS[verdict(file)][1]
    return (word if file.kept else f"skipped by {word}", visible(file.path), number(file.rows), visible(why(file)))


def why(file: FileEvidence) -> str:
    """The predicates that skip a file, or all that keep it, each with what the log holds of their columns."""
    told = [one for one in file.evidence if one.kept == file.kept]
    if not told:
        return "a filter derived from a generated column" if not file.kept else "there is nothing to judge it by"
    return "; ".join(map(_told, told))


def _told(one: Evidence) -> str:
    held = ", ".join(map(str, one.facts))
    return f"{held} for {one.predicate}" if held else one.predicate
