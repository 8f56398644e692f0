"""What a MERGE would raise while it writes, found by looking at the rows that its clauses make.

Delta checks every written row: casts fail first, then CHECK constraints, NOT NULL, lengths and generated columns
(Constraints.getAll, CheckDeltaInvariant). Only what the statement can break is looked for: a clause that can break
nothing costs nothing, the others share one aggregate, over the source's rows alone where no target column is needed.

Copied rows hold what Delta promised of them when they were written or the constraint was added, so they are not
looked at; the exceptions are a CHECK over the clock, which a row can break by growing old, and one that depends on the
session's time zone. Not seen: CHAR and VARCHAR
values that were written under spark.sql.legacy.charVarcharAsString and are copied without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge
from engine.merge.find_touched_files import (
    CLAUSE,
    FILE,
    SOURCE_ROW,
    Matches,
    clause_number,
    seen_rows,
    source_relation,
    takes_rows,
)
from engine.merge.prepare_source import PreparedSource
from engine.model.errors import EngineError
from engine.model.plan import Refused
from engine.model.value import Cells
from engine.preflight.assignments import Assignment, ClauseAssignments, kept, never_failing, volatile
from engine.preflight.rows_after import clause_rows, unchanged_rows
from engine.preflight.target_rules import ANSI, TargetRules, depends_on_zone
from engine.spark.confs import confs_set, for_rows
from engine.spark.spark_errors import WITHOUT_CLASS, translate
from engine.sql.char_types import fits, lengths
from engine.sql.names import quote
from engine.sql.sql_text import names_in
from engine.sql.store_types import can_up_cast, ddl, holds_integers, is_atomic, is_same

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

NOT_NULL = "DELTA_NOT_NULL_CONSTRAINT_VIOLATED"
VIOLATED = "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
TOO_LONG = "DELTA_EXCEED_CHAR_VARCHAR_LIMIT"
OVERFLOW = "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE"
ARITHMETIC = (
    *("CAST_OVERFLOW", "ARITHMETIC_OVERFLOW", "BINARY_ARITHMETIC_OVERFLOW", "NUMERIC_VALUE_OUT_OF_RANGE"),
    *("DIVIDE_BY_ZERO", "REMAINDER_BY_ZERO", "INTERVAL_ARITHMETIC_OVERFLOW"),
)
# what says nothing of the rows: a query of ours that Spark cannot read is our fault, not the operator's
NOT_OF_ROWS = (
    "UNRESOLVED",
    "PARSE",
    "DATATYPE_MISMATCH",
    "AMBIGUOUS",
    "CANCELLED",
    "SPARK_UNREACHABLE",
    *WITHOUT_CLASS,
)
SAMPLE_ROWS = 5


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


def check_rows(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: PreparedSource,
    matches: Matches,
    rules: TargetRules,
    assigned: Sequence[ClauseAssignments],
    *,
    copies: bool,
    private: bool,
) -> Refused | None:
    """The error that writing would raise, with some of the rows that raise it, or None.

    ``copies``: unchanged rows are written again. ``private`` leaves the rows out.
    """
    looked = [
        found
        for one in assigned
        if takes_rows(merge.statement, matches, one.clause)
        and (found := _clause_checks(merge, source, matches, rules, one))
    ]
    if copies and (found := _copied_checks(merge, source, matches, rules)):
        looked.append(found)
    if not looked:
        return None
    # under LEGACY, CAST is the one that the write does; the operator's own expressions keep the session's confs
    size = for_rows(source.num_rows + matches.touched_rows)
    confs = size if rules.cast.exact else {**size, ANSI: "false"}
    checks_only = [replace(one, risky=()) for one in looked]
    refused: list[Refused] = []
    try:
        if not rules.cast.exact:
            _counts(spark, size, [replace(one, checks=()) for one in looked])
        counts = _counts(spark, confs, looked if rules.cast.exact else checks_only)
    except EngineError as error:
        refused = _raised(spark, looked, error, private)
        checks_only, raising = _checks_that_count(spark, confs, checks_only, private)
        refused += raising
        if not refused:
            raise
        counts = _counts(spark, confs, checks_only)
    with confs_set(spark, confs):
        for index, one in enumerate(checks_only):
            # without checks the aggregate still has a number
            for check, count in zip(one.checks, counts[index], strict=False):
                if count:
                    refused.append(_refused(spark, one, check, count, private=private or bool(refused)))
    return first_of(*refused)


def first_of(*found: Refused | None) -> Refused | None:
    """Delta stops at the first row that fails, and in which order rows are written nobody knows."""
    refused = [one for one in found if one]
    if not refused:
        return None
    first = refused[0]
    others = {condition for one in refused for condition in (one.condition, *one.also)} - {first.condition, *first.also}
    if not others:
        return first
    message = f"{first.message} Other rows may fail before them, with {' or '.join(sorted(others))}."
    return first.model_copy(update={"message": message, "also": tuple(sorted({*first.also, *others}))})


def _counts(spark: SparkSession, confs: dict[str, str], looked: Sequence[ClauseChecks]) -> dict[int, list[int]]:
    """Bad rows by clause and check. All in one aggregate, which raises what the risky expressions raise."""
    try:
        with confs_set(spark, confs):
            rows = spark.sql("\nUNION ALL\n".join(_count(i, one) for i, one in enumerate(looked))).collect()
    except Exception as error:
        raise translate(error) from error
    return {int(row["clause"]): [int(n) for n in row["found"]] for row in rows}


def _clause_checks(
    merge: AnalyzedMerge, source: PreparedSource, matches: Matches, rules: TargetRules, one: ClauseAssignments
) -> ClauseChecks | None:
    lenient = {a.column.name: a for a in never_failing(merge, rules, one).columns}
    changed = [a for a in one.columns if a.origin != "kept"]
    checks: list[Check] = []
    risky: list[tuple[Assignment, str]] = []
    for a in changed:
        checks += _cast_checks(a, rules)
        risky += _risky(merge, a, rules)
    checks += _constraint_checks(rules, {a.column.name.lower() for a in changed})
    for a in changed:
        checks += _column_checks(a, rules)
    if not checks and not risky:
        return None
    needed = {name for check in checks for name in check.columns}
    shown = [a for a in one.columns if a.column.name in needed]
    of_target = any(a.of_target for a in (*shown, *(a for a, _ in risky)))
    items = [f"{lenient[a.column.name].value or '0'} AS {quote(a.column.name)}" for a in shown]
    items += [f"({a.given.text}\n) AS {quote(_given_name(a.column.name))}" for a in shown if a.given]
    items += [f"{text} AS __dm_risky_{n}" for n, (_, text) in enumerate(risky)]
    keys = _keys(merge, one)
    items += [f"{text} AS {quote('__dm_key_' + name)}" for name, text in keys]
    return ClauseChecks(
        checks=tuple(checks),
        rows=f"SELECT {', '.join(items)} FROM {_rows_of(merge, source, matches, one, of_target)}",
        keys=tuple(name for name, _ in keys),
        risky=tuple(risky),
    )


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
    """What tells a row: the columns of ON, the target's for NOT MATCHED BY SOURCE, else the source's."""
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
    given = quote(_given_name(a.column.name))
    cast = f"CAST({given} AS {ddl(a.column.type)})"
    return [
        Check(
            condition="",
            sentence=f"do not fit column {a.column.name} ({a.column.type.simpleString()})",
            violated=f"{given} IS NOT NULL AND try_{cast} IS NULL",
            columns=(a.column.name,),
            hint="Use try_cast to write NULL instead, or leave those rows out.",
            cast=cast,
            overflows=holds_integers(a.column.type),
        )
    ]


def _fails(given: DataType, wanted: DataType) -> bool:
    return is_atomic(given) and is_atomic(wanted) and not can_up_cast(given, wanted)


def _risky(merge: AnalyzedMerge, a: Assignment, rules: TargetRules) -> list[tuple[Assignment, str]]:
    """The expressions that may raise as they are computed, and casts of nested values, which may raise within."""
    if a.origin == "generated":
        return [(a, a.value or "NULL")] if a.column.generation_may_raise else []
    if a.given is None:
        return [(a, a.value or "NULL")] if a.origin == "given" else []
    nested = not is_atomic(a.column.type) and not is_same(a.given.type, a.column.type) and rules.cast.can_fail
    if nested:
        return [(a, a.value or "NULL")]
    return [(a, a.given.text)] if merge.may_raise(a.given.text) else []


def _constraint_checks(rules: TargetRules, changed: set[str]) -> list[Check]:
    """The CHECK constraints that name a changed column, the clock, or what depends on the session's time zone."""
    checks = []
    for name, text in rules.checks.items():
        columns = _named(rules, text)
        kept = not any(column.lower() in changed for column in columns)
        if kept and not volatile(text) and not depends_on_zone(text, rules.columns):
            continue
        checks.append(
            Check(
                condition=VIOLATED,
                sentence=f"violate the CHECK constraint {name} ({text})",
                violated=f"NOT coalesce(({text}\n), FALSE)",
                columns=columns,
                hint="Leave those rows out of the source, or correct them there.",
            )
        )
    return checks


def _column_checks(a: Assignment, rules: TargetRules) -> list[Check]:
    column, name = a.column, quote(a.column.name)
    checks = []
    never_null = a.origin == "identity" or (
        a.given is not None and not a.given.nullable and not _fails(a.given.type, column.type)
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
                sentence=f"are longer than the {most} characters of {column.name}",
                violated=f"NOT ({whole})",
                columns=(column.name,),
                hint=f"Shorten them: left(…, {most}); blanks at the end count.",
            )
        )
    if column.generated_as is not None and a.origin == "given":
        checks.append(
            Check(
                condition=VIOLATED,
                sentence=f"give {column.name} another value than it is generated as ({column.generated_as})",
                violated=f"NOT ({name} <=> ({column.generated_as}\n))",
                columns=(column.name, *_named(rules, column.generated_as)),
                hint=f"Do not assign {column.name}: Delta computes it.",
            )
        )
    return checks


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


def _copied_checks(
    merge: AnalyzedMerge, source: PreparedSource, matches: Matches, rules: TargetRules
) -> ClauseChecks | None:
    """The rows that are only copied, against the CHECK constraints that time, or another time zone, can break."""
    checks = [check for check in _constraint_checks(rules, set()) if check.columns]
    if not checks or not matches.touched:
        return None
    needed = {name for check in checks for name in check.columns}
    items = [f"{a.value} AS {quote(a.column.name)}" for a in kept(merge, rules) if a.column.name in needed]
    rows = unchanged_rows(merge, source)
    return ClauseChecks(
        tuple(checks), f"SELECT {', '.join(items)} FROM {rows} AND {FILE} IN ({matches.touched_hashes})", (), ()
    )


def _given_name(column: str) -> str:
    return f"__dm_given_{column}"


def _count(index: int, one: ClauseChecks) -> str:
    flags = ", ".join(f"count_if({check.violated})" for check in one.checks)
    risky = "".join(f", CAST(__dm_risky_{n} AS STRING)" for n in range(len(one.risky)))
    # a hash of their text makes Spark compute the expressions that may raise
    return (
        f"SELECT {index} AS clause, array({flags or '0L'}) AS found, bit_xor(xxhash64(0{risky})) AS computed "
        f"FROM ({one.rows})"
    )


def _refused(spark: SparkSession, one: ClauseChecks, check: Check, count: int, private: bool) -> Refused:
    condition = check.condition
    if check.cast:
        condition = _how_it_fails(spark, f"SELECT max({check.cast}) FROM ({one.rows}) WHERE {check.violated}", check)
    return Refused(
        condition=condition,
        message=f"{count:,} {'row' if count == 1 else 'rows'} {check.sentence}.",
        rows=() if private else _bad_rows(spark, one, check),
        hint=check.hint,
    )


def _bad_rows(spark: SparkSession, one: ClauseChecks, check: Check) -> tuple[Cells, ...]:
    columns = [(name, quote(_given_name(name) if check.cast else name)) for name in check.columns]
    cells = [*((name, quote("__dm_key_" + name)) for name in one.keys), *columns]
    items = ", ".join(f"CAST({text} AS STRING) AS c{n}" for n, (_, text) in enumerate(cells))
    rows = spark.sql(f"SELECT {items} FROM ({one.rows}) WHERE {check.violated} LIMIT {SAMPLE_ROWS}").collect()
    return tuple({name: row[n] for n, (name, _) in enumerate(cells)} for row in rows)


def _how_it_fails(spark: SparkSession, query: str, check: Check) -> str:
    """Spark's own class for a cast that fails, as Delta gives it."""
    try:
        with confs_set(spark, {ANSI: "true"}):
            spark.sql(query).collect()
    except Exception as error:
        return as_delta_says(translate(error).condition, check.overflows)
    return OVERFLOW


def as_delta_says(condition: str, overflows: bool) -> str:
    """CheckOverflowInTableWrite: any arithmetic failure below a cast that can overflow is Delta's overflow."""
    return OVERFLOW if overflows and condition.partition(".")[0] in ARITHMETIC else condition


def _raised(spark: SparkSession, looked: Sequence[ClauseChecks], error: EngineError, private: bool) -> list[Refused]:
    """Expressions failed as they were computed: each is tried alone, for the column decides what Delta says."""
    if error.condition.startswith(NOT_OF_ROWS):
        raise error
    refused = []
    for one in looked:
        for n, (a, text) in enumerate(one.risky):
            try:
                spark.sql(f"SELECT bit_xor(xxhash64(CAST(__dm_risky_{n} AS STRING))) FROM ({one.rows})").collect()
            except Exception as failure:
                found = translate(failure)
                cast = a.given is not None and not can_up_cast(a.given.type, a.column.type)
                nested = not is_atomic(a.column.type)
                overflows = (cast or nested) and holds_integers(a.column.type) and a.origin == "given"
                one_of_them = Refused(
                    condition=as_delta_says(found.condition, overflows),
                    message=f"The value of {a.column.name} cannot be computed"
                    + (" for some row." if private else f": {found.message}"),
                    hint=f"Look at what {a.column.name} gets: {text.strip()}",
                )
                refused.append(one_of_them)
    return refused


def _checks_that_count(
    spark: SparkSession, confs: dict[str, str], looked: Sequence[ClauseChecks], private: bool
) -> tuple[list[ClauseChecks], list[Refused]]:
    """The checks that can be computed, and the refusals of those that raise by themselves, as a CHECK that divides by
    a column does: each is tried alone."""
    counting, refused = [], []
    for one in looked:
        kept_checks = []
        for check in one.checks:
            try:
                _counts(spark, confs, [replace(one, checks=(check,))])
            except EngineError as error:
                if error.condition.startswith(NOT_OF_ROWS):
                    raise
                refused.append(_cannot_be_checked(check, error, private))
            else:
                kept_checks.append(check)
        counting.append(replace(one, checks=tuple(kept_checks)))
    return counting, refused


def _cannot_be_checked(check: Check, error: EngineError, private: bool) -> Refused:
    return Refused(
        condition=error.condition,
        message=f"It cannot be computed whether rows {check.sentence}" + ("." if private else f": {error.message}"),
        hint="Leave out the rows for which it fails, or correct them in the source.",
    )
