"""Token positions in SQL text. Nothing here changes a statement or guesses what it means.

sqlglot only tells where tokens begin and end (DESIGN.md §3): it never parses, rewrites or prints.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.errors import UsageError

OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = set(OPENING.values())


@dataclass(frozen=True)
class Token:
    """One token: ``text`` as typed, ``[start, end)`` in the statement, ``word`` upper-cased if it is a bare word."""

    text: str
    start: int
    end: int
    word: str
    is_string: bool

    @property
    def name(self) -> str:
        """The identifier that this token names, without back-quotes."""
        if self.text.startswith("`"):
            return self.text[1:-1].replace("``", "`")
        return self.text


def tokenize(sql: str) -> tuple[Token, ...]:
    """Tokens of ``sql`` in order, comments left out. Text that has no tokens at all gives ()."""
    from sqlglot.dialects.spark import Spark
    from sqlglot.errors import SqlglotError

    try:
        raw = Spark().tokenize(sql)
    except SqlglotError as error:
        raise UsageError(
            "PARSE_SYNTAX_ERROR",
            f"The text is not SQL: {str(error).splitlines()[0]}",
            "Look for an unclosed quote, back-quote or comment.",
        ) from error
    tokens = []
    for token in raw:
        start, end = token.start, token.end + 1
        text = sql[start:end]
        # r'…', x'…' and the like start before the quote; a back-quoted name is never a keyword.
        is_string = text[:1] in "'\"" or text[1:2] in ("'", '"')
        bare = text[:1].isalpha() or text[:1] == "_"
        tokens.append(Token(text, start, end, text.upper() if bare and not is_string else "", is_string))
    return tuple(tokens)


def depths(tokens: Sequence[Token]) -> Iterator[tuple[int, Token, int]]:
    """(index, token, depth): depth counts brackets and CASE … END; an opener is at the outer depth."""
    depth = 0
    previous = ""
    for index, token in enumerate(tokens):
        # a column called "case" or "end" follows a dot
        word = token.word if previous != "." else ""
        if token.text in CLOSING or word == "END":
            depth -= 1
        yield index, token, depth
        if token.text in OPENING or word == "CASE":
            depth += 1
        previous = token.text


def statement_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where the statements of a file are, split at semicolons outside quotes and comments, blanks left out."""
    tokens = tokenize(text)
    bounds = [-1, *(index for index, token in enumerate(tokens) if token.text == ";"), len(tokens)]
    spans = []
    for before, after in itertools.pairwise(bounds):
        if after - before > 1:
            start = tokens[before].end if before >= 0 else 0
            end = tokens[after].start if after < len(tokens) else len(text)
            one = text[start:end]
            spans.append((end - len(one.lstrip()), start + len(one.rstrip())))
    return tuple(spans)


def top_level_parts(tokens: Sequence[Token], separator: str) -> list[list[Token]]:
    """The tokens between ``separator`` words or signs at the outermost level, one list more than there are separators.

    The AND of a BETWEEN belongs to it and does not separate.
    """
    parts: list[list[Token]] = [[]]
    between = 0
    for _, token, depth in depths(tokens):
        if depth == 0 and token.word == "BETWEEN":
            between += 1
        if depth == 0 and (separator in (token.word, token.text)):
            if separator == "AND" and between:
                between -= 1
            else:
                parts.append([])
                continue
        parts[-1].append(token)
    return parts


def split_top_level(sql: str, tokens: Sequence[Token], separator: str) -> tuple[str, ...]:
    """The parts of ``tokens`` between ``separator`` at the outermost level, as typed, blanks left out."""
    return tuple(text_of(sql, part) for part in top_level_parts(tokens, separator) if part)


def conjuncts(condition: str) -> tuple[str, ...]:
    """The top-level AND parts of a condition, brackets around the whole opened."""
    tokens = tokenize(condition)
    while _wrapped(tokens):
        tokens = tokens[1:-1]
    if any(depth == 0 and token.word == "OR" for _, token, depth in depths(tokens)):
        return (text_of(condition, tokens),)
    parts = split_top_level(condition, tokens, "AND")
    if len(parts) <= 1:
        return parts
    return tuple(inner for part in parts for inner in conjuncts(part))


def equality(conjunct: str) -> tuple[str, str, str] | None:
    """(left, sign, right) of a conjunct that is one ``=``, ``==`` or ``<=>`` at the outermost level, else None."""
    tokens = tokenize(conjunct)
    outer = [token for _, token, depth in depths(tokens) if depth == 0]
    if any(token.word in NOT_ONE_EQUALITY or token.text in OTHER_COMPARISONS for token in outer):
        return None
    signs = [index for index, token, depth in depths(tokens) if depth == 0 and token.text in EQUALITIES]
    if len(signs) != 1:
        return None
    left, right = tokens[: signs[0]], tokens[signs[0] + 1 :]
    sign = tokens[signs[0]].text
    return (text_of(conjunct, left), sign, text_of(conjunct, right)) if left and right else None


EQUALITIES = ("=", "==", "<=>")
OTHER_COMPARISONS = ("<", ">", "<=", ">=", "<>", "!=", "!")
NOT_ONE_EQUALITY = ("AND", "OR", "NOT", "IS", "IN", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "REGEXP")


def _wrapped(tokens: Sequence[Token]) -> bool:
    if len(tokens) < 3 or tokens[0].text != "(" or tokens[-1].text != ")":
        return False
    return all(depth > 0 for index, _, depth in depths(tokens) if 0 < index < len(tokens) - 1)


def text_of(sql: str, tokens: Sequence[Token]) -> str:
    """The text from the first to the last of ``tokens``, comments between them included."""
    return sql[tokens[0].start : tokens[-1].end] if tokens else ""


def requalified(sql: str, parts: Sequence[str], reference: str) -> str:
    """``sql`` with each qualifier ``a.b.c.`` that ends in ``parts`` (two names or more) replaced by ``reference.``.

    Only for the engine's own queries, whose subqueries carry one-part names; what runs is never changed so.
    """
    if not parts:
        return sql
    wanted = [part.lower() for part in parts]
    tokens = tokenize(sql)
    out: list[str] = []
    end = index = 0
    while index < len(tokens):
        run = index
        names: list[str] = []
        while run + 1 < len(tokens) and tokens[run + 1].text == "." and not tokens[run].is_string:
            names.append(tokens[run].name.lower())
            run += 2
        for length in range(len(names), 1, -1):
            head = names[:length]
            common = min(len(head), len(wanted))
            if head[-common:] == wanted[-common:] and (common > 1 or head[0] == "spark_catalog"):
                out += [sql[end : tokens[index].start], reference]
                end = tokens[index + 2 * length - 2].end
                break
        index = max(run, index + 1) if names else index + 1
    return "".join(out) + sql[end:]


def substituted(sql: str, values: Mapping[str, str]) -> str:
    """``sql`` with each column of ``values`` (lower-case name → expression) replaced by its expression in brackets.

    Function names, struct fields after a dot and a lambda's own variables are no columns.
    """
    tokens = tokenize(sql)
    variables = {one.name.lower() for one, arrow in itertools.pairwise(tokens) if arrow.text == "->"}
    out: list[str] = []
    end = 0
    for previous, token, following in zip(("", *(t.text for t in tokens)), tokens, (*tokens[1:], None), strict=False):
        name = token.name.lower()
        is_name = bool(token.word) or token.text.startswith("`")
        if not is_name or token.is_string or previous == "." or name not in values or name in variables:
            continue
        if following is not None and following.text == "(":
            continue
        out += [sql[end : token.start], f"({values[name]}\n)"]
        end = token.end
    return "".join(out) + sql[end:]


def is_name_of(sql: str, column: str) -> bool:
    """Whether ``sql`` is the column's name, with or without qualifiers, and nothing else."""
    return names_column(tokenize(sql), column)


def names_column(tokens: Sequence[Token], column: str) -> bool:
    dotted = all((token.text == ".") == bool(i % 2) for i, token in enumerate(tokens))
    return bool(tokens) and dotted and tokens[-1].name.lower() == column.lower()


def function_names(sql: str) -> frozenset[str]:
    """Lower-case last names of :func:`called_functions`."""
    return frozenset(parts[-1] for parts in called_functions(sql))


def called_functions(sql: str) -> frozenset[tuple[str, ...]]:
    """Lower-case dotted names that are followed by a bracket, outside quotes and comments."""
    called = set()
    names: tuple[str, ...] = ()
    previous = ""
    for token in tokenize(sql):
        if token.text == "(" and names:
            called.add(names)
        if token.word or (token.text.startswith("`") and len(token.text) > 1):
            names = (*names, token.name.lower()) if previous == "." else (token.name.lower(),)
        elif token.text != "." or previous == ".":
            names = ()
        previous = token.text
    return frozenset(called)


def quoted_values(sql: str) -> tuple[str, ...]:
    """The values of the string literals and back-quoted names, escapes resolved."""
    return tuple(
        _unescaped(token.text) if token.is_string else token.name
        for token in tokenize(sql)
        if token.is_string or token.text.startswith("`")
    )


ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", re.DOTALL)
ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a", "%": "\\%", "_": "\\_"}


def _unescaped(literal: str) -> str:
    """Spark's unescapeSQLString; a raw literal has no escapes."""
    if literal[0] in "rR":
        return literal[2:-1]

    def value(found: re.Match[str]) -> str:
        code = found.group(1)
        if code[0] in "uU" and len(code) > 1:
            return chr(int(code[1:], 16))
        return chr(int(code, 8)) if len(code) == 3 else ESCAPED.get(code, code)

    quote = "" if literal[0] in "'\"" else literal[0]
    return ESCAPE.sub(value, literal[len(quote) + 1 : -1])


def names_in(sql: str) -> frozenset[str]:
    """The bare or back-quoted words, lower-case: the columns that ``sql`` may name are among them."""
    return frozenset(token.name.lower() for token in tokenize(sql) if token.word or token.text.startswith("`"))


def dotted_names(sql: str) -> frozenset[tuple[str, ...]]:
    """The bare or back-quoted words, lower-case, with the fields after their dots; no functions."""
    found = set()
    names: tuple[str, ...] = ()
    previous = ""
    for token in (*tokenize(sql), None):
        text = token.text if token else ""
        is_name = token is not None and bool(token.word or text.startswith("`"))
        if names and text != "." and previous != ".":
            found |= {names} if text != "(" else set()
            names = ()
        if token is not None and is_name:
            names = (*names, token.name.lower())
        previous = text
    return frozenset(found)


def cannot_fail(sql: str) -> bool:
    """Whether computing an expression raises no error, whatever the rows hold: it is made of names, literals and
    functions that take any value. Of everything else one must be afraid."""
    tokens = tokenize(sql.strip().lstrip("-"))
    return function_names(sql) <= TAKE_ANYTHING and all(
        token.text in ("(", ")", ",", ".", "||")
        or token.is_string
        or (token.text[0].isalnum() and token.word not in MAY_FAIL)
        or token.text[0] in "_`"
        for token in tokens
    )


TAKE_ANYTHING = frozenset(
    (
        *("upper", "lower", "trim", "ltrim", "rtrim", "initcap", "concat", "concat_ws", "length", "md5", "xxhash64"),
        *("named_struct", "struct", "current_timestamp", "now", "current_date", "current_user", "uuid", "rand"),
    )
)
SIGNED = re.compile(r"((?:^|[=<>(,]|\b(?:AND|OR|NOT|IN|BETWEEN)\b)\s*)-\s*(\d)", re.IGNORECASE)
"""A sign that belongs to a number, between what stands before it and its first digit."""
# words that compute or compare, so that values are cast to one type
MAY_FAIL = ("CAST", "DIV", "MOD", "INTERVAL", "BETWEEN", "IN", "CASE")


def parameter_names(sql: str) -> tuple[str, ...]:
    """Names of the ``:name`` markers, in order, each once."""
    tokens = tokenize(sql)
    names: dict[str, None] = {}
    for previous, token, following in zip(("", *(t.text for t in tokens)), tokens, tokens[1:], strict=False):
        adjacent = token.end == following.start
        # a::int is a cast and a:b a variant path; a marker follows neither a name nor a bracket
        if (
            token.text == ":"
            and adjacent
            and following.word
            and (
                not previous
                or not (previous[-1].isalnum() or previous[-1] in "_)]`:")
                or previous.upper() in KEYWORDS_BEFORE_MARKER
            )
        ):
            names[following.text] = None
    return tuple(names)


KEYWORDS_BEFORE_MARKER = frozenset(
    [
        "AND",
        "OR",
        "NOT",
        "ON",
        "IN",
        "LIKE",
        "BETWEEN",
        "THEN",
        "ELSE",
        "WHEN",
        "SELECT",
        "WHERE",
        "HAVING",
        "LIMIT",
        "OF",
        "INTO",
        "USING",
        "AS",
        "DATE",
        "TIMESTAMP",
        "SET",
    ]
)
