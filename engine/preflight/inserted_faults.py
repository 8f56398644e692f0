"""Inserted rows without a key, with the key of another inserted row, or with one that the target has already.

The first two are counted with the rows that match nothing (engine.merge.count_inserts). Only keys that are outside of
ON need the target again, and of it the key columns alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge, Key
from engine.merge.derive_conjuncts import Bounds
from engine.merge.find_touched_files import Matches, takes_rows
from engine.merge.join_sides import INSERT_CLAUSE, clause_number, unmatched_source
from engine.merge.prepare_delta_scan import files_for_scan
from engine.merge.prepare_source import PreparedSource
from engine.model.checks import Checks
from engine.model.counted import count_and_verb
from engine.model.plan import Remark
from engine.model.value import Accuracy, Cells
from engine.preflight.assignments import ClauseAssignments
from engine.preflight.typed_parts import (
    all_of,
    as_stored,
    clause_with,
    fit_in_condition,
    is_last_of_its_kind,
    keys_outside_on_query,
    matched_with,
    source_without_duplicates,
    typed_values,
)
from engine.preflight.written_keys import columns_of_target, null_matches_nothing
from engine.spark.spark_errors import collected
from engine.sql.literals import shown, within
from engine.sql.names import quote
from engine.sql.resolve import SOURCE, TARGET
from engine.sql.some_values import SOME
from engine.table.log_file import LogFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField


@dataclass(frozen=True)
class InsertedRows:
    """The rows that are inserted. ``clauses`` take some; ``keys`` are the equalities of ON, ``<=>`` among them."""

    merge: AnalyzedMerge
    source: PreparedSource
    matches: Matches
    clauses: tuple[ClauseAssignments, ...]
    keys: tuple[Key, ...]
    private: bool


def inserted_rows(
    merge: AnalyzedMerge,
    source: PreparedSource,
    matches: Matches,
    assigned: Sequence[ClauseAssignments],
    private: bool,
) -> InsertedRows | None:
    """None where no row is inserted, or ON has no key."""
    clauses = tuple(
        one
        for one in assigned
        if one.clause.action_kind == "insert" and takes_rows(merge.statement, matches, one.clause)
    )
    keys = tuple(merge.keys)
    if not clauses or not keys:
        return None
    return InsertedRows(merge, source, matches, clauses, keys, private)


def written_keys_faults(spark: SparkSession, inserted: InsertedRows, checks: Checks) -> Iterator[Remark]:
    """NULL_KEYS_INSERTED and DUPLICATE_INSERTS: both are about the keys as they are written. Raises what made the count
    fail."""
    counts = inserted.matches.keys
    if inserted.matches.keys_failed:
        raise inserted.matches.keys_failed
    if counts is None:
        return
    # the keys that only the commit knows are not counted
    numbers = {clause_number(inserted.merge.statement, one.clause) for one in inserted.clauses}
    exactness: Accuracy = "exact" if numbers <= set(counts.clauses) else "estimated"
    key_columns, never_null = columns_of_target(inserted.keys), _named(null_matches_nothing(inserted.keys))
    without_key = counts.nulls if checks.looks_for("NULL_KEYS_INSERTED") else 0
    repeated = counts.repeated if checks.looks_for("DUPLICATE_INSERTS") else 0
    if without_key:
        yield Remark(
            code="NULL_KEYS_INSERTED",
            sentence=f"{count_and_verb(without_key, 'inserted row', 'have')} NULL in the key ({never_null}).",
            evidence="NULL equals nothing: no later MERGE with this ON finds these rows, and each inserts them again.",
            count=without_key,
            exactness=exactness,
            keys=counts.null_keys,
            fix=_not_null(inserted),
        )
    if repeated:
        fix, choice = _without_duplicates(spark, inserted)
        yield Remark(
            code="DUPLICATE_INSERTS",
            sentence=beyond_first(repeated, key_columns),
            evidence="Rows without a match are inserted as they are; the next MERGE finds several rows for each key."
            + (f" The fix: {choice}" if fix else ""),
            count=repeated,
            exactness=exactness,
            keys=counts.repeated_keys,
            fix=fix,
        )


def _named(keys: Sequence[Key]) -> str:
    """The target's columns, or what is computed of them."""
    return ", ".join(
        dict.fromkeys(key.target.target_columns[0] if is_column(key) else key.target.typed for key in keys)
    )


def is_column(key: Key) -> bool:
    """Whether the target's side of a key is a column, and nothing that is computed."""
    return key.target.text == f"{TARGET}.{quote(key.target.target_columns[0])}"


def beyond_first(rows: int, key_columns: Sequence[str]) -> str:
    """What DUPLICATE_INSERTS counts: of the rows of a key one is meant, whichever that is."""
    their = "its" if rows == 1 else "their"
    return f"{count_and_verb(rows, 'row', 'are')} inserted beyond the first of {their} key ({', '.join(key_columns)})."


def cells(spark: SparkSession, query: str) -> tuple[Cells, ...]:
    return tuple({str(k): v for k, v in row.asDict().items()} for row in collected(spark, query))


def _not_null(inserted: InsertedRows) -> str:
    """The INSERT clauses that leave these rows out; "" where a later one would take them, or where a key computes
    something, which may be NULL where no column is, and the other way round."""
    keys = null_matches_nothing(inserted.keys)
    if not all(map(is_column, keys)):
        return ""
    clauses = []
    for one in inserted.clauses:
        values = typed_values(inserted.merge, one)
        columns = {a.column.name: a for a in one.columns}
        names = [name for name in columns_of_target(keys) if name in values]
        known = [f"{as_stored(columns[name], values[name])} IS NOT NULL" for name in names]
        if known and not is_last_of_its_kind(inserted.merge, one):
            return ""
        if not fit_in_condition(inserted.merge, one, names, cast=False):
            return ""
        clauses += [clause_with(inserted.merge, one, " AND ".join(known))] if known else []
    return "\n".join(clauses)


def _without_duplicates(spark: SparkSession, inserted: InsertedRows) -> tuple[str, str]:
    """USING with one source row for each key, and which that is; "" where conditions may take another one, keys become
    equal by a cast, or another key is written than the one that ON compares."""
    merge = inserted.merge
    same = all(same_plain_columns(merge, key) for key in inserted.keys)
    conditions = any(one.condition for one in merge.statement.clauses) or len(merge.on) > len(merge.keys)
    written = all(_writes_key(one, key) for one in inserted.clauses for key in inserted.keys)
    if conditions or not same or not written:
        return "", ""
    source, choice = source_without_duplicates(spark, merge, inserted.source)
    return f"USING {source}", choice


def _writes_key(one: ClauseAssignments, key: Key) -> bool:
    """Whether a clause inserts the source's side of a key into the target's."""
    name = key.target.target_columns[0].lower()
    return any(
        len(path) == 1 and path[0].lower() == name and value.text == key.source.text for path, value in one.given
    )


def plain_columns(merge: AnalyzedMerge, key: Key) -> tuple[StructField, StructField] | None:
    """The columns of the source and of the target that a key compares; None if it compares anything else."""
    source, target = key.source, key.target
    if len(source.source_columns) != 1 or len(target.target_columns) != 1:
        return None
    one, other = source.source_columns[0], target.target_columns[0]
    if source.text != f"{SOURCE}.{quote(one)}" or not is_column(key):
        return None
    return merge.source_type[one], merge.target_type[other]


def same_plain_columns(merge: AnalyzedMerge, key: Key) -> bool:
    """Whether a key compares two columns of one type."""
    columns = plain_columns(merge, key)
    return columns is not None and columns[0].dataType == columns[1].dataType


def keys_outside_on(
    spark: SparkSession, inserted: InsertedRows, files: Sequence[LogFile], bounds: Sequence[Bounds], checks: Checks
) -> Iterator[Remark]:
    """KEY_EXISTS_OUTSIDE_ON: ON without its other conjuncts would match these rows. ``files`` are the target's."""
    merge, source = inserted.merge, inserted.source
    equalities = [key.typed for key in inserted.keys]
    asked = all_of(e.typed for e in merge.on if e.typed not in equalities)
    if not asked or checks.history:
        return
    on = " AND ".join(
        f"({key.source.text}\n) {'<=>' if key.null_safe else '='} ({key.target.text}\n)" for key in inserted.keys
    )
    target = _target_keys(inserted, bounds)
    rows = f"{unmatched_source(merge, source, inserted.matches.seen)} LEFT SEMI JOIN ({target}) AS {TARGET} ON {on}\n"
    if sum(file.bytes for file in files) > checks.max_bytes:
        files = files_for_scan(spark, merge, files, target, as_merge=False)
    if sum(file.bytes for file in files) > checks.max_bytes:
        yield Remark(
            code="KEY_EXISTS_OUTSIDE_ON",
            sentence="Whether inserted keys exist in the table is unknown: it reads more than max_bytes allows.",
            evidence=f"ON also asks for {asked}. A query counts the rows, and reads all of the table.",
            exactness="unknown",
            fix=keys_outside_on_query(merge, " AND ".join(equalities)),
        )
        return
    count = int(collected(spark, f"SELECT count(*) FROM {rows}WHERE {INSERT_CLAUSE} > 0")[0][0])
    if count:
        keys = [(f"({key.source.text}\n)", key.target.target_columns[0]) for key in inserted.keys]
        items = ", ".join(f"{shown(text)} AS {quote(name)}" for text, name in keys)
        query = f"SELECT {items} FROM {rows}WHERE {INSERT_CLAUSE} > 0 LIMIT {SOME}"
        yield Remark(
            code="KEY_EXISTS_OUTSIDE_ON",
            sentence=f"{count_and_verb(count, 'inserted row', 'have')} a key that the table has already, "
            "in rows that ON leaves out.",
            evidence=f"ON also asks for {asked}.",
            count=count,
            exactness="exact",
            keys=() if inserted.private else cells(spark, query),
            fix=_on_the_key_alone(spark, inserted, equalities, asked),
        )


def _on_the_key_alone(spark: SparkSession, inserted: InsertedRows, equalities: Sequence[str], asked: str) -> str:
    """ON by the keys, what else it asks for in the clauses; "" where other rows would then be matched by none, or one
    by several, which Delta refuses though a clause takes but one of them."""
    merge = inserted.merge
    if merge.statement.not_matched_by_source or _has_rivals(spark, inserted):
        return ""
    return "\n".join((f"ON {' AND '.join(equalities)}", *matched_with(merge, asked)))


def _has_rivals(spark: SparkSession, inserted: InsertedRows) -> bool:
    """Whether two rows of the source may have one key, as ON compares it: a NULL is equal to none but by ``<=>``."""
    if not all(same_plain_columns(inserted.merge, key) for key in inserted.keys):
        return True
    keys = ", ".join(key.source.text for key in inserted.keys)
    known = "".join(f" AND {key.source.text} IS NOT NULL" for key in null_matches_nothing(inserted.keys))
    rows = f"{inserted.source.view} AS {SOURCE} WHERE TRUE{known}"
    return bool(collected(spark, f"SELECT 1 FROM {rows} GROUP BY {keys} HAVING count(*) > 1 LIMIT 1"))


def _target_keys(inserted: InsertedRows, bounds: Sequence[Bounds]) -> str:
    """The key columns of the target at its version, between the bounds of the source's keys."""
    columns = ", ".join(f"{TARGET}.{quote(name)}" for name in columns_of_target(inserted.keys))
    texts = [
        within(one.key.target.text, one.low, one.high)
        for one in bounds
        if one.low and one.high and not one.key.null_safe
    ]
    where = f" WHERE {' AND '.join(texts)}" if texts else ""
    return f"SELECT {columns} FROM {inserted.merge.target_sql} AS {TARGET}{where}"
