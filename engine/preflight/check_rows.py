"""What a MERGE would raise while it writes, found by looking at the rows that its clauses make.

What is looked for: engine.preflight.row_checks. The checks of all clauses share one aggregate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge
from engine.merge.find_touched_files import Matches, takes_rows
from engine.merge.plan_writes import Promise
from engine.merge.prepare_source import PreparedSource
from engine.model.counted import count_and_verb
from engine.model.errors import ENDS_ALL, EngineError
from engine.model.plan import Refused
from engine.model.value import Cells
from engine.preflight.cast_if_needed import DOES_NOT_FIT
from engine.preflight.row_checks import Check, ClauseChecks, clause_checks, given_name, maybe_as_given, old_checks
from engine.preflight.target_reads import DescribedTarget
from engine.preflight.target_rules import ANSI
from engine.spark.confs import confs_set, for_rows
from engine.spark.spark_errors import WITHOUT_CLASS, translate
from engine.sql.extractors import INTERNAL_ERROR, NOT_COMPUTED
from engine.sql.literals import shown
from engine.sql.names import quote
from engine.sql.store_types import can_up_cast, holds_integers, is_atomic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OVERFLOW = "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE"
ARITHMETIC = (
    *("CAST_OVERFLOW", "ARITHMETIC_OVERFLOW", "BINARY_ARITHMETIC_OVERFLOW", "NUMERIC_VALUE_OUT_OF_RANGE"),
    *("DIVIDE_BY_ZERO", "REMAINDER_BY_ZERO", "INTERVAL_ARITHMETIC_OVERFLOW"),
)
# errors that are not of the rows: a query of ours that Spark cannot read is our fault, not the operator's
NOT_OF_ROWS = (
    "UNRESOLVED",
    "PARSE",
    "DATATYPE_MISMATCH",
    "AMBIGUOUS",
    *ENDS_ALL,
    *WITHOUT_CLASS,
)
SAMPLE_ROWS = 5
MOST_TOLD = 3
"""How many faults are told beside the first."""


def check_rows(
    spark: SparkSession,
    merge: AnalyzedMerge,
    source: PreparedSource,
    matches: Matches,
    target: DescribedTarget,
    *,
    promise: Promise,
    private: bool,
) -> Refused | None:
    """The error that writing would raise, with some of the rows that raise it, or None.

    ``private`` leaves the rows out.
    """
    rules = target.rules
    taking = [one for one in target.assigned if takes_rows(merge.statement, matches, one.clause)]
    made = [(n, clause_checks(merge, source, matches, rules, one)) for n, one in enumerate(taking)]
    # the same rows once more, as the source gives them
    made += [
        (n, clause_checks(merge, source, matches, rules, one, as_given))
        for n, one in enumerate(taking)
        if (as_given := maybe_as_given(merge, matches, promise.write, one))
    ]
    made.append((len(taking), old_checks(merge, source, matches, rules, promise)))
    numbers, clauses = [n for n, checks in made if checks], [checks for _, checks in made if checks]
    if not clauses:
        return None
    # under LEGACY, CAST is the one that the write does; the operator's own expressions keep the session's confs
    size = for_rows(source.num_rows + matches.touched_rows)
    confs = size if rules.cast.exact else {**size, ANSI: "false"}
    checks_only = [replace(one, risky=()) for one in clauses]
    refused: list[Refused] = []
    try:
        if not rules.cast.exact:
            _counts(spark, size, [replace(one, checks=()) for one in clauses])
        counts = _counts(spark, confs, clauses if rules.cast.exact else checks_only)
    except EngineError as error:
        refused = _raised(spark, clauses, error, private)
        checks_only, raising = _checks_that_count(spark, confs, checks_only, private)
        refused += raising
        if not refused:
            raise
        counts = _counts(spark, confs, checks_only)
    with confs_set(spark, confs):
        violated = _violated(checks_only, numbers, counts)
        refused += [_refused(spark, bad, private=private or bool(refused) or n > 0) for n, bad in enumerate(violated)]
    return first_of(*_with_others(refused))


@dataclass(frozen=True)
class BadRows:
    """The ``rows`` that a ``check`` finds bad among those that one clause makes."""

    clause: ClauseChecks
    check: Check
    rows: int


def _violated(
    clauses: Sequence[ClauseChecks], numbers: Sequence[int], counts: Mapping[int, Sequence[int]]
) -> list[tuple[BadRows, ...]]:
    """For each check that finds bad rows, those of each clause. ``numbers`` tell the clauses apart."""
    found: dict[tuple[str, str], dict[int, BadRows]] = {}
    for index, (one, number) in enumerate(zip(clauses, numbers, strict=True)):
        # without checks the aggregate still has a number
        for check, rows in zip(one.checks, counts[index], strict=False):
            if rows:
                by_clause = found.setdefault((check.condition, check.sentence), {})
                if number not in by_clause or rows > by_clause[number].rows:
                    by_clause[number] = BadRows(one, check, rows)
    return [tuple(by_clause.values()) for by_clause in found.values()]


def _with_others(refused: Sequence[Refused]) -> Sequence[Refused]:
    """The first one tells of the others: who corrects its rows alone is refused again."""
    # one fault may be met in several clauses
    told = [message.removesuffix(".") for message in dict.fromkeys(one.message for one in refused)][1:]
    if not told:
        return refused
    first, *others = refused
    more = f", and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
    message = f"{first.message} Also: {'; '.join(told[:MOST_TOLD])}{more}."
    return (first.model_copy(update={"message": message}), *others)


def first_of(*found: Refused | None) -> Refused | None:
    """Delta stops at the first row that fails; the order in which rows are written is unknown."""
    refused = [one for one in found if one]
    if not refused:
        return None
    first = refused[0]
    others = {condition for one in refused for condition in (one.condition, *one.also)} - {first.condition, *first.also}
    if not others:
        return first
    message = f"{first.message} Other rows may fail before them, with {' or '.join(sorted(others))}."
    return first.model_copy(update={"message": message, "also": tuple(sorted({*first.also, *others}))})


def _counts(spark: SparkSession, confs: dict[str, str], clauses: Sequence[ClauseChecks]) -> dict[int, list[int]]:
    """Bad rows by clause and check. All in one aggregate, which raises what the risky expressions raise."""
    try:
        with confs_set(spark, confs):
            rows = spark.sql("\nUNION ALL\n".join(_count(i, one) for i, one in enumerate(clauses))).collect()
    except Exception as error:
        raise translate(error) from error
    return {int(row["clause"]): [int(n) for n in row["found"]] for row in rows}


def _count(index: int, one: ClauseChecks) -> str:
    flags = ", ".join(f"count_if({check.violated})" for check in one.checks)
    risky = "".join(f", CAST(__dm_risky_{n} AS STRING)" for n in range(len(one.risky)))
    # a hash of their text makes Spark compute the expressions that may raise
    return (
        f"SELECT {index} AS clause, `array`({flags or '0L'}) AS found, bit_xor(xxhash64(0{risky})) AS computed "
        f"FROM ({one.rows})"
    )


def _refused(spark: SparkSession, bad: Sequence[BadRows], private: bool) -> Refused:
    one, check, count = bad[0].clause, bad[0].check, sum(each.rows for each in bad)
    condition = check.condition
    if check.cast:
        condition = _how_it_fails(spark, f"SELECT max({check.cast}) FROM ({one.rows}) WHERE {check.violated}", check)
    verb, _, rest = check.sentence.partition(" ")
    rows: list[Cells] = []
    for each in () if private else bad:
        if len(rows) < SAMPLE_ROWS:
            rows += _bad_rows(spark, each, SAMPLE_ROWS - len(rows))
    return Refused(
        condition=condition,
        message=f"{count_and_verb(count, 'row', verb)} {rest}.",
        rows=tuple(rows),
        count=count if rows else None,
        hint=check.hint,
    )


def _bad_rows(spark: SparkSession, bad: BadRows, limit: int) -> list[Cells]:
    one, check = bad.clause, bad.check
    columns = [(name, quote(given_name(name) if check.cast else name)) for name in check.columns]
    cells = [*((name, quote("__dm_key_" + name)) for name in one.keys), *columns]
    items = ", ".join(f"{shown(text)} AS c{n}" for n, (_, text) in enumerate(cells))
    rows = spark.sql(f"SELECT {items or '1'} FROM ({one.rows}) WHERE {check.violated} LIMIT {limit}").collect()
    return [{name: row[n] for n, (name, _) in enumerate(cells)} for row in rows]


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


def _raised(spark: SparkSession, clauses: Sequence[ClauseChecks], error: EngineError, private: bool) -> list[Refused]:
    """Expressions that raise: each is computed alone, because Delta's error depends on the column."""
    if error.condition.startswith(NOT_OF_ROWS):
        raise error
    refused = []
    for one in clauses:
        for n, (a, _) in enumerate(one.risky):
            try:
                spark.sql(f"SELECT bit_xor(xxhash64(CAST(__dm_risky_{n} AS STRING))) FROM ({one.rows})").collect()
            except Exception as failure:
                reason = translate(failure)
                if (unfit := re.search(rf"{DOES_NOT_FIT}(\w+)", reason.message)) is not None:
                    reason = EngineError(unfit[1], f"A value does not fit {a.column.type.simpleString()}.")
                cast = a.given is not None and not can_up_cast(a.given.type, a.column.type)
                nested = not is_atomic(a.column.type)
                overflows = (cast or nested) and holds_integers(a.column.type) and a.origin == "given"
                refused.append(
                    Refused(
                        condition=as_delta_says(reason.condition, overflows),
                        message=f"The value of {a.column.name} cannot be computed"
                        + (" for some row." if private else f": {reason.message}"),
                        hint=f"Look at what the statement gives {a.column.name}.",
                    )
                )
    return refused


def _checks_that_count(
    spark: SparkSession, confs: dict[str, str], clauses: Sequence[ClauseChecks], private: bool
) -> tuple[list[ClauseChecks], list[Refused]]:
    """The checks that can be computed, and the refusals of those that raise by themselves, as a CHECK that divides by
    a column does: each is tried alone."""
    counting, refused = [], []
    for one in clauses:
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
        condition=INTERNAL_ERROR if NOT_COMPUTED in error.message else error.condition,
        message=f"It cannot be computed whether rows {check.sentence}" + ("." if private else f": {error.message}"),
        hint="Leave out the rows for which it fails, or correct them in the source.",
    )
