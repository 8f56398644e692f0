"""Clause conditions that fail on rows which their clause would never take.

Where Delta writes, it computes the conditions of all clauses for each row of its join, rows without a match included,
whose other side is NULL (MergeOutputGeneration.generatePrecomputedConditionsAndDF); with deletion vectors first whether
a row is kept at all, by ON and the conditions together (ClassicMergeExecutor.generateFilterForModifiedRows). So
``WHEN MATCHED AND 1 / s.n > 0`` fails on an unmatched row whose n is 0. Where a condition may fail, that join is
run here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.analyze import AnalyzedMerge, qualified
from engine.check_rows import NOT_OF_ROWS
from engine.confs import confs_set, for_rows
from engine.errors import EngineError
from engine.find_touched_files import (
    SOURCE_ROW,
    TARGET_ROW,
    Matches,
    any_of,
    source_relation,
    target_relation,
    unmatched_source,
)
from engine.prepare_source import PreparedSource
from engine.run_with_source_lost_retries import lost_blocks
from engine.spark_errors import collected
from engine.sql_text import SIGNED, TAKE_ANYTHING, function_names, names_in, tokenize
from engine.values import Refused, WritePlan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMPARING: Final = frozenset(("(", ")", ",", ".", "=", "==", "<=>", "<", ">", "<=", ">=", "<>", "!=", "!"))
COMPUTING: Final = frozenset(("CAST", "DIV", "MOD", "INTERVAL", "CASE", "LIKE", "RLIKE"))
SAFE: Final = TAKE_ANYTHING | {"coalesce", "nvl", "ifnull", "nullif", "isnull", "isnotnull", "isnan", "hash", "sha2"}
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
    if write.join_type in ("leftanti", None):
        return _failing_insert(spark, merge, source, matches, write, private=private)
    conditions = [clause.condition for clause in merge.statement.clauses if clause.condition]
    asked = [*conditions, merge.statement.condition] if write.deletion_vectors else conditions
    if write.join_type not in JOINS or not matches.touched or not any(may_fail(merge, one) for one in asked):
        return None
    target = target_relation(merge, [f"xxhash64(_metadata.file_path) IN ({matches.touched_hashes})"], whole=True)
    on = qualified(merge, merge.statement.condition)
    computed = ", ".join(("0", *(f"({qualified(merge, one)}\n)" for one in conditions)))
    query = (
        f"SELECT bit_xor(xxhash64({computed})) FROM {source_relation(merge, source)} {JOINS[write.join_type]} JOIN "
        f"{target} ON {on}\n"
    )
    if write.deletion_vectors:
        query += f"WHERE {_kept(merge, on)}"
    return _error_of(spark, query, source.num_rows + matches.touched_rows, private=private)


def _failing_insert(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: PreparedSource,
    matches: Matches,
    write: WritePlan,
    *,
    private: bool,
) -> Refused | None:
    """Of several INSERT clauses all conditions are computed for each row that is to be inserted
    (MergeOutputGeneration.generateInsertsOnlyOutputDF); that of a lone one filters the source."""
    inserts = merge.statement.not_matched
    conditions = [clause.condition for clause in inserts if clause.condition]
    if len(inserts) < 2 or not any(may_fail(merge, one) for one in conditions):
        return None
    computed = ", ".join(("0", *(f"({qualified(merge, one)}\n)" for one in conditions)))
    rows = f"{source.view} AS {merge.source_reference}"
    if write.join_type == "leftanti":
        rows = unmatched_source(merge, source, matches.seen)
    return _error_of(spark, f"SELECT bit_xor(xxhash64({computed})) FROM {rows}", None, private=private)


def _error_of(spark: SparkSession, query: str, rows: int | None, *, private: bool) -> Refused | None:
    try:
        with confs_set(spark, for_rows(rows)):
            collected(spark, query)
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


def may_fail(merge: AnalyzedMerge, text: str) -> bool:
    """Whether a condition may raise an error: it computes, or compares texts with what is none."""
    tokens = tokenize(SIGNED.sub(r"\1\2", text))
    if not function_names(text) <= SAFE or any(token.word in COMPUTING for token in tokens):
        return True
    plain = (t.is_string or t.text[0].isalnum() or t.text[0] in "_`" or t.text in COMPARING for t in tokens)
    if not all(plain):
        return True
    named = names_in(text)
    types = {one.type for one in (*merge.source_schema, *merge.target_schema) if one.name.lower() in named}
    texts = {one for one in types if one.startswith(("string", "char", "varchar"))}
    return bool(texts) and (types != texts or any(token.text[0].isdigit() for token in tokens))


def _kept(merge: AnalyzedMerge, on: str) -> str:
    statement = merge.statement
    kept = [
        f"({condition}) AND ({qualified(merge, any_of(clauses))})"
        for condition, clauses in (
            (f"{on}\n", statement.matched),
            (f"{SOURCE_ROW} IS NULL", statement.not_matched_by_source),
            (f"{TARGET_ROW} IS NULL", statement.not_matched),
        )
        if clauses
    ]
    return " OR ".join(kept)
