"""SQL text → tokens, by the rules of Spark's SqlBaseLexer (4.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from engine.model.errors import UsageError
from engine.sql.names import unquoted
from engine.sql.positions import place_of

OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(OPENING.values())

EXPONENT = r"[eE][+-]?[0-9]+"
AS_FRACTION = r"(?:[fFdD]|[bB][dD])?"
DIGITS = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
# a sign ends what could be a word: 1e-3AND is 1e-3 and AND
SIGNED = rf"[0-9]+[eE][+-][0-9]+{AS_FRACTION}"
PATTERN = re.compile(
    "|".join(
        (
            r"(?P<space>[ \t\n\f\r\x0b\xa0\u1680\u2000-\u200a\u2028\u202f\u205f\u3000]+)",
            r"(?P<line>--(?:\\\n|[^\r\n])*)",
            r"(?P<hint>/\*\+)",
            r"(?P<comment>/\*)",
            r"(?P<string>[rR]'[^']*'|[rR]\"[^\"]*\"|'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\")",
            r"(?P<quoted>`(?:[^`]|``)*`)",
            rf"(?P<number>{SIGNED}|(?:{DIGITS}(?:{EXPONENT})?{AS_FRACTION}|[0-9]+[lLsSyY])(?!\w))",
            r"(?P<uri>[^\W\d_]+://[\w/\-.?=&#%]+)",
            r"(?P<word>\w+)",
            r"(?P<sign><=>|->|=>|==|<>|!=|<=|>=|!>|!<|<<|\|\||::|\|>|\*/|.)",
        )
    ),
    re.DOTALL,
)
COMMENT_BOUND = re.compile(r"/\*(?!\+)|\*/")
UNCLOSED = {"'": "string", '"': "string", "`": "back-quoted name"}


class Token(NamedTuple):
    """One token: ``text`` as typed, ``[start, end)`` in the statement, ``word`` upper-cased if it is a bare word."""

    text: str
    start: int
    end: int
    word: str
    is_string: bool
    is_number: bool = False

    @property
    def is_name(self) -> bool:
        """Whether it can be an identifier: in Spark's default mode every keyword can."""
        return bool(self.word) or self.text.startswith("`")

    @property
    def name(self) -> str:
        """The identifier that this token names, without back-quotes."""
        return unquoted(self.text)


def tokenize(sql: str) -> tuple[Token, ...]:
    """Tokens of ``sql`` in order, comments left out. Raises UsageError for an unclosed quote or comment."""
    tokens = []
    at = 0
    while at < len(sql):
        match = PATTERN.match(sql, at)
        assert match is not None  # the last alternative takes any character
        kind, text = str(match.lastgroup), match.group()
        at = match.end()
        if kind == "comment":
            at = _end_of_comment(sql, match.start())
        elif kind not in ("space", "line"):
            if kind == "sign" and text in UNCLOSED:
                raise _not_sql(UNCLOSED[text], sql, match.start())
            word = text.upper() if kind == "word" else ""
            tokens.append(Token(text, match.start(), at, word, kind == "string", kind == "number"))
    return tuple(tokens)


def _end_of_comment(sql: str, start: int) -> int:
    """Where the comment that begins at ``start`` ends; comments nest, and a hint is none."""
    depth, at = 1, start + 2
    while depth:
        match = COMMENT_BOUND.search(sql, at)
        if match is None:
            raise _not_sql("comment", sql, start)
        depth += 1 if match.group() == "/*" else -1
        at = match.end()
    return at


def _not_sql(what: str, sql: str, start: int) -> UsageError:
    line, column = place_of(sql, start)
    return UsageError(
        "PARSE_SYNTAX_ERROR",
        f"The text is not SQL: a {what} is not closed.",
        "Look for an unclosed quote, back-quote or comment.",
        line=line,
        column=column,
        counted_in=sql,
    )


def closing_brackets(tokens: Sequence[Token]) -> Mapping[int, int]:
    """Opening bracket → closing bracket, by index; a bracket without its partner is left out."""
    pairs: dict[int, int] = {}
    open_: list[int] = []
    for index, token in enumerate(tokens):
        if token.text in OPENING:
            open_.append(index)
        elif token.text in CLOSING:
            if open_ and OPENING[tokens[open_[-1]].text] == token.text:
                pairs[open_.pop()] = index
            else:
                open_.clear()
    return pairs
