"""Advice where a read skips more than a MERGE: the predicate on a generated partition column that ON implies.

PrepareDeltaScan derives such predicates for reads (GeneratedColumn.generatePartitionFilters); MERGE does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge, Expression
from engine.merge.derive_generated import GROWING
from engine.merge.find_touched_files import Matches
from engine.merge.prepare_delta_scan import DeltaScan, files_for_scan, where
from engine.model.counted import count
from engine.model.errors import CancelledError, EngineError, UnreachableError, UsageError
from engine.model.plan import Remark
from engine.sql.expressions import read_expression
from engine.sql.names import quote
from engine.sql.resolve import resolve
from engine.sql.sql_text import columns_named, is_name_of, names_in, replaced, text_of
from engine.table.logged_schema import LoggedColumn

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
            predicate = resolve(text, [merge.sides[1]]).text
            predicates = (*(one.text for one in scan.predicates), predicate)
            files = files_for_scan(spark, merge, scan.after, where(merge, predicates), as_merge=True)
        except (CancelledError, UnreachableError):
            raise
        except EngineError:  # no predicate after all, where a column is called as a type or a function is
            continue
        paths = {file.path for file in files}
        if scan.read <= paths < kept and matched <= paths and (best is None or len(paths) < best[0]):
            best = (len(paths), text)
    if best is None:
        return None
    return Remark(
        code=CODE,
        sentence=f"The MERGE reads {count(len(kept), 'file')} where a read would keep {len(scan.read):,}: "
        "MERGE derives nothing from generated columns.",
        evidence=f"Add AND {best[1]} to ON: it leaves {count(best[0], 'file')}. ON implies it, and every row that "
        "matches lies in them.",
    )


def implied_predicates(merge: AnalyzedMerge, columns: Sequence[LoggedColumn]) -> Iterator[str]:
    """For each bounded base column of a generated column what ON implies of the latter, as SQL."""
    types = {column.name.lower(): column.type for column in merge.target_schema}
    for column in columns:
        if not column.generated_as:
            continue
        try:
            named = columns_named(column.generated_as)
        except UsageError:  # nothing is advised where the text is not understood
            continue
        bounds = []
        for conjunct in merge.on:
            for base, operator, value in _bounds(conjunct):
                type_ = types.get(base.lower(), "")
                growing = GROWING.match(column.generated_as.strip()) and type_ in TIMES
                if operator != "=" and not growing:
                    continue
                if base.lower() in named:
                    bound = replaced(column.generated_as, {base.lower(): f"CAST({value} AS {type_})"})
                    bounds.append(f"{merge.typed.target.reference}.{quote(column.name)} {operator} {bound}")
        if bounds:
            yield " AND ".join(dict.fromkeys(bounds))


def _bounds(conjunct: Expression) -> Iterator[tuple[str, str, str]]:
    """(column, operator, value) of a conjunct that compares one target column with something constant."""
    if len(conjunct.target_columns) != 1 or not conjunct.target_only:
        return
    column = conjunct.target_columns[0]
    tokens, root = read_expression(conjunct.typed)
    parts = [text_of(conjunct.typed, tokens[one.start : one.end]) for one in root.children]
    if root.kind == "between" and root.name == "BETWEEN" and is_name_of(parts[0], column):
        yield column, ">=", parts[1]
        yield column, "<=", parts[2]
    if root.kind != "binary" or root.name not in LOOSE:
        return
    left, right = parts
    if is_name_of(left, column) and column.lower() not in names_in(right):
        yield column, LOOSE[root.name], right
    elif is_name_of(right, column) and column.lower() not in names_in(left):
        yield column, LOOSE[FLIPPED[root.name]], left
