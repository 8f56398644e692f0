"""Questions about SQL text, answered from its tokens and its expressions' trees. Nothing here changes a statement or
asks Spark."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from engine.model.errors import UsageError
from engine.sql.expressions import read_expression
from engine.sql.lexer import CLOSING, OPENING, Token, tokenize
from engine.sql.positions import Edit, edited
from engine.sql.token_reader import Node

__all__ = ["Token", "tokenize"]  # for modules that read tokens


def depths(tokens: Sequence[Token]) -> Iterator[tuple[int, Token, int]]:
    """(index, token, depth): depth counts brackets; an opener is at the outer depth, and so is what closes it."""
    depth = 0
    for index, token in enumerate(tokens):
        if token.text in CLOSING:
            depth -= 1
        yield index, token, depth
        if token.text in OPENING:
            depth += 1


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


def is_null(expression: str) -> bool:
    """Whether it is NULL, as it is or cast to a type."""
    try:
        tokens, node = read_expression(expression)
    except UsageError:
        return False
    while node.kind in ("brackets", "cast"):
        node = node.children[0]
    return node.kind == "literal" and tokens[node.start].word == "NULL"


INTEGER = re.compile(r"\d{1,18}L?", re.IGNORECASE)


def integers_named(expression: str) -> frozenset[str] | None:
    """The columns, lower-case, of arithmetic that gives NULL for no integers but those that are NULL; None of any other
    expression. A cast may make NULL of a value, as functions do, and a division by zero where it raises no error."""
    try:
        tokens, root = read_expression(expression)
    except UsageError:
        return None
    names = set()
    for node in root.walk():
        text = tokens[node.start].text
        if node.kind == "name" and len(node.names) == 1:
            names.add(node.names[0].lower())
        elif node.kind == "binary" and node.name in ("/", "%", "DIV"):
            by = node.children[1]
            if by.kind != "literal" or not tokens[by.start].text.strip("0lL"):
                return None
        elif not (
            (node.kind == "literal" and INTEGER.fullmatch(text))
            or (node.kind == "brackets" and len(node.children) == 1)
            or (node.kind in ("unary", "binary") and node.name in ("+", "-", "*"))
        ):
            return None
    return frozenset(names)


def split_top_level(sql: str, separator: str) -> tuple[str, ...]:
    """The parts of ``sql`` between ``separator`` signs outside brackets, as typed, blanks left out."""
    parts: list[list[Token]] = [[]]
    for _, token, depth in depths(tokenize(sql)):
        if depth == 0 and token.text == separator:
            parts.append([])
        else:
            parts[-1].append(token)
    return tuple(text_of(sql, part) for part in parts if part)


def and_operands(condition: str) -> tuple[str, ...]:
    """What the ANDs outside brackets join, as typed."""
    return _joined_by_and(condition, open_brackets=False)


def conjuncts(condition: str) -> tuple[str, ...]:
    """The AND parts of a condition, brackets around the whole or around a part opened."""
    return _joined_by_and(condition, open_brackets=True)


def _joined_by_and(condition: str, *, open_brackets: bool) -> tuple[str, ...]:
    tokens, root = read_expression(condition)
    operands: list[Node] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if (node.kind, node.name) == ("binary", "AND") or (open_brackets and node.kind == "brackets"):
            waiting += reversed(node.children)
        else:
            operands.append(node)
    return tuple(text_of(condition, tokens[node.start : node.end]) for node in operands)


def equality(conjunct: str) -> tuple[str, str, str] | None:
    """(left, sign, right) of a conjunct that is one ``=``, ``==`` or ``<=>``, however it is written, else None."""
    tokens, root = read_expression(conjunct)
    sign = _sign_of(root)
    if not sign:
        return None
    while root.kind in ("brackets", "unary"):
        root = root.children[0]
    left, right = root.children
    if left.kind == "binary" and left.name in COMPARISONS:
        return None
    sides = (text_of(conjunct, tokens[side.start : side.end]) for side in (left, right))
    return (next(sides), sign, next(sides))


def _sign_of(node: Node, *, negated: bool = False) -> str:
    """The equality that Spark takes a comparison for, and NOT of an inequality as well; else ""."""
    if node.kind == "brackets":
        return _sign_of(node.children[0], negated=negated)
    if (node.kind, node.name) == ("unary", "NOT") and not negated:
        return _sign_of(node.children[0], negated=True)
    if node.kind == "call" and not negated:
        # of another function that has this name the sides are not known
        return NULL_SAFE if node.name.lower() == "equal_null" and len(node.children) == 2 else ""
    return (OF_NEGATED if negated else OF_COMPARED).get((node.kind, node.name), "")


def key_names(condition: str, target: str, names: Collection[str]) -> tuple[str, ...]:
    """Those of the columns ``names`` of the target, which the condition calls ``target``, that an equality of
    ``condition`` ties to another expression, in its order."""
    known = {name.lower(): name for name in names}
    keys: dict[str, None] = {}
    for conjunct in conjuncts(condition) if condition.strip() else ():
        sides = equality(conjunct)
        read = [_names_of(side) for side in sides[::2]] if sides else []
        # a column that is held against a constant tells no row from another
        if read and all(read):
            found = (_column_of(target, parts) for parts in itertools.chain(*read))
            keys |= dict.fromkeys(known[column] for column in found if column in known)
    return tuple(keys)


def _names_of(expression: str) -> list[tuple[str, ...]]:
    return [node.names for node in free_names(read_expression(expression)[1]) if node.kind != "current"]


def _column_of(table: str, parts: Sequence[str]) -> str:
    """The column that a name of these parts is in, in lower case; "" if it is of another table than ``table``."""
    lower = [part.lower() for part in parts]
    at = lower.index(table.lower()) if table.lower() in lower[:-1] else -1
    return lower[at + 1] if at >= 0 or len(parts) == 1 else ""


NULL_SAFE = "<=>"
EQUALITIES = ("=", "==", NULL_SAFE)
OF_COMPARED = {("is", "IS NOT DISTINCT FROM"): NULL_SAFE, **{("binary", sign): sign for sign in EQUALITIES}}
OF_NEGATED = {("is", "IS DISTINCT FROM"): NULL_SAFE, ("binary", "<>"): "=", ("binary", "!="): "="}
OTHER_COMPARISONS = ("<", ">", "<=", ">=", "<>", "!=", "!")
COMPARISONS = (*EQUALITIES, *OTHER_COMPARISONS, "!>", "!<")
NOT_ONE_EQUALITY = ("AND", "OR", "NOT", "IS", "IN", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "REGEXP")


def free_names(node: Node, bound: frozenset[str] = frozenset()) -> Iterator[Node]:
    """The ``name``, ``current`` and ``star`` nodes that are no variable of a lambda. Subqueries are not read."""
    if node.kind in ("name", "current", "star") and not (node.names and node.names[0].lower() in bound):
        yield node
    inner = bound | {name.lower() for name in node.names} if node.kind == "lambda" else bound
    for child in node.children:
        yield from free_names(child, inner)


def text_of(sql: str, tokens: Sequence[Token]) -> str:
    """The text from the first to the last of ``tokens``, comments between them included."""
    return sql[tokens[0].start : tokens[-1].end] if tokens else ""


def substituted(sql: str, values: Mapping[str, str]) -> str:
    """``sql`` with each column of ``values`` (lower-case name → expression) replaced by its expression in brackets."""
    return replaced(sql, {name: f"({value}\n)" for name, value in values.items()})


def replaced(sql: str, values: Mapping[str, str]) -> str:
    """``sql`` with each column of ``values`` (lower-case name → text) replaced by that text, which no sign beside it
    may take apart."""
    firsts = [token for token in _columns(sql) if token.name.lower() in values]
    return edited(sql, [Edit(token.start, token.end, values[token.name.lower()]) for token in firsts])


def columns_named(sql: str) -> frozenset[str]:
    """The columns that ``sql`` names, in lower case."""
    return frozenset(token.name.lower() for token in _columns(sql))


def _columns(sql: str) -> list[Token]:
    """The tokens that name a column: functions, types, struct fields after a dot and a lambda's own variables are
    none."""
    tokens, root = read_expression(sql)
    return [tokens[node.start] for node in free_names(root) if node.kind != "star"]


def is_name_of(sql: str, column: str) -> bool:
    """Whether ``sql`` is the column's name, with or without qualifiers, and nothing else."""
    return names_column(tokenize(sql), column)


def names_column(tokens: Sequence[Token], column: str) -> bool:
    dotted = all((token.text == ".") == bool(i % 2) for i, token in enumerate(tokens))
    return bool(tokens) and dotted and tokens[-1].name.lower() == column.lower()


def function_names(sql: str) -> frozenset[str]:
    """Lower-case last names of :func:`called_functions`."""
    return frozenset(parts[-1] for parts in called_functions(sql))


# SparkDateTimeUtils.extractSpecialValue: a zone may follow
SPECIAL_TIME = re.compile(
    r"(?:now|today|tomorrow|yesterday)(?:\s*[+-]\d[\d:]*|\s+(?:utc|gmt|z|[a-z_]+/[a-z_/]+)[\d:+-]*)?", re.IGNORECASE
)
TIME_WORD = re.compile(r"(TO_|TRY_TO_)?(DATE|TIMESTAMP)\w*")
NO_BRACKETS = frozenset(("current_timestamp", "current_date", "current_time", "localtimestamp"))


def all_function_names(sql: str) -> frozenset[str]:
    """:func:`function_names`, and the functions that are called without brackets."""
    return function_names(sql) | ({token.word.lower() for token in tokenize(sql)} & NO_BRACKETS)


def special_times(sql: str, *, any_text: bool = False) -> frozenset[str]:
    """The literals in ``sql`` that Spark reads as the time of now, ``'now'`` for TIMESTAMP'now'.

    A text becomes a time by a typed literal, a cast or a function of times: one of their words stands in ``sql``. A
    text that Spark casts unasked, as in ``t.ts < 'now'``, is seen with ``any_text`` alone.
    """
    tokens = tokenize(sql)
    if not any_text and not any(TIME_WORD.fullmatch(token.word) for token in tokens):
        return frozenset()
    texts = {string_value(token.text).strip().lower() for token in tokens if token.is_string}
    return frozenset(f"'{text}'" for text in texts if SPECIAL_TIME.fullmatch(text))


def called_functions(sql: str) -> frozenset[tuple[str, ...]]:
    """Lower-case dotted names that are followed by a bracket, outside quotes and comments."""
    return frozenset(names for names, _ in _calls(sql))


def called_without_arguments(sql: str) -> frozenset[str]:
    """Lower-case last names of the functions that are called with empty brackets."""
    return frozenset(names[-1] for names, first in _calls(sql) if first == ")")


def _calls(sql: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each dotted name before a bracket, and what stands first behind the bracket."""
    tokens = tokenize(sql)
    names: tuple[str, ...] = ()
    previous = ""
    for token, following in itertools.zip_longest(tokens, tokens[1:]):
        if token.text == "(" and names:
            yield names, following.text if following else ""
        if token.word or (token.text.startswith("`") and len(token.text) > 1):
            names = (*names, token.name.lower()) if previous == "." else (token.name.lower(),)
        elif token.text != "." or previous == ".":
            names = ()
        previous = token.text


def quoted_values(sql: str) -> tuple[str, ...]:
    """The values of the string literals and back-quoted names, escapes resolved, as Spark keeps them in UTF-8. Strings
    side by side are one literal, which comes behind them."""
    values: list[str] = []
    beside: list[str] = []
    for token in tokenize(sql):
        if not token.is_string:
            values += ["".join(beside)] if len(beside) > 1 else []
            values += [token.name] if token.text.startswith("`") else []
            beside = []
            continue
        beside.append(string_value(token.text).encode(errors="replace").decode())
        values.append(beside[-1])
    return (*values, "".join(beside)) if len(beside) > 1 else tuple(values)


ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[01][0-7]{2}|.)", re.DOTALL)
ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a", "%": "\\%", "_": "\\_"}


def string_value(literal: str) -> str:
    """Spark's unescapeSQLString; a raw literal has no escapes. Half a character is a lone surrogate."""
    if literal[0] in "rR":
        return literal[2:-1]

    def value(match: re.Match[str]) -> str:
        code = match.group(1)
        if code is None:
            return quote_sign
        if code[0] in "uU" and len(code) > 1:
            return _java_chars(int(code[1:], 16))
        return chr(int(code, 8)) if len(code) == 3 else ESCAPED.get(code, code)

    quote_sign = literal[0]
    pattern = re.compile(f"{ESCAPE.pattern}|{quote_sign}{quote_sign}", re.DOTALL)
    units = pattern.sub(value, literal[1:-1]).encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "surrogatepass")


def _java_chars(code: int) -> str:
    """What Spark makes of a code: two halves of a character from 0x10000 on, the first cut to 16 bits."""
    if code < 0x10000:
        return chr(code)
    high, low = divmod(code - 0x10000, 0x400)
    return chr(high + 0xD800 & 0xFFFF) + chr(low + 0xDC00)


def names_in(sql: str) -> frozenset[str]:
    """The bare or back-quoted words, lower-case: the columns that ``sql`` may name are among them."""
    return frozenset(token.name.lower() for token in tokenize(sql) if token.word or token.text.startswith("`"))


def dotted_names(sql: str) -> frozenset[tuple[str, ...]]:
    """The bare or back-quoted words, lower-case, with the fields after their dots; no functions."""
    every = set()
    names: tuple[str, ...] = ()
    previous = ""
    for token in (*tokenize(sql), None):
        text = token.text if token else ""
        is_name = token is not None and bool(token.word or text.startswith("`"))
        if names and text != "." and previous != ".":
            every |= {names} if text != "(" else set()
            names = ()
        if token is not None and is_name:
            names = (*names, token.name.lower())
        previous = text
    return frozenset(every)


def parameter_markers(sql: str) -> tuple[tuple[str, int, int], ...]:
    """(name, start, end) of each ``:name`` marker, in order.

    A marker stands where an operand begins: behind a sign, an opening bracket, or a word of BEFORE_OPERAND. Behind a
    name or a closing bracket a colon begins a path into a VARIANT, or the type of a struct's field; so it does where it
    touches a word of FIELDS, as in ``STRUCT<date:DATE>``.
    """
    tokens = tokenize(sql)
    places = []
    for at, (token, following) in enumerate(itertools.pairwise(tokens)):
        if token.text != ":" or token.end != following.start or not following.word:
            continue
        previous = tokens[at - 1] if at else None
        if previous is not None and previous.end == token.start and previous.word in FIELDS:
            continue
        is_field = at > 1 and tokens[at - 2].text == "."
        if previous is None or not ends_operand(previous, is_field):
            places.append((following.text, token.start, following.end))
    return tuple(places)


def ends_operand(token: Token, is_field: bool) -> bool:
    """Whether an operand ends with ``token``; ``is_field``: a dot stands before it."""
    if token.is_string or token.is_number or token.text[0] in "`)]":
        return True
    return bool(token.word) and (is_field or token.word not in BEFORE_OPERAND)


def parameter_names(sql: str) -> tuple[str, ...]:
    """Names of the ``:name`` markers, in order, each once."""
    return tuple(dict.fromkeys(name for name, _, _ in parameter_markers(sql)))


FIELDS = frozenset(
    (
        *("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "INTERVAL", "DEFAULT", "LEVEL", "ROWS", "RANGE"),
        *("FROM", "TO", "FOR", "OF", "BY", "SET", "VALUES", "ANY", "SOME", "ALL"),
    )
)
"""Words of BEFORE_OPERAND that columns and fields are called by, too."""
BEFORE_OPERAND = frozenset(
    (
        *("AND", "OR", "NOT", "ON", "IN", "IS", "LIKE", "ILIKE", "RLIKE", "REGEXP", "ESCAPE", "BETWEEN", "DIV"),
        *("CASE", "WHEN", "THEN", "ELSE", "SELECT", "DISTINCT", "WHERE", "HAVING", "QUALIFY"),
        *("LIMIT", "OFFSET", "PLACING", "INTO", "USING", "AS", "BOTH", "LEADING", "TRAILING"),
        *FIELDS,
    )
)
"""Words behind which an operand begins."""
