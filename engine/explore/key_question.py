"""What is typed to find a key → what the rows of either side are to fulfil."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from engine.merge.analyze import AnalyzedMerge, Key
from engine.merge.prepare_source import PreparedSource
from engine.model.counted import count, verb_of
from engine.model.errors import EngineError, UsageError
from engine.spark.schema import schema_of
from engine.spark.spark_errors import collected
from engine.sql.names import quote, string
from engine.sql.resolve import SOURCE, TARGET, resolve
from engine.sql.sql_text import (
    EQUALITIES,
    NOT_ONE_EQUALITY,
    OTHER_COMPARISONS,
    conjuncts,
    quoted_values,
    split_top_level,
    tokenize,
)
from engine.sql.store_types import DECIMAL, INTEGRAL, NUMERIC, ddl, is_same

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType, StructField

TEXT = re.compile(r"string(?: collate (\w+))?", re.IGNORECASE)
"""A type, and its collation where that is not the usual one."""
FLOATING = {"float", "double"}
SAYS_PREDICATE = (*EQUALITIES, *OTHER_COMPARISONS, *NOT_ONE_EQUALITY)


@dataclass(frozen=True)
class Question:
    """What the rows are to fulfil, by the side that it names; ``pairs`` names both. ``by_value``: ``source`` and
    ``target`` say the same of the two sides, else all of it together is asked. ``narrow``: a target row that matches
    fulfils ``target``. ``typed``: all of it in the names of the statement."""

    source: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    by_value: bool = False
    narrow: bool = True
    typed: tuple[str, ...] = ()

    @property
    def of_pairs(self) -> bool:
        """Whether it names both sides, so that only rows that ON ties can fulfil it."""
        return not self.by_value and bool(self.pairs or (self.source and self.target))

    @property
    def side(self) -> Literal["", "source", "target"]:
        """The only side that it names."""
        if self.by_value or self.of_pairs:
            return ""
        return "source" if self.source else "target" if self.target else ""

    @property
    def of_target_rows(self) -> tuple[str, ...]:
        """What each target row fulfils that has the key of a row in question, () if that is not known."""
        return self.target if self.by_value and self.narrow else ()


def ask_for(spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, typed: str) -> Question:
    """What ``typed`` asks: values for the equalities of ON, or a predicate. Raises EngineError."""
    ask = _by_predicate if is_predicate(typed) else _by_value
    try:
        return ask(spark, merge, source, typed)
    except EngineError as error:
        error.say(_as_typed(error.message, merge))
        raise


def _as_typed(message: str, merge: AnalyzedMerge) -> str:
    """A message about a query of ours, with what the statement calls the two sides."""
    typed = merge.typed
    for ours, theirs in ((SOURCE, typed.source.reference), (TARGET, typed.target.reference)):
        message = message.replace(f"{quote(ours)}.", f"{theirs}." if theirs else "")
    return message


def is_predicate(typed: str) -> bool:
    """Whether ``typed`` compares or calls something; else it is values."""
    try:
        return any(map(_compares, split_top_level(typed, ",")))
    except UsageError:
        return False  # O'Brien


def _compares(part: str) -> bool:
    tokens = tokenize(part)
    # OR and IN are states, and Acme (UK) is a name
    says = len(tokens) > 1 and any({token.word, token.text}.intersection(SAYS_PREDICATE) for token in tokens)
    calls = (name.is_name and (name.end, "(") == (behind.start, behind.text) for name, behind in pairwise(tokens))
    return says or any(calls)


def values_of(typed: str, count: int) -> tuple[str | None, ...]:
    """The values in ``typed``, as SQL literals; a single one is taken as it stands. None is NULL."""
    try:
        parts = split_top_level(typed, ",") if count > 1 else (typed,)
    except UsageError:
        parts = tuple(typed.split(","))
    return tuple(_value(part.strip()) for part in parts)


def _value(text: str) -> str | None:
    if text.upper() == "NULL":
        return None
    try:
        tokens = tokenize(text)
    except UsageError:
        return string(text)
    # DATE'2026-11-19' as well
    is_quoted = tokens and tokens[-1].is_string and (len(tokens) == 1 or (len(tokens) == 2 and tokens[0].word))
    if is_quoted and tokens[0].word == "X":
        return text  # the bytes themselves
    return string(quoted_values(text)[-1] if is_quoted else text)


def _by_value(spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, typed: str) -> Question:
    """Each equality of ON with a literal of the type of its target side in place of the other side."""
    keys = merge.keys
    if not keys:
        raise EngineError(
            "KEY_NOT_UNDERSTOOD",
            "ON has no equality between the two sides, so a value alone says nothing.",
            f"Type a predicate, such as {merge.typed.target.reference}.id = 5.",
        )
    values = values_of(typed, len(keys))
    if len(values) != len(keys):
        wanted = ", ".join(f"{one.target.typed} {'<=>' if one.null_safe else '='} {one.source.typed}" for one in keys)
        raise EngineError(
            "KEY_NOT_UNDERSTOOD",
            f"ON ties {count(len(keys), 'key')} ({wanted}), and {len(values)} {verb_of(len(values), 'were')} typed.",
            "Type a value for each, separated by commas, or a predicate; quote a text that holds a comma.",
        )
    ours = [key.target.text for key in keys]
    theirs = [key.source.text for key in keys]
    reference = merge.statement.target.reference
    to_types = schema_of(spark, f"SELECT {_items(ours)} FROM {merge.target_sql} AS {reference}").fields
    from_types = schema_of(spark, f"SELECT {_items(theirs)} FROM {source.view} AS {merge.source_reference}").fields
    _check_values(spark, keys, values, [ddl(field.dataType) for field in to_types])
    compared = [_compared_in(*pair) for pair in zip(keys, to_types, from_types, strict=True)]
    texts = [TEXT.fullmatch(field.dataType.simpleString()) for field in (*to_types, *from_types)]
    collates = any(text is not None and text[1] for text in texts)
    if collates:
        as_types = schema_of(spark, f"SELECT {_items(compared)} FROM {_both_sides(merge, source)}").fields
    else:
        as_types = to_types
    literals = [_literal(value, field.dataType, collates) for value, field in zip(values, as_types, strict=True)]
    return Question(
        source=tuple(
            f"{text} <=> {literal}{_or_as_shown(text, value, to_type, from_type)}"
            for text, literal, value, to_type, from_type in zip(
                theirs, literals, values, to_types, from_types, strict=True
            )
        ),
        target=tuple(f"{text} <=> {literal}" for text, literal in zip(ours, literals, strict=True)),
        typed=tuple(f"{key.target.typed} <=> {literal}" for key, literal in zip(keys, literals, strict=True)),
        by_value=True,
        # '007' and 7 are one key where ON casts one side, and then the target's own literal may not find it
        narrow=all(is_same(one.dataType, other.dataType) for one, other in zip(to_types, from_types, strict=True)),
    )


def _compared_in(key: Key, ours: StructField, theirs: StructField) -> str:
    """SQL of the type that a literal in place of either side has: of two texts the one with the collation of ON."""
    if all(TEXT.fullmatch(field.dataType.simpleString()) for field in (ours, theirs)):
        return f"coalesce(({key.target.text}\n), ({key.source.text}\n))"
    return key.target.text


def _literal(value: str | None, data_type: DataType, collates: bool) -> str:
    """``collates``: its collation is named, for that of a column on the other side may be another one."""
    text = TEXT.fullmatch(data_type.simpleString())
    if not collates or text is None:
        return f"CAST({value or 'NULL'} AS {ddl(data_type)})"
    return f"CAST({value or 'NULL'} AS string) COLLATE {text[1] or 'UTF8_BINARY'}"


def _or_as_shown(text: str, value: str | None, ours: StructField, theirs: StructField) -> str:
    """A value such as 0.1 is another number in each type of a floating point, and shown alike: a source column of
    another type than its target's has it in its own, too."""
    types = [field.dataType.simpleString() for field in (ours, theirs)]
    are_numbers = all(one in NUMERIC or DECIMAL.fullmatch(one) for one in types)
    if value is None or types[0] == types[1] or not FLOATING.intersection(types) or not are_numbers:
        return ""
    own = types[1]
    return f" OR {text} = CASE WHEN NOT ({_is_no_value(value, own)}) THEN try_cast({value} AS {own}) END"


def _both_sides(merge: AnalyzedMerge, source: PreparedSource) -> str:
    """The pairs of all rows, to be read in a FROM."""
    ours = f"{merge.target_sql} AS {merge.statement.target.reference}"
    return f"{source.view} AS {merge.source_reference} CROSS JOIN {ours}"


def _check_values(spark: SparkSession, keys: Sequence[Key], values: Sequence[str | None], types: Sequence[str]) -> None:
    """Refuse a value that the type of its column does not have. Where Spark is not ANSI it would be NULL."""
    given = [
        (key.target.typed, value, data_type)
        for key, value, data_type in zip(keys, values, types, strict=True)
        if value is not None
    ]
    if not given:
        return
    casts = ", ".join(_is_no_value(value, data_type) for _, value, data_type in given)
    row = collected(spark, f"SELECT {casts}")[0]
    type_it = "Type a value of that type" if len(keys) > 1 else "ON ties this key alone: type one value of that type"
    for is_bad, (column, value, data_type) in zip(row, given, strict=True):
        if is_bad:
            raise EngineError(
                "KEY_NOT_UNDERSTOOD",
                f"{value[:40]} is no {data_type.upper()}, and {column} is one.",
                f"{type_it}, or a predicate.",
            )


def _is_no_value(value: str, data_type: str) -> str:
    """Whether a value is none of a type, or would be rounded to one."""
    name, cast = data_type.lower(), f"try_cast({value} AS {data_type})"
    decimal = DECIMAL.fullmatch(name)
    finer = {"date": "TIMESTAMP_NTZ", **dict.fromkeys(INTEGRAL, "DECIMAL(38, 9)")}.get(name)
    if decimal:
        finer = f"DECIMAL(38, {min(int(decimal[2]) + 9, 38)})"
    rounded = f" OR coalesce(try_cast({value} AS {finer}) <> try_cast({cast} AS {finer}), FALSE)" if finer else ""
    return f"{cast} IS NULL{rounded}"


def _items(texts: Sequence[str]) -> str:
    return ", ".join(f"({text}\n) AS __dm_key_{at}" for at, text in enumerate(texts))


def _by_predicate(spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, typed: str) -> Question:
    """The conjuncts of a predicate, by the side that they name."""
    parts = [resolve(text, merge.sides) for text in conjuncts(typed)]
    # what is no column of either side is refused in Spark's words
    holds = " AND ".join(f"({part.text})" for part in parts)
    schema_of(spark, f"SELECT 1 FROM {_both_sides(merge, source)} WHERE {holds}")
    texts = list(zip(parts, conjuncts(typed), strict=True))
    of_target = [(part.text, text) for part, text in texts if not part.source_columns]
    of_source = [(part.text, text) for part, text in texts if part.source_columns and not part.target_columns]
    of_both = [(part.text, text) for part, text in texts if part.source_columns and part.target_columns]
    return Question(
        source=tuple(ours for ours, _ in of_source),
        target=tuple(ours for ours, _ in of_target),
        pairs=tuple(ours for ours, _ in of_both),
        typed=tuple(text for _, text in (*of_target, *of_source, *of_both)),
    )
