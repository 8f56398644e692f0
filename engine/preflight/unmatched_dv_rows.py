"""The rows on which a MERGE with deletion vectors fails although nothing matches them.

Merge-on-read keeps those rows of its outer join for which ON and a WHEN MATCHED condition hold, and does not look
whether both sides are there (ClassicMergeExecutor.generateFilterForModifiedRows, Delta 4.4.0). Where ON holds between
a row and NULLs, as ``<=>`` does for a NULL key, a row without a match is kept, and unless a clause for such rows takes
it Delta raises "Unexpected row: did not match any merge clause".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.merge.analyze import AnalyzedMerge
from engine.merge.find_touched_files import Matches, any_of
from engine.merge.join_sides import (
    BY_SOURCE_CLAUSE,
    FILE,
    INSERT_CLAUSE,
    source_relation,
    target_relation,
    unmatched_source,
)
from engine.merge.prepare_source import PreparedSource
from engine.model.counted import count
from engine.model.plan import Refused
from engine.model.write import WritePlan
from engine.spark.confs import confs_set, for_rows
from engine.spark.spark_errors import collected
from engine.sql.literals import shown
from engine.sql.names import quote
from engine.sql.parse import MergeClause
from engine.sql.store_types import plain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNEXPECTED: Final = "USER_RAISED_EXCEPTION"
SAMPLE_ROWS = 5


@dataclass(frozen=True)
class LoneRows:
    """The rows of one side that pass for matched and that no clause takes. ``rows`` is what follows FROM."""

    side: str
    rows: str
    reference: str
    columns: tuple[str, ...]


def unexpected_rows(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: PreparedSource,
    matches: Matches,
    write: WritePlan,
    *,
    private: bool,
) -> Refused | None:
    """The error that such rows raise, with the keys of some, or None. ``private`` leaves the keys out."""
    if not (write.deletion_vectors and merge.statement.matched and matches.touched):
        return None
    with confs_set(spark, for_rows(source.num_rows + matches.touched_rows)):
        for lone in _lone_rows(merge, source, matches):
            ((rows,),) = collected(spark, f"SELECT count(*) FROM {lone.rows}")
            if rows:
                return Refused(
                    condition=UNEXPECTED,
                    message=f"{count(rows, f'{lone.side} row')} without a match satisfy ON "
                    "against NULLs, and with deletion vectors Delta fails on them: Unexpected row: did not match any "
                    "merge clause.",
                    rows=() if private else _some(spark, lone),
                    hint="Keep NULL keys out of ON (AND … IS NOT NULL), or merge without deletion vectors: "
                    "SET spark.databricks.delta.merge.deletionVectors.persistent=false.",
                )
    return None


def _lone_rows(merge: AnalyzedMerge, source: PreparedSource, matches: Matches) -> Iterator[LoneRows]:
    statement = merge.statement
    ours, theirs = merge.source_reference, statement.target.reference
    on = statement.condition
    passes = f"({on}\n) AND ({any_of(statement.matched)})"
    keys = [key for key in merge.keys if not key.null_safe]
    if _leaves_some(statement.not_matched) and not any(plain(key.target.text) for key in keys):
        rows = f"(SELECT {ours}.* FROM {unmatched_source(merge, source, matches.seen)}) AS {ours}"
        nulls = f"(SELECT * FROM {merge.target_sql} AS {theirs} WHERE FALSE) AS {theirs}"
        columns = tuple(dict.fromkeys(name for one in merge.on for name in one.source_columns))
        where = f"WHERE {INSERT_CLAUSE} = 0 AND {passes}"
        yield LoneRows("source", f"{rows} LEFT OUTER JOIN {nulls} ON FALSE {where}", ours, columns)
    if _leaves_some(statement.not_matched_by_source) and not any(plain(key.source.text) for key in keys):
        target = f"{target_relation(merge)} LEFT ANTI JOIN {source_relation(merge, source)} ON {on}\n"
        nulls = f"(SELECT * FROM {source.view} WHERE FALSE) AS {ours}"
        columns = tuple(dict.fromkeys(name for one in merge.on for name in one.target_columns))
        where = f"WHERE {BY_SOURCE_CLAUSE} = 0 AND {FILE} IN ({matches.touched_hashes}) AND {passes}"
        rows = f"(SELECT {theirs}.* FROM {target}) AS {theirs}"
        yield LoneRows("target", f"{rows} LEFT OUTER JOIN {nulls} ON FALSE {where}", theirs, columns)


def _leaves_some(clauses: Sequence[MergeClause]) -> bool:
    """Whether there are clauses for such rows, so that Delta's join has them, and each has a condition."""
    return bool(clauses) and all(clause.condition is not None for clause in clauses)


def _some(spark: SparkSession, lone: LoneRows) -> tuple[dict[str, str | None], ...]:
    if not lone.columns:
        return ()
    items = ", ".join(shown(f"{lone.reference}.{quote(name)}") for name in lone.columns)
    rows = collected(spark, f"SELECT {items} FROM {lone.rows} LIMIT {SAMPLE_ROWS}")
    return tuple(dict(zip(lone.columns, row, strict=True)) for row in rows)
