"""What the source's keys imply of a partition column that the target generates from one of them.

A row's generated column is its expression over the base column, and a matching row's base column is the source's key.
So the expression over the source's keys says in which partitions the matches lie, though MERGE itself derives nothing
from generated columns.

An expression over a TIMESTAMP depends on the session's time zone, and a row may have been written under another: such
ones are bounded only where they grow with the time, and by two days more on either side than the keys ask.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge, Key
from engine.model.errors import CancelledError, EngineError, UnreachableError, UsageError
from engine.model.scan import DerivedConjunct
from engine.spark.spark_errors import collected
from engine.sql.char_types import compared_type
from engine.sql.literals import INTEGERS, MAX_VALUES, few_literals, literal, one_of, printed, within
from engine.sql.names import quote
from engine.sql.sql_text import columns_named, function_names, replaced, tokenize
from engine.table.logged_schema import LoggedColumn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Expressions whose value never falls while the column's grows. Others keep only an equality.
GROWING = re.compile(
    r"^((?i:cast)\( *{c} +(?i:as +date) *\)|(?i:year)\( *{c} *\)|(?i:trunc)\( *{c} *, *'\w+' *\)"
    r"|(?i:date_trunc)\( *'\w+' *, *{c} *\)|(?i:date_format)\( *{c} *, *'yyyy(-MM(-dd(-HH)?)?)?' *\))$".replace(
        "{c}", r"[\w.`]+"
    )
)
#: The functions whose value for a date, an integer or a string depends on nothing else.
PLAIN = {"cast", "year", "quarter", "month", "day", "dayofmonth", "trunc", "substring", "substr", "left", "pmod", "mod"}
ZONES_APART = "INTERVAL '2' DAY"
FOUR_DIGITS = re.compile(r"^\d{4}(\D|$)")
EMPTY = "it is an empty text for a key of the source, and Delta keeps that as NULL in a partition column"
ZONE_ALONE = "what is generated from a time is bounded only where it grows with it: rows may be of another time zone"


def derive_generated(
    spark: SparkSession,
    merge: AnalyzedMerge,
    view: str,
    keys: Sequence[Key],
    columns: Sequence[LoggedColumn],
    partition_columns: Collection[str],
) -> Iterator[DerivedConjunct]:
    """One for each partition column that is generated from one of ``keys``, the keys that bound the target."""
    partitions = {name.lower() for name in partition_columns}
    for column in columns:
        if column.generated_as is None or column.name.lower() not in partitions:
            continue
        for key in keys:
            if _is_base(key, column.generated_as) and merge.typed.target.reference:
                text, because = _implied(spark, merge, view, key, column.name, column.generated_as.strip())
                yield DerivedConjunct(column=_reference(merge, column.name), text=text, why_not=because)


def _is_base(key: Key, generated_as: str) -> bool:
    """Whether the key is the one column that the generation expression names."""
    try:
        return columns_named(generated_as) == {key.target.target_columns[0].lower()}
    except UsageError:  # a text that is not understood must not keep the table from being merged into
        return False


def _reference(merge: AnalyzedMerge, column: str) -> str:
    return f"{merge.typed.target.reference}.{quote(column)}"


def _implied(
    spark: SparkSession, merge: AnalyzedMerge, view: str, key: Key, column: str, generated_as: str
) -> tuple[str, str]:
    """(What the keys say of the generated column or "", why nothing)."""
    base, named, value = key.target.target_columns[0], _reference(merge, column), key.source.text
    type_ = compared_type(merge.target_type[column])
    base_type = merge.target_type[base].dataType.simpleString()
    if base_type in INTEGERS:
        # computed in the width of the column that it is generated from, which a key of the source may not have
        value = f"CAST({value} AS {base_type})"

    def of(text: str) -> str:
        """The generation expression of ``text`` in the place of its one column."""
        return replaced(generated_as, {base.lower(): text})

    from_time = base_type == "timestamp"
    if type_ not in (*INTEGERS, "date", "string"):
        return "", f"{type_} has no order that partitions can be trusted with"
    if from_time and not GROWING.match(generated_as):
        return "", ZONE_ALONE
    # a date or a text that is made a time on the way depends on the zone as well
    by_way_of_time = any(token.word.startswith("TIMESTAMP") for token in tokenize(of("0")))
    if not from_time and (by_way_of_time or not function_names(generated_as) <= PLAIN):
        return "", f"{generated_as} may depend on more than its column"
    origin = f"FROM {view} AS {merge.source_reference} WHERE {value} IS NOT NULL"
    expression = of(value)
    least, most = (f"({value} {sign} {ZONES_APART})" if from_time else value for sign in "-+")
    try:
        if not from_time:
            rows = collected(spark, f"SELECT DISTINCT {printed(type_, expression)} {origin} LIMIT {MAX_VALUES + 1}")
            found = [row[0] for row in rows]
            if type_ == "string" and "" in found:
                return "", EMPTY
            if values := few_literals(type_, found):
                return one_of(named, values), ""
        first_value, last_value = (
            printed(type_, f"{end}({of(text)})") for end, text in (("min", least), ("max", most))
        )
        ((low, high, unknown),) = collected(
            spark, f"SELECT {first_value}, {last_value}, count_if(({expression}) IS NULL) {origin}"
        )
        if type_ == "string" and low == "":
            return "", EMPTY
    except (CancelledError, UnreachableError):
        raise
    except EngineError as error:
        return "", f"{generated_as} fails for a key of the source ({error.condition})"
    first, last = literal(type_, low), literal(type_, high)
    if unknown or first is None or last is None:
        return "", f"{generated_as} is NULL for a key of the source, or cannot be written"
    if type_ == "string" and from_time and not (FOUR_DIGITS.match(low) and FOUR_DIGITS.match(high)):
        return "", "years of more than four digits have another order as text"
    return within(named, first, last), ""
