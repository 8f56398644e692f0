"""Values of the source as SQL literals, and conjuncts made of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.sql.names import string

INTEGERS = {"tinyint": "Y", "smallint": "S", "int": "", "bigint": "L"}
DECIMAL = re.compile(r"^decimal\((\d+),\d+\)$")
DATE = re.compile(r"^\d{4}-\d{2}-\d{2}$")
MAX_VALUES = 50
MAX_LENGTH = 100


def literal(type_: str, value: str | None) -> str | None:
    """A value as a SQL literal of its type; None if it is better not written. ``value`` is printed as a string, a
    timestamp as its microseconds."""
    if value is None or len(value) > MAX_LENGTH:
        return None
    if type_ in INTEGERS:
        return f"{value}{INTEGERS[type_]}"
    if type_ == "timestamp":
        return f"timestamp_micros({value}L)"
    if type_ == "date":
        return f"DATE'{value}'" if DATE.match(value) else None
    if type_ == "string":
        # how a literal escapes depends on a conf, and Spark replaces ${…} in it by a conf's value
        odd = set("\\'\"") & set(value) or "${" in value
        return string(value) if value.isprintable() and not odd else None
    return f"CAST('{value}' AS {type_.upper()})"


def printed(type_: str, text: str) -> str:
    """SQL that prints a value of ``type_`` as :func:`literal` takes it, NULL if it cannot be written."""
    if type_ == "string":
        return f"try_validate_utf8(CAST({text} AS STRING))"
    return f"CAST({f'unix_micros({text})' if type_ == 'timestamp' else text} AS STRING)"


def shown(value: str, type_: str | None = None) -> str:
    """SQL for a value as text to be shown: of BINARY its hex digits, of VARIANT its JSON, which tells "1" from 1, and
    null from NULL. Bytes of a STRING that are no UTF-8 are U+FFFD.

    ``type_`` is its type, where that is known: the SQL is shorter then.
    """
    digits, text = f"hex(CAST({value} AS STRING))", f"make_valid_utf8(CAST({value} AS STRING))"
    if type_ == "variant":
        return f"to_json(CAST({value} AS VARIANT))"
    if type_ is not None:
        return digits if type_ == "binary" else text
    # Spark knows the type while it optimizes, and keeps one of the two
    return f"IF(typeof({value}) = 'binary', {digits}, {text})"


def few_literals(type_: str, values: Sequence[str | None]) -> tuple[str, ...]:
    """All of ``values`` as literals; () if they are many or one of them cannot be written."""
    literals = [one for value in values if (one := literal(type_, value)) is not None]
    return tuple(literals) if len(literals) == len(values) <= MAX_VALUES else ()


def within(column: str, low: str, high: str) -> str:
    """The conjunct that ``column`` lies between two literals, both included."""
    return f"{column} = {low}" if low == high else f"{column} >= {low} AND {column} <= {high}"


def one_of(column: str, literals: Sequence[str]) -> str:
    """The conjunct that ``column`` is one of some literals."""
    return f"{column} = {literals[0]}" if len(literals) == 1 else f"{column} IN ({', '.join(sorted(literals))})"
