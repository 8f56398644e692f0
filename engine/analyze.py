"""MergeStatement → AnalyzedMerge: what Spark's analyzer says of the MERGE, without running it.

The MERGE itself is explained first, so that whatever Delta refuses is refused in Delta's words. Two probes
(SELECTs that are explained, never run) then tell which side each expression refers to.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import EngineError
from engine.explain import DELTA_AT, Explained, explain
from engine.final_schema import final_schema
from engine.parse import MergeStatement, Relation
from engine.spark_errors import translate
from engine.sql_text import conjuncts, equality, requalified, tokenize
from engine.values import Column

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

IDS = re.compile(r"#(\d+)L?")
BETWEEN = "__dm_between"


@dataclass(frozen=True)
class Expression:
    """An expression as typed, and the columns of either side that it refers to."""

    text: str
    source_columns: tuple[str, ...]
    target_columns: tuple[str, ...]

    @property
    def target_only(self) -> bool:
        """Whether its references are a subset of the target's: true of a constant as well, as in Delta."""
        return not self.source_columns


@dataclass(frozen=True)
class Key:
    """An equality of ON that ties an expression of the source alone to one of the target alone."""

    source: Expression
    target: Expression
    null_safe: bool


@dataclass(frozen=True)
class AnalyzedMerge:
    """A MERGE that Delta accepts.

    ``version`` and ``path`` are the target's as the analyzer saw them; ``on`` the conjuncts of the condition,
    ``keys`` those that Spark can join by, as ExtractEquiJoinKeys finds them;
    ``matched`` the conjuncts of each WHEN MATCHED clause's condition, () for one without. ``type_after`` is the
    target's schema as the MERGE leaves it, ``target_type`` itself where it does not evolve. ``updates`` are the
    expressions that each WHEN MATCHED clause assigns by name.
    """

    statement: MergeStatement
    version: int
    path: str
    target_type: StructType
    source_type: StructType
    type_after: StructType
    on: tuple[Expression, ...]
    keys: tuple[Key, ...]
    matched: tuple[tuple[Expression, ...], ...]
    updates: tuple[tuple[Expression, ...], ...]
    columns_used: tuple[str, ...]
    plan: Explained

    @property
    def target_schema(self) -> tuple[Column, ...]:
        return columns_of(self.target_type)

    @property
    def source_schema(self) -> tuple[Column, ...]:
        return columns_of(self.source_type)

    @property
    def source_reference(self) -> str:
        """What the engine's own queries call the source: its alias or name, one of ours where it has none."""
        return self.statement.source.reference or "__dm_source"

    @property
    def target_sql(self) -> str:
        """The target as planned, to be read in a FROM; without an alias."""
        return f"{self.statement.target.text} VERSION AS OF {self.version}"

    @property
    def source_sql(self) -> str:
        """The source as typed, to be read in a FROM, with its alias."""
        return aliased(self.statement.source)


def aliased(relation: Relation) -> str:
    return f"{relation.text} AS {relation.alias}" if relation.alias else relation.text


def qualified(merge: AnalyzedMerge, text: str) -> str:
    """``text`` with the dotted name of either side as a qualifier shortened to what its subquery is called."""
    return by_reference(merge.statement.source, by_reference(merge.statement.target, text))


def by_reference(relation: Relation, text: str) -> str:
    """``text`` with the dotted name of ``relation`` as a qualifier shortened to its reference."""
    return text if relation.alias else requalified(text, relation.parts, relation.reference)


def _whole_path(spark: SparkSession, statement: MergeStatement, printed: str) -> str:
    """The target's path. A plan prints the last hundred characters of a longer one (TahoeFileIndex.toString)."""
    if not printed.startswith("..."):
        return printed
    try:
        return str(spark.sql(f"DESCRIBE DETAIL {statement.target.text}").collect()[0]["location"])
    except Exception as error:
        raise translate(error) from error


def analyze(spark: SparkSession, statement: MergeStatement) -> AnalyzedMerge:
    """Ask Spark. What Delta refuses at analysis raises an EngineError with Delta's class and a position."""
    plan = explain(spark, statement.sql)
    found = DELTA_AT.search(plan.analyzed)
    if found is None or "MergeIntoCommand" not in plan.analyzed:
        raise EngineError(
            "DELTA_TABLE_ONLY_OPERATION",
            f"The target {statement.target.text} is not a Delta table.",
            "Only Delta tables can be merged into from here.",
        )
    version, path = int(found.group(1)), _whole_path(spark, statement, found.group(2))
    prefix = statement.before_select
    source = aliased(statement.source)
    target = f"{statement.target.text} VERSION AS OF {version} AS {statement.target.reference}"
    source_type, target_type = _schemas(spark, prefix, source, target)
    source_schema, target_schema = columns_of(source_type), columns_of(target_type)
    type_after = final_schema(plan.analyzed, target_type)

    on_texts = conjuncts(statement.condition)
    matched_texts = [conjuncts(c.condition) if c.condition else () for c in statement.matched]
    equalities = [parts for text in on_texts if (parts := equality(text))]
    sides = [side for left, _, right in equalities for side in (left, right)]
    in_both = [
        *on_texts,
        *sides,
        *(text for texts in matched_texts for text in texts),
        *(text for clause in statement.matched for _, text in clause.assignments),
    ]
    shortened = [by_reference(statement.target, text) for text in in_both]
    query = f"{prefix}SELECT {{}} FROM {source} CROSS JOIN {target}"
    probed = probe(spark, query, shortened, source_schema, target_schema)
    both = [dataclasses.replace(found, text=text) for found, text in zip(probed, in_both, strict=True)]
    of_inserts = [
        text
        for clause in statement.not_matched
        for text in (*((clause.condition,) if clause.condition else ()), *(v for _, v in clause.assignments))
    ]
    inserted = probe(spark, f"{prefix}SELECT {{}} FROM {source}", of_inserts, source_schema, ())

    on, rest = both[: len(on_texts)], both[len(on_texts) + len(sides) :]
    matched, updates = [], []
    for texts in matched_texts:
        matched.append(tuple(rest[: len(texts)]))
        rest = rest[len(texts) :]
    for clause in statement.matched:
        updates.append(tuple(rest[: len(clause.assignments)]))
        rest = rest[len(clause.assignments) :]
    return AnalyzedMerge(
        statement=statement,
        version=version,
        path=path,
        target_type=target_type,
        source_type=source_type,
        type_after=type_after,
        on=tuple(on),
        keys=keys_of(both[len(on_texts) : len(on_texts) + len(sides)], [sign for _, sign, _ in equalities]),
        matched=tuple(matched),
        updates=tuple(updates),
        columns_used=referenced_source_columns(statement, [*both, *inserted], source_schema, columns_of(type_after)),
        plan=plan,
    )


def keys_of(sides: Sequence[Expression], signs: Sequence[str]) -> tuple[Key, ...]:
    """``sides`` are the left and right sides of the equalities of ON, in pairs, ``signs`` what stands between."""
    found = []
    for left, right, sign in zip(sides[::2], sides[1::2], signs, strict=True):
        for source, target in ((left, right), (right, left)):
            if source.source_columns and target.target_columns and not (source.target_columns or target.source_columns):
                found.append(Key(source, target, sign == "<=>"))
    return tuple(found)


def referenced_source_columns(
    statement: MergeStatement,
    expressions: Sequence[Expression],
    source_schema: Sequence[Column],
    schema_after: Sequence[Column],
) -> tuple[str, ...]:
    """MergeIntoMaterializeSource.getReferencedSourceColumns: in the source's order, stars as what they expand to."""
    used = {column for expression in expressions for column in expression.source_columns}
    if any(clause.star for clause in statement.clauses):
        in_target = {column.name.lower() for column in schema_after}
        used |= {column.name for column in source_schema if column.name.lower() in in_target}
    return tuple(column.name for column in source_schema if column.name in used)


def _schemas(spark: SparkSession, prefix: str, source: str, target: str) -> tuple[StructType, StructType]:
    """The schemas of both sides, of one question."""
    both = schema_of(
        spark, f"{prefix}SELECT * FROM {source} CROSS JOIN (SELECT 0 AS {BETWEEN}) AS {BETWEEN} CROSS JOIN {target}"
    )
    at = both.names.index(BETWEEN)
    return type(both)(both.fields[:at]), type(both)(both.fields[at + 1 :])


def schema_of(spark: SparkSession, query: str) -> StructType:
    """The schema of a query, without running it."""
    try:
        return spark.sql(query).schema
    except Exception as error:
        raise translate(error) from error


def columns_of(schema: StructType) -> tuple[Column, ...]:
    """The columns of a schema, types as Spark prints them in DDL."""
    return tuple(
        Column(name=field.name, type=field.dataType.simpleString(), nullable=field.nullable) for field in schema.fields
    )


def probe(
    spark: SparkSession,
    query: str,
    texts: Sequence[str],
    first: Sequence[Column],
    second: Sequence[Column],
) -> list[Expression]:
    """Which columns each of ``texts`` refers to, over ``query`` (``{}`` stands for its select list).

    The analyzed plan prints ``*`` first, so the ids of the known columns are read by position; what follows
    each marker alias is one expression.
    """
    if not texts:
        return []
    items = ", ".join(f"({text}\n) AS __dm_{index}" for index, text in enumerate(texts))
    # a view's query is analyzed and then left alone; a SELECT's would be optimized and planned, which makes
    # Delta load both tables' state
    view = f"CREATE OR REPLACE TEMPORARY VIEW __dm_probe AS {query.format(f'*, {items}')}"
    analyzed = explain(spark, view).analyzed
    # a WITH before the SELECT prints its own Projects first
    names = ", ".join(rf"{re.escape(column.name)}#(\d+)L?" for column in (*first, *second))
    head = re.search(rf"^[:+| -]*Project \[{names}", analyzed, re.MULTILINE)
    if head is None:
        raise EngineError(
            "PLAN_NOT_UNDERSTOOD",
            "Spark's plan of the statement could not be read.",
            "Please report this statement.",
        )
    ids = [int(i) for i in head.groups()]
    source_ids = dict(zip(ids[: len(first)], (c.name for c in first), strict=True))
    target_ids = dict(zip(ids[len(first) :], (c.name for c in second), strict=True))
    rest = analyzed[head.end() :]
    expressions = []
    for index, text in enumerate(texts):
        part, _, rest = rest.partition(f" AS __dm_{index}#")
        literals = [token.text[1:-1] for token in tokenize(text) if token.is_string and "#" in token.text]
        for literal in literals:
            part = part.replace(literal, "")
        seen = {int(i) for i in IDS.findall(re.sub(r"^\d+L?, ", "", part))}
        expressions.append(
            Expression(
                text=text,
                source_columns=tuple(name for i, name in source_ids.items() if i in seen),
                target_columns=tuple(name for i, name in target_ids.items() if i in seen),
            )
        )
    return expressions
