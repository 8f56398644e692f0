"""Updates that change nothing, and updates that lower a version.

Both are asked of the pairs as they are joined (engine.merge.find_touched_files): each is a flag of a pair, over the old
and the new values of what its clause assigns. A value that only the commit knows has no part in it; one that raises
makes the MERGE fail, and the join, which is run again without the flags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge
from engine.merge.find_touched_files import FileMatches, Matches, takes_rows
from engine.merge.join_sides import BY_SOURCE_CLAUSE, SOURCE_ROW, clause_number
from engine.merge.merge_scan import MergeScan
from engine.merge.prepare_source import PreparedSource
from engine.model.checks import Checks
from engine.model.counted import count, count_and_verb, verb_of
from engine.model.plan import Remark
from engine.preflight.assignments import Assignment, ClauseAssignments, kept, never_failing, volatile
from engine.preflight.row_checks import risky_parts
from engine.preflight.target_reads import DescribedTarget
from engine.preflight.target_rules import TargetRules
from engine.preflight.typed_parts import (
    as_stored,
    clause_with,
    fit_in_condition,
    is_last_of_its_kind,
    typed_column,
    typed_values,
)
from engine.spark.may_raise import HARMLESS
from engine.sql.literals import shown
from engine.sql.names import quote
from engine.sql.parse import MergeClause
from engine.sql.some_values import SOME
from engine.sql.sql_text import all_function_names
from engine.sql.store_types import ddl
from engine.table.nested_types import types_in

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

SAME, BACK = "__dm_same", "__dm_back"
# <=> does not take a map or a variant, and takes texts of a collation for equal that differ
INCOMPARABLE = re.compile(r"map|variant|geometry|geography|interval|string collate")
# may raise, and give one value for the same row however often; words that may stand before a bracket are among them
REPEATABLE = HARMLESS | {
    *("cast", "try_cast", "decimal", "numeric", "varchar", "char", "string", "binary", "boolean"),
    *("tinyint", "smallint", "int", "bigint", "float", "double"),
    *("in", "and", "or", "not", "case", "when", "then", "else", "if", "nvl2", "greatest", "least"),
    *("abs", "round", "bround", "floor", "ceil", "ceiling", "pow", "power", "sqrt", "mod", "pmod", "sign"),
    *("substr", "substring", "left", "right", "replace", "split", "element_at", "struct", "array", "transform"),
    *("date", "timestamp", "to_date", "to_timestamp", "date_add", "date_sub", "datediff", "date_trunc", "trunc"),
}
VERSION = re.compile(r"tinyint|smallint|int|bigint|date|timestamp|timestamp_ntz")
VERSION_NAMES = frozenset(
    ("updated_at", "modified_at", "version", "seq", "sequence", "lsn", "scn", "commit_ts", "event_time")
)
NO_FLAG = "CAST(NULL AS BOOLEAN)"
ALL_TOUCHED = (
    "A condition leaves these updates out, and spares no file: with clauses beside WHEN MATCHED, Delta rewrites each "
    "file that ON finds a row in."
)
Flag = Callable[[ClauseAssignments], str | None]


@dataclass(frozen=True)
class RowFlag:
    """A condition that marks updated rows: ``of_pair`` of those that a WHEN MATCHED clause takes, ``of_target`` of
    those of a WHEN NOT MATCHED BY SOURCE clause. NULL where no clause of the kind can set it."""

    of_pair: str
    of_target: str

    @property
    def of_any(self) -> str:
        """Of a row of the join, which may be outer: no WHEN MATCHED clause takes a target row without a source row."""
        return f"CASE WHEN {SOURCE_ROW} IS NULL THEN {self.of_target} ELSE {self.of_pair} END"


@dataclass(frozen=True)
class ComparedUpdate:
    """What an UPDATE clause assigns, ``audit`` columns apart: (old value, new value) by column, those that can be
    ``compared``, and the names of the ``others``."""

    compared: Mapping[str, tuple[str, str]]
    others: tuple[str, ...]


def compared_updates(scan: MergeScan, target: DescribedTarget, checks: Checks | None) -> tuple[Mapping[str, str], str]:
    """The flags of the pairs, and why there are none though an update could set one."""
    if checks is None:
        return {}, ""
    merge, rules, assigned = scan.merge, target.rules, target.assigned
    compared = compare_updates(merge, rules, assigned, checks)
    without = _without_a_hint(merge, compared.values(), checks)
    flags = update_flags(merge, rules, assigned, checks, compared)
    if flags and (why := why_not_compared(merge, sum(file.bytes for file in scan.scan.after), checks)):
        return {}, why
    of_pairs = {name: flag.of_any for name, flag in flags.items()}
    return of_pairs, f"{', '.join(without)} cannot be compared before the commit." if without else ""


def compare_updates(
    merge: AnalyzedMerge, rules: TargetRules, assigned: Sequence[ClauseAssignments], checks: Checks
) -> dict[MergeClause, ComparedUpdate]:
    return {one.clause: compared_update(merge, rules, one, checks) for one in _updates(assigned)}


def update_flags(
    merge: AnalyzedMerge,
    rules: TargetRules,
    assigned: Sequence[ClauseAssignments],
    checks: Checks,
    compared: Mapping[MergeClause, ComparedUpdate],
) -> dict[str, RowFlag]:
    """The flags of a row: SAME where its update changes no value, BACK where it lowers the version. A flag that no
    clause can set is left out."""
    updates = _updates(assigned)

    def same(one: ClauseAssignments) -> str | None:
        update = compared[one.clause]
        if not _has_hint(merge, update):
            return None
        return " AND ".join(f"({old}) <=> ({new})" for old, new in update.compared.values()) or None

    def back(one: ClauseAssignments) -> str | None:
        column = version_column(merge, one, checks)
        if column is None:
            return None
        pair = compared_update(merge, rules, one, Checks()).compared.get(column)
        return f"({pair[1]}) < ({pair[0]})" if pair else None

    found = {}
    for code, name, flag in (("UPDATES_CHANGE_NOTHING", SAME, same), ("UPDATES_GO_BACK", BACK, back)):
        if checks.looks_for(code) and (by_clause := _by_clause(merge, updates, flag)):
            found[name] = by_clause
    return found


def _updates(assigned: Sequence[ClauseAssignments]) -> list[ClauseAssignments]:
    return [one for one in assigned if one.clause.action_kind == "update"]


def _has_hint(merge: AnalyzedMerge, update: ComparedUpdate) -> bool:
    """Whether what is compared tells of the ``others``: that the keys are the same, which ON says, tells nothing."""
    keys = {name for key in merge.keys for name in key.target.target_columns}
    return not update.others or not update.compared.keys() <= keys


def _without_a_hint(merge: AnalyzedMerge, compared: Iterable[ComparedUpdate], checks: Checks) -> tuple[str, ...]:
    """The columns of the clauses of which it is not known whether they change nothing."""
    if not checks.looks_for("UPDATES_CHANGE_NOTHING"):
        return ()
    return tuple(dict.fromkeys(name for one in compared if not _has_hint(merge, one) for name in one.others))


def why_not_compared(merge: AnalyzedMerge, num_bytes: int, checks: Checks) -> str:
    """Why the old and new values of updated rows in ``num_bytes`` of files are not compared; "" if they are."""
    conditions = [one.condition for one in merge.statement.clauses if one.condition]
    if any(volatile(text) or merge.may_raise(text) for text in conditions):
        return "A condition of a clause may fail for some row, or asks what time it is."
    if num_bytes > checks.compare_max_bytes:
        return f"The values of {num_bytes:,} bytes of files would be read: see compare_max_bytes of the checks."
    return ""


def key_columns_of_source(merge: AnalyzedMerge) -> tuple[str, ...]:
    """The columns of the source that ON names."""
    return tuple(dict.fromkeys(name for e in merge.on for name in e.source_columns))


def keys_of_flagged(merge: AnalyzedMerge, source: PreparedSource, rows: Iterable[int]) -> str | None:
    """A query for the ids and the keys, as texts, of these source rows. None where there are none, or ON names no
    column."""
    ids, names = ", ".join(f"{row}L" for row in sorted(set(rows))), key_columns_of_source(merge)
    if not ids or not names:
        return None
    items = ", ".join(shown(quote(name)) for name in names)
    numbered = f"SELECT *, monotonically_increasing_id() AS {SOURCE_ROW} FROM {source.view}"
    return f"SELECT {SOURCE_ROW}, {items} FROM ({numbered}) WHERE {SOURCE_ROW} IN ({ids})"


def rows_of_flag(matches: Matches, flag: str) -> tuple[int, ...]:
    """The ids of some source rows whose updates are flagged."""
    found = (row for file in matches.touched if flag in file.flagged for row in file.flagged[flag].source_rows)
    return tuple(islice(dict.fromkeys(found), SOME))


def _by_clause(merge: AnalyzedMerge, updates: Sequence[ClauseAssignments], flag: Flag) -> RowFlag | None:
    """The flag of the clause that takes a row; None where no clause has one."""
    texts = {one.clause: text for one in updates if (text := flag(one))}
    if not texts:
        return None
    statement = merge.statement
    matched = " ".join(
        f"WHEN ({one.condition or 'TRUE'}\n) THEN ({texts.get(one, NO_FLAG)})" for one in statement.matched
    )
    alone = " ".join(
        f"WHEN {clause_number(statement, one)} THEN ({texts[one]})"
        for one in statement.not_matched_by_source
        if one in texts
    )
    return RowFlag(
        of_pair=f"CASE {matched} END" if matched else NO_FLAG,
        of_target=f"CASE {BY_SOURCE_CLAUSE} {alone} END" if alone else NO_FLAG,
    )


def compared_update(merge: AnalyzedMerge, rules: TargetRules, one: ClauseAssignments, checks: Checks) -> ComparedUpdate:
    audit = {name.lower() for name in checks.ignore_columns}
    old = {a.column.name: a for a in kept(merge, rules)}
    new = {a.column.name: a for a in never_failing(merge, rules, one).columns}
    compared, others = {}, []
    for a in one.columns:
        name = a.column.name
        if a.origin in ("kept", "generated") or name.lower() in audit:
            continue
        if a.unknown or not comparable(a.column.type) or not _is_repeatable(merge, a, rules):
            others.append(name)
        else:
            compared[name] = (old[name].read_value, new[name].read_value)
    return ComparedUpdate(compared, tuple(others))


def _is_repeatable(merge: AnalyzedMerge, a: Assignment, rules: TargetRules) -> bool:
    """Whether it can be computed in the join, too: a function of the user's may be slow, or give another value."""
    return all(all_function_names(text) <= REPEATABLE for _, text in risky_parts(merge, a, rules))


def comparable(data_type: DataType) -> bool:
    """Whether ``<=>`` tells two values of the type apart wherever they differ; but for 0.0 and -0.0."""
    return not any(map(INCOMPARABLE.match, types_in(data_type)))


def version_column(merge: AnalyzedMerge, one: ClauseAssignments, checks: Checks) -> str | None:
    """The column of the target that tells the age of a row: the one that is declared, else the first that is assigned
    from the source's column of the same name."""
    columns = {a.column.name.lower(): a.column for a in one.columns if a.origin == "given"}
    if checks.version_column is not None:
        declared = columns.get(checks.version_column.lower())
        return declared.name if declared else None
    for path, given in one.given:
        name = path[0].lower()
        if len(path) > 1 or name not in VERSION_NAMES or name not in columns:
            continue
        is_of_source = given.text.lower() == f"{merge.source_reference}.`{name}`"
        if is_of_source and VERSION.fullmatch(columns[name].type.simpleString()):
            return columns[name].name
    return None


def updated_faults(
    merge: AnalyzedMerge,
    rules: TargetRules,
    assigned: Sequence[ClauseAssignments],
    matches: Matches,
    checks: Checks,
    deletion_vectors: bool,
) -> Iterator[Remark]:
    """What the flags of the pairs say, without ``keys``: keys_of_flagged has them. ``deletion_vectors``: see Write."""
    updates = [
        one
        for one in assigned
        if one.clause.action_kind == "update" and takes_rows(merge.statement, matches, one.clause)
    ]
    if any(file.flagged_rows(SAME) for file in matches.touched):
        # ClassicMergeExecutor.findTouchedFiles: what ON ties, and only of WHEN MATCHED alone what a clause takes
        spared = deletion_vectors or merge.statement.matched_only
        yield _changes_nothing(merge, rules, updates, matches, checks, spared)
    back = sum(file.flagged_rows(BACK) for file in matches.touched)
    if back:
        columns = [(one, name) for one in updates if (name := version_column(merge, one, checks))]
        names = " or ".join(dict.fromkeys(name for _, name in columns))
        yield Remark(
            code="UPDATES_GO_BACK",
            sentence=f"{count_and_verb(back, 'updated row', 'get')} a lower {names} than the table has.",
            evidence="The source is older than the table for these rows: a late or repeated feed.",
            count=back,
            exactness="exact",
            fix=_clauses(merge, ((one, _newer(merge, one, name)) for one, name in columns)),
        )


def _changes_nothing(
    merge: AnalyzedMerge,
    rules: TargetRules,
    updates: Sequence[ClauseAssignments],
    matches: Matches,
    checks: Checks,
    spared: bool,
) -> Remark:
    """``spared``: whether a file of which no row changes is left as it is."""
    every = [(one, compared_update(merge, rules, one, checks)) for one in updates]
    # the rows of the other clauses are not among them
    compared = [(one, of) for one, of in every if _has_hint(merge, of)]
    others = list(dict.fromkeys(name for _, of in compared for name in of.others))
    idle = [
        file
        for file in matches.touched
        if file.flagged_rows(SAME) == sum(file.clause_rows.values()) and file.flagged_rows(SAME)
    ]
    same = sum(file.flagged_rows(SAME) for file in matches.touched)
    rows = count_and_verb(same, "updated row", "keep")
    names = ", ".join(others)
    return Remark(
        code="UPDATES_CHANGE_NOTHING",
        sentence=f"{rows} every value that is assigned."
        if not others
        else f"{rows} every value but {names}, which cannot be compared before the commit.",
        evidence="Whether they change is not known."
        if others
        else _idle_files(idle, matches)
        if spared
        else ALL_TOUCHED,
        count=None if others else same,
        exactness="unknown" if others else "exact",
        # a condition that leaves a column out would keep its changes away
        fix="" if others else _clauses(merge, ((one, _differs(merge, one, of)) for one, of in compared)),
    )


def _idle_files(idle: Sequence[FileMatches], matches: Matches) -> str:
    if not idle:
        return "No file is touched for these rows alone."
    size = sum(one.file.bytes for one in idle)
    files, are = f"{len(idle):,} of {count(len(matches.touched), 'touched file')}", verb_of(len(idle), "are")
    return f"{files} ({size:,} bytes) {are} touched for nothing else."


def _differs(merge: AnalyzedMerge, one: ClauseAssignments, compared: ComparedUpdate) -> str:
    """The condition, in the operator's names, that holds where a compared column changes."""
    values = {name: value for name, value in _values(merge, one).items() if name in compared.compared}
    # a field of a struct that is assigned by itself is no value of a column
    if values.keys() != compared.compared.keys() or not fit_in_condition(merge, one, values, cast=True):
        return ""
    if any(a.column.name in values and (_differs_by_field(a) or _is_padded(a)) for a in one.columns):
        return ""
    old = {name.lower() for name in merge.target_type.names}
    pairs = [
        # a column that the MERGE adds has no value yet
        f"{typed_column(merge, name)} <=> {value}" if name.lower() in old else f"{value} IS NULL"
        for name, value in values.items()
    ]
    return f"NOT ({' AND '.join(pairs)})" if pairs else ""


def _differs_by_field(a: Assignment) -> bool:
    """Whether a struct gets one of another type: MERGE stores it by the names of its fields, a cast by their places."""
    return "struct" in types_in(a.column.type) and (a.given is None or a.given.type != a.column.type)


def _is_padded(a: Assignment) -> bool:
    """Whether a read fills a CHAR up, which Delta takes of the target in no condition of a clause."""
    return a.column.padded and a.column.has_char


def _newer(merge: AnalyzedMerge, one: ClauseAssignments, column: str) -> str:
    value = _values(merge, one).get(column)
    if value is None or not fit_in_condition(merge, one, (column,), cast=True):
        return ""
    # a row without a version is no older row
    return f"coalesce({value} >= {typed_column(merge, column)}, TRUE)"


def _values(merge: AnalyzedMerge, one: ClauseAssignments) -> dict[str, str]:
    """typed_values in the types of the columns: Spark may compare two types in one that they do not fit."""
    columns = {a.column.name: a for a in one.columns}

    def written(a: Assignment, value: str) -> str:
        stored = as_stored(a, value)
        return stored if a.given is None or a.given.type == a.column.type else f"CAST({stored} AS {ddl(a.column.type)})"

    return {name: written(columns[name], value) for name, value in typed_values(merge, one).items()}


def _clauses(merge: AnalyzedMerge, conditions: Iterable[tuple[ClauseAssignments, str]]) -> str:
    """The clauses with these conditions; "" where a later clause would take the rows that they leave."""
    found = [(one, text) for one, text in conditions if text]
    if not all(is_last_of_its_kind(merge, one) for one, _ in found):
        return ""
    return "\n".join(clause_with(merge, one, text) for one, text in found)
