"""The keys that the INSERT clauses write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.merge.analyze import AnalyzedMerge, Key
from engine.merge.count_inserts import InsertedKeys, is_inserted
from engine.merge.join_sides import INSERT_CLAUSE, clause_number
from engine.model.checks import Checks
from engine.preflight.assignments import ClauseAssignments, never_failing
from engine.preflight.target_rules import TargetRules
from engine.sql.literals import shown
from engine.sql.names import quote, string
from engine.sql.resolve import TARGET

WRITTEN_KEYS_CODES = ("NULL_KEYS_INSERTED", "DUPLICATE_INSERTS")
Written = Mapping[int, Mapping[str, str]]
"""The values of the key columns, by the number of the INSERT clause that writes them."""


def columns_of_target(keys: Sequence[Key]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for key in keys for name in key.target.target_columns))


def null_matches_nothing(keys: Sequence[Key]) -> tuple[Key, ...]:
    """The keys that are no ``<=>``."""
    return tuple(key for key in keys if not key.null_safe)


def _written(merge: AnalyzedMerge, rules: TargetRules, assigned: Sequence[ClauseAssignments]) -> Written:
    """Without the clauses whose keys only the commit knows."""
    names = columns_of_target(merge.keys)
    values = {
        clause_number(merge.statement, one.clause): _written_by(merge, rules, one, names)
        for one in assigned
        if one.clause.action_kind == "insert"
    }
    return {number: keys for number, keys in values.items() if keys is not None}


def _written_by(
    merge: AnalyzedMerge, rules: TargetRules, one: ClauseAssignments, columns: Sequence[str]
) -> dict[str, str] | None:
    values = {a.column.name: a for a in never_failing(merge, rules, one).columns}
    keys = [values[name] for name in columns]
    if any(a.unknown or a.value is None for a in keys):
        return None
    return {a.column.name: a.read_value for a in keys}


def _struct_of(written: Written) -> str:
    """The key columns as the clause of a row writes them."""
    items = []
    for name in next(iter(written.values())):
        by_clause = " ".join(f"WHEN {number} THEN {keys[name]}" for number, keys in written.items())
        items.append(f"{string(name)}, CASE {INSERT_CLAUSE} {by_clause} END")
    return f"named_struct({', '.join(items)})"


def inserted_keys(
    merge: AnalyzedMerge, rules: TargetRules, assigned: Sequence[ClauseAssignments], *, private: bool
) -> InsertedKeys | None:
    """None where no clause inserts a key that is known."""
    keys = merge.keys
    written = _written(merge, rules, assigned) if keys else {}
    if not written:
        return None
    inserted = is_inserted(written)
    items = ", ".join(f"{string(name)}, {shown(f'{TARGET}.{quote(name)}')}" for name in columns_of_target(keys))
    return InsertedKeys(
        clauses=tuple(written),
        written=_struct_of(written),
        under=TARGET,
        keys=tuple(f"CASE WHEN {inserted} THEN ({key.target.text}\n) END" for key in keys),
        never_null=tuple(n for n, key in enumerate(keys) if not key.null_safe),
        shown=f"named_struct({items})",
        private=private,
    )


def keys_to_count(
    merge: AnalyzedMerge,
    rules: TargetRules,
    assigned: Sequence[ClauseAssignments],
    checks: Checks | None,
    *,
    private: bool,
) -> InsertedKeys | None:
    """What ``checks`` want to know of the keys that are inserted; None where that is nothing."""
    if checks is None or not any(checks.looks_for(code) for code in WRITTEN_KEYS_CODES):
        return None
    return inserted_keys(merge, rules, assigned, private=private)
