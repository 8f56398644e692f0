"""Why Delta kept or skipped a file: computed when it is asked for, never stored for every file.

The verdicts are Delta's own: each predicate is asked for its files by itself, so strings are compared as far as the log
keeps them, timestamps with their millisecond, and a file without a statistic is kept. What is shown beside a verdict is
what the log holds of the columns that the predicate names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from engine.merge.analyze import Expression
from engine.model.browse import Column
from engine.model.counted import count
from engine.table.log_file import LogFile, statistics_of

# the first that a table has counts (StatisticsCollection.configuredDeltaStatsColumnSpec)
INDEXED_BY = ("delta.dataSkippingStatsColumns", "delta.dataSkippingNumIndexedCols")
STRING_PREFIX = 32  # delta.dataSkippingStringPrefixLength, unless a table sets another


@dataclass(frozen=True)
class ColumnFacts:
    """What the log holds of one column in one file.

    ``partition`` is true for a partition column, whose one value is both ``low`` and ``high``; ``nulls`` counts rows.
    All are None where there are no statistics. ``note`` says what to mind when comparing.
    """

    column: str
    partition: bool
    low: str | None
    high: str | None
    nulls: int | None
    note: str = ""

    def __str__(self) -> str:
        if self.partition:
            bounds = f"{self.column} = {'NULL' if self.low is None else self.low}"
        elif self.low is None and self.high is None:
            bounds = self.column
        else:
            bounds = f"{self.column} from {self.low} to {self.high}"
        return f"{bounds} ({self.note})" if self.note else bounds


@dataclass(frozen=True)
class Evidence:
    """One predicate and one file: whether Delta keeps the file for it, and the facts it judged by."""

    predicate: str
    kept: bool
    facts: tuple[ColumnFacts, ...]

    def __str__(self) -> str:
        return f"{'kept' if self.kept else 'skipped'} by {self.predicate}: {', '.join(map(str, self.facts))}"


@dataclass(frozen=True)
class FileEvidence:
    """One file under all predicates of the plan as typed. With none every file is kept."""

    path: str
    kept: bool
    rows: int | None
    evidence: tuple[Evidence, ...]


class Evident(Sequence[FileEvidence]):
    """The evidence of ``files``, in their order, each computed when it is asked for."""

    def __init__(self, files: Sequence[LogFile], evidence: Callable[[LogFile], FileEvidence]) -> None:
        self._files = files
        self._evidence = evidence

    def __len__(self) -> int:
        return len(self._files)

    @overload
    def __getitem__(self, at: int) -> FileEvidence: ...
    @overload
    def __getitem__(self, at: slice) -> Evident: ...
    def __getitem__(self, at: int | slice) -> FileEvidence | Evident:
        if isinstance(at, slice):
            return Evident(self._files[at], self._evidence)
        return self._evidence(self._files[at])


def file_evidence(
    physical: Mapping[str, str],
    detail: Any,
    files: Sequence[LogFile],
    after: Sequence[LogFile],
    parts: Sequence[Expression],
    schema: Sequence[Column],
    kept: Callable[[Sequence[str]], Sequence[LogFile]],
) -> Sequence[FileEvidence]:
    """Each predicate's verdict on each file, with what the log holds of the columns that it names: read when it is
    looked at, since there may be many files and few are. ``physical`` has the names of columns that the log calls by
    another."""
    properties = dict(detail["properties"] or {})
    indexed = next((f"{name} = {properties[name]}" for name in INDEXED_BY if name in properties), "")
    partitions = {name.lower() for name in detail["partitionColumns"] or ()}
    left = {file.path for file in after}
    judged = []
    for part in parts:
        by_this = left if len(parts) == 1 else {file.path for file in kept([part.text])}
        judged.append((part.typed, by_this, [column for column in schema if column.name in part.source_columns]))

    def evidence(file: LogFile) -> FileEvidence:
        return FileEvidence(
            path=file.path,
            kept=file.path in left,
            rows=file.rows,
            evidence=tuple(
                Evidence(
                    text,
                    file.path in by_this,
                    tuple(
                        facts(file, column, physical.get(column.name, column.name), partitions, indexed)
                        for column in used
                    ),
                )
                for text, by_this, used in judged
            ),
        )

    return Evident(files, evidence)


def facts(file: LogFile, column: Column, physical_name: str, partitions: Collection[str], indexed: str) -> ColumnFacts:
    """What the log, which calls it ``physical_name``, holds of ``column`` in ``file``. Pure.

    ``indexed`` is the table property that limits the columns whose statistics Delta uses, or "": it may have been set
    after the statistics were written.
    """
    if column.name.lower() in partitions:
        value = file.partition.get(physical_name)
        return ColumnFacts(column.name, True, value, value, None)
    if not file.stats:
        return ColumnFacts(column.name, False, None, None, None, "no statistics, so it is kept")
    stats = statistics_of(file.stats)
    low = stats.get("minValues", {}).get(physical_name)
    high = stats.get("maxValues", {}).get(physical_name)
    counted = stats.get("nullCount", {}).get(physical_name)
    if isinstance(low, dict) or isinstance(high, dict) or isinstance(counted, dict):
        return ColumnFacts(column.name, False, None, None, None, "a struct: its fields have statistics of their own")
    nulls = counted if isinstance(counted, int) else None
    return ColumnFacts(
        column=column.name,
        partition=False,
        low=None if low is None else _text(low),
        high=None if high is None else _text(high),
        nulls=nulls,
        note=_note(column, low, high, nulls, stats, indexed),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _note(column: Column, low: object, high: object, nulls: int | None, stats: dict[str, Any], indexed: str) -> str:
    notes = []
    counted = stats.get("numRecords")
    rows = counted if isinstance(counted, int) else None
    if low is None and high is None:
        if nulls is None:
            notes.append("no statistics of this column, so it is kept")
        elif nulls == rows:
            notes.append("only NULLs")
        else:
            notes.append("no bounds")
    if nulls and nulls != rows:
        notes.append(f"{nulls:,} NULL of {count(rows, 'row')}" if rows is not None else f"{nulls:,} NULL")
    if column.type == "string" and max(len(str(low or "")), len(str(high or ""))) >= STRING_PREFIX:
        notes.append(f"cut at {STRING_PREFIX} characters")
    if column.type.startswith("timestamp") and high is not None:
        notes.append("Delta adds 1 ms to the maximum")
    if stats.get("tightBounds") is False:
        notes.append("wider than the live rows: a deletion vector marks some")
    if indexed:
        notes.append(f"used only if the column is indexed: {indexed}")
    return ", ".join(notes)
