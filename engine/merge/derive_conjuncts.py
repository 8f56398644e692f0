"""What ON implies of the target alone, once the source is frozen: the bounds of its keys, added to ON.

OSS Delta skips files only by what ON says of the target alone (MergeIntoCommandBase.getTargetOnlyPredicates). A source
row that matches has its key equal to the target's, so each matching target row lies within the bounds of the source's
keys. Said in ON, they change no match and no insert, and Delta skips the other files.

Nothing is derived where that could be untrue or could hide an error: with NOT MATCHED BY SOURCE, where every target
row matters; from ``<=>``, by which NULLs match; across OR; where the two sides are compared in a third type; from types
whose statistics a writer may keep inexactly (``engine.merge.exact_statistics``); and where ON holds an expression that
may raise for a row that is skipped.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge, Expression, Key
from engine.merge.derive_generated import derive_generated
from engine.merge.derive_ranges import in_one_of, key_ranges
from engine.merge.exact_statistics import TEXTS_IN_LOG, has_odd_bound, lower_bound, upper_bound, why_not_exact
from engine.model.plan import Splice
from engine.model.scan import DerivedConjunct
from engine.spark.spark_errors import collected
from engine.sql.char_types import compared_type
from engine.sql.literals import INTEGERS, MAX_VALUES, few_literals, one_of, printed, within
from engine.sql.resolve import resolve
from engine.sql.sql_text import is_name_of
from engine.table.log_file import LogFile
from engine.table.logged_schema import LoggedColumn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BY_SOURCE = "with NOT MATCHED BY SOURCE every row of the target matters"
MAY_RAISE = "ON has an expression that may fail for a row, and a skipped row would hide that"
CONDITION_MAY_RAISE = "a WHEN MATCHED condition may fail for a row of the target, and a skipped row would hide that"
NULL_SAFE = "<=> also matches NULLs"
NO_BOUNDS = "the source has no key that is not NULL, or one that is too long, too odd or too old to be compared safely"
ODD_BOUND = "a file's statistics of this column are of another type than the column"
# A MERGE reads NULL if a partition value does not fit the column's type; a predicate on that column fails with it.
NO_VALUE = "CAST_INVALID_INPUT"
ODD_PARTITION = "a partition of the table has a value that is none of the column's type"


@dataclass(frozen=True)
class Bounds:
    """Between which SQL literals all keys of the frozen source lie, None where they cannot be written as such."""

    key: Key
    low: str | None
    high: str | None


def bounded_keys(merge: AnalyzedMerge) -> tuple[Key, ...]:
    """The keys of ON that bound a target column."""
    return tuple(key for key in merge.keys if not why_not(merge, key))


def why_not(merge: AnalyzedMerge, key: Key) -> str:
    """Why nothing is derived from a key, in words, or ""."""
    if merge.statement.not_matched_by_source:
        return BY_SOURCE
    if key.null_safe:
        return NULL_SAFE
    sides = ((key.source, merge.source_type), (key.target, merge.target_type))
    types = []
    for side, schema in sides:
        names = (*side.source_columns, *side.target_columns)
        if len(names) != 1 or not is_name_of(side.text, names[0]):
            return f"{side.typed} is no plain column"
        types.append(compared_type(schema[names[0]]))
    source, target = types
    if not (source in INTEGERS and target in INTEGERS) and source != target:
        return f"the source's {source} and the target's {target} are compared in a type of neither"
    if why := why_not_exact(source):
        return why
    if any(merge.may_raise(e.text) for e in merge.on):
        return MAY_RAISE
    # with deletion vectors Spark computes it for every row that is read, matched or not
    conditions = (e for clause in merge.matched for e in clause if e.target_columns)
    return CONDITION_MAY_RAISE if any(merge.may_raise(e.text) for e in conditions) else ""


def bounded_by_texts(merge: AnalyzedMerge) -> tuple[Key, ...]:
    """Those of :func:`bounded_keys` of which files may have an odd bound."""
    return tuple(key for key in bounded_keys(merge) if _type(merge, key) in TEXTS_IN_LOG)


def without_odd_bounds(merge: AnalyzedMerge, bounds: Sequence[Bounds], files: Sequence[LogFile]) -> tuple[Bounds, ...]:
    """``bounds`` without those of keys of which one of ``files``, with their statistics, has an odd bound."""
    odd = {
        key
        for key in bounded_by_texts(merge)
        if any(has_odd_bound(file.stats, key.target.target_columns) for file in files)
    }
    return tuple(one for one in bounds if one.key not in odd)


def bound_items(merge: AnalyzedMerge) -> tuple[str, ...]:
    """The least and greatest of each bounded key, for the select list of an aggregate over the frozen source."""
    items = []
    for key in bounded_keys(merge):
        items += [printed(_type(merge, key), f"{end}({key.source.text})") for end in ("min", "max")]
    return tuple(items)


def bounds_of(merge: AnalyzedMerge, cells: Sequence[str | None]) -> tuple[Bounds, ...]:
    """``cells`` are the values of :func:`bound_items`."""
    keys = bounded_keys(merge)
    types = [_type(merge, key) for key in keys]
    return tuple(
        Bounds(key, lower_bound(type_, low), upper_bound(type_, high))
        for key, type_, low, high in zip(keys, types, cells[::2], cells[1::2], strict=True)
    )


def derive_conjuncts(
    spark: SparkSession,
    merge: AnalyzedMerge,
    view: str,
    bounds: Sequence[Bounds],
    columns: Sequence[LoggedColumn],
    partition_columns: Collection[str],
) -> tuple[DerivedConjunct, ...]:
    """One for each key of ON, what its ``bounds`` say of the target, or why nothing is derived; and one for each
    partition column that is generated from such a key. A key without bounds has odd ones in the log.

    A partition column is held to the very values that the frozen source ``view`` has, where they are few.
    """
    by_key: Mapping[Key, Bounds] = {one.key: one for one in bounds}
    derived = []
    for key in merge.keys:
        column, because = key.target.typed, why_not(merge, key)
        text = ""
        if not because and key not in by_key:
            because = ODD_BOUND
        if not because:
            low, high = by_key[key].low, by_key[key].high
            if low is None or high is None:
                because = NO_BOUNDS
            else:
                known = low != high and _is_partition(key, partition_columns)
                inside = few_values(spark, merge, view, key) if known else ()
                text = one_of(column, inside) if inside else within(column, low, high)
        derived.append(DerivedConjunct(column=column, text=text, why_not=because))
    keys = [one.key for one in bounds if one.low is not None and one.high is not None]
    return (*derived, *derive_generated(spark, merge, view, keys, columns, partition_columns))


def leave_gaps_out(
    spark: SparkSession,
    merge: AnalyzedMerge,
    view: str,
    bounds: Sequence[Bounds],
    derived: Sequence[DerivedConjunct],
    partition_columns: Collection[str],
) -> tuple[DerivedConjunct, ...]:
    """``derived``, where the keys of ``view`` lie apart: the ranges that they lie in, in place of their bounds."""
    conjuncts = list(derived)
    for one in bounds:
        if one.low is None or one.high is None or one.low == one.high or _is_partition(one.key, partition_columns):
            continue
        named, source = one.key.target.typed, one.key.source.text
        ranges = key_ranges(spark, view, merge.source_reference, source, _type(merge, one.key), one.low, one.high)
        if ranges:
            at = merge.keys.index(one.key)
            conjuncts[at] = conjuncts[at].model_copy(update={"text": in_one_of(named, ranges)})
    return tuple(conjuncts)


def derive_again(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: str,
    columns: Sequence[LoggedColumn],
    partition_columns: Collection[str],
) -> tuple[DerivedConjunct, ...]:
    """What :func:`derive_conjuncts` and :func:`leave_gaps_out` gave for ``source``, a view or a query in brackets."""
    cells: Sequence[str | None] = ()
    if items := bound_items(merge):
        (cells,) = collected(spark, f"SELECT {', '.join(items)} FROM {source} AS {merge.source_reference}")
    bounds = bounds_of(merge, cells)
    derived = derive_conjuncts(spark, merge, source, bounds, columns, partition_columns)
    return (*derived, *leave_gaps_out(spark, merge, source, bounds, derived, partition_columns))


def not_derived(derived: Sequence[DerivedConjunct], because: str) -> tuple[DerivedConjunct, ...]:
    """``derived`` without its texts, and why."""
    return tuple(one.model_copy(update={"text": "", "why_not": because}) if one.text else one for one in derived)


def few_values(spark: SparkSession, merge: AnalyzedMerge, view: str, key: Key) -> tuple[str, ...]:
    """The distinct keys of the frozen source as literals, () where they are many or cannot be written."""
    type_ = _type(merge, key)
    query = (
        f"SELECT DISTINCT {printed(type_, key.source.text)} AS value FROM {view} AS {merge.source_reference} "
        f"WHERE {key.source.text} IS NOT NULL LIMIT {MAX_VALUES + 1}"
    )
    return few_literals(type_, [row["value"] for row in collected(spark, query)])


def with_conjuncts(merge: AnalyzedMerge, derived: Sequence[DerivedConjunct]) -> AnalyzedMerge:
    """The MERGE with ``derived`` in its ON, as Delta would analyze it."""
    texts = [one.text for one in derived if one.text]
    if not texts:
        return merge
    _, target = merge.sides
    resolved = [resolve(text, [target]) for text in texts]
    added = tuple(
        Expression(one.text, (), one.target_columns, typed) for one, typed in zip(resolved, texts, strict=True)
    )
    condition = " AND ".join((f"({merge.statement.condition}\n)", *(one.text for one in added)))
    return dataclasses.replace(
        merge,
        statement=dataclasses.replace(merge.statement, condition=condition),
        on=(*merge.on, *added),
        # a column compared with a constant of its type
        harmless=merge.harmless | {one.text for one in added},
    )


def condition_splice(merge: AnalyzedMerge, derived: Sequence[DerivedConjunct]) -> Splice:
    """What is added to the text after ON's condition, which has only AND outside brackets, or it had no key."""
    end = merge.typed.condition_end
    return Splice(
        part="condition",
        start=end,
        end=end,
        text="".join(f" AND {one.text}" for one in derived if one.text),
        why="implied by ON for every row of the source; lets Delta skip the other files",
    )


def _type(merge: AnalyzedMerge, key: Key) -> str:
    return str(merge.source_type[key.source.source_columns[0]].dataType.simpleString())


def _is_partition(key: Key, partition_columns: Collection[str]) -> bool:
    return key.target.target_columns[0].lower() in {name.lower() for name in partition_columns}
