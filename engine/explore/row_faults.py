"""SQL that tells which silent faults of a plan a found row is counted in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.merge.count_inserts import InsertedKeys
from engine.merge.join_sides import BY_SOURCE_CLAUSE, INSERT_CLAUSE, clause_number
from engine.model.checks import Checks
from engine.model.plan import Plan
from engine.preflight.key_faults import compared_keys, raw_and_cast, source_casts
from engine.preflight.planned_merge import PlannedMerge
from engine.preflight.silent_faults import FLAG_OF
from engine.preflight.updated_faults import RowFlag, compare_updates, update_flags
from engine.preflight.written_keys import WRITTEN_KEYS_CODES, inserted_keys
from engine.sql.names import string
from engine.sql.resolve import SOURCE, TARGET

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OTHER = "__dm_other"


@dataclass(frozen=True)
class RowFaults:
    """Conditions by the code of a fault: over matched ``pairs``, over the rows that ``inserts`` may take (with
    ``written`` keys), and over the target rows of NOT MATCHED BY SOURCE (``lone_targets``).

    ``needs_all_inserts``: it can be told for one inserted row only beside all others.
    """

    pairs: Mapping[str, str]
    inserts: Mapping[str, str]
    lone_targets: Mapping[str, str]
    written: str = ""
    needs_all_inserts: bool = False

    def with_written_keys(self, rows: str) -> str:
        """``rows`` of the source with what is written to the key columns, under the target's name."""
        return f"(SELECT *, {self.written} AS {TARGET} FROM {rows}) AS {SOURCE}" if self.written else rows


def codes_sql(faults: Mapping[str, str]) -> str:
    """An array of the codes whose conditions hold."""
    items = ", ".join(f"CASE WHEN {condition} THEN {string(code)} END" for code, condition in faults.items())
    return f"array_compact(CAST(`array`({items}) AS ARRAY<STRING>))"


def row_faults(
    spark: SparkSession, plan: Plan, planned: PlannedMerge, checks: Checks, narrow: Sequence[str] = ()
) -> RowFaults:
    """The faults that ``plan`` has counted, and no others: it has computed them without an error. ``narrow``: what
    holds for each target row that has the keys of the rows in question."""
    codes = {one.code for one in plan.warnings if one.exactness != "unknown"}
    flags = _flags(planned, codes, checks)
    collides = _collides(spark, planned) if "KEYS_COLLIDE_BY_CAST" in codes else {}
    lone_targets = {code: flag.of_target for code, flag in flags.items()}
    if "DELETES_BY_ABSENCE" in codes:
        lone_targets["DELETES_BY_ABSENCE"] = _one_of(BY_SOURCE_CLAUSE, _deletes_by_source(planned))
    inserts = dict(collides)
    if "KEY_EXISTS_OUTSIDE_ON" in codes:
        inserts["KEY_EXISTS_OUTSIDE_ON"] = f"{INSERT_CLAUSE} > 0 AND {_exists_in_target(planned, narrow)}"
    keys = None
    if codes.intersection(WRITTEN_KEYS_CODES):
        keys = inserted_keys(planned.merge, planned.rules, planned.assigned, private=True)
    if keys:
        inserts |= {code: text for code, text in _of_written(keys).items() if code in codes}
    return RowFaults(
        pairs={code: flag.of_pair for code, flag in flags.items()} | collides,
        inserts=inserts,
        lone_targets=lone_targets,
        written=keys.written if keys else "",
        needs_all_inserts="DUPLICATE_INSERTS" in inserts,
    )


def _flags(planned: PlannedMerge, codes: set[str], checks: Checks) -> dict[str, RowFlag]:
    merge, rules, assigned = planned.merge, planned.rules, planned.assigned
    flags = update_flags(merge, rules, assigned, checks, compare_updates(merge, rules, assigned, checks))
    return {code: flags[name] for code, name in FLAG_OF.items() if code in codes and name in flags}


def _deletes_by_source(planned: PlannedMerge) -> list[int]:
    statement = planned.merge.statement
    return [clause_number(statement, one) for one in statement.not_matched_by_source if one.action_kind == "delete"]


def _one_of(column: str, numbers: list[int]) -> str:
    return f"{column} IN ({', '.join(map(str, numbers))})"


def _of_written(asked: InsertedKeys) -> dict[str, str]:
    keyed = " AND ".join(f"{asked.keys[n]} IS NOT NULL" for n in asked.never_null) or "TRUE"
    equal = f"PARTITION BY {', '.join(asked.keys)}"
    return {
        "NULL_KEYS_INSERTED": f"{asked.inserted} AND NOT ({keyed})",
        "DUPLICATE_INSERTS": f"{asked.inserted} AND {keyed} AND count(*) OVER ({equal}) > 1",
    }


def _exists_in_target(planned: PlannedMerge, narrow: Sequence[str]) -> str:
    """Whether the target has a row with the keys of a source row, whatever else ON asks for."""
    keys = planned.merge.keys
    theirs = ", ".join(f"({key.target.text}\n) AS k{n}" for n, key in enumerate(keys))
    same = " AND ".join(
        f"({key.source.text}\n) {'<=>' if key.null_safe else '='} {OTHER}.k{n}" for n, key in enumerate(keys)
    )
    where = f" WHERE {' AND '.join(narrow)}" if narrow else ""
    rows = f"(SELECT {theirs} FROM {planned.merge.target_sql} AS {TARGET}{where}) AS {OTHER}"
    return f"EXISTS (SELECT 1 FROM {rows} WHERE {same})"


def _collides(spark: SparkSession, planned: PlannedMerge) -> dict[str, str]:
    """Whether another source row has other keys that become the same as Spark compares them."""
    keys = compared_keys(planned.merge, source_casts(spark, planned.merge))
    same = " AND ".join(
        f"{cast} {'<=>' if key.null_safe else '='} {OTHER}.c{n}"
        for n, (key, (_, cast)) in enumerate(zip(planned.merge.keys, keys, strict=True))
    )
    equal = " AND ".join(f"{raw} <=> {OTHER}.r{n}" for n, (raw, _) in enumerate(keys))
    rows = f"(SELECT {raw_and_cast(keys)} FROM {planned.source.view} AS {SOURCE}) AS {OTHER}"
    return {"KEYS_COLLIDE_BY_CAST": f"EXISTS (SELECT 1 FROM {rows} WHERE {same} AND NOT ({equal}))"}
