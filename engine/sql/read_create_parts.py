"""What the clauses of a CREATE are made of, and the names of tables: names, lists, strings and properties, by Spark's
grammar."""

from __future__ import annotations

import re
from collections.abc import Callable

from engine.model.errors import UsageError
from engine.sql.expressions import Reader
from engine.sql.lexer import tokenize
from engine.sql.sql_text import string_value
from engine.sql.token_reader import NotReadError, read_list

# propertyValue: INTEGER_VALUE, DECIMAL_VALUE, kept as typed
NUMBER = re.compile(r"\d+|\d+\.\d*|\.\d+")
HALF = re.compile(r"[\ud800-\udfff]")
# an option is an expression: only these numbers are kept as typed
PLAIN_NUMBER = re.compile(r"(0|[1-9]\d*)(\.\d+)?")


def read_name(reader: Reader, at: int) -> tuple[tuple[str, ...], int]:
    """(The parts of the name of a table at ``at``, the place behind it): a dotted name, or IDENTIFIER('…')."""
    if not reader.is_name(at):
        raise NotReadError(at, "the name of a table")
    if reader.word(at) != "IDENTIFIER" or reader.text(at + 1) != "(":
        end = reader.dotted(at)
        return tuple(token.name for token in reader.tokens[at:end:2]), end
    behind = reader.behind(at + 1)
    value, end = read_string(reader, at + 2)
    if end != behind - 1:
        raise NotReadError(end, "one string in IDENTIFIER")
    try:
        inner = Reader(tokenize(value))
    except UsageError:
        raise NotReadError(at + 2, "the name of a table") from None
    if not inner.is_name(0) or inner.dotted(0) != len(inner.tokens):
        raise NotReadError(at + 2, "the name of a table")
    return tuple(token.name for token in inner.tokens[::2]), behind


def read_string(reader: Reader, at: int) -> tuple[str, int]:
    """(The value of the string at ``at``, the place behind it); strings side by side are one."""
    end = at
    while reader.is_string(end):
        end += 1
    if end == at:
        raise NotReadError(at, "a string")
    return "".join(read_first(reader, one) for one in range(at, end)), end


def number_of(reader: Reader, at: int) -> str:
    """The number at ``at`` as typed, "" where none is."""
    return reader.text(at) if at < len(reader.tokens) and reader.tokens[at].is_number else ""


Value = Callable[[Reader, int], tuple[str, int]]


def read_properties(reader: Reader, at: int, value: Value) -> tuple[dict[str, str], int]:
    """(The pairs in the bracket at ``at``, the place behind it): ``key [=] value``, a key once."""
    properties: dict[str, str] = {}

    def entry(reader: Reader, begin: int) -> int:
        key, end = _key(reader, begin)
        if key in properties:
            raise NotReadError(begin, "each key once")
        properties[key], end = value(reader, end)
        return end

    _, behind = read_list(reader, at, entry)
    return properties, behind


def _key(reader: Reader, at: int) -> tuple[str, int]:
    """(The key at ``at``, where its value begins): a dotted name or a string."""
    if reader.is_string(at):
        key, end = read_string(reader, at)
        if reader.text(end) not in ("=", "=="):
            # without a sign the strings behind the first are the value
            return read_first(reader, at), at + 1
    elif reader.is_name(at):
        end = reader.dotted(at)
        key = ".".join(token.name for token in reader.tokens[at:end:2])
    else:
        raise NotReadError(at, "a key")
    return key, end + 1 if reader.text(end) in ("=", "==") else end


def read_first(reader: Reader, at: int) -> str:
    """The value of the one string at ``at``."""
    value = string_value(reader.tokens[at].text)
    if HALF.search(value):
        # a log and a file's name cannot hold it
        raise NotReadError(at, "a string of whole characters", "Write the character itself.")
    return value


def read_property(reader: Reader, at: int) -> tuple[str, int]:
    """propertyValue."""
    return _value(reader, at, NUMBER)


def read_option(reader: Reader, at: int) -> tuple[str, int]:
    """The value of an option, which is an expression: a literal alone, for others would have to be evaluated."""
    return _value(reader, at, PLAIN_NUMBER)


def _value(reader: Reader, at: int, number: re.Pattern[str]) -> tuple[str, int]:
    if reader.word(at) in ("TRUE", "FALSE"):
        return reader.word(at).lower(), at + 1
    if number.fullmatch(number_of(reader, at)):
        return reader.text(at), at + 1
    if reader.is_string(at):
        return read_string(reader, at)
    raise NotReadError(at, "a string, a number, TRUE or FALSE")
