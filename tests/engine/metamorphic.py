"""What must be true of a plan whatever the merge is: each relation changes the merge, or asks elsewhere, and compares.

A relation takes a :class:`Planned` and says whether it could be asked; an AssertionError is a plan that is wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import sqlglot

from engine.commit.apply_plan import apply
from engine.explore.find_key import find_key
from engine.model.plan import Plan
from engine.plan_merge import plan
from engine.preflight.advice import MUST_ACCEPT
from engine.spark.confs import AS_MERGE_READS, confs_set
from engine.sql.names import quote
from tests.engine.random_merges import Merge, WhenClause, filled, takes_stars
from tests.engine.random_tables import Table

MATCHED, NOT_MATCHED, BY_SOURCE = "WHEN MATCHED", "WHEN NOT MATCHED", "WHEN NOT MATCHED BY SOURCE"
DELETES_ALL = (WhenClause(MATCHED, None, "DELETE"),)
"""Several source rows may match one target row, which is deleted once."""


@dataclass(frozen=True)
class Drawn:
    """What hypothesis draws beside the merge: which ``clause`` is split by which ``condition`` of each side, and the
    ``key`` that is found."""

    clause: int
    of_target: str
    of_source: str
    key: int


@dataclass(frozen=True)
class Planned:
    spark: Any
    name: str
    directory: str
    table: Table
    merge: Merge
    drawn: Drawn
    plan: Plan

    @property
    def id(self) -> str:
        return quote(self.table.names[0])

    @property
    def matched(self) -> tuple[WhenClause, ...]:
        return tuple(one for one in self.merge.clauses if one.kind == MATCHED)

    def sql(self, text: str) -> Any:
        return self.spark.sql(filled(text, self.name, self.directory))

    def planned(self, merge: Merge) -> Plan:
        return plan(self.spark, merge.script(self.name, self.directory), rows=0)

    def from_source(self, text: str) -> Merge:
        """The merge from another source; ``{source}`` in ``text`` is the one that it has."""
        source = replace(self.merge.source, text=text.replace("{source}", self.merge.source.text))
        return replace(self.merge, source=source)


def same(one: Plan, other: Plan, *, more_rows: int = 0) -> None:
    """Both promise the same; the source of the other one has ``more_rows``."""
    assert other.refused is None, other.refused
    expected = {name: n + more_rows if name == "numSourceRows" else n for name, n in one.promise.items()}
    assert expected == other.promise
    assert files_of(one) == files_of(other)


def files_of(found: Plan) -> dict[str, tuple[int, ...]]:
    return {f.path: (f.matched, f.updated, f.deleted, f.copied) for f in found.find_touched_files.files}


def a_clause_that_is_split_promises_the_same(planned: Planned) -> bool:
    """Into p, NOT p and p IS NULL."""
    at = planned.drawn.clause % len(planned.merge.clauses)
    clause = planned.merge.clauses[at]
    if planned.matched == DELETES_ALL and clause in DELETES_ALL:
        return False
    p = planned.drawn.of_source if clause.kind == NOT_MATCHED else planned.drawn.of_target
    own = f"({clause.condition}) AND " if clause.condition else ""
    parts = (replace(clause, condition=f"{own}{part}") for part in (f"({p})", f"NOT ({p})", f"({p}) IS NULL"))
    clauses = (*planned.merge.clauses[:at], *parts, *planned.merge.clauses[at + 1 :])
    same(planned.plan, planned.planned(replace(planned.merge, clauses=clauses)))
    return True


def the_counts_are_those_of_a_full_outer_join(planned: Planned) -> bool:
    merge, case = planned.merge, "CASE "
    for kind, there in (
        (MATCHED, "t.file_ IS NOT NULL AND s.there_"),
        (NOT_MATCHED, "t.file_ IS NULL"),
        (BY_SOURCE, "s.there_ IS NULL"),
    ):
        for clause in (one for one in merge.clauses if one.kind == kind):
            case += f"WHEN {there} AND ({clause.condition or 'true'}) THEN '{kind} {clause.action.split()[0]}' "
    target = "(SELECT *, _metadata.file_name AS file_, monotonically_increasing_id() AS row_ FROM {table})"
    source = f"(SELECT *, true AS there_ FROM {merge.source.text})"
    with confs_set(planned.spark, AS_MERGE_READS):
        rows = planned.sql(
            f"{merge.source.before}SELECT action, file_, count(*), count(DISTINCT row_) FROM "
            f"(SELECT {case} END AS action, t.file_, t.row_ FROM {target} t FULL OUTER JOIN {source} s ON {merge.on}) "
            "GROUP BY ALL"
        ).collect()
    counts: Counter[str] = Counter()
    files: dict[str, Counter[str]] = {}
    for action, file, pairs, distinct in rows:
        if action:
            verb = action.rpartition(" ")[2]
            number = distinct if verb == "DELETE" else pairs
            counts[action] += number
            if file:
                files.setdefault(file, Counter())[verb] += number
    promise = planned.plan.promise
    assert promise["numTargetRowsInserted"] == counts[f"{NOT_MATCHED} INSERT"]
    for verb in ("Update", "Delete"):
        of_both, of_target = counts[f"{MATCHED} {verb.upper()}"], counts[f"{BY_SOURCE} {verb.upper()}"]
        assert promise[f"numTargetRows{verb}d"] == of_both + of_target
        assert promise.get(f"numTargetRowsMatched{verb}d", of_both) == of_both
        assert promise.get(f"numTargetRowsNotMatchedBySource{verb}d", of_target) == of_target
    if planned.matched != DELETES_ALL:
        promised = {
            one.path.rpartition("/")[2]: Counter({"UPDATE": one.updated, "DELETE": one.deleted})
            for one in planned.plan.find_touched_files.files
            if one.updated + one.deleted
        }
        assert promised == files
    return True


def a_shuffled_source_changes_nothing(planned: Planned) -> bool:
    same(planned.plan, planned.planned(planned.from_source("(SELECT /*+ REPARTITION(5) */ * FROM {source})")))
    return True


def a_row_that_never_matches_changes_nothing(planned: Planned) -> bool:
    """No clause inserts it either."""
    values = {planned.table.names[0]: "-999L", "dc": "CAST(-999.99 AS DECIMAL(5, 2))"}
    row = ", ".join(values.get(name, "NULL") for name in columns_of(planned))
    more = planned.from_source(f"(SELECT * FROM {{source}} UNION ALL SELECT {row})")
    not_it = f"NOT (s.{planned.id} <=> -999L)"
    clauses = tuple(
        replace(one, condition=f"({one.condition or 'true'}) AND {not_it}") if one.kind == NOT_MATCHED else one
        for one in more.clauses
    )
    same(planned.plan, planned.planned(replace(more, clauses=clauses)), more_rows=1)
    return True


def columns_of(planned: Planned) -> tuple[str, ...]:
    source = planned.merge.source
    return tuple(planned.sql(f"{source.before}SELECT * FROM {source.text}").columns)


def a_source_that_is_split_adds_up(planned: Planned) -> bool:
    """By the hash of its keys."""
    if planned.matched == DELETES_ALL or any(one.kind == BY_SOURCE for one in planned.merge.clauses):
        return False
    total: Counter[str] = Counter()
    files: dict[str, Counter[str]] = {}
    for half in (0, 1):
        where = f"(SELECT * FROM {{source}} WHERE pmod(hash({planned.id}), 2) = {half})"
        found = planned.planned(planned.from_source(where))
        assert found.refused is None, found.refused
        total.update(rows_of(found))
        for path, (_, updated, deleted, _) in files_of(found).items():
            files.setdefault(path, Counter()).update(updated=updated, deleted=deleted)
    assert total == rows_of(planned.plan)
    assert files == {
        path: Counter(updated=updated, deleted=deleted)
        for path, (_, updated, deleted, _) in files_of(planned.plan).items()
    }
    return True


def rows_of(found: Plan) -> Counter[str]:
    return Counter({verb: found.promise[f"numTargetRows{verb}"] for verb in ("Inserted", "Updated", "Deleted")})


def duckdb_takes_the_same_actions(planned: Planned) -> bool:
    """As its own MERGE says, where both compare the values alike."""
    merge, i = planned.merge, planned.id
    said = " ".join((merge.on, *(one.condition or "" for one in merge.clauses)))
    if re.search(r"\b[ts]\.(ts|c|vc|arr|mp|recs|x)\b", said):
        return False
    actions = {"UPDATE": f"UPDATE SET {i} = t.{i}", "INSERT": f"INSERT ({i}) VALUES (s.{i})", "DELETE": "DELETE"}
    clauses = (replace(one, action=actions[one.action.split()[0]]) for one in merge.clauses)
    with confs_set(planned.spark, AS_MERGE_READS), duckdb.connect() as database:
        names = sorted(set(re.findall(r"\bt\.(`[^`]+`|\w+)", said)) | {i})
        target = planned.sql(f"SELECT {', '.join(names)} FROM {{table}}").toArrow()
        source = planned.sql(f"{merge.source.before}SELECT * FROM {merge.source.text}")
        names = sorted(set(re.findall(r"\bs\.(`[^`]+`|\w+)", said)) | {i})
        rows = source.selectExpr(*names).toArrow()
        database.register("rows_t", target).register("rows_s", rows)
        database.execute("CREATE TABLE tgt AS FROM rows_t")
        text = f"MERGE INTO tgt AS t USING rows_s AS s ON {in_duckdb(merge.on)} " + " ".join(
            replace(one, condition=one.condition and in_duckdb(one.condition)).text.replace("`", '"') for one in clauses
        )
        done = Counter(action for (action,) in database.execute(f"{text} RETURNING merge_action").fetchall())
    promise = planned.plan.promise
    verbs = {"INSERT": "Inserted", "UPDATE": "Updated", "DELETE": "Deleted"}
    assert {verb: done[verb] for verb in verbs} == {verb: promise[f"numTargetRows{verbs[verb]}"] for verb in verbs}
    return True


def in_duckdb(condition: str) -> str:
    return sqlglot.transpile(condition, read="spark", write="duckdb")[0]


def find_key_shows_the_row_after(planned: Planned) -> bool:
    """Of a random key, over the plan that is applied. It is the relation that changes the table, so it comes last."""
    if {one.code for one in planned.plan.warnings} & MUST_ACCEPT or planned.plan.target.num_rows is None:
        return False
    key, i = planned.drawn.key, planned.id
    tied = find_key(planned.spark, planned.plan, f"t.{i} = {key}")
    new = find_key(planned.spark, planned.plan, f"s.{i} IN ({key}, {key - 100})")
    outcome = apply(planned.spark, planned.plan)
    assert outcome.kept, outcome.deviations
    if tied.more or new.more:
        return False
    shown: Counter[str] = Counter()
    unknown: set[str] = set()
    for row in (*tied.rows, *(one for one in new.rows if one.kind == "not_matched")):
        after = row.target if row.change is None else row.change.after
        unknown |= set(row.change.unknown) if row.change else set()
        if after is not None:
            shown[text_of(after)] += 1
    if unknown or planned.plan.write.schema_after or planned.matched == DELETES_ALL:
        return False
    with confs_set(planned.spark, AS_MERGE_READS):
        columns = planned.sql("SELECT * FROM {table}").columns
        texts = ", ".join(f"CAST({quote(name)} AS STRING) AS {quote(name)}" for name in columns)
        rows = planned.sql(f"SELECT {texts} FROM {{table}}").collect()
    there = Counter(text_of(row.asDict()) for row in rows)
    assert shown <= there, (shown, shown - there)
    if not any(re.search(rf"SET (t\.)?{re.escape(i)} =", one.action) for one in planned.merge.clauses):
        name = planned.table.names[0]
        of_key = Counter(text_of(row.asDict()) for row in rows if row[name] == str(key))
        assert of_key <= shown, (of_key, shown)
    return True


def text_of(cells: dict[str, Any]) -> str:
    return str(sorted(cells.items()))


def an_upsert_planned_again_updates_each_row_to_what_it_is(planned: Planned) -> bool:
    """It takes what the source says alone, so that to merge it twice is to merge it once."""
    merge, i = planned.merge, planned.id
    v = quote(planned.table.names[2])
    if "{table}" in merge.source.text or not takes_stars(planned.table, merge.source, merge.evolves):
        return False
    clauses = (
        WhenClause(MATCHED, planned.drawn.of_source, f"UPDATE SET {v} = s.{v}"),
        WhenClause(MATCHED, None, "UPDATE SET *"),
        WhenClause(NOT_MATCHED, None, "INSERT *"),
    )
    first = planned.planned(replace(merge, on=f"t.{i} = s.{i}", clauses=clauses))
    if first.refused or {one.code for one in first.warnings} & MUST_ACCEPT:
        return False
    apply(planned.spark, first)
    before = Counter(str(row) for row in planned.sql("SELECT * FROM {table}").collect())
    again = plan(planned.spark, first.statement.sql, rows=50)
    if again.refused:
        assert first.promise["numTargetRowsInserted"], "only new rows of one key can match several source rows now"
        return False
    assert again.promise["numTargetRowsInserted"] == again.promise["numTargetRowsDeleted"] == 0
    for sample in again.samples:
        assert sample.before is not None
        assert sample.after == {name: sample.before[name] for name in sample.after or ()}
    assert apply(planned.spark, again).kept
    assert before == Counter(str(row) for row in planned.sql("SELECT * FROM {table}").collect())
    return True


Relation = Callable[[Planned], bool]
RELATIONS: tuple[Relation, ...] = (
    a_clause_that_is_split_promises_the_same,
    the_counts_are_those_of_a_full_outer_join,
    a_shuffled_source_changes_nothing,
    a_row_that_never_matches_changes_nothing,
    a_source_that_is_split_adds_up,
    duckdb_takes_the_same_actions,
    find_key_shows_the_row_after,
    an_upsert_planned_again_updates_each_row_to_what_it_is,
)
"""Those that apply come last."""
