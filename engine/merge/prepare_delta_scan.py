"""AnalyzedMerge → DeltaScan: the files that data skipping leaves, as OptimisticTransaction.filterFiles keeps them.

A MERGE and a read both end in ``snapshot.filesForScan``, but not with the same filters: a read gets more of them from
Spark's optimizer and from generated columns. What only reads get is switched off here, so that the read whose files are
asked for keeps what the MERGE would. How many a plain read would keep is recorded too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from engine.merge.analyze import AnalyzedMerge, Expression
from engine.merge.exact_statistics import TEXTS_IN_LOG, has_odd_bound, is_odd_partition, why_not_exact
from engine.model.scan import Scan
from engine.spark.confs import AS_MERGE_READS, STATS_SKIPPING, confs_set, without_rules
from engine.spark.input_files import files_of_query
from engine.spark.spark_errors import translate
from engine.table.delta_log import partitions_of
from engine.table.log_file import LogFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# They make further filters out of those of a Filter or a Join; the condition of a MERGE is neither.
ONLY_IN_READS = (
    "InferFiltersFromConstraints",
    "ConstantPropagation",
    "PushExtraPredicateThroughJoin",
    "ReplaceNullWithFalseInPredicate",
)
ABSOLUTE = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:")
COMPARISON = re.compile(r"^\s*[\w.`]+\s*(=|==|<=>|<|>|<=|>=|<>|!=)\s*[\w.`]+\s*$")


def merge_reads(
    spark: SparkSession, merge: AnalyzedMerge, files: Iterable[LogFile] = (), *, prunes: bool = False
) -> dict[str, str]:
    """The confs for queries that stand for the MERGE and read its target, whose files are ``files``.

    A join of such a query skips files by what the optimizer infers of the target from the source, and prunes partitions
    by keys that are not NULL; a MERGE does neither. That is harmless, but for bounds in the log that are not exact, and
    for bounds and partition values that do not fit their type. ``prunes``: this MERGE inserts alone, so it prunes
    partitions as a read does, and fails like one.
    """
    types = {column.name: column.type for column in merge.target_schema}
    compared = {name for e in (*merge.on, *(e for one in merge.matched for e in one)) for name in e.target_columns}
    inexact = any(why_not_exact(types[name]) for name in compared)
    texts = [name for name in compared if types[name] in TEXTS_IN_LOG]
    odd = any(
        (not prunes and any(is_odd_partition(types.get(name, ""), value) for name, value in file.partition.items()))
        or has_odd_bound(file.stats, texts)
        for file in files
    )
    return {**AS_MERGE_READS, **(without_rules(spark, ONLY_IN_READS) if inexact or odd else {})}


@dataclass(frozen=True)
class TargetLog:
    """What skipping needs of the target. ``listing`` are all its files, waited for when Delta has answered;
    ``statistics`` whether the MERGE skips by them (spark.databricks.delta.stats.skipping)."""

    listing: Future[tuple[LogFile, ...]]
    partition_columns: tuple[str, ...]
    features: tuple[str, ...]
    statistics: bool


@dataclass(frozen=True)
class DeltaScan:
    """``before``: all files of the version; ``after``: those that skipping keeps; ``predicates`` as typed.

    ``read``: paths of the files that a plain read under the same predicates keeps, None where it was not asked
    because it cannot differ.
    """

    predicates: tuple[Expression, ...]
    before: tuple[LogFile, ...]
    after: tuple[LogFile, ...]
    read: frozenset[str] | None = None
    estimated_because: str = ""
    note: str = ""

    def value(self) -> Scan:
        return Scan(
            predicates=tuple(one.typed for one in self.predicates),
            files_before=len(self.before),
            files_after=len(self.after),
            bytes_before=sum(file.bytes for file in self.before),
            bytes_after=sum(file.bytes for file in self.after),
            partitions_before=partitions_of(self.before),
            partitions_after=partitions_of(self.after),
            files_after_of_a_read=len(self.after) if self.read is None else len(self.read),
            accuracy="estimated" if self.estimated_because else "exact",
            why=self.estimated_because or self.note,
        )


def prepare_delta_scan(spark: SparkSession, merge: AnalyzedMerge, source_view: str | None, log: TargetLog) -> DeltaScan:
    """Ask Delta which files of the target it keeps under the MERGE's target-only predicates. Reads no data.

    ``source_view`` is the frozen source; None before it is frozen, and then the target's own predicates answer alone,
    which is an estimate.
    """
    if merge.statement.not_matched_by_source:
        files = log.listing.result()
        return DeltaScan((), files, files, note="NOT MATCHED BY SOURCE makes Delta read every file")
    predicates = target_only_predicates(merge)
    hidden = any(may_hide_a_predicate(e) for e in _joined_conditions(merge))
    if not log.statistics:
        return _by_partition_alone(spark, merge, log, predicates, hidden)
    if not predicates and not hidden:
        files = log.listing.result()
        return DeltaScan((), files, files, estimated_because=_several_clauses(merge))
    texts = tuple(e.text for e in predicates)
    if source_view is None:
        kept = kept_paths(spark, where(merge, texts), as_merge=True) if texts else None
        files = log.listing.result()
        after = files if kept is None else files_among(files, merge.path, kept)
        return DeltaScan(predicates, files, after, estimated_because="the source is not frozen yet")
    kept = kept_paths(spark, _joined(merge, source_view), as_merge=True)
    files = log.listing.result()
    generated = bool(log.partition_columns) and "generatedColumns" in log.features
    inferred = any(len(e.target_columns) > 1 for e in predicates)
    read = None
    if texts and (generated or inferred):
        read = frozenset(f.path for f in files_for_scan(spark, merge, files, where(merge, texts), as_merge=False))
    after = files_among(files, merge.path, kept)
    return DeltaScan(predicates, files, after, read, estimated_because=_several_clauses(merge))


def _by_partition_alone(
    spark: SparkSession,
    merge: AnalyzedMerge,
    log: TargetLog,
    predicates: Sequence[Expression],
    hidden: bool,
) -> DeltaScan:
    """With statistics switched off a MERGE still prunes partitions (a read does so only when it is executed)."""
    names = {name.lower() for name in log.partition_columns}
    usable = tuple(e for e in predicates if {name.lower() for name in e.target_columns} <= names)
    off = f"{STATS_SKIPPING} is false: only partition columns prune"
    files = log.listing.result()
    texts = [e.text for e in usable]
    after = files_for_scan(spark, merge, files, where(merge, texts), as_merge=True) if texts else files
    because = f"{off}, and the optimizer may draw more from a condition on both tables" if hidden else ""
    return DeltaScan(usable, files, after, estimated_because=because, note=off)


def target_only_predicates(merge: AnalyzedMerge) -> tuple[Expression, ...]:
    """MergeIntoCommandBase.getTargetOnlyPredicates, as typed.

    The conjuncts of ON that refer to the target alone; for a matched-only MERGE also the OR over its clauses of
    their target-only conjuncts, which a clause without any makes TRUE.
    """
    on = tuple(e for e in merge.on if e.target_only)
    either = target_only_of_clauses(merge) if merge.statement.matched_only else None
    return on if either is None else (*on, either)


def target_only_of_clauses(merge: AnalyzedMerge) -> Expression | None:
    """The OR over the WHEN MATCHED clauses of their target-only conjuncts; None where a clause has none."""
    by_clause = [[e for e in clause if e.target_only] for clause in merge.matched]
    if not by_clause or not all(by_clause):
        return None
    if len(by_clause) == len(by_clause[0]) == 1:
        return by_clause[0][0]
    return Expression(
        text=" OR ".join("(" + " AND ".join(f"({e.text}\n)" for e in of_one) + ")" for of_one in by_clause),
        typed=" OR ".join("(" + " AND ".join(f"({e.typed}\n)" for e in of_one) + ")" for of_one in by_clause),
        source_columns=(),
        target_columns=tuple(dict.fromkeys(name for of_one in by_clause for e in of_one for name in e.target_columns)),
    )


def _joined_conditions(merge: AnalyzedMerge) -> tuple[Expression, ...]:
    """The conjuncts that :func:`_joined` gives to Spark's optimizer whole."""
    matched = merge.matched if merge.statement.matched_only and len(merge.matched) == 1 else ()
    return (*merge.on, *(e for clause in matched for e in clause))


def _several_clauses(merge: AnalyzedMerge) -> str:
    """Why the predicates of several clauses are not certain, in words, or ""."""
    if not merge.statement.matched_only or len(merge.matched) == 1:
        return ""
    if not any(may_hide_a_predicate(e) for clause in merge.matched for e in clause):
        return ""
    return "the optimizer may draw more predicates out of the clauses' conditions on both tables"


def may_hide_a_predicate(e: Expression) -> bool:
    """Whether the optimizer might draw a target-only conjunct out of a conjunct that names both tables, as out of
    ``(t.a = 1 AND s.b = 2) OR (t.a = 1 AND s.b = 3)`` or ``NOT (t.a < 1 OR s.b = 2)``."""
    return bool(e.source_columns and e.target_columns) and not COMPARISON.match(e.text)


def _joined(merge: AnalyzedMerge, source_view: str) -> str:
    """The MERGE's own condition over both sides: Spark reshapes it as it does the MERGE's, and pushes to the target
    what refers to it alone."""
    statement = merge.statement
    condition = f"({statement.condition}\n)"
    if statement.matched_only and len(statement.matched) == 1 and statement.matched[0].condition:
        condition += f" AND ({statement.matched[0].condition}\n)"
    elif statement.matched_only:
        condition += "".join(f" AND ({e.text}\n)" for e in target_only_predicates(merge))
    return (
        f"SELECT 1 FROM {merge.target_sql} AS {statement.target.reference} JOIN {source_view} AS "
        f"{merge.source_reference} ON {condition}"
    )


def where(merge: AnalyzedMerge, texts: Sequence[str]) -> str:
    """A read of the target under some predicates."""
    condition = " AND ".join(f"({text}\n)" for text in texts)
    return f"SELECT * FROM {merge.target_sql} AS {merge.statement.target.reference} WHERE {condition}"


def files_for_scan(
    spark: SparkSession, merge: AnalyzedMerge, files: Sequence[LogFile], query: str, *, as_merge: bool
) -> tuple[LogFile, ...]:
    """Which of ``files`` Delta leaves in the scan of ``query``: with the filters that a MERGE has, or with a read's."""
    return files_among(files, merge.path, kept_paths(spark, query, as_merge=as_merge))


def kept_paths(spark: SparkSession, query: str, *, as_merge: bool) -> frozenset[str]:
    """The paths of those files, absolute."""
    confs: Mapping[str, str] = {}
    if as_merge:
        confs = {**AS_MERGE_READS, **without_rules(spark, ONLY_IN_READS)}
    return input_files(spark, query, confs)


def input_files(spark: SparkSession, query: str, confs: Mapping[str, str]) -> frozenset[str]:
    """The paths of the files that Delta leaves in the scans of ``query`` under ``confs``. Reads no data."""
    try:
        with confs_set(spark, confs):
            return frozenset(normal(path) for path in files_of_query(spark, query))
    except Exception as error:
        raise translate(error) from error


def files_among(files: Sequence[LogFile], path: str, kept: Collection[str]) -> tuple[LogFile, ...]:
    """Those of ``files`` of the table at ``path`` that are among the paths ``kept``."""
    return tuple(file for file, name in zip(files, input_names(files, path), strict=True) if name in kept)


def input_names(files: Iterable[LogFile], path: str) -> list[str]:
    """What ``inputFiles()`` calls each of ``files`` of the table at ``path``."""
    root = normal(path).rstrip("/")
    return [_decoded(root, file.path) for file in files]


def normal(path: str) -> str:
    """``file:/x`` and ``file:///x`` are the same path."""
    return f"file:/{path[len('file:/') :].lstrip('/')}" if path.startswith("file://") else path


def _decoded(root: str, path: str) -> str:
    """The log's path, relative or absolute and URI-encoded, as ``inputFiles()`` gives it: absolute, decoded."""
    return normal(unquote(path)) if ABSOLUTE.match(path) else f"{root}/{unquote(path)}"
