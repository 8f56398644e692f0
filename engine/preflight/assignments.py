"""What each clause writes: for every column of the target one SQL expression over the clause's own rows.

Mirrors PreprocessTableMerge and UpdateExpressionsSupport (generateUpdateExpressions): casts as the store assignment
does (engine.preflight.cast_if_needed), defaults, generated columns from the new values, and what schema evolution
adds. Nothing runs: Spark is asked for the types of the expressions only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Literal

from engine.merge.analyze import AnalyzedMerge
from engine.merge.should_materialize_source import NON_DETERMINISTIC
from engine.merge.subquery_values import subqueries_of
from engine.merge.volatile_parts import volatile_functions, volatile_subquery
from engine.preflight.cast_if_needed import Given, Named, array_call, cast_if_needed, stored, with_operands
from engine.preflight.target_rules import StoreCast, TargetColumn, TargetRules, may_generate_otherwise
from engine.spark.schema import schema_of
from engine.sql.char_types import padded
from engine.sql.names import quote, string
from engine.sql.parse import MergeClause
from engine.sql.sql_text import all_function_names, names_in, special_times, substituted, tokenize
from engine.sql.store_types import can_up_cast, ddl, is_same

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType, StructField

BYTES = "bytes that name a partition, which Delta writes as a text"
LEGACY = "a cast under spark.sql.storeAssignmentPolicy LEGACY"
NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""How the value NULL of a partition column is written: it, and the empty text, come back as NULL
(org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils)."""
Origin = Literal["kept", "given", "default", "generated", "identity"]


@dataclass(frozen=True)
class Assignment:
    """What one column gets. ``value`` is SQL of the column's type over the clause's rows, None for an identity value.

    ``unknown`` says why the commit's value will be another one, "" where it is this one; ``of_target`` whether the
    target row is read for it. ``origin``: ``kept`` from
    the target row, ``given`` by the clause, its ``default``, ``generated`` from the other columns, or an ``identity``
    value that only the commit knows. ``given`` holds the whole column's expression before the cast, where there is
    one. A generated column of none but kept ones is kept, unless this session may generate it otherwise.
    """

    column: TargetColumn
    value: str | None
    origin: Origin
    given: Given | None = None
    unknown: str = ""
    of_target: bool = False
    before_cast: bool = False

    @property
    def stored_value(self) -> str | None:
        """The value as Delta checks it: an empty text that names a partition is NULL by then
        (TransactionalWrite.convertEmptyToNullIfNeeded)."""
        return f"nullif({self.value}, '')" if self.value and self.column.is_text_partition else self.value

    @property
    def read_value(self) -> str:
        """The value as a read shows it: CHAR padded, a text that names no partition NULL, and NULL of the column's type
        for what is not known."""
        column = self.column
        if self.value is None:
            return f"CAST(NULL AS {ddl(column.type)})"
        if self.origin == "kept":
            return self.value
        # an empty CHAR that names a partition is NULL before a read fills it up
        value = as_partition(self.value) if column.is_text_partition else self.value
        return value if column.raw_type is None or not column.padded else padded(value, column.raw_type)


def as_partition(text: str) -> str:
    """A text as a partition column gives it back."""
    return f"CASE WHEN {text} NOT IN ('', '{NO_PARTITION}') THEN {text} END"


@dataclass(frozen=True)
class ClauseAssignments:
    """One UPDATE or INSERT clause and what it writes, a column after the other in the order of the schema after."""

    clause: MergeClause
    columns: tuple[Assignment, ...]
    given: tuple[tuple[tuple[str, ...], Given], ...]


def assignments(spark: SparkSession, merge: AnalyzedMerge, rules: TargetRules) -> tuple[ClauseAssignments, ...]:
    """Those of the statement's UPDATE and INSERT clauses, in its order."""
    given = _given(spark, merge, rules.cast)
    return tuple(
        ClauseAssignments(clause, _assigned(merge, rules, clause, given[index]), given[index])
        for index, clause in enumerate(merge.statement.clauses)
        if clause.action_kind != "delete"
    )


def never_failing(merge: AnalyzedMerge, rules: TargetRules, one: ClauseAssignments) -> ClauseAssignments:
    """The same, a value that does not fit its column made NULL where Delta raises an error."""
    if not rules.cast.can_fail:
        return one
    return _cast_as(replace(rules.cast, function="try_cast", can_fail=False), merge, rules, one)


def failing(merge: AnalyzedMerge, rules: TargetRules, one: ClauseAssignments) -> ClauseAssignments:
    """The same, a value that does not fit its column raising where Delta raises an error, though the session's CAST
    gives NULL."""
    if not rules.cast.can_fail or rules.cast.function == "CAST":
        return one
    return _cast_as(replace(rules.cast, raises=True), merge, rules, one)


def _cast_as(cast: StoreCast, merge: AnalyzedMerge, rules: TargetRules, one: ClauseAssignments) -> ClauseAssignments:
    return replace(one, columns=_assigned(merge, replace(rules, cast=cast), one.clause, one.given))


def volatile(text: str) -> str:
    """The functions and literals in ``text`` that give other values each time, or by how the rows are read; "" if
    there are none."""
    functions = volatile_functions(text) | (all_function_names(text) & NON_DETERMINISTIC)
    return ", ".join((*(f"{name}()" for name in sorted(functions)), *sorted(special_times(text))))


def kept(merge: AnalyzedMerge, rules: TargetRules) -> tuple[Assignment, ...]:
    """A target row that is not changed, in the schema after: what is new is NULL."""
    reference = merge.statement.target.reference
    return tuple(Assignment(c, _kept(reference, c, rules.cast), "kept", of_target=True) for c in rules.columns)


def _given(spark: SparkSession, merge: AnalyzedMerge, cast: StoreCast) -> dict[int, tuple[Named, ...]]:
    """By clause, the ((column, nested field…), expression) that it names, a star as what it expands to."""
    source, key = merge.source_reference, merge.sides[0].key
    after = {key(name) for name in merge.type_after.names}
    star = tuple(
        ((field.name,), Given(f"{source}.{quote(field.name)}", field.dataType, field.nullable, of_target=False))
        for field in merge.source_type.fields
        if key(field.name) in after
    )
    types = _types(spark, merge)
    found = {}
    for index, clause in enumerate(merge.statement.clauses):
        named = []
        for i, (column, text) in enumerate(clause.assignments):
            if clause.kind == "matched":
                of_target = bool(merge.updates[merge.statement.matched.index(clause)][i].target_columns)
            else:
                of_target = clause.kind == "not_matched_by_source"
            parts = {part for one in subqueries_of(text) for part in volatile_subquery(spark, "", one)}
            given = replace(_typed(text, types[index]), of_target=of_target, volatile=", ".join(sorted(parts)))
            named.append((_path(column), given))
        found[index] = star if clause.star else tuple(named)
        if clause.star and clause.action_kind == "update" and cast.star_by_field:
            found[index] = tuple(leaf for path, one in star for leaf in _leaves(path, one))
    return found


def _by_first(named: Iterable[Named], key: Callable[[str], str]) -> dict[str, list[Named]]:
    """What is assigned below each column or field, by the first name of its path."""
    found: dict[str, list[Named]] = {}
    for path, one in named:
        found.setdefault(key(path[0]), []).append((path[1:], one))
    return found


def _inside(type_: DataType, path: Sequence[str], key: Callable[[str], str]) -> DataType:
    """The type of the field at the end of ``path``, which the analyzer has found."""
    for name in path:
        type_ = next(f.dataType for f in getattr(type_, "fields", ()) if key(f.name) == key(name))
    return type_


def _leaves(path: tuple[str, ...], one: Given) -> Iterator[Named]:
    """ResolveDeltaMergeInto.getLeafActionsForSchema: a struct as assignments to the fields at its ends."""
    from pyspark.sql.types import StructType

    if not isinstance(one.type, StructType):
        yield path, one
        return
    for field in one.type.fields:
        text = f"{one.text}.{quote(field.name)}"
        yield from _leaves((*path, field.name), Given(text, field.dataType, nullable=True, of_target=False))


def _types(spark: SparkSession, merge: AnalyzedMerge) -> dict[int, Iterator[StructField]]:
    """The types of the expressions of each clause, each before those of its operands: one question to the analyzer for
    each kind of clause."""
    statement = merge.statement
    target = f"{merge.target_sql} AS {statement.target.reference}"
    relations = {
        "matched": f"{merge.source_sql} CROSS JOIN {target}",
        "not_matched": merge.source_sql,
        "not_matched_by_source": target,
    }
    types: dict[int, Iterator[StructField]] = {}
    for kind, relation in relations.items():
        clauses = [(i, c) for i, c in enumerate(statement.clauses) if c.kind == kind and c.assignments]
        texts = {i: [part for _, text in c.assignments for part in with_operands(text)] for i, c in clauses}
        if not texts:
            continue
        items = ", ".join(f"({text}\n) AS c{n}" for n, text in enumerate(chain.from_iterable(texts.values())))
        fields = iter(schema_of(spark, f"{statement.before_select}SELECT {items} FROM {relation}").fields)
        types |= {index: iter(list(islice(fields, len(parts)))) for index, parts in texts.items()}
    return types


def _typed(text: str, types: Iterator[StructField]) -> Given:
    """The expression, of the next of ``types``, and its operands, of those that follow."""
    field = next(types)
    operands = tuple(_typed(operand, types) for operand in array_call(text)[1])
    return Given(text, field.dataType, field.nullable, of_target=False, operands=operands)


def _path(column: str) -> tuple[str, ...]:
    """``a.b`` as ("a", "b"): the column's name and the fields below it."""
    return tuple(token.name for token in tokenize(column) if token.text != ".")


def _assigned(
    merge: AnalyzedMerge,
    rules: TargetRules,
    clause: MergeClause,
    given: Sequence[Named],
) -> tuple[Assignment, ...]:
    reference, key = merge.statement.target.reference, merge.sides[0].key
    updates = clause.action_kind == "update"
    named = _by_first(given, key)
    found: list[Assignment | None] = []
    for column in rules.columns:
        ops = named.get(key(column.name))
        if ops and not ops[0][0]:
            keeps = updates and clause.star and column.before is not None
            kept_value = f"{reference}.{quote(column.name)}" if keeps else None
            one = ops[0][1]
            value = cast_if_needed(one, column.type, rules.cast, kept_value, column.before)
            unknown = volatile(value) or one.volatile
            unknown = unknown or ("" if rules.cast.exact or can_up_cast(one.type, column.type) else LEGACY)
            of_target = one.of_target or (kept_value is not None and kept_value in value)
            found.append(Assignment(column, value, "given", one, unknown, of_target))
        elif ops:
            value = _with_fields(f"{reference}.{quote(column.name)}", column.before, column.type, ops, rules.cast, key)
            unknown = volatile(value) or next((one.volatile for _, one in ops if one.volatile), "")
            exact = rules.cast.exact or all(can_up_cast(one.type, _inside(column.type, path, key)) for path, one in ops)
            unknown = unknown or ("" if exact else LEGACY)
            found.append(Assignment(column, value, "given", unknown=unknown, of_target=True))
        elif column.generated_as is not None:
            found.append(None)
        elif updates:
            found.append(Assignment(column, _kept(reference, column, rules.cast), "kept", of_target=True))
        elif column.identity:
            found.append(Assignment(column, None, "identity", unknown="an identity value"))
        else:
            value = f"{rules.cast.function}({column.default or 'NULL'} AS {ddl(column.type)})"
            found.append(Assignment(column, value, "default", unknown=volatile(value)))
    known = [a for a in found if a]
    each = [a or _generated(column, known, updates) for a, column in zip(found, rules.columns, strict=True)]
    return tuple(
        replace(a, unknown=BYTES) if a.column.is_bytes_partition and a.origin != "kept" and not a.unknown else a
        for a in each
    )


def _generated(column: TargetColumn, known: Sequence[Assignment], updates: bool) -> Assignment:
    """The generation expression over the new values: as they are stored for UPDATE
    (generateUpdateExprsForGeneratedColumns), before their casts for INSERT (resolveImplicitColumns)."""
    text = column.generated_as or "NULL"
    texts = {a.column.name.lower(): a.value if updates or not a.given else a.given.text for a in known}
    value = f"CAST({substituted(text, {name: one or 'NULL' for name, one in texts.items()})} AS {ddl(column.type)})"
    words = names_in(text)
    used = [a for a in known if a.column.name.lower() in words]
    other = not updates and any(a.given and not is_same(a.given.type, a.column.type) for a in used)
    # Delta computes it again, though the columns that it is generated from stay
    stays = used and all(a.origin == "kept" for a in used)
    stays = stays and not may_generate_otherwise(column, [a.column for a in known])
    origin: Origin = "kept" if stays else "generated"
    of_target = any(a.of_target for a in used)
    unknown = volatile(value) or next((a.unknown for a in used if a.unknown), "")
    return Assignment(column, value, origin, unknown=unknown, of_target=of_target, before_cast=other)


def _kept(reference: str, column: TargetColumn, cast: StoreCast) -> str:
    if column.before is None:
        return f"CAST(NULL AS {ddl(column.type)})"
    return stored(f"{reference}.{quote(column.name)}", column.before, column.type, cast)


def _with_fields(
    kept_value: str,
    before: DataType | None,
    after: DataType,
    ops: Sequence[Named],
    cast: StoreCast,
    key: Callable[[str], str],
) -> str:
    """A struct with some of its fields assigned (``SET a.b = …``). A NULL struct becomes one of NULL fields."""
    from pyspark.sql.types import StructType

    if not isinstance(after, StructType):
        raise AssertionError(f"no struct: {after}")  # the analyzer has refused it
    old = {f.name.lower(): f for f in before.fields} if isinstance(before, StructType) else {}
    named = _by_first(ops, key)
    parts = []
    for field in after.fields:
        own = named.get(key(field.name))
        known = old.get(field.name.lower())
        inner = f"{kept_value}.{quote(known.name)}" if known else "NULL"
        if own and not own[0][0]:
            value = cast_if_needed(own[0][1], field.dataType, cast)
        elif own:
            value = _with_fields(inner, known.dataType if known else None, field.dataType, own, cast, key)
        elif known:
            value = stored(inner, known.dataType, field.dataType, cast)
        else:
            value = f"CAST(NULL AS {ddl(field.dataType)})"
        parts.append(f"{string(field.name)}, {value}")
    return f"named_struct({', '.join(parts)})"
