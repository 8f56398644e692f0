"""The statement with another table as its target: the name replaced, and the columns that it qualifies.

Spark takes ``t.id`` and ``db.t.id`` for a column of ``db.t``. A clone of it has another name, so it gets the last one
as alias, and longer qualifiers are cut to that. ``check_retargeted`` holds the result to Spark's reading of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge, analyze
from engine.merge.check_reading import check_reading
from engine.spark.not_understood import not_understood, unless_refused
from engine.sql.expressions import read_expression
from engine.sql.lexer import Token, tokenize
from engine.sql.names import quote
from engine.sql.parse import MergeStatement, assignment_parts, parse_merge
from engine.sql.positions import Edit, edited
from engine.sql.resolve import Side
from engine.sql.sql_text import free_names, text_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Part = tuple[str, int]
"""An expression or a column of the statement, and where it starts."""


def retargeted(statement: MergeStatement, target: Side, table: str, clone: str) -> str:
    """The text of ``statement`` with the table ``clone`` in place of its target, which is ``table`` (SQL text both)."""
    alias = statement.target.reference or quote(tokenize(table)[-1].name)
    edits = [Edit(statement.target.start, statement.target.end_alias, f"{clone} AS {alias}")]
    if not target.has_alias:
        edits += [edit for part in _parts(statement) for edit in _cut_qualifiers(part, target)]
    return edited(statement.sql, edits)


def _parts(statement: MergeStatement) -> Iterator[Part]:
    """The expressions that may name the target's columns, and the columns that are assigned."""
    sql, tokens = statement.sql, tokenize(statement.sql)
    yield statement.condition, statement.condition_end - len(statement.condition)
    for clause in statement.clauses:
        inserts = clause.kind == "not_matched"
        if clause.condition is not None and clause.condition_start is not None and not inserts:
            yield clause.condition, clause.condition_start
        begin = clause.end - len(clause.action)
        for column, value in assignment_parts([one for one in tokens if begin <= one.start < clause.end]):
            yield _placed(sql, column)
            if not inserts:
                yield _placed(sql, value)


def _placed(sql: str, tokens: Sequence[Token]) -> Part:
    return text_of(sql, tokens), tokens[0].start


def _cut_qualifiers(part: Part, target: Side) -> Iterator[Edit]:
    """The edits that leave of a qualifier of several parts the last one."""
    text, start = part
    tokens, root = read_expression(text)
    for node in free_names(root):
        length = _qualifiers(node.names, target, star=node.kind == "star")
        if length > 1:
            begin, end = tokens[node.start].start, tokens[node.start + 2 * (length - 1)].start
            yield Edit(start + begin, start + end, "")


def _qualifiers(names: tuple[str, ...], target: Side, *, star: bool) -> int:
    """How many of the parts of a reference are the target's qualifier, the most that can be."""
    if star:
        return len(names) if target.qualifies(names) else 0
    return next((n for n in range(len(names) - 1, 1, -1) if target.qualifies(names[:n]) and target.has(names[n])), 0)


def check_retargeted(spark: SparkSession, merge: AnalyzedMerge, sql: str) -> AnalyzedMerge:
    """``sql`` analyzed, which is ``merge`` with another target. Raises if it is another MERGE as Spark reads the two.

    Each is put together from its parts with every column qualified by its side, and that is held to Spark's own plan of
    it. So the two say the same where these parts are the same.
    """
    other: AnalyzedMerge = unless_refused(lambda: analyze(spark, parse_merge(sql)))
    check_reading(spark, merge)
    check_reading(spark, other)
    for theirs, ours in ((_meaning(merge), _meaning(other)), (_columns(merge), _columns(other))):
        if theirs != ours:
            raise not_understood(theirs, ours)
    return other


def _meaning(merge: AnalyzedMerge) -> str:
    statement = merge.resolved
    parts = [statement.condition, str(statement.schema_evolution), statement.source.text]
    for one in statement.clauses:
        parts += [one.kind, str(one.condition), one.action_kind, str(one.star), str(one.assignments)]
    return "\n".join(parts)


def _columns(merge: AnalyzedMerge) -> str:
    return "\n".join(type_.simpleString() for type_ in (merge.target_type, merge.source_type, merge.type_after))
