"""Our reading of a MERGE, held to Spark's. What cannot be reconciled is refused: STATEMENT_NOT_UNDERSTOOD.

Spark prints the statement as it parsed it, and Delta's command as it was analyzed. Neither print can be split: strings
are unquoted in it, names bare. So the statement is put together again from our parts alone, Spark explains that too,
and the two prints are compared whole, their ids set alike. A part that was read wrongly gives another print. So does
the statement over a source without a column that it uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.merge.final_schema import may_evolve
from engine.merge.prepare_source import pruned_source_sql
from engine.model.errors import EngineError
from engine.model.plan import ClauseKind
from engine.spark.confs import is_on, read_confs
from engine.spark.explain import NUMBERED, explain
from engine.spark.not_understood import NOT_UNDERSTOOD, not_understood, read_as, unless_refused
from engine.sql.char_types import is_char, raw_type
from engine.sql.expressions import read_expression
from engine.sql.lexer import tokenize
from engine.sql.names import quote
from engine.sql.parse import MergeClause, MergeStatement, Relation, parse_merge
from engine.sql.positions import Edit, edited
from engine.sql.sql_text import special_times
from engine.table.nested_types import types_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from engine.merge.analyze import AnalyzedMerge

HEADS: Mapping[ClauseKind, str] = {
    "matched": "WHEN MATCHED",
    "not_matched": "WHEN NOT MATCHED",
    "not_matched_by_source": "WHEN NOT MATCHED BY SOURCE",
}
ID = re.compile(rf"(#|{NUMBERED})(\d+)")
# rand(), uuid() and the like get a new seed each time a statement is analyzed
SEED = re.compile(r"(?<![\w.#])-?\d{9,}(?![\w.])")
DOUBLE_QUOTED = "spark.sql.ansi.doubleQuotedIdentifiers"
# Delta fixes what time it is when it analyzes a MERGE
CLOCK = re.compile(r"(?:\d{4,}-\d{2}-\d{2} )?\d{2}:\d{2}:\d{2}(?:\.\d+)?")
# others may commit between two prints of one MERGE
INDEX = re.compile(r"Delta\[version=\d+")
# IDENTIFIER() prints the function that Spark resolves it by
LAMBDA = re.compile(r"[\w.$]*\$\$Lambda[^\s,)]*")


def read_merge(spark: SparkSession, sql: str) -> MergeStatement:
    """Our reading of a MERGE. What is no SQL is refused in Spark's words."""
    is_name = is_on(read_confs(spark, (DOUBLE_QUOTED,)), DOUBLE_QUOTED, "false")
    if is_name and any(one.text[0] == '"' for one in tokenize(sql)):
        raise EngineError(
            NOT_UNDERSTOOD,
            f"{DOUBLE_QUOTED} is set: what stands in double quotes may be a name, and is read as a text here.",
            "Write names in back-quotes and texts in single quotes.",
        )
    return read_as(spark, sql, parse_merge)


def from_parts(statement: MergeStatement) -> str:
    """The statement put together from its parts: each expression in brackets, each assignment by itself."""
    evolution = " WITH SCHEMA EVOLUTION" if statement.schema_evolution else ""
    lines = [
        f"{statement.prefix}",
        f"MERGE{evolution} INTO {_relation(statement.target)}",
        f"USING {_relation(statement.source)}",
        f"ON ({statement.condition}\n)",
        *(_clause(one) for one in statement.clauses),
    ]
    return "\n".join(line for line in lines if line)


def _relation(relation: Relation) -> str:
    return f"{relation.text}\nAS {relation.alias}" if relation.alias else f"{relation.text}\n"


def _clause(clause: MergeClause) -> str:
    condition = f" AND ({clause.condition}\n)" if clause.condition is not None else ""
    return f"{HEADS[clause.kind]}{condition} THEN {_action(clause)}"


def _action(clause: MergeClause) -> str:
    if clause.action_kind == "delete":
        return "DELETE"
    if clause.action_kind == "update":
        assignments = ", ".join(f"{column}\n= ({value}\n)" for column, value in clause.assignments)
        return f"UPDATE SET {'*' if clause.star else assignments}"
    if clause.star:
        return "INSERT *"
    columns = ", ".join(f"{column}\n" for column, _ in clause.assignments)
    values = ", ".join(f"({value}\n)" for _, value in clause.assignments)
    return f"INSERT ({columns}) VALUES ({values})"


def check_reading(spark: SparkSession, merge: AnalyzedMerge) -> None:
    """Raise where our reading of the MERGE is not Spark's."""
    check_parsed(spark, merge.typed, merge.plan.parsed)
    check_analyzed(spark, merge)


def check_parsed(spark: SparkSession, statement: MergeStatement, parsed: str) -> None:
    """Raise where Spark parses our parts to something else than the statement, whose print is ``parsed``."""
    again = unless_refused(lambda: explain(spark, from_parts(statement)))
    if alike(parsed, statement.sql) != alike(again.parsed, statement.sql):
        raise not_understood(parsed, again.parsed)
    if _kind_is_hidden(statement):
        _check_kind(spark, statement)


def check_analyzed(spark: SparkSession, merge: AnalyzedMerge) -> None:
    """Raise where Delta analyzes our qualified parts, over a source of the used columns alone, to something else than
    the statement.

    The source is frozen with those columns: what names one that was missed is then a function or a field of the same
    name, or nothing. A print identifies columns by ids alone, and an id that occurs once says nothing. So both are
    asked with one more conjunct in ON, which names the columns of either side in the same order. One that is no boolean
    takes none, and Delta runs no MERGE by it.
    """
    if merge.typed.condition in merge.not_boolean:
        return
    theirs, ours = _anchors(merge)
    question = edited(merge.typed.sql, _with_conjunct(merge.typed, theirs))
    # not the frozen source itself: where a Delta table keeps it, what cannot be NULL can, and structs need other casts
    resolved = replace(
        merge.resolved,
        condition=f"({merge.resolved.condition}\n) AND ({ours})",
        source=replace(merge.resolved.source, text=f"({pruned_source_sql(merge, None, {})}\n)"),
    )
    plans = unless_refused(lambda: [explain(spark, sql) for sql in (question, from_parts(resolved))])
    prints = [_command(plan.analyzed) for plan in plans]
    if prints[0] != prints[1]:
        raise not_understood(*prints)


def _anchors(merge: AnalyzedMerge) -> tuple[str, str]:
    """A conjunct that names columns of either side, as typed and by our names of the sides."""
    typed, source, target = merge.typed, *merge.sides
    wanted = {part.lower() for part in _named(merge)}
    padded = {(target.name, name) for name in _padded(merge.target_type)}
    padded |= {(source.name, name) for name in _padded(merge.source_type)}
    columns = [
        (side, column)
        for side in (target, source)
        for column in side.columns
        if column.lower() in wanted and (side.name, column) not in padded
    ]
    qualifiers = {target.name: _qualifier(typed.target, merge.target_name), source.name: _qualifier(typed.source, "")}
    in_both = {name.lower() for name in source.columns} & {name.lower() for name in target.columns}
    anchors = [
        (f"{qualifiers[side.name]}{quote(column)}", f"{side.name}.{quote(column)}")
        for side, column in columns
        if side.column(column)
        and (side is target or column in merge.columns_used)
        and (qualifiers[side.name] or column.lower() not in in_both)
    ]
    theirs, ours = (" AND ".join(f"{pair[at]} IS NULL" for pair in anchors) or "TRUE" for at in (0, 1))
    return theirs, ours


def _padded(schema: StructType) -> frozenset[str]:
    """The columns with a CHAR, at any depth: Delta fails on one in a condition."""
    types = ((field.name, raw_type(field)) for field in schema.fields)
    return frozenset(name for name, type_ in types if type_ is not None and any(map(is_char, types_in(type_))))


def _with_conjunct(typed: MergeStatement, conjunct: str) -> tuple[Edit, Edit]:
    """What makes the statement ask ``conjunct`` in ON as well."""
    begin, end = typed.condition_end - len(typed.condition), typed.condition_end
    return Edit(begin, begin, "(("), Edit(end, end, f"\n) AND ({conjunct}))")


def _named(merge: AnalyzedMerge) -> Iterator[str]:
    """The parts of all names in the statement's expressions.

    Where the schema evolves, of the columns that a star takes too: from the source, or from the target where that has
    none, and the two print alike.
    """
    texts = [merge.typed.condition]
    for clause in merge.typed.clauses:
        texts += [clause.condition] if clause.condition is not None else []
        texts += [text for pair in clause.assignments for text in pair]
    for text in texts:
        _, root = read_expression(text)
        for node in root.walk():
            yield from node.names
            if node.kind == "star":
                yield from (column for side in merge.sides for column in side.columns)
    if any(clause.star for clause in merge.typed.clauses) and may_evolve(merge.plan.analyzed):
        source, target = merge.sides
        yield from (column for column in target.columns if source.has(column))


def _qualifier(relation: Relation, table: str) -> str:
    """What qualifies a side's columns in the text as typed, with a dot; "" where nothing does."""
    name = relation.alias or (relation.text if relation.parts else table)
    return f"{name}." if name else ""


def _kind_is_hidden(statement: MergeStatement) -> bool:
    """Whether MATCHED and NOT MATCHED BY SOURCE print alike: empty lists of clauses are not printed."""
    return len({clause.kind for clause in statement.clauses}) == 1 and not statement.insert_only


def _check_kind(spark: SparkSession, statement: MergeStatement) -> None:
    """Find the kind of the only list of clauses by adding one of a known kind: the print then has one list or two."""
    known = "\nWHEN NOT MATCHED BY SOURCE AND FALSE THEN DELETE"
    prints = []
    for sql in (statement.sql, from_parts(statement)):
        try:
            prints.append(alike(explain(spark, sql + known).parsed, statement.sql))
        except EngineError as error:
            # behind one without a condition no other may stand
            prints.append(error.condition)
    if prints[0] != prints[1]:
        raise not_understood(*prints)


def alike(text: str, sql: str = "") -> str:
    """A print of ``sql`` with its ids numbered in their order, and without the times that Spark computes when it
    parses, as it does of TIMESTAMP'now'."""
    ids: dict[tuple[bool, str], int] = {}
    numbered = ID.sub(lambda match: f"{match[1]}{ids.setdefault((match[1] == '#', match[2]), len(ids))}", text)
    masked = LAMBDA.sub("#lambda", SEED.sub("#seed", numbered)).strip()
    return CLOCK.sub("#time", masked) if special_times(sql) else masked


def _command(analyzed: str) -> str:
    """What MergeIntoCommand prints behind the target's version: its path, conditions, actions, the schema after.

    In small letters: columns are known by their ids, and their names print as typed, ID#1 for the column id.
    """
    index = INDEX.search(analyzed)
    return CLOCK.sub("#time", alike(analyzed[index.end() if index else 0 :])).lower()
