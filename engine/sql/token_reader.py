"""The tokens of a statement and what is read of them word by word: names, brackets, types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeVar

from engine.model.errors import UsageError
from engine.sql.lexer import Token, closing_brackets
from engine.sql.positions import place_of

Kind = Literal[
    "name",
    "current",
    "literal",
    "parameter",
    "star",
    "call",
    "lambda",
    "subquery",
    "case",
    "cast",
    "unary",
    "binary",
    "between",
    "in",
    "like",
    "is",
    "brackets",
    "row",
    "field",
    "subscript",
    "variant",
    "collate",
    "argument",
]

UNITS = frozenset(
    unit + plural
    for unit in ("NANOSECOND", "MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR")
    for plural in ("", "S")
)
COLLATED = ("STRING", "CHAR", "CHARACTER", "VARCHAR")


@dataclass(frozen=True)
class Node:
    """A part of an expression: the tokens ``[start, end)``, and what it is made of.

    ``name``: the operator of ``unary`` and ``binary``, the word of a predicate (with NOT before it where it is
    negated), the dotted lower-case name of a ``call``. ``names``: the parts of a ``name``, and of what stands before
    ``.*``, as they are meant; the one of a ``current``, a function without brackets unless it names a column; the
    variables of a ``lambda``.
    """

    kind: Kind
    start: int
    end: int
    children: tuple[Node, ...] = ()
    name: str = ""
    names: tuple[str, ...] = ()

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.walk()


class NotReadError(Exception):
    """The text is not of this shape; ``at`` is the token where that shows, ``hint`` what to write instead."""

    def __init__(self, at: int, expected: str, hint: str = "Correct the statement at that place.") -> None:
        super().__init__(expected)
        self.at = at
        self.expected = expected
        self.hint = hint


class TokenReader:
    """Reads parts out of a list of tokens; places are indexes into it."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.closing = closing_brackets(tokens)

    def expression(self, at: int) -> Node:
        """booleanExpression."""
        raise NotImplementedError

    def value(self, at: int) -> Node:
        """valueExpression: no AND, OR, NOT and predicates outside brackets."""
        raise NotImplementedError

    def named(self, at: int) -> Node:
        """What begins with a name that is no syntax: a column, a call."""
        raise NotImplementedError

    def word(self, at: int) -> str:
        return self.tokens[at].word if at < len(self.tokens) else ""

    def text(self, at: int) -> str:
        return self.tokens[at].text if at < len(self.tokens) else ""

    def is_name(self, at: int) -> bool:
        return at < len(self.tokens) and self.tokens[at].is_name

    def is_string(self, at: int) -> bool:
        return at < len(self.tokens) and self.tokens[at].is_string

    def expect(self, at: int, text: str) -> int:
        """The place behind ``text``, a sign or a word, which must stand at ``at``."""
        if text not in (self.text(at), self.word(at)):
            raise NotReadError(at, text)
        return at + 1

    def behind(self, at: int) -> int:
        """The place behind the bracket that opens at ``at``."""
        if self.text(at) != "(" or at not in self.closing:
            raise NotReadError(at, "(" if self.text(at) != "(" else ")")
        return self.closing[at] + 1

    def dotted(self, at: int) -> int:
        """The place behind the dotted name that begins at ``at``."""
        end = at + 1
        while self.text(end) == "." and self.is_name(end + 1):
            end += 2
        return end

    def behind_strings(self, at: int) -> int:
        while at < len(self.tokens) and self.tokens[at].is_string:
            at += 1
        return at

    def items(self, at: int, item: Callable[[int], Node]) -> tuple[tuple[Node, ...], int]:
        """(the items in the bracket at ``at``, the place behind it)."""
        end = self.behind(at) - 1
        items: list[Node] = []
        begin = at + 1
        while begin < end:
            items.append(item(begin))
            begin = items[-1].end
            if begin < end:
                begin = self.expect(begin, ",")
        if begin != end:
            raise NotReadError(begin, ")")
        return tuple(items), end + 1

    def aliased(self, at: int) -> Node:
        """namedExpression: an expression, with a name of its own."""
        one = self.expression(at)
        end = one.end
        if self.word(end) == "AS" and self.is_name(end + 1):
            end += 2
        elif self.is_name(end) and self.text(end + 1) in (",", ")"):
            end += 1
        return one if end == one.end else Node("argument", at, end, (one,))

    def type_end(self, at: int) -> int:
        """The end of a dataType."""
        if not self.is_name(at):
            raise NotReadError(at, "a type")
        word, end = self.word(at), at + 1
        if word in ("ARRAY", "MAP", "STRUCT") and self.text(end) == "<":
            return self._type_arguments(word, end)
        if word == "STRUCT" and self.text(end) == "<>":
            return end + 1
        if word == "INTERVAL" and self.word(end) in UNITS:
            end += 1
            return end + 2 if self.word(end) == "TO" and self.word(end + 1) in UNITS else end
        if (
            self.text(end) == "("
            and end in self.closing
            and all(
                self.tokens[one].is_number or self.text(one) == "," or self.word(one) == "ANY"
                for one in range(end + 1, self.closing[end])
            )
        ):
            end = self.closing[end] + 1
        if (
            word in ("TIMESTAMP", "TIME")
            and self.word(end) in ("WITH", "WITHOUT")
            and self.word(end + 1) in ("LOCAL", "TIME")
        ):
            end += 4 if self.word(end + 1) == "LOCAL" else 3
        return self.dotted(end + 1) if word in COLLATED and self.word(end) == "COLLATE" else end

    def _type_arguments(self, word: str, at: int) -> int:
        end = at + 1
        while self.text(end) != ">":
            if word == "STRUCT":
                end += 1
                end = end + 1 if self.text(end) == ":" else end
            end = self.type_end(end)
            if self.word(end) == "NOT" and self.word(end + 1) == "NULL":
                end += 2
            if self.word(end) == "COMMENT":
                end = self.behind_strings(end + 1)
            if self.text(end) == ",":
                end += 1
            elif self.text(end) != ">":
                raise NotReadError(end, ">")
        return end + 1


AnyReader = TypeVar("AnyReader", bound=TokenReader)


def read_list(reader: AnyReader, at: int, behind: Callable[[AnyReader, int], int]) -> tuple[list[tuple[int, int]], int]:
    """(The places of the entries in the bracket at ``at``, the place behind it); at least one entry."""
    end = reader.behind(at)
    places: list[tuple[int, int]] = []
    begin = at
    while begin != end - 1:
        places.append((begin + 1, behind(reader, begin + 1)))
        begin = places[-1][1]
        if begin != end - 1:
            reader.expect(begin, ",")
    return places, end


def not_read(sql: str, tokens: Sequence[Token], error: NotReadError) -> UsageError:
    """What is wrong with the text, and where."""
    line, column = place_of(sql, tokens[error.at].start if error.at < len(tokens) else len(sql))
    near = f"near {tokens[error.at].text[:40]!r}" if error.at < len(tokens) else "at the end"
    return UsageError(
        "PARSE_SYNTAX_ERROR",
        f"The statement cannot be read {near}: expected {error.expected}.",
        error.hint,
        line=line,
        column=column,
        counted_in=sql,
    )


@contextmanager
def refused_with_place(sql: str, tokens: Sequence[Token]) -> Iterator[None]:
    """Raise UsageError for a text that cannot be read, or is nested too deeply."""
    try:
        yield
    except NotReadError as error:
        raise not_read(sql, tokens, error) from None
    except RecursionError:
        raise UsageError(
            "STATEMENT_TOO_DEEP", "The statement is nested too deeply to be read.", "Write it with fewer brackets."
        ) from None
