"""TouchedFiles → Conflicts: the source rows that fight for one target row, and the source without them, to paste.

Delta says only that several source rows matched (delta-io/delta #1232). The pairs are still there, so the keys, their
rivals and what a deduplicated source would change are asked of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.merge.analyze import AnalyzedMerge
from engine.merge.explain_merge import aliased
from engine.merge.find_touched_files import Matches
from engine.merge.join_sides import CLAUSE, FILE, SOURCE_ROW, TARGET_ROW
from engine.merge.prepare_source import PreparedSource
from engine.model.browse import Column
from engine.model.conflicts import ConflictKey, Conflicts, Dedupe
from engine.model.errors import CancelledError, EngineError, UnreachableError
from engine.model.value import Cells
from engine.spark.spark_errors import translate
from engine.sql.literals import shown
from engine.sql.names import quote, quoted_if_needed, unused
from engine.sql.parse import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAX_KEYS = 20
MAX_RIVALS = 4
MOST_ORDERS = 4
"""Columns that are tried for the one that orders rows by age: each costs a sort."""
VERSION_NAME = re.compile(
    r"(^|_)(version|ver|revision|rev|sequence|seq|seqno|lsn|scn|offset|_commit_version)($|_)", re.IGNORECASE
)
TIME_NAME = re.compile(
    r"(^|_)(ts|time|timestamp|at|updated|modified|changed|event|ingested|loaded|date|dt)($|_)", re.IGNORECASE
)
CHANGE_NAME = re.compile(r"(^|_)(updated|modified|changed|ingested|loaded)($|_)", re.IGNORECASE)
"""A time that says of a row how new it is; another may be of what the row is about."""
COUNTING = re.compile(r"^(bigint|int|smallint|decimal\(.*\))$")
UNORDERABLE = re.compile(r"map<|variant|interval|geo", re.IGNORECASE)


@dataclass(frozen=True)
class PartitionKey:
    """What ON compares of the source, as SQL for our queries and as ``typed``. A NULL in one that is no ``null_safe``
    matches nothing."""

    text: str
    typed: str
    null_safe: bool


def find_conflicts(
    spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, matches: Matches, rows: int, private: bool
) -> Conflicts:
    """Count the conflicts; where there are some, name up to 20 keys with a few rivals each, and write the dedupe.

    No rivals with ``rows`` 0; no values at all when ``private``.
    """
    true_count = sum(file.true_conflicts for file in matches.files)
    if not matches.view or not true_count:
        return Conflicts(count=matches.conflicts, true_count=true_count)
    try:
        return Conflicts(
            count=matches.conflicts,
            true_count=true_count,
            keys=() if private else conflict_keys(spark, merge, source, matches.view, MAX_RIVALS if rows else 0),
            dedupe=dedupe(spark, merge, source, matches.view),
        )
    except EngineError:
        raise
    except Exception as error:
        raise translate(error) from error


def conflict_keys(
    spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, view: str, rivals: int
) -> tuple[ConflictKey, ...]:
    """The keys with most source rows first: the source's columns in ON, and up to ``rivals`` of the rows."""
    names = list(dict.fromkeys(name for e in merge.on for name in e.source_columns))
    if not names:
        return ()
    columns = ", ".join(f"{shown(f's.{quote(c.name)}', c.type)} AS {quote(c.name)}" for c in source.columns)
    by_target = (
        f"SELECT {FILE}, {TARGET_ROW}, min({SOURCE_ROW}) AS first, count({SOURCE_ROW}) AS n FROM {view} "
        f"GROUP BY {FILE}, {TARGET_ROW} HAVING count({SOURCE_ROW}) > 1"
    )
    by_key = (
        f"SELECT first, max(n) AS n, count(*) AS targets, min(`struct`({FILE}, {TARGET_ROW})) AS one "
        f"FROM ({by_target}) GROUP BY first ORDER BY n DESC, first LIMIT {MAX_KEYS}"
    )
    rows = spark.sql(
        f"SELECT c.first AS __dm_first, c.n AS __dm_n, c.targets AS __dm_targets, {columns} FROM "
        f"(SELECT k.*, p.{SOURCE_ROW}, row_number() OVER (PARTITION BY k.first ORDER BY p.{SOURCE_ROW}) AS place "
        f"FROM ({by_key}) AS k JOIN {view} AS p ON p.{FILE} = k.one.{FILE} AND p.{TARGET_ROW} = k.one.{TARGET_ROW} "
        f"AND p.{SOURCE_ROW} IS NOT NULL) AS c JOIN {numbered(source)} AS s ON s.{SOURCE_ROW} = c.{SOURCE_ROW} "
        f"WHERE c.place <= {max(rivals, 1)} ORDER BY c.n DESC, c.first, c.place"
    ).collect()
    groups: dict[int, list[Any]] = {}
    for row in rows:
        groups.setdefault(int(row["__dm_first"]), []).append(row)
    return tuple(_conflict_key(names, source.columns, group, rivals) for group in groups.values())


def _conflict_key(names: Sequence[str], columns: Sequence[Column], group: Sequence[Any], rivals: int) -> ConflictKey:
    cells: list[Cells] = [{c.name: row[c.name] for c in columns} for row in group]
    return ConflictKey(
        key={name: group[0][name] for name in names},
        source_rows=int(group[0]["__dm_n"]),
        target_rows=int(group[0]["__dm_targets"]),
        rivals=tuple(cells) if rivals else (),
        differing=tuple(c.name for c in columns if rivals and len({one[c.name] for one in cells}) > 1),
    )


def numbered(source: PreparedSource) -> str:
    """The frozen source with the row ids that the pairs have, as a subquery without an alias."""
    return f"(SELECT *, monotonically_increasing_id() AS {SOURCE_ROW} FROM {source.view})"


@dataclass(frozen=True)
class Ranked:
    """The rows of the frozen source in the ``order`` by which the first of each key stays: the columns, as SQL.

    ``latest`` is the column that decides, None for none, ``choice`` which row stays, in words. ``judged`` has the place
    of each row, as a subquery; ``counted``: whether by that order. ``dropped`` rows are not the first of their key, and
    ``unkeyed`` ones have none.
    """

    latest: Column | None
    order: tuple[str, ...]
    choice: str
    judged: str
    counted: bool
    dropped: int
    unkeyed: int


def rank_rows(spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource) -> Ranked:
    """Which row of each key of ON stays in a source that has one row for each. ON has an equality."""
    keys = partition_keys(merge)
    frozen = {column.name for column in source.columns}
    rest = [c.name for c in source.columns if not UNORDERABLE.search(c.type)]
    by = ", ".join(key.text for key in keys)
    ranked = order_columns(merge.source_schema, {name for e in merge.on for name in e.source_columns})
    latest = _deciding(spark, ranked, frozen, by, f"{numbered(source)} AS {merge.source_reference}")
    counted = latest is None or latest.name in frozen
    order = [f"{quote(latest.name)} DESC"] if latest else [quote(name) for name in rest]
    window = f"PARTITION BY {by} ORDER BY {', '.join(order) or by}"
    unkeyed = " OR ".join(f"{key.text} IS NULL" for key in keys if not key.null_safe) or "FALSE"
    judged = (
        f"(SELECT {SOURCE_ROW}, row_number() OVER w AS place, rank() OVER w AS level, ({unkeyed}) AS unkeyed FROM "
        f"{numbered(source)} AS {merge.source_reference} WINDOW w AS "
        f"({window if counted else f'PARTITION BY {by} ORDER BY {SOURCE_ROW}'}))"
    )
    counts = spark.sql(
        "SELECT count_if(place > 1 AND NOT unkeyed) AS dropped, count_if(place = 2 AND level = 1 AND NOT unkeyed) "
        f"AS ties, count_if(unkeyed) AS unkeyed FROM {judged}"
    ).collect()[0]
    return Ranked(
        latest=latest,
        order=tuple(order),
        choice=_choice(latest, counted, int(counts["ties"]), bool(rest)),
        judged=judged,
        counted=counted,
        dropped=int(counts["dropped"]),
        unkeyed=int(counts["unkeyed"]),
    )


def dedupe(spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, view: str) -> Dedupe | None:
    """The source with one row for each key, in SQL that this Spark analyzes; None where ON has no equality to key by.

    What it would do is counted over the frozen rows, not promised.
    """
    keys = partition_keys(merge)
    if not keys:
        return None
    ranked = rank_rows(spark, merge, source)
    stays = f"(SELECT * FROM {ranked.judged} WHERE place = 1 OR unkeyed)"
    by_target = (
        f"SELECT count(s.{SOURCE_ROW}) AS n, max(p.{CLAUSE} > 0) AS was_taken, "
        f"max(p.{CLAUSE} > 0 AND s.{SOURCE_ROW} IS NOT NULL) AS is_taken FROM {view} AS p LEFT JOIN {stays} AS s "
        f"ON s.{SOURCE_ROW} = p.{SOURCE_ROW} WHERE p.{SOURCE_ROW} IS NOT NULL GROUP BY p.{FILE}, p.{TARGET_ROW}"
    )
    after = spark.sql(
        "SELECT count_if(n > 1) AS conflicts, count_if(n = 0 OR (was_taken AND NOT is_taken)) AS lost "
        f"FROM ({by_target})"
    ).collect()[0]
    sql = one_row_a_key(merge, ranked.order, keep_unkeyed=bool(ranked.unkeyed))
    if not _analyzes(spark, f"{merge.statement.before_select}SELECT * FROM {sql}"):
        return None
    return Dedupe(
        sql=sql,
        keys=tuple(key.typed for key in keys),
        order_by=ranked.latest.name if ranked.latest else "",
        rows_dropped=ranked.dropped,
        conflicts_left=int(after["conflicts"]),
        # by an order that was not counted, other rows may stay
        matches_lost=int(after["lost"]) if ranked.counted else 0,
        choice=ranked.choice,
    )


def one_row_a_key(merge: AnalyzedMerge, order: Sequence[str], *, keep_unkeyed: bool) -> str:
    """The source as it is typed, with the first row of each key of ON by ``order``, to be pasted after USING.
    ``keep_unkeyed``: rows that have no key, and so are no duplicates of one another, stay."""
    written, keys = merge.typed.source, partition_keys(merge)
    prefix = prefix_of(written)
    by = ", ".join(key.typed for key in keys)
    window = f"PARTITION BY {by} ORDER BY {', '.join(prefix + one for one in order) or by}"
    unkeyed = "".join(f" OR {key.typed} IS NULL" for key in keys if keep_unkeyed and not key.null_safe)
    alias = f" AS {prefix[:-1]}" if prefix else ""
    # QUALIFY came with Spark 4.2
    kept = unused("kept", (column.name for column in merge.source_schema))
    marked = f"SELECT *, row_number() OVER ({window}) = 1{unkeyed} AS {kept} FROM {aliased(written)}"
    return f"(SELECT * EXCEPT ({kept}) FROM ({marked}) WHERE {kept}){alias}"


def prefix_of(relation: Relation) -> str:
    """What is typed before the name of a column, "" for a query without an alias."""
    name = relation.alias or (quoted_if_needed(relation.qualifier[-1]) if relation.qualifier else "")
    return f"{name}." if name else ""


def _choice(latest: Column | None, counted: bool, ties: int, ordered: bool) -> str:
    """Which row of each key stays, in words; never left unsaid."""
    if latest is None:
        choice = "by the order of its other columns, for want of a time or a version" if ordered else "any one"
        return f"Of each key one row stays, {choice}: say in ORDER BY which one it should be."
    if not counted:
        return (
            f"Of each key the row with the greatest {latest.name} stays; whether some are equal, and whether a clause "
            "takes the one that stays, was not counted."
        )
    if ties:
        return (
            f"Of each key the row with the greatest {latest.name} stays; several rows tie for it in {ties:,} of the "
            "keys, and any of them stays: add a column to ORDER BY."
        )
    return f"Of each key the row with the greatest {latest.name} stays."


def partition_keys(merge: AnalyzedMerge) -> tuple[PartitionKey, ...]:
    """The source's side of each equality of ON, and its conditions on the source alone: a row that fails one of these
    must not win over a row that matches. () where ON has no equality."""
    equalities = [PartitionKey(key.source.text, key.source.typed, key.null_safe) for key in merge.keys]
    if not equalities:
        return ()
    conditions = [
        PartitionKey(f"({e.text})", f"({e.typed})", True) for e in merge.on if e.source_columns and not e.target_columns
    ]
    return tuple(dict.fromkeys([*equalities, *conditions]))


def _deciding(spark: SparkSession, ranked: Sequence[Column], frozen: set[str], by: str, rows: str) -> Column | None:
    """The likeliest column under which fewest keys ``by`` have several rows at the top. What is not ``frozen`` cannot
    be counted: it is taken where it is the likeliest and none of the others decides."""
    candidates = [column for column in ranked if column.name in frozen][:MOST_ORDERS]
    if not candidates:
        return next(iter(ranked), None)
    windows = [f"OVER (PARTITION BY {by} ORDER BY {quote(column.name)} DESC)" for column in candidates]
    places = ", ".join(
        f"row_number() {window} AS place{at}, rank() {window} AS level{at}" for at, window in enumerate(windows)
    )
    ties = ", ".join(f"count_if(place{at} = 2 AND level{at} = 1)" for at in range(len(candidates)))
    counts = tuple(spark.sql(f"SELECT {ties} FROM (SELECT {places} FROM {rows})").collect()[0])
    at = counts.index(min(counts))
    return ranked[0] if counts[at] and ranked[0].name not in frozen else candidates[at]


def order_columns(columns: Sequence[Column], keys: set[str]) -> list[Column]:
    """The columns that may show the latest row, the likeliest first: a version, then a time by its name, one of the
    change before others, then any time, a date."""
    others = [column for column in columns if column.name not in keys]
    times = [column for column in others if column.type.startswith("timestamp")]
    dates = [column for column in others if column.type == "date"]
    ranked = (
        [c for c in others if COUNTING.match(c.type) and VERSION_NAME.search(c.name)],
        [c for c in times if CHANGE_NAME.search(c.name)],
        [c for c in times if TIME_NAME.search(c.name)],
        times,
        [c for c in dates if TIME_NAME.search(c.name)],
        dates,
        [c for c in others if COUNTING.match(c.type) and TIME_NAME.search(c.name)],
    )
    return list(dict.fromkeys(column for order in ranked for column in order))


def _analyzes(spark: SparkSession, query: str) -> bool:
    """Whether this Spark takes ``query``; nothing of it runs."""
    try:
        spark.sql(query).schema  # noqa: B018  asking for the schema is the question
    except Exception as error:
        translated = translate(error)
        if isinstance(translated, (UnreachableError, CancelledError)):
            raise translated from error
        return False
    return True
