"""AnalyzedMerge → DeltaScan: the files that data skipping leaves, as OptimisticTransaction.filterFiles keeps them.

MERGE does not use the partition filters that PrepareDeltaScan derives for reads from generated columns; they are
switched off here, so that the read which is asked for its files keeps what the MERGE would.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from engine.analyze import AnalyzedMerge, Expression
from engine.confs import confs_set
from engine.delta_log import LogFile, partitions_of
from engine.spark_errors import translate
from engine.values import Scan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GENERATED_FILTERS = "spark.databricks.delta.generatedColumn.partitionFilterOptimization.enabled"


@dataclass(frozen=True)
class DeltaScan:
    """``before``: all files of the version; ``after``: those that skipping keeps; ``predicates`` as typed."""

    predicates: tuple[str, ...]
    before: tuple[LogFile, ...]
    after: tuple[LogFile, ...]
    exact: bool

    def value(self) -> Scan:
        return Scan(
            predicates=self.predicates,
            files_before=len(self.before),
            files_after=len(self.after),
            bytes_before=sum(file.bytes for file in self.before),
            bytes_after=sum(file.bytes for file in self.after),
            partitions_after=partitions_of(self.after),
            accuracy="exact" if self.exact else "estimated",
            why="" if self.exact else "a read and a MERGE may differ where two columns are compared",
        )


def prepare_delta_scan(spark: SparkSession, merge: AnalyzedMerge, files: tuple[LogFile, ...]) -> DeltaScan:
    """Ask Delta which of ``files`` a read under the MERGE's target-only predicates keeps. Reads no data."""
    predicates = target_only_predicates(merge)
    if merge.statement.not_matched_by_source or not predicates:
        return DeltaScan(predicates=(), before=files, after=files, exact=True)
    where = " AND ".join(f"({text}\n)" for text in predicates)
    reference = merge.statement.target.reference
    query = f"SELECT * FROM {merge.target_sql} AS {reference} WHERE {where}"
    try:
        with confs_set(spark, {GENERATED_FILTERS: "false"}):
            kept = {normal(path) for path in spark.sql(query).inputFiles()}
    except Exception as error:
        raise translate(error) from error
    root = merge.path.rstrip("/")
    after = tuple(file for file in files if normal(_decoded(root, file.path)) in kept)
    compared = [e for e in _target_only_expressions(merge) if len(e.target_columns) > 1]
    return DeltaScan(predicates=predicates, before=files, after=after, exact=not compared)


def target_only_predicates(merge: AnalyzedMerge) -> tuple[str, ...]:
    """MergeIntoCommandBase.getTargetOnlyPredicates, as typed.

    The conjuncts of ON that refer to the target alone; for a matched-only MERGE also the OR over its clauses of
    their target-only conjuncts, which a clause without any makes TRUE.
    """
    on = tuple(e.text for e in merge.on if e.target_only)
    if not merge.statement.matched_only:
        return on
    by_clause = [[e.text for e in clause if e.target_only] for clause in merge.matched]
    if not all(by_clause):
        return on
    return (
        *on,
        " OR ".join("(" + " AND ".join(f"({text}\n)" for text in texts) + ")" for texts in by_clause),
    )


def _target_only_expressions(merge: AnalyzedMerge) -> list[Expression]:
    return [e for e in (*merge.on, *(e for clause in merge.matched for e in clause)) if e.target_only]


def normal(path: str) -> str:
    """``file:/x`` and ``file:///x`` are the same path."""
    return re.sub(r"^file:/+", "file:/", path)


def _decoded(root: str, path: str) -> str:
    """The log's path, relative or absolute and URI-encoded, as ``inputFiles()`` gives it: absolute, decoded."""
    if re.match(r"^[a-zA-Z][a-zA-Z0-9+.-]*:", path):
        return unquote(path)
    return f"{root}/{unquote(path)}"
