"""Casts that resolve while a MERGE is analyzed, and no more where Delta writes.

Spark casts ``array(s.x)`` of numbers that are never NULL to an array of strings that are never NULL. Delta then puts
the resolved expression over the join of its write (MergeOutputGeneration), where the columns of a side without a match
are NULL: an array with a NULL is cast to none without, and the query fails before it runs, with DATATYPE_MISMATCH.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.merge.analyze import AnalyzedMerge
from engine.merge.find_touched_files import Matches
from engine.merge.prepare_source import PreparedSource
from engine.model.errors import ENDS_ALL, EngineError
from engine.model.plan import Refused
from engine.model.write import WritePlan
from engine.preflight.failing_conditions import JOINS
from engine.spark.explain import COLUMN_ID, explain
from engine.spark.schema import schema_of
from engine.sql.expressions import read_expression
from engine.sql.resolve import SOURCE, TARGET
from engine.sql.sql_text import text_of
from engine.sql.token_reader import Node

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType, StructType

CONDITION: Final = "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION"
NULLED: Final = {"leftOuter": (False, True), "rightOuter": (True, False), "fullOuter": (True, True)}
"""Whether the columns of (source, target) may be NULL in a join of the write though they are not before."""
MAKES_NESTED: Final = re.compile(
    r"array|map|struct|transform|filter|zip|sequence|split|collect|json|csv", re.IGNORECASE
)
WHOLE: Final = ("lambda", "subquery", "star", "name", "literal", "argument")
"""What is not taken apart: it has nothing to cast inside, or names what only the whole knows."""
PRINTED: Final = re.compile(r" AS printed\d+#\d+L?")


@dataclass(frozen=True)
class Part:
    """An expression over our names, in the condition or the value ``within``; ``column``: it is all that is assigned to
    that one."""

    text: str
    within: str = ""
    column: str = ""


def nulled_cast(
    spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, matches: Matches, write: WritePlan
) -> Refused | None:
    """The error of the first such cast in a condition or an assigned value, or None."""
    of_source, of_target = NULLED.get(write.join_type or "", (False, False))
    # a source that is kept in a Delta table has columns that may be NULL from the beginning
    is_strict = (of_source and not source.staged and _has_not_null(merge.source_type)) or (
        of_target and _has_not_null(merge.target_type)
    )
    if not is_strict or not (matches.touched or merge.statement.not_matched):
        return None
    parts = list(dict.fromkeys(_parts(merge)))
    if not parts:
        return None
    target = f"{merge.target_sql} AS {merge.statement.target.reference}"
    try:
        before = _types(spark, merge, parts, f"{merge.source_sql} CROSS JOIN {target}")
        after = _types(spark, merge, parts, f"{merge.source_sql} {JOINS[write.join_type or '']} JOIN {target} ON TRUE")
    except EngineError as error:
        if error.condition in ENDS_ALL:
            raise
        return None  # a part cannot be asked without the whole
    for part, was in [(part, was) for part, was, now in zip(parts, before, after, strict=True) if was != now]:
        if part.column:
            stored = merge.target_type[part.column].dataType
            wanted = stored.simpleString() if _is_strict(stored) else ""
        else:
            wanted = _cast_unasked(spark, merge, part, target)
        if wanted:
            return _refused(merge, part, was, wanted)
    return None


def _has_not_null(schema: StructType) -> bool:
    return any(not field.nullable for field in schema.fields)


def _is_strict(type_: DataType) -> bool:
    """Whether something inside of it is never NULL."""
    text = type_.json()
    return '"nullable":false' in text or '"containsNull":false' in text or '"valueContainsNull":false' in text


def _parts(merge: AnalyzedMerge) -> Iterator[Part]:
    """What may be cast: each value that is assigned to a whole column, and the parts of each value and condition."""
    key = merge.sides[0].key
    names = {key(name): name for name in merge.target_type.names}
    for clause in merge.statement.clauses:
        values = [(key(column.strip("`")), value) for column, value in clause.assignments]
        conditions = [("", clause.condition)] if clause.condition is not None else []
        for column, text in (*conditions, *values):
            if not MAKES_NESTED.search(text):
                continue
            if column in names:
                yield Part(text, column=names[column])
            tokens, root = read_expression(text)
            yield from (Part(text_of(text, tokens[one.start : one.end]), text) for one in _below(root))


def _below(node: Node, *, in_cast: bool = False) -> Iterator[Node]:
    """The parts of an expression, but for what a CAST that is written is of, in brackets or not."""
    is_cast = node.kind == "cast" or (in_cast and node.kind == "brackets")
    for child in node.children:
        if child.kind in WHOLE:
            continue
        if not is_cast:
            yield child
        yield from _below(child, in_cast=is_cast)


def _types(spark: SparkSession, merge: AnalyzedMerge, parts: Sequence[Part], relation: str) -> list[DataType]:
    items = ", ".join(f"({part.text}\n) AS c{n}" for n, part in enumerate(parts))
    schema = schema_of(spark, f"{merge.statement.before_select}SELECT {items} FROM {relation}")
    return [field.dataType for field in schema.fields]


def _cast_unasked(spark: SparkSession, merge: AnalyzedMerge, part: Part, target: str) -> str:
    """The type to which Spark casts an argument by itself; "" if it does not, or the print does not tell."""
    items = f"({part.text}\n) AS printed0, ({part.within}\n) AS printed1"
    query = f"{merge.statement.before_select}SELECT {items} FROM {merge.source_sql} CROSS JOIN {target}"
    analyzed = explain(spark, f"CREATE OR REPLACE TEMPORARY VIEW __dm_probe AS {query}").analyzed
    line = next((line for line in analyzed.split("\n") if " AS printed1#" in line and "Project [" in line), "")
    printed = [re.sub(COLUMN_ID, "", one).strip(", ") for one in PRINTED.split(line.partition("Project [")[2])]
    found = re.search(rf"cast\({re.escape(printed[0])} as ((?:array|map|struct)<.*?>)\)", printed[1]) if line else None
    return found[1] if found else ""


def _refused(merge: AnalyzedMerge, part: Part, was: DataType, wanted: str) -> Refused:
    text = part.text
    for ours, side in ((SOURCE, merge.typed.source), (TARGET, merge.typed.target)):
        text = text.replace(f"{ours}.", f"{side.reference}." if side.reference else "")
    return Refused(
        condition=CONDITION,
        message=f"Delta fails before it writes: Spark casts {text} by itself, from {was.simpleString()} to {wanted}, "
        "as never NULL inside, but in the join of the write a column in it may be NULL.",
        hint=f"Write the cast: CAST({text} AS {wanted.upper()}).",
    )
