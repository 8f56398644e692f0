"""The checks of each written row: what a clause's rows, or rows that are written as they were, can break.

Delta checks every written row: casts fail first, then CHECK constraints, NOT NULL, lengths and generated columns
(Constraints.getAll, CheckDeltaInvariant). Only what the statement can break is checked: a clause that can break nothing
costs nothing, the others share one aggregate, over the source's rows alone if no target column is needed.

Rows are written as they were where a file is rewritten, whose other rows are copied, and where there is a change data
feed, which has each row before its change: Delta checks what it writes to either. Such rows kept their constraints when
they were written or the constraint was added, so they are not checked, with three exceptions: a CHECK over the clock,
which a row can break by growing old; one with a name that is no column, CURRENT_DATE among them, of which a write makes
NULL, and the query that is asked when it is added does not; and a CHECK or generated column that depends on the
session's time zone, names a CHAR, or may raise, as it does where the table was written without ANSI. Not seen: CHAR
and VARCHAR values that were written under spark.sql.legacy.charVarcharAsString and are written again without it; what
raises under ANSI where the store assignment policy is LEGACY.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge
from engine.merge.find_touched_files import Matches, takes_rows
from engine.merge.join_sides import (
    CLAUSE,
    FILE,
    SOURCE_ROW,
    clause_number,
    seen_rows,
    source_relation,
    target_relation,
)
from engine.merge.plan_writes import Promise
from engine.merge.prepare_source import PreparedSource
from engine.model.errors import UsageError
from engine.model.write import WritePlan
from engine.preflight.assignments import Assignment, ClauseAssignments, failing, kept, never_failing, volatile
from engine.preflight.cast_if_needed import has_value
from engine.preflight.rows_after import clause_rows, deleted_rows, unchanged_rows
from engine.preflight.target_rules import TargetColumn, TargetRules, differs_when_read, may_generate_otherwise
from engine.sql.char_types import fits, lengths
from engine.sql.names import quote
from engine.sql.sql_text import conjuncts, integers_named, names_in
from engine.sql.store_types import INTEGRAL, can_up_cast, ddl, holds_integers, is_atomic, is_same

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

NOT_NULL = "DELTA_NOT_NULL_CONSTRAINT_VIOLATED"
VIOLATED = "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
TOO_LONG = "DELTA_EXCEED_CHAR_VARCHAR_LIMIT"


@dataclass(frozen=True)
class Check:
    """One thing that can go wrong. ``violated`` is SQL over the new row, true of a bad one; ``columns`` are shown.

    ``cast`` is the expression that fails, where Spark must be asked how.
    """

    condition: str
    sentence: str
    violated: str
    columns: tuple[str, ...]
    hint: str
    cast: str | None = None
    overflows: bool = False


@dataclass(frozen=True)
class ClauseChecks:
    """The checks of one clause over ``rows``, a query of its new rows; ``risky`` are expressions that may raise."""

    checks: tuple[Check, ...]
    rows: str
    keys: tuple[str, ...]
    risky: tuple[tuple[Assignment, str], ...]


def clause_checks(
    merge: AnalyzedMerge,
    source: PreparedSource,
    matches: Matches,
    rules: TargetRules,
    one: ClauseAssignments,
    as_given: frozenset[str] = frozenset(),
) -> ClauseChecks | None:
    """The checks of a clause; None if there are none. With ``as_given`` those of these columns alone, over the rows in
    which one of them is an empty text, which is not made NULL: see :func:`maybe_as_given`."""
    lenient = {a.column.name: a for a in never_failing(merge, rules, one).columns}
    changed = [a for a in one.columns if a.origin != "kept"]
    checks = [check for a in changed for check in _cast_checks(a, rules)]
    as_delta_casts = [a for a in failing(merge, rules, one).columns if a.origin != "kept"]
    risky = [part for a in as_delta_casts for part in risky_parts(merge, a, rules)]
    late = {a.column.name for a in one.columns if a.value is None}
    checks += _constraint_checks(rules, {a.column.name.lower() for a in changed}, late)
    for a in changed:
        checks += _column_checks(a, rules, late)
    if as_given:
        checks, risky = [check for check in checks if not as_given.isdisjoint(check.columns)], []
    if not checks and not risky:
        return None
    checks = _of_values_that_fit(checks)
    needed = {name for check in checks for name in check.columns}
    shown = [a for a in one.columns if a.column.name in needed]
    of_target = any(a.of_target for a in (*shown, *(a for a, _ in risky)))
    values = {a.column.name: lenient[a.column.name] for a in shown}
    items = [f"{a.value if name in as_given else a.stored_value} AS {quote(name)}" for name, a in values.items()]
    items += [f"({a.given.text}\n) AS {quote(given_name(a.column.name))}" for a in shown if a.given]
    items += [f"{text} AS __dm_risky_{n}" for n, (_, text) in enumerate(risky)]
    keys = _keys(merge, one)
    items += [f"{text} AS {quote('__dm_key_' + name)}" for name, text in keys]
    rows = f"SELECT {', '.join(items) or '1'} FROM {_rows_of(merge, source, matches, one, of_target)}"
    if as_given:
        empty = " OR ".join(f"{quote(name)} = ''" for name in sorted(as_given & needed))
        rows = f"SELECT * FROM ({rows}) WHERE {empty}"
    return ClauseChecks(
        checks=tuple(checks),
        rows=rows,
        keys=tuple(name for name, _ in keys),
        risky=tuple(risky),
    )


def _of_values_that_fit(checks: Sequence[Check]) -> list[Check]:
    """A row fails for a value that does not fit: other checks of that column would find the NULL in its place."""
    unfit = {check.columns[0]: check.violated for check in checks if check.cast}

    def of_values_that_fit(check: Check) -> Check:
        theirs = [unfit[name] for name in check.columns if name in unfit and not check.cast]
        if not theirs:
            return check
        return replace(check, violated=f"({check.violated}) AND NOT ({' OR '.join(f'({one})' for one in theirs)})")

    return [of_values_that_fit(check) for check in checks]


def maybe_as_given(merge: AnalyzedMerge, matches: Matches, write: WritePlan, one: ClauseAssignments) -> frozenset[str]:
    """The partition columns of which Delta may check an empty text as it is given, and not as the NULL that it becomes.

    TransactionalWrite.convertEmptyToNullIfNeeded looks for them by their ids, which they lose where Spark's optimizer
    leaves out the alias of a source's column (RemoveRedundantAliases). That hangs on the whole plan of the source; a
    file that is written anew, and several INSERT clauses, put a CASE around the column.
    """
    whole = matches.touched and (write.change_data_feed or not write.deletion_vectors)
    if whole or (one.clause.kind == "not_matched" and len(merge.statement.not_matched) > 1):
        return frozenset()
    columns = {f"{merge.source_reference}.{quote(column.name)}" for column in merge.source_schema}
    given = [a for a in one.columns if a.given is not None and a.given.text in columns]
    return frozenset(a.column.name for a in given if a.column.is_text_partition)


def _rows_of(
    merge: AnalyzedMerge, source: PreparedSource, matches: Matches, one: ClauseAssignments, of_target: bool
) -> str:
    """The clause's rows; without the target, where that suffices, from the pairs that are known already."""
    if one.clause.kind != "matched" or of_target or matches.seen is None:
        return clause_rows(merge, source, one.clause, matches.seen)
    number = clause_number(merge.statement, one.clause)
    reference = merge.source_reference
    pairs = seen_rows(source, matches.seen, f"{CLAUSE} = {number}")
    return f"{source_relation(merge, source)} INNER JOIN {pairs} ON {reference}.{SOURCE_ROW} = __dm_seen"


def _keys(merge: AnalyzedMerge, one: ClauseAssignments) -> list[tuple[str, str]]:
    """What identifies a row: the columns of ON, the target's for NOT MATCHED BY SOURCE, else the source's."""
    if one.clause.kind == "not_matched_by_source":
        names = [name for e in merge.on for name in e.target_columns]
        reference = merge.statement.target.reference
    else:
        names = [name for e in merge.on for name in e.source_columns]
        reference = merge.source_reference
    return [(name, f"{reference}.{quote(name)}") for name in dict.fromkeys(names)]


def _cast_checks(a: Assignment, rules: TargetRules) -> list[Check]:
    """A value that does not fit its column: one try_cast cannot make."""
    if not (a.given and a.origin == "given" and rules.cast.can_fail) or not _fails(a.given.type, a.column.type):
        return []
    given = quote(given_name(a.column.name))
    cast = f"CAST({given} AS {ddl(a.column.type)})"
    return [
        Check(
            condition="",
            sentence=f"do not fit column {a.column.name} ({a.column.type.simpleString()})",
            violated=f"{has_value(given, a.given.type, a.column.type)} AND try_{cast} IS NULL",
            columns=(a.column.name,),
            hint="Use try_cast to write NULL instead, or leave those rows out.",
            cast=cast,
            overflows=holds_integers(a.column.type),
        )
    ]


def _fails(given: DataType, wanted: DataType) -> bool:
    return is_atomic(given) and is_atomic(wanted) and not can_up_cast(given, wanted)


def risky_parts(merge: AnalyzedMerge, a: Assignment, rules: TargetRules) -> list[tuple[Assignment, str]]:
    """The expressions that may raise as they are computed, and casts of nested values and VARIANTs, which may raise
    within."""
    if a.origin == "generated":
        return [(a, a.value or "NULL")] if a.column.generation_may_raise or a.before_cast else []
    if a.given is None:
        return [(a, a.value or "NULL")] if a.origin == "given" else []
    nested = not (is_atomic(a.given.type) and is_atomic(a.column.type))
    if nested and not is_same(a.given.type, a.column.type) and rules.cast.can_fail:
        return [(a, a.value or "NULL")]
    return [(a, a.given.text)] if merge.may_raise(a.given.text) else []


def _constraint_checks(rules: TargetRules, changed: set[str], late: AbstractSet[str]) -> list[Check]:
    """The CHECK constraints that name a changed column, the clock, or what another session may compute otherwise, as
    far as they can be asked without ``late`` columns, whose values only the commit knows."""
    checks = []
    for name, text in rules.checks.items():
        asked = _without(text, late)
        if not asked:
            continue
        columns, read = _named(rules, asked), rules.as_checked(asked)
        # what names no column at all, or is read otherwise, was not checked like that when a row was written
        kept = bool(columns) and not read.otherwise and not any(column.lower() in changed for column in columns)
        other = name in rules.checks_that_may_raise or differs_when_read(text, rules.columns)
        if kept and not volatile(text) and not other:
            continue
        checks.append(
            Check(
                condition=VIOLATED,
                sentence=f"violate the CHECK constraint {name} ({text})",
                violated=f"NOT coalesce(({read.text}\n), FALSE)",
                columns=columns,
                hint="Leave those rows out of the source, or correct them there.",
            )
        )
    return checks


def _without(check: str, late: AbstractSet[str]) -> str:
    """Those conjuncts of a CHECK that name no column of ``late``: it is TRUE only if they are. "" if there is none."""
    late = {name.lower() for name in late}
    if late.isdisjoint(names_in(check)):
        return check
    try:
        return " AND ".join(f"({one}\n)" for one in conjuncts(check) if late.isdisjoint(names_in(one)))
    except UsageError:
        return ""


def _column_checks(a: Assignment, rules: TargetRules, late: AbstractSet[str]) -> list[Check]:
    column, name = a.column, quote(a.column.name)
    checks = []
    never_null = a.origin == "identity" or (
        a.given is not None
        and not (a.given.nullable or column.is_text_partition)
        and not _fails(a.given.type, column.type)
    )
    paths = _not_null_paths(column.name, column.type, column.nullable)
    if not (never_null and is_atomic(column.type)) and paths:
        for path in paths:
            checks.append(
                Check(
                    condition=NOT_NULL,
                    sentence=f"have NULL in {'.'.join(path)}, which is NOT NULL",
                    violated=f"{'.'.join(quote(part) for part in path)} IS NULL",
                    columns=(column.name,),
                    hint="Leave those rows out of the source, or give them a value: coalesce(…).",
                )
            )
    if column.raw_type is not None and (whole := fits(name, column.raw_type)):
        most = lengths(column.raw_type)
        checks.append(
            Check(
                condition=TOO_LONG,
                sentence=f"are longer than the {most} {'character' if most == '1' else 'characters'} of {column.name}",
                violated=f"NOT ({whole})",
                columns=(column.name,),
                hint=f"Shorten them: left(…, {most}); blanks at the end count.",
            )
        )
    return [*checks, *_generated_checks(a, rules, late)]


def _generated_checks(a: Assignment, rules: TargetRules, late: AbstractSet[str]) -> list[Check]:
    column = a.column
    named = _named(rules, column.generated_as or "")
    partitions = {one.name for one in rules.columns if one.is_text_partition}
    if column.generated_as is None or a.origin == "kept":
        return []
    if not late.isdisjoint(named):
        return _check_of_identity(column, rules, late)
    if a.origin == "given":
        return [_generated_check(column, rules, f"Do not assign {column.name}: Delta computes it.")]
    if partitions & {column.name, *named}:
        return [_generated_check(column, rules, "Give a column that names partitions no empty text.")]
    if a.before_cast:
        return [_generated_check(column, rules, "Cast what INSERT gives to the types of the columns.")]
    return []


def _check_of_identity(column: TargetColumn, rules: TargetRules, late: AbstractSet[str]) -> list[Check]:
    """PreprocessTableMerge.resolveImplicitColumns generates the column while NULL stands for the identity (``late``),
    and checks it against what its value gives: not NULL, if that is arithmetic and no other column in it is NULL. What
    anything else gives is not known."""
    integers = [one for one in rules.columns if one.type.simpleString() in INTEGRAL]
    named = integers_named(column.generated_as or "")
    if named is None or not named <= {one.name.lower() for one in integers}:
        return []
    others = [one.name for one in integers if one.name.lower() in named and one.name not in late]
    return [
        Check(
            condition=VIOLATED,
            sentence=f"have NULL in {column.name}, which is generated ({column.generated_as}) before the identity that "
            "it names has its value, and checked after",
            violated=" AND ".join((f"{quote(column.name)} IS NULL", *(f"{quote(one)} IS NOT NULL" for one in others))),
            columns=(column.name, *others),
            hint="Give the identity its value, if it is GENERATED BY DEFAULT; an INSERT does that, too.",
        )
    ]


def _generated_check(
    column: TargetColumn, rules: TargetRules, hint: str = "Merge under the time zone and confs that wrote the table."
) -> Check:
    """ColumnWithDefaultExprUtils.addDefaultExprsOrReturnConstraints: Delta computes the column again for each row."""
    generated = rules.as_checked(column.generated_as or "").text
    return Check(
        condition=VIOLATED,
        sentence=f"have another value in {column.name} than it is generated as ({column.generated_as})",
        violated=f"NOT ({quote(column.name)} <=> ({generated}\n))",
        columns=(column.name, *_named(rules, column.generated_as or "")),
        hint=hint,
    )


def _not_null_paths(name: str, data_type: DataType, nullable: bool) -> list[tuple[str, ...]]:
    """Invariants.getFromSchema: the column and the fields of its structs that are NOT NULL."""
    from pyspark.sql.types import StructType

    paths: list[tuple[str, ...]] = [] if nullable else [(name,)]
    if isinstance(data_type, StructType):
        for field in data_type.fields:
            paths += [(name, *rest) for rest in _not_null_paths(field.name, field.dataType, field.nullable)]
    return paths


def _named(rules: TargetRules, text: str) -> tuple[str, ...]:
    """The columns of the target that an expression names."""
    words = names_in(text)
    return tuple(column.name for column in rules.columns if column.name.lower() in words)


def old_checks(
    merge: AnalyzedMerge, source: PreparedSource, matches: Matches, rules: TargetRules, promise: Promise
) -> ClauseChecks | None:
    """The rows that are written as they were, against what time, or another session than that which wrote them, can
    break."""
    of_table = "Delta checks them as they are in the table, too: drop the constraint first."
    checks = [replace(check, hint=of_table) for check in _constraint_checks(rules, set(), set())]
    checks += [
        _generated_check(column, rules) for column in rules.columns if may_generate_otherwise(column, rules.columns)
    ]
    rows = _old_rows(merge, source, matches, promise) if checks and matches.touched else []
    if not rows:
        return None
    needed = {name for check in checks for name in check.columns}
    items = [f"{a.value} AS {quote(a.column.name)}" for a in kept(merge, rules) if a.column.name in needed]
    query = " UNION ALL ".join(f"SELECT {', '.join(items) or '1'} FROM {one}" for one in rows)
    return ClauseChecks(tuple(checks), query, (), ())


def _old_rows(merge: AnalyzedMerge, source: PreparedSource, matches: Matches, promise: Promise) -> list[str]:
    """What follows FROM, in parts: the rows that are copied, and those that the change data feed has as they were."""
    write, of_touched = promise.write, f"{FILE} IN ({matches.touched_hashes})"
    copies = write.unmodified_rows_written and bool(promise.metrics["numTargetRowsCopied"])
    if copies and write.change_data_feed:
        return [f"{target_relation(merge, whole=True)} WHERE {of_touched}"]
    if copies:
        return [f"{unchanged_rows(merge, source)} AND {of_touched}"]
    if not write.change_data_feed:
        return []
    taken = [one for one in merge.statement.clauses if takes_rows(merge.statement, matches, one)]
    return [
        deleted_rows(merge, source, clause) if clause.action_kind == "delete" else clause_rows(merge, source, clause)
        for clause in taken
        if clause.action_kind != "insert"
    ]


def given_name(column: str) -> str:
    return f"__dm_given_{column}"
