"""How a table could be laid out better, out of its own files and the merges that went into it. Runs nothing but reads.

What a layout by a key would have let a past merge skip is asked of the rows: those between the bounds of that merge's
keys (``DerivedConjunct``), as a share of the table. Rows are taken to be spread evenly over the files then, so it is an
estimate.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from engine.merge.session_definitions import if_found
from engine.model.counted import count, number, part_and_verb
from engine.model.plan import Plan
from engine.spark.confs import is_on
from engine.spark.schema import schema_of
from engine.spark.spark_errors import collected, translate
from engine.sql.names import quote, string
from engine.sql.parse import parse_merge
from engine.table.delta_log import live_rows
from engine.table.log_file import LogFile, statistics_of
from engine.table.table_files import logged_files
from engine.table.tables import name_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.ledger.history import History

MERGES, OPERATIONS = 20, 200
SMALL_FILE, GOOD_FILE = 16 << 20, 128 << 20
# what a layout leaves of the bytes that were looked at, at most, to be worth a word
WORTH_HALF = 0.5
TOO_MANY_SMALL = 10
SKEWED, PARTITIONS_TO_COMPARE = 8, 4

Code = Literal["CLUSTER_BY_KEY", "REWRITE_AMPLIFICATION", "SMALL_FILES", "PARTITION_SKEW", "NO_STATISTICS"]


@dataclass(frozen=True)
class LayoutAdvice:
    """``evidence`` is what was counted; ``command`` the SQL that would do it, "" where there is no single one."""

    code: Code
    sentence: str
    evidence: str
    command: str = ""


@dataclass(frozen=True)
class AppliedMerge:
    """A merge of the ledger that was committed into the table. ``metrics`` are what Delta counted, and what was
    promised where it tells nothing."""

    plan: Plan
    metrics: Mapping[str, int]


@dataclass(frozen=True)
class PastMerge:
    """The keys of an applied merge: the bytes it had to look at, and by column what they were between. ``alias`` is the
    target's, "" if it had none: the table's own name stands before its columns then."""

    alias: str
    bytes_read: int
    bounds: dict[str, str]


def advise_layout(spark: SparkSession, name: str, history: History) -> tuple[LayoutAdvice, ...]:
    """Advice for the Delta table ``name`` (SQL text). Raises EngineError."""
    try:
        detail, files = logged_files(spark, name)
        columns = schema_of(spark, f"SELECT * FROM {name}").names
        applied = applied_merges(history, str(detail["id"]))
        merges = past_merges(applied, columns)
        keys = tuple(dict.fromkeys(column for merge in merges for column in merge.bounds))
        return (
            *cluster_by_key(spark, name, detail, files, merges, columns),
            *rows_written_again(name, detail["properties"] or {}, applied),
            *small_files(name, files),
            *partition_skew(files),
            *no_statistics(name, files, keys, columns),
        )
    except Exception as error:
        raise translate(error) from error


def applied_merges(history: History, table_id: str) -> tuple[AppliedMerge, ...]:
    """The newest merges that were committed into the table."""
    merges: list[AppliedMerge] = []
    for operation in history.list(limit=OPERATIONS):
        if operation.kind != "merge" or operation.status != "applied":
            continue
        detail = history.get(operation.op_id)
        if isinstance(detail.plan, Plan) and detail.plan.target.table_id == table_id:
            counted = {} if detail.outcome is None else detail.outcome.metrics
            merges.append(AppliedMerge(detail.plan, {**detail.plan.promise, **counted}))
        if len(merges) == MERGES:
            break
    return tuple(merges)


def past_merges(applied: Iterable[AppliedMerge], columns: Sequence[str]) -> tuple[PastMerge, ...]:
    """Those of which the keys had bounds, by the names of the table's columns."""
    names = {column.lower(): column for column in columns}
    merges: list[PastMerge] = []
    for plan in (one.plan for one in applied):
        typed = {name_parts(one.column)[-1].lower(): one.text for one in plan.scan.derived if one.text}
        bounds = {names[column]: text for column, text in typed.items() if column in names}
        if bounds:
            alias = parse_merge(plan.statement.sql).target.alias or ""
            merges.append(PastMerge(alias, plan.scan.bytes_after, bounds))
    return tuple(merges)


def cluster_by_key(
    spark: SparkSession,
    name: str,
    detail: Any,
    files: Sequence[LogFile],
    merges: Sequence[PastMerge],
    columns: Collection[str],
) -> Iterable[LayoutAdvice]:
    """The key by which the past merges would have had to look at least, if that is half or less of what they did."""
    laid_out = {column.lower() for column in (*detail["partitionColumns"], *(detail["clusteringColumns"] or ()))}
    total, rows = sum(file.bytes for file in files), live_rows(files)
    keys = {column for merge in merges for column in merge.bounds if column.lower() not in laid_out}
    if len(files) < 2 or not rows or not keys:
        return ()
    best: tuple[int, str, int, int] | None = None
    for column, inside in rows_between(spark, name, merges, sorted(keys)).items():
        read = sum(merge.bytes_read for merge in merges if column in merge.bounds)
        needed = sum(_whole_files(count / rows, len(files)) * total // len(files) for count in inside)
        if best is None or read - needed > best[0]:
            best = (read - needed, column, read, needed)
    if best is None or best[3] > WORTH_HALF * best[2]:
        return ()
    _, column, read, needed = best
    of_it = sum(column in merge.bounds for merge in merges)
    if detail["partitionColumns"]:
        command = f"OPTIMIZE {name} ZORDER BY ({quote(column)})"
    else:
        command = f"ALTER TABLE {name} CLUSTER BY ({quote(column)}); OPTIMIZE {name} FULL"
    if _without_bounds(files, column):
        # Delta lays nothing out by a column that it collects no statistics of
        command = f"{_collect_statistics(name, files, column, columns)}; {command}"
    return (
        LayoutAdvice(
            "CLUSTER_BY_KEY",
            f"Laid out by {column}, the table would let merges like the past ones skip most of what they look at.",
            f"{count(of_it, 'merge')} of the ledger keyed by it looked at {_mib(read)}; "
            f"about {_mib(needed)} would have done",
            command,
        ),
    )


def rows_between(
    spark: SparkSession, name: str, merges: Sequence[PastMerge], columns: Sequence[str]
) -> dict[str, list[int]]:
    """By column, how many rows of the table now are between the keys of each merge. One pass for each alias.

    What cannot be asked of the table any more, as of a column that has another type now, is left out.
    """
    shares: dict[str, list[int]] = {column: [] for column in columns}

    def ask(alias: str, asked: Sequence[PastMerge]) -> None:
        bounds = [(column, merge.bounds[column]) for merge in asked for column in columns if column in merge.bounds]
        if not bounds:
            return
        counts = ", ".join(f"count_if({text}\n)" for _, text in bounds)
        query = f"SELECT {counts} FROM {name}{f' AS {alias}' if alias else ''}"
        answer = if_found(lambda: collected(spark, query))
        if answer is not None:
            for (column, _), rows in zip(bounds, answer[0], strict=True):
                shares[column].append(int(rows))
        elif len(asked) > 1:
            for one in asked:
                ask(alias, [one])

    for alias, of_alias in groupby(sorted(merges, key=lambda merge: merge.alias), key=lambda merge: merge.alias):
        ask(alias, list(of_alias))
    return {column: counts for column, counts in shares.items() if counts}


def _whole_files(share: float, files: int) -> int:
    return min(files, int(share * files) + 1)


def rows_written_again(
    name: str, properties: Mapping[str, str], applied: Iterable[AppliedMerge]
) -> Iterable[LayoutAdvice]:
    """Deletion vectors, if the plans of past merges advised them and the table does without."""
    found = [one for one in applied if any(advice.code == "REWRITE_AMPLIFICATION" for advice in one.plan.advice)]
    if not found or is_on(properties, "delta.enableDeletionVectors", "false"):
        return ()
    copied = sum(one.metrics.get("numTargetRowsCopied", 0) for one in found)
    changed = sum(one.metrics.get(f"numTargetRows{done}", 0) for one in found for done in ("Updated", "Deleted"))
    return (
        LayoutAdvice(
            "REWRITE_AMPLIFICATION",
            "With deletion vectors, merges write the rows that change and not those beside them. Readers that do not "
            "know them cannot read the table then.",
            f"{count(len(found), 'merge')} of the ledger wrote {number(copied)} unchanged rows again to change "
            f"{number(changed)}",
            f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        ),
    )


def small_files(name: str, files: Sequence[LogFile]) -> Iterable[LayoutAdvice]:
    """Files that OPTIMIZE would put together, by partition."""
    spare = 0
    small = [file for file in files if file.bytes < SMALL_FILE]
    for _, together in groupby(sorted(small, key=_partition), key=_partition):
        sizes = [file.bytes for file in together]
        spare += len(sizes) - (sum(sizes) // GOOD_FILE + 1)
    if spare < TOO_MANY_SMALL:
        return ()
    return (
        LayoutAdvice(
            "SMALL_FILES",
            "Many files are small: each costs a merge a task and a read of its footer.",
            f"{len(small)} of {len(files)} files are below {SMALL_FILE >> 20} MiB; {spare} fewer would hold the same",
            f"OPTIMIZE {name}",
        ),
    )


def _partition(file: LogFile) -> str:
    return json.dumps(file.partition, sort_keys=True)


def partition_skew(files: Sequence[LogFile]) -> Iterable[LayoutAdvice]:
    """A partition that is many times as large as most."""
    sizes: dict[str, int] = {}
    for file in files:
        if file.partition:
            sizes[_partition(file)] = sizes.get(_partition(file), 0) + file.bytes
    if len(sizes) < PARTITIONS_TO_COMPARE:
        return ()
    middle = statistics.median(sizes.values())
    largest = max(sizes, key=lambda one: sizes[one])
    if sizes[largest] < SKEWED * middle or sizes[largest] < GOOD_FILE:
        return ()
    where = " AND ".join(
        f"{column} IS NULL" if value is None else f"{column} = {string(value)}"
        for column, value in json.loads(largest).items()
    )
    return (
        LayoutAdvice(
            "PARTITION_SKEW",
            f"One partition is {sizes[largest] / middle:.0f} times as large as most: {where}.",
            f"{_mib(sizes[largest])}, where the partition in the middle has {_mib(middle)}",
        ),
    )


def no_statistics(
    name: str, files: Sequence[LogFile], keys: Iterable[str], columns: Collection[str]
) -> Iterable[LayoutAdvice]:
    """Files without bounds of a key that merges went by: they are kept whatever is asked."""
    for column in keys:
        if without := _without_bounds(files, column):
            yield LayoutAdvice(
                "NO_STATISTICS",
                f"Files without statistics on {column} are kept by every merge; files written from then on have them.",
                f"{part_and_verb(len(without), len(files), 'file', 'have')} no bounds of it, nor only NULLs in it",
                _collect_statistics(name, files, column, columns),
            )


def _collect_statistics(name: str, files: Sequence[LogFile], column: str, columns: Collection[str]) -> str:
    """The command that has Delta collect those of ``column``. The property replaces the rule of the first columns: what
    has statistics keeps them, but for columns that were dropped, of which old files have some."""
    known = {one for file in files for one in statistics_of(file.stats).get("minValues", {}) if one in columns}
    collected = string(", ".join(map(quote, sorted({*known, column}))))
    return f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = {collected})"


def _without_bounds(files: Sequence[LogFile], column: str) -> list[LogFile]:
    return [file for file in files if column not in file.partition and not _has_bounds(file, column)]


def _has_bounds(file: LogFile, column: str) -> bool:
    stats = statistics_of(file.stats)
    if column in stats.get("minValues", {}):
        return True
    return "numRecords" in stats and stats.get("nullCount", {}).get(column) == stats["numRecords"]


def _mib(size: float) -> str:
    return f"{size / (1 << 20):,.1f} MiB"
