"""Advice where a read skips more than a MERGE: the predicate on a generated partition column that ON implies.

PrepareDeltaScan derives such predicates for reads (GeneratedColumn.generatePartitionFilters); MERGE does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from engine.analyze import AnalyzedMerge, Expression
from engine.derive_generated import GROWING, computed
from engine.errors import CancelledError, EngineError, UnreachableError
from engine.find_touched_files import Matches
from engine.logged_schema import LoggedColumn
from engine.names import quote
from engine.prepare_delta_scan import DeltaScan, kept_files, where
from engine.sql_text import Token, depths, names_column, text_of, tokenize
from engine.values import Remark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CODE = "ADD_GENERATED_PARTITION_PREDICATE"
FLIPPED = {"=": "=", "==": "=", ">": "<", ">=": "<=", "<": ">", "<=": ">="}
# Strict bounds become loose ones: two times of one day have the same date.
LOOSE = {"=": "=", "==": "=", ">": ">=", ">=": ">=", "<": "<=", "<=": "<="}
TIMES = ("date", "timestamp", "timestamp_ntz")


def generated_predicate(
    spark: SparkSession, merge: AnalyzedMerge, scan: DeltaScan, matches: Matches, columns: Sequence[LoggedColumn]
) -> Remark | None:
    """What to add to ON so that the MERGE skips as a read does, or None.

    Only what ON implies is advised: it is asked for its files, which must hold all that Delta's own derivation keeps
    and every row that matches, so that no match is lost and nothing is inserted twice.
    """
    if scan.read is None or matches.view is None:
        return None
    kept = {file.path for file in scan.after}
    matched = {file.file.path for file in matches.files if file.matched}
    if not scan.read < kept:
        return None
    best: tuple[int, str] | None = None
    for text in implied_predicates(merge, columns):
        try:
            asked = kept_files(spark, merge, scan.after, where(merge, (*scan.predicates, text)), as_merge=True)
        except (CancelledError, UnreachableError):
            raise
        except EngineError:  # no predicate after all, where a column is called as a type or a function is
            continue
        paths = {file.path for file in asked}
        if scan.read <= paths < kept and matched <= paths and (best is None or len(paths) < best[0]):
            best = (len(paths), text)
    if best is None:
        return None
    return Remark(
        code=CODE,
        sentence=f"The MERGE reads {len(kept):,} files where a read would keep {len(scan.read):,}: "
        "MERGE derives nothing from generated columns.",
        evidence=f"Add AND {best[1]} to ON: it leaves {best[0]:,} files. ON implies it, and every row that matches "
        "lies in them.",
    )


def implied_predicates(merge: AnalyzedMerge, columns: Sequence[LoggedColumn]) -> Iterator[str]:
    """For each bounded base column of a generated column what ON implies of the latter, as SQL."""
    types = {column.name.lower(): column.type for column in merge.target_schema}
    for column in columns:
        if not column.generated_as:
            continue
        bounds = []
        for conjunct in merge.on:
            for base, operator, value in _bounds(conjunct):
                type_ = types.get(base.lower(), "")
                growing = GROWING.match(column.generated_as.strip()) and type_ in TIMES
                if operator != "=" and not growing:
                    continue
                if (bound := computed(column.generated_as, base, f"CAST({value} AS {type_})")) is not None:
                    bounds.append(f"{merge.statement.target.reference}.{quote(column.name)} {operator} {bound}")
        if bounds:
            yield " AND ".join(dict.fromkeys(bounds))


def _bounds(conjunct: Expression) -> Iterator[tuple[str, str, str]]:
    """(column, operator, value) of a conjunct that compares one target column with something constant."""
    if len(conjunct.target_columns) != 1 or not conjunct.target_only:
        return
    column = conjunct.target_columns[0]
    tokens = tokenize(conjunct.text)
    at_top = [(i, token) for i, token, depth in depths(tokens) if depth == 0]
    between = next((i for i, token in at_top if token.word == "BETWEEN"), None)
    if between is not None:
        middle = next((i for i, token in at_top if token.word == "AND" and i > between), None)
        if middle is not None and names_column(tokens[:between], column):
            yield column, ">=", text_of(conjunct.text, tokens[between + 1 : middle])
            yield column, "<=", text_of(conjunct.text, tokens[middle + 1 :])
        return
    sign = next((i for i, token in at_top if token.text in LOOSE), None)
    if sign is None:
        return
    left, right = tokens[:sign], tokens[sign + 1 :]
    if names_column(left, column) and not _names(right, column):
        yield column, LOOSE[tokens[sign].text], text_of(conjunct.text, right)
    elif names_column(right, column) and not _names(left, column):
        yield column, LOOSE[FLIPPED[tokens[sign].text]], text_of(conjunct.text, left)


def _names(tokens: Sequence[Token], column: str) -> bool:
    return any(token.name.lower() == column.lower() and not token.is_string for token in tokens)
