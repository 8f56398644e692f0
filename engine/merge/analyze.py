"""MergeStatement → AnalyzedMerge: what Spark's analyzer says of the MERGE, without running it.

The MERGE itself is explained first, so that whatever Delta refuses is refused in Delta's words. Then the columns that
each expression refers to are resolved; engine.merge.check_reading holds that to what was explained.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.merge.explain_merge import ExplainedMerge, explain_merge, source_sql
from engine.merge.final_schema import final_schema
from engine.merge.pinned_target import file_path, path_column, pin
from engine.model.browse import Column
from engine.model.plan import Plan
from engine.spark.confs import is_on, read_confs
from engine.spark.explain import Explained
from engine.spark.may_raise import may_raise
from engine.spark.schema import columns_of, schema_of
from engine.spark.temporary_view import drop_view
from engine.sql.names import check_not_ours
from engine.sql.parse import MergeStatement, parse_merge
from engine.sql.resolve import SOURCE, TARGET, Side, is_boolean, resolve, resolve_merge, scope_of, sides_of
from engine.sql.sql_text import conjuncts, equality
from engine.sql.store_types import null_row, plain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType, StructType

BETWEEN = "__dm_between"
CASE_SENSITIVE = "spark.sql.caseSensitive"
Scope = tuple[Side, ...]


@dataclass(frozen=True)
class Expression:
    """An expression over our names of the sides, the same ``typed``, and the columns of either side it refers to."""

    text: str
    source_columns: tuple[str, ...]
    target_columns: tuple[str, ...]
    typed: str = ""

    @property
    def target_only(self) -> bool:
        """Whether its references are a subset of the target's: true of a constant as well, as in Delta."""
        return not self.source_columns


@dataclass(frozen=True)
class Key:
    """An equality of ON, ``typed``, that ties an expression of the source alone to one of the target alone."""

    source: Expression
    target: Expression
    null_safe: bool
    typed: str = ""


@dataclass(frozen=True)
class AnalyzedMerge:
    """A MERGE that Delta accepts.

    ``typed`` is the statement as it was written; ``resolved`` has the same parts with every column qualified by
    TARGET or SOURCE, as our own queries call the sides; ``statement`` is what these queries take: conditions that are
    ``not_boolean`` (typed → type), which Delta fails on while it runs, are NULL in it. ``target_name`` is SQL for the
    table behind a view or IDENTIFIER(…).
    ``version`` and ``path`` are the target's as the analyzer saw them; ``on`` the conjuncts of the condition,
    ``keys`` those that Spark can join by, as ExtractEquiJoinKeys finds them;
    ``matched`` the conjuncts of each WHEN MATCHED clause's condition, () for one without. ``type_after`` is the
    target's schema as the MERGE leaves it, ``target_type`` itself where it does not evolve. ``updates`` are the
    expressions that each WHEN MATCHED clause assigns by name. ``sides`` are (source, target) as the text may name
    them, ``harmless`` the expressions of ``statement`` that raise for no row. ``view`` is the target as
    engine.merge.pinned_target names it, "" where nothing does.
    """

    typed: MergeStatement
    resolved: MergeStatement
    statement: MergeStatement
    target_name: str
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
    sides: tuple[Side, Side]
    not_boolean: Mapping[str, str]
    harmless: frozenset[str]
    view: str = ""

    @property
    def target_schema(self) -> tuple[Column, ...]:
        return columns_of(self.target_type)

    @property
    def source_schema(self) -> tuple[Column, ...]:
        return columns_of(self.source_type)

    @property
    def source_reference(self) -> str:
        """What the engine's own queries call the source."""
        return SOURCE

    @property
    def target_sql(self) -> str:
        """The target as planned, to be read in a FROM; without an alias. Behind its columns there may be one more."""
        return self.view or self.table_sql

    @property
    def table_sql(self) -> str:
        """The same, of its own columns alone."""
        return f"{self.target_name} VERSION AS OF {self.version}"

    @property
    def source_sql(self) -> str:
        """The source as typed, to be read in a FROM, under our name."""
        return source_sql(self.statement)

    @property
    def file_path(self) -> str:
        """The path of a target row's file, in ``target_sql``."""
        return path_column(self.view) if self.view else file_path(self.target_type.names)

    def may_raise(self, text: str) -> bool:
        """Whether computing a condition, a conjunct or an assigned expression may fail for some row."""
        return text not in self.harmless and not plain(text)


def analyze(spark: SparkSession, statement: MergeStatement, view: str = "") -> AnalyzedMerge:
    """Ask Spark. What Delta refuses at analysis raises an EngineError with Delta's class and a position.

    ``view`` is the name of :func:`pinned_target` for the target, if it is to have one.
    """
    return analyze_explained(spark, explain_merge(spark, statement), view)


def analyze_explained(spark: SparkSession, explained: ExplainedMerge, view: str = "") -> AnalyzedMerge:
    """The same, of what Spark explained."""
    statement, plan = explained.statement, explained.plan
    table = f"{explained.target_name} VERSION AS OF {explained.version}"
    view, source_type, target_type = _schemas(spark, statement, table, view)
    check_not_ours((*source_type.names, *target_type.names))
    case_sensitive = is_on(read_confs(spark, (CASE_SENSITIVE,)), CASE_SENSITIVE, "false")
    sides = sides_of(statement, source_type.names, target_type.names, case_sensitive=case_sensitive)
    source_type = columns_once(source_type)
    types = {
        (side.name, field.name): field.dataType
        for side, schema in zip(sides, (source_type, target_type), strict=True)
        for field in schema.fields
    }
    resolved = resolve_merge(statement, *sides)
    not_boolean = _not_boolean(spark, statement, sides, types)
    queried = _without(statement, resolve_merge(statement, *sides, prefix=statement.prefix), not_boolean)

    def parts(typed: str, ours: str) -> tuple[Expression, ...]:
        if typed in not_boolean:
            return (Expression(ours, (), (), typed),)
        return _conjuncts(spark, statement, typed, scope_of("matched", sides), types)

    on = parts(statement.condition, queried.condition)
    matched = [
        parts(typed.condition, ours.condition) if typed.condition is not None and ours.condition is not None else ()
        for typed, ours in zip(statement.matched, queried.matched, strict=True)
    ]
    updates = [
        tuple(_expression(statement, value, scope_of("matched", sides)) for _, value in clause.assignments)
        for clause in statement.matched
    ]
    type_after = final_schema(plan.analyzed, target_type, source_type)
    return AnalyzedMerge(
        typed=statement,
        resolved=resolved,
        statement=queried,
        target_name=explained.target_name,
        version=explained.version,
        path=explained.path,
        target_type=target_type,
        source_type=source_type,
        type_after=type_after,
        on=on,
        keys=_keys(statement, on, scope_of("matched", sides)),
        matched=tuple(matched),
        updates=tuple(updates),
        columns_used=_used(statement, sides, columns_of(source_type), columns_of(target_type), columns_of(type_after)),
        plan=plan,
        sides=sides,
        not_boolean=not_boolean,
        harmless=_harmless(spark, queried, (*on, *(e for clause in matched for e in clause)), types),
        view=view,
    )


def analyze_again(spark: SparkSession, plan: Plan) -> AnalyzedMerge:
    """The MERGE of a plan, at the version that was planned: the table may have moved since."""
    return replace(analyze(spark, parse_merge(plan.statement.sql)), version=plan.target.version)


def _expression(statement: MergeStatement, typed: str, scope: Scope) -> Expression:
    resolution = resolve(typed, scope, prefix=statement.prefix)
    return Expression(resolution.text, resolution.source_columns, resolution.target_columns, typed)


def _conditions(statement: MergeStatement, sides: tuple[Side, Side]) -> Iterator[tuple[str, Scope]]:
    """(The text, its scope) of ON and of the conditions of the clauses."""
    yield statement.condition, scope_of("matched", sides)
    for clause in statement.clauses:
        if clause.condition is not None:
            yield clause.condition, scope_of(clause.kind, sides)


def _not_boolean(
    spark: SparkSession,
    statement: MergeStatement,
    sides: tuple[Side, Side],
    types: dict[tuple[str, str], DataType],
) -> dict[str, str]:
    """The conditions that are no booleans, with their types. Delta analyzes them, and fails while it runs."""
    unsure = [(text, scope) for text, scope in _conditions(statement, sides) if not is_boolean(text)]
    kinds = _types_of(spark, statement, unsure, types)
    return {text: type_ for (text, _), type_ in zip(unsure, kinds, strict=True) if type_ != "boolean"}


def _without(statement: MergeStatement, resolved: MergeStatement, texts: Collection[str]) -> MergeStatement:
    """The statement over our names, its conditions ``texts`` set to NULL: our queries cannot compute them."""
    null = "CAST(NULL AS BOOLEAN)"
    clauses = [
        replace(ours, condition=null) if typed.condition in texts else ours
        for typed, ours in zip(statement.clauses, resolved.clauses, strict=True)
    ]
    condition = null if statement.condition in texts else resolved.condition
    return replace(resolved, condition=condition, clauses=tuple(clauses))


def _types_of(
    spark: SparkSession,
    statement: MergeStatement,
    expressions: Sequence[tuple[str, Scope]],
    types: dict[tuple[str, str], DataType],
) -> list[str]:
    """The types of expressions as Spark analyzes them, over NULLs of the columns' types."""
    if not expressions:
        return []
    relations = [
        null_row(((column, t) for (side, column), t in types.items() if side == name), name)
        for name in (SOURCE, TARGET)
    ]
    items = ", ".join(
        f"({resolve(text, scope, prefix=statement.prefix).text}\n) AS c{n}"
        for n, (text, scope) in enumerate(expressions)
    )
    schema = schema_of(spark, f"SELECT {items} FROM {relations[0]} CROSS JOIN {relations[1]}")
    return [field.dataType.simpleString() for field in schema.fields]


def _conjuncts(
    spark: SparkSession,
    statement: MergeStatement,
    condition: str,
    scope: Scope,
    types: dict[tuple[str, str], DataType],
) -> tuple[Expression, ...]:
    """The conjuncts of a condition, each a boolean: AND casts another type implicitly, WHERE does not."""
    texts = conjuncts(condition)
    unsure = [text for text in texts if len(texts) > 1 and not is_boolean(text)]
    cast = {
        text
        for text, type_ in zip(
            unsure, _types_of(spark, statement, [(one, scope) for one in unsure], types), strict=True
        )
        if type_ != "boolean"
    }
    parts = [_expression(statement, text, scope) for text in texts]
    return tuple(replace(one, text=f"CAST(({one.text}\n) AS BOOLEAN)") if one.typed in cast else one for one in parts)


def _keys(statement: MergeStatement, on: Sequence[Expression], scope: Scope) -> tuple[Key, ...]:
    """The equalities of ON between an expression of each side."""
    keys = []
    for conjunct in on:
        parts = equality(conjunct.typed)
        if parts is None:
            continue
        left, sign, right = _expression(statement, parts[0], scope), parts[1], _expression(statement, parts[2], scope)
        for source, target in ((left, right), (right, left)):
            if source.source_columns and target.target_columns and not (source.target_columns or target.source_columns):
                keys.append(Key(source, target, sign == "<=>", conjunct.typed))
    return tuple(keys)


def _used(
    statement: MergeStatement,
    sides: tuple[Side, Side],
    source: Sequence[Column],
    before: Sequence[Column],
    after: Sequence[Column],
) -> tuple[str, ...]:
    """MergeIntoMaterializeSource.getReferencedSourceColumns: in the source's order, stars as what they expand to; and
    the columns from which the table's schema evolves, for Delta analyzes the MERGE of the frozen source anew."""
    texts = list(_conditions(statement, sides))
    texts += [(value, scope_of(one.kind, sides)) for one in statement.clauses for _, value in one.assignments]
    used = {column for text, scope in texts for column in resolve(text, scope).source_columns}
    types = {column.name.lower(): column.type for column in before}
    changed = {column.name.lower() for column in after if types.get(column.name.lower()) != column.type}
    key = sides[0].key
    starred = {key(column.name) for column in after} if any(clause.star for clause in statement.clauses) else ()
    used |= {column.name for column in source if column.name.lower() in changed or key(column.name) in starred}
    return tuple(column.name for column in source if column.name in used)


def _harmless(
    spark: SparkSession,
    resolved: MergeStatement,
    conjuncts: Sequence[Expression],
    types: dict[tuple[str, str], DataType],
) -> frozenset[str]:
    """Of the expressions over our names those that raise for no row."""
    names = {TARGET: [], SOURCE: []}  # type: dict[str, list[str]]
    for side, column in types:
        names[side].append(column)
    sides = tuple(Side(name, (name,), True, tuple(columns), True) for name, columns in names.items())
    texts = dict.fromkeys((resolved.condition, *(one.text for one in conjuncts)))
    for clause in resolved.clauses:
        texts |= dict.fromkeys(value for _, value in clause.assignments)
        texts |= {clause.condition: None} if clause.condition is not None else {}
    doubtful = [text for text in texts if not plain(text)]
    risky = may_raise(spark, [(text, sides) for text in doubtful], types)
    return frozenset(text for text, fails in zip(doubtful, risky, strict=True) if not fails)


def columns_once(schema: StructType) -> StructType:
    """``schema`` without the columns that stand twice in it: ``SELECT *, id`` has one column id to Spark, which refuses
    the statement where another one of its name is meant."""
    fields = {field.name: field for field in reversed(schema.fields)}
    return type(schema)([field for field in schema.fields if fields[field.name] is field])


def _schemas(
    spark: SparkSession, statement: MergeStatement, table: str, view: str
) -> tuple[str, StructType, StructType]:
    """(The view that the target has, the schemas of both sides), these of one question."""
    if view and not pin(spark, table, view):
        view = ""
    source = source_sql(statement)
    both = schema_of(
        spark,
        f"{statement.before_select}SELECT * FROM {source} CROSS JOIN (SELECT 0 AS {BETWEEN}) AS {BETWEEN} "
        f"CROSS JOIN {view or table} AS {TARGET}",
    )
    at = both.names.index(BETWEEN)
    end = len(both.fields) - (1 if view else 0)
    sides = type(both)(both.fields[:at]), type(both)(both.fields[at + 1 : end])
    if view and file_path(sides[1].names) != file_path(()):
        drop_view(spark, view)
        view = ""
    return view, *sides
