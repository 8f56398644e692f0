"""Clause conditions that fail on rows which their clause would never take.

Where Delta writes, it computes the conditions of all clauses for each row of its join, rows without a match included,
whose other side is NULL (MergeOutputGeneration.generatePrecomputedConditionsAndDF); with deletion vectors first whether
a row is kept at all, by ON and the conditions together (ClassicMergeExecutor.generateFilterForModifiedRows). So
``WHEN MATCHED AND 1 / s.n > 0`` fails on an unmatched row whose n is 0. Where a condition may fail, that join is
run here; where only INSERTs are left, and several, their conditions are computed for the rows that are new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.merge.analyze import AnalyzedMerge
from engine.merge.find_touched_files import Matches, any_of
from engine.merge.join_sides import SOURCE_ROW, TARGET_ROW, source_relation, target_relation, unmatched_source
from engine.merge.prepare_delta_scan import target_only_of_clauses
from engine.merge.prepare_source import PreparedSource
from engine.merge.run_with_source_lost_retries import lost_blocks
from engine.model.errors import EngineError
from engine.model.plan import Refused
from engine.model.write import WritePlan
from engine.preflight.check_rows import NOT_OF_ROWS
from engine.spark.confs import confs_set, for_rows
from engine.spark.spark_errors import collected

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOINS: Final = {"leftOuter": "LEFT OUTER", "rightOuter": "RIGHT OUTER", "fullOuter": "FULL OUTER", "inner": "INNER"}


def failing_condition(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: PreparedSource,
    matches: Matches,
    write: WritePlan,
    *,
    private: bool,
) -> Refused | None:
    """The error that a condition raises while Delta writes, or None. ``private`` leaves out what Spark says of it."""
    inserts_only = write.join_type not in JOINS
    clauses = merge.statement.not_matched if inserts_only else merge.statement.clauses
    conditions = [clause.condition for clause in clauses if clause.condition]
    # the keys of ON are computed for every row that is joined, whatever else ON says of it
    texts = conditions if inserts_only else [*conditions, *(one.text for one in merge.on)]
    if not (inserts_only or matches.touched) or not any(merge.may_raise(one) for one in texts):
        return None
    rows = _new_rows(merge, source, matches, write) if inserts_only else _joined_rows(merge, source, matches, write)
    computed = ", ".join(("0", *(f"({one}\n)" for one in conditions)))
    pushed = _pushed_to_target(merge, write)
    try:
        with confs_set(spark, for_rows(None if inserts_only else source.num_rows + matches.touched_rows)):
            collected(spark, f"SELECT bit_xor(xxhash64({computed})) FROM {rows}")
            if pushed is not None:
                collected(spark, f"SELECT bit_xor(xxhash64(0, ({pushed}\n))) FROM {_touched(merge, matches)}")
    except EngineError as error:
        if not error.condition or error.condition.startswith(NOT_OF_ROWS) or lost_blocks(error):
            raise
        return Refused(
            condition=error.condition,
            message="A condition cannot be computed for some row" + ("." if private else f": {error.message}"),
            hint="Delta computes every WHEN condition for every row that it joins, unmatched ones too, with NULL for "
            "the other side: guard it (try_divide, try_cast, nullif).",
        )
    return None


def _new_rows(merge: AnalyzedMerge, source: PreparedSource, matches: Matches, write: WritePlan) -> str:
    """The rows for which the conditions of several INSERTs are computed, each of them for each row
    (MergeOutputGeneration.generateInsertsOnlyOutputDF): all of the source where no file is touched, and where it is
    that of a lone INSERT, which filters the source."""
    if write.join_type is None or len(merge.statement.not_matched) == 1:
        return f"{source.view} AS {merge.source_reference}"
    return unmatched_source(merge, source, matches.seen)


def _pushed_to_target(merge: AnalyzedMerge, write: WritePlan) -> str | None:
    """What Spark computes of the conditions for every row of the touched files, matched or not: with deletion vectors
    and a left outer join, where only a row that matches needs one, it filters the target by it first."""
    if not write.deletion_vectors or write.join_type != "leftOuter":
        return None
    conjuncts = [e for clause in merge.matched for e in clause if e.target_only]
    either = target_only_of_clauses(merge) if any(merge.may_raise(e.text) for e in conjuncts) else None
    return either.text if either is not None else None


def _touched(merge: AnalyzedMerge, matches: Matches) -> str:
    return target_relation(merge, [f"xxhash64({merge.file_path}) IN ({matches.touched_hashes})"], whole=True)


def _joined_rows(merge: AnalyzedMerge, source: PreparedSource, matches: Matches, write: WritePlan) -> str:
    """The rows of the join with the touched files, with deletion vectors those that are kept."""
    target = _touched(merge, matches)
    on = merge.statement.condition
    kept = f"WHERE {_kept(merge, on)}" if write.deletion_vectors else ""
    join = JOINS[write.join_type or ""]
    return f"{source_relation(merge, source)} {join} JOIN {target} ON {on}\n{kept}"


def _kept(merge: AnalyzedMerge, on: str) -> str:
    statement = merge.statement
    kept = [
        f"({condition}) AND ({any_of(clauses)})"
        for condition, clauses in (
            (f"{on}\n", statement.matched),
            (f"{SOURCE_ROW} IS NULL", statement.not_matched_by_source),
            (f"{TARGET_ROW} IS NULL", statement.not_matched),
        )
        if clauses
    ]
    return " OR ".join(kept)
