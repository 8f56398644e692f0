"""ON without a key, and keys that become equal because their types differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge, Key
from engine.merge.prepare_source import PreparedSource
from engine.model.counted import count
from engine.model.plan import Remark
from engine.preflight.inserted_faults import cells, same_plain_columns
from engine.preflight.typed_parts import all_of
from engine.spark.explain import COLUMN_ID, explain
from engine.spark.schema import schema_of
from engine.spark.spark_errors import collected
from engine.sql.literals import shown
from engine.sql.names import quote
from engine.sql.resolve import SOURCE, TARGET
from engine.sql.some_values import SOME
from engine.sql.store_types import NUMERIC, can_up_cast_names, null_row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CAST_OF_SOURCE = re.compile(rf"cast\(__dm_source{COLUMN_ID} as ([a-z_]+(?:\([\d, ]+\))?)\)")
FLOATING = ("float", "double")
WRITTEN_ONE_WAY = ("tinyint", "smallint", "int", "bigint", "date")
"""Types whose values Spark writes as a text in one way, without rounding."""


def on_without_key(spark: SparkSession, merge: AnalyzedMerge, num_rows: int) -> Iterator[Remark]:
    """ON that Spark can only answer by comparing each source row with each target row. ``ON FALSE`` is meant so."""
    if merge.keys or _never_holds(spark, merge):
        return
    yield Remark(
        code="ON_WITHOUT_KEY",
        sentence=f"ON has no key: every target row is compared with {count(num_rows, 'source row')}.",
        evidence="A key is an equality between the two sides that must hold: one below OR is none.",
        count=num_rows,
        exactness="exact",
    )


def _never_holds(spark: SparkSession, merge: AnalyzedMerge) -> bool:
    """Whether ON is a constant, and not true."""
    if any(e.source_columns or e.target_columns for e in merge.on):
        return False
    query = f"{merge.statement.before_select}SELECT ({merge.statement.condition}\n) IS TRUE"
    return not collected(spark, query)[0][0]


def keys_that_collide(
    spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, *, private: bool
) -> Iterator[Remark]:
    """KEYS_COLLIDE_BY_CAST: Spark compares in another type than the source's, in which different values are one."""
    casts = source_casts(spark, merge)
    if not casts:
        return
    keys = merge.keys
    columns = raw_and_cast(compared_keys(merge, casts))
    of_raw, of_cast = (", ".join(f"{letter}{n}" for n in range(len(keys))) for letter in "rc")
    known = " AND ".join(f"c{n} IS NOT NULL" for n, key in enumerate(keys) if not key.null_safe)
    groups = (
        f"(SELECT {of_cast}, sum(n) AS n FROM (SELECT {of_raw}, {of_cast}, count(*) AS n FROM (SELECT {columns} FROM "
        f"{source.view} AS {SOURCE}) WHERE {known} GROUP BY {of_raw}, {of_cast}) "
        f"GROUP BY {of_cast} HAVING count(*) > 1)"
    )
    rows = int(collected(spark, f"SELECT coalesce(sum(n), 0) FROM {groups}")[0][0])
    if not rows:
        return
    names = [key.target.target_columns[0] for key in keys]
    items = ", ".join(f"{shown(f'c{n}')} AS {quote(name)}" for n, name in enumerate(names))
    words = ", ".join(f"{key.source.typed} as {type_.upper()}" for key, type_ in casts.items())
    yield Remark(
        code="KEYS_COLLIDE_BY_CAST",
        # two of them at least
        sentence=f"{rows:,} source rows have keys that differ, and become equal as Spark compares them ({words}).",
        evidence="The two sides of ON have different types. Give them one type before the MERGE.",
        count=rows,
        exactness="exact",
        keys=() if private else cells(spark, f"SELECT {items} FROM {groups} LIMIT {SOME}"),
        fix=_on_in_the_types_of_the_source(merge, casts),
    )


def _on_in_the_types_of_the_source(merge: AnalyzedMerge, casts: Mapping[Key, str]) -> str:
    """ON that keeps such keys apart; "" where a clause takes the rows that are matched no more: an INSERT would write
    the same key twice; and where the target's key may not fit the source's type, or is no value of it alone."""
    texts = all(merge.source_type[key.source.source_columns[0]].dataType.simpleString() == "string" for key in casts)
    if not merge.statement.matched_only or not texts or not set(casts.values()) <= set(WRITTEN_ONE_WAY):
        return ""
    return f"ON {all_of(_in_the_type_of_the_source(merge, one.typed, casts) for one in merge.on)}"


def compared_keys(merge: AnalyzedMerge, casts: Mapping[Key, str]) -> list[tuple[str, str]]:
    """The source side of each key: as it is, and as Spark compares it (:func:`source_casts`)."""
    texts = {key: f"({key.source.text}\n)" for key in merge.keys}
    return [(text, f"try_cast({text} AS {casts[key]})" if key in casts else text) for key, text in texts.items()]


def raw_and_cast(compared: Sequence[tuple[str, str]]) -> str:
    """Both as columns: r0, c0, r1, …"""
    return ", ".join(f"{raw} AS r{n}, {cast} AS c{n}" for n, (raw, cast) in enumerate(compared))


def _in_the_type_of_the_source(merge: AnalyzedMerge, conjunct: str, casts: Iterable[Key]) -> str:
    """A conjunct of ON, as typed unless it is a key that is cast."""
    key = next((key for key in casts if key.typed == conjunct), None)
    if key is None:
        return conjunct
    (name,) = key.source.source_columns[:1]
    return f"CAST({key.target.typed} AS {merge.source_type[name].dataType.simpleString().upper()}) = {key.source.typed}"


def source_casts(spark: SparkSession, merge: AnalyzedMerge) -> dict[Key, str]:
    """The keys whose source side Spark casts to compare it, with the type, where the cast may make two values one."""
    keys = [key for key in merge.keys if not key.null_safe]
    if all(same_plain_columns(merge, key) for key in keys):
        return {}
    sides = ", ".join(f"({key.source.text}\n), ({key.target.text}\n)" for key in keys)
    source, target = (
        null_row(((field.name, field.dataType) for field in schema.fields), name)
        for schema, name in ((merge.source_type, SOURCE), (merge.target_type, TARGET))
    )
    types = schema_of(spark, f"SELECT {sides} FROM {source} CROSS JOIN {target}")
    casts = {}
    for key, one, other in zip(keys, types.fields[::2], types.fields[1::2], strict=True):
        given, wanted = one.dataType.simpleString(), other.dataType.simpleString()
        # a collation makes texts equal on purpose
        if given == wanted or "collate" in f"{given} {wanted}":
            continue
        pair = null_row((("__dm_source", one.dataType), ("__dm_target", other.dataType)), "__dm_pair")
        printed = explain(spark, f"SELECT __dm_source = __dm_target FROM {pair}").analyzed
        if (cast := CAST_OF_SOURCE.search(printed)) and not _keeps_apart(given, cast[1]):
            casts[key] = cast[1]
    return casts


def _keeps_apart(given: str, wanted: str) -> bool:
    """Whether a cast gives different values for different values."""
    rounds = wanted in FLOATING and not (given in NUMERIC and NUMERIC.index(given) < NUMERIC.index("int"))
    exact = (given, wanted) in (("int", "double"), ("float", "double"))
    return can_up_cast_names(given, wanted) and (exact or not rounds)
