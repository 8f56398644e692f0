"""Parts of the operator's statement, for SQL that is shown to be pasted into it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge
from engine.merge.explain_merge import aliased
from engine.merge.prepare_source import PreparedSource
from engine.preflight.assignments import Assignment, ClauseAssignments, as_partition
from engine.preflight.find_conflicts import one_row_a_key, prefix_of, rank_rows
from engine.sql.expressions import read_expression
from engine.sql.names import quoted_if_needed
from engine.sql.parse import MergeClause
from engine.sql.store_types import can_up_cast

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WHEN = {"matched": "MATCHED", "not_matched": "NOT MATCHED", "not_matched_by_source": "NOT MATCHED BY SOURCE"}


def typed_column(merge: AnalyzedMerge, name: str) -> str:
    """A column of the target."""
    return f"{prefix_of(merge.typed.target)}{quoted_if_needed(name)}"


def clause_with(merge: AnalyzedMerge, one: ClauseAssignments, condition: str) -> str:
    """The clause, to which ``condition`` is added behind its own. See :func:`fit_in_condition`."""
    return _with_condition(merge.typed.clauses[merge.statement.clauses.index(one.clause)], condition)


def all_of(conjuncts: Iterable[str]) -> str:
    """Their AND: a conjunct of ON is without the brackets that it had."""
    return " AND ".join(f"({text})" if is_or(text) else text for text in conjuncts)


def is_or(text: str) -> bool:
    _, root = read_expression(text)
    return root.kind == "binary" and root.name == "OR"


def holds_query(text: str) -> bool:
    """Whether a subquery stands in it, which Delta takes in no condition of a clause."""
    _, root = read_expression(text)
    return any(node.kind == "subquery" for node in root.walk())


def fit_in_condition(merge: AnalyzedMerge, one: ClauseAssignments, names: Iterable[str], *, cast: bool) -> bool:
    """Whether what ``one`` assigns to these columns, in their types if ``cast``, may be part of its condition.

    Delta takes no subquery there, and computes the conditions of all clauses for each row of the join
    (MergeOutputGeneration.generatePrecomputedConditionsAndDF): what may raise would do so for rows that the clause
    does not take. An only clause computes it for all of them anyway.
    """
    statement = merge.statement
    is_only = len(statement.clauses) == 1 and not statement.not_matched_by_source
    columns = {a.column.name: a for a in one.columns}
    values = typed_values(merge, one)
    return not any(
        holds_query(values[name]) or not (is_only or _never_raises(merge, columns[name], cast=cast)) for name in names
    )


def _never_raises(merge: AnalyzedMerge, a: Assignment, *, cast: bool) -> bool:
    if a.given is None or merge.may_raise(a.given.text):
        return False
    return not cast or can_up_cast(a.given.type, a.column.type)


def matched_with(merge: AnalyzedMerge, condition: str) -> tuple[str, ...]:
    """The WHEN MATCHED clauses, to each of which ``condition`` is added."""
    return tuple(_with_condition(clause, condition) for clause in merge.typed.matched)


def as_stored(a: Assignment, value: str) -> str:
    """The value that is typed for ``a`` as it comes back. A value of another type always names a partition."""
    is_text = a.given is None or a.given.type.typeName() == "string"
    return as_partition(value) if a.column.is_text_partition and is_text else value


def is_last_of_its_kind(merge: AnalyzedMerge, one: ClauseAssignments) -> bool:
    """Whether no later clause takes the rows that a further condition keeps from this one."""
    return merge.statement.of_kind(one.clause.kind)[-1] is one.clause


def _with_condition(typed: MergeClause, condition: str) -> str:
    own = f"({typed.condition}) AND " if typed.condition else ""
    return f"WHEN {WHEN[typed.kind]} AND {own}{condition} THEN {typed.action}"


def typed_values(merge: AnalyzedMerge, one: ClauseAssignments) -> dict[str, str]:
    """Column of the target → what it gets; a star as what it expands to, if the source has a name to write it by."""
    typed = merge.typed.clauses[merge.statement.clauses.index(one.clause)]
    if typed.star:
        source = prefix_of(merge.typed.source)
        given = [a.column.name for a in one.columns if source and a.origin == "given"]
        return {name: f"{source}{quoted_if_needed(name)}" for name in given}
    names = {a.column.name.lower(): a.column.name for a in one.columns}
    # of two names of one column Delta takes the first
    values = reversed([*zip(one.given, typed.assignments, strict=True)])
    return {names[path[0].lower()]: f"({value})" for (path, _), (_, value) in values if len(path) == 1}


def keys_outside_on_query(merge: AnalyzedMerge, keys: str) -> str:
    """A query that counts the rows that are inserted although the table has their ``keys``, as ON has them."""
    typed = merge.typed
    source, target = aliased(typed.source), aliased(typed.target)
    conditions = [f"({one.condition})" for one in typed.not_matched if one.condition]
    inserted = f" AND ({' OR '.join(conditions)})" if len(conditions) == len(typed.not_matched) else ""
    return (
        f"{typed.before_select}SELECT count(*) FROM {source} WHERE EXISTS (SELECT 1 FROM {target} WHERE {keys}) "
        f"AND NOT EXISTS (SELECT 1 FROM {target} WHERE {typed.condition}){inserted}"
    )


def source_without_duplicates(spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource) -> tuple[str, str]:
    """The source with one row for each key of ON, and which that is, in words. Rows that have no key stay."""
    ranked = rank_rows(spark, merge, source)
    return one_row_a_key(merge, ranked.order, keep_unkeyed=True), ranked.choice
