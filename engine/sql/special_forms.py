"""Expressions that begin with a word of their own: CASE, CAST, INTERVAL, EXTRACT(YEAR FROM d) …"""

from __future__ import annotations

from collections.abc import Callable

from engine.sql.token_reader import UNITS, Node, NotReadError, TokenReader

Form = Callable[[TokenReader, int], Node]
# functions that are called without brackets
CURRENT = frozenset(("CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "CURRENT_USER", "USER", "SESSION_USER"))
# functions with words between their arguments: how many are needed, and what stands before each but the first
BETWEEN_ARGUMENTS: dict[str, tuple[int, tuple[tuple[str, ...], ...]]] = {
    "POSITION": (2, (("IN",),)),
    "SUBSTRING": (2, (("FROM", ","), ("FOR", ","))),
    "SUBSTR": (2, (("FROM", ","), ("FOR", ","))),
    "OVERLAY": (3, (("PLACING",), ("FROM",), ("FOR",))),
}


def _case(reader: TokenReader, at: int) -> Node:
    children: list[Node] = []
    end = at + 1
    if not (reader.word(end) == "WHEN" and _has_arm(reader, end)):
        children.append(reader.expression(end))
        end = children[0].end
    reader.expect(end, "WHEN")
    while reader.word(end) == "WHEN":
        condition = reader.expression(end + 1)
        result = reader.expression(reader.expect(condition.end, "THEN"))
        children += [condition, result]
        end = result.end
    if reader.word(end) == "ELSE":
        children.append(reader.expression(end + 1))
        end = children[-1].end
    return Node("case", at, reader.expect(end, "END"), tuple(children))


def _has_arm(reader: TokenReader, at: int) -> bool:
    try:
        reader.expect(reader.expression(at + 1).end, "THEN")
    except NotReadError:
        return False
    return True


def _cast(reader: TokenReader, at: int) -> Node:
    behind = reader.behind(at + 1)
    one = reader.expression(at + 2)
    end = reader.type_end(reader.expect(one.end, "AS"))
    if end != behind - 1:
        raise NotReadError(end, ")")
    return Node("cast", at, behind, (one,), reader.word(at))


def _struct(reader: TokenReader, at: int) -> Node:
    items, end = reader.items(reader.expect(at, "STRUCT"), reader.aliased)
    return Node("call", at, end, items, "struct")


def _literal_word(reader: TokenReader, at: int) -> Node:
    """NULL, TRUE, FALSE."""
    if reader.text(at + 1) in (".", "(", "->"):
        raise NotReadError(at, "a literal")
    return Node("literal", at, at + 1)


def _current(reader: TokenReader, at: int) -> Node:
    """The column of that name where there is one, else the function (visitCurrentLike gives an UnresolvedAttribute)."""
    if reader.text(at + 1) in (".", "(", "->"):
        raise NotReadError(at, "a function without brackets")
    return Node("current", at, at + 1, names=(reader.tokens[at].name,))


def _interval(reader: TokenReader, at: int) -> Node:
    end = at + 1
    while True:
        sign = end + 1 if reader.text(end) in ("+", "-") else end
        token = reader.tokens[sign] if sign < len(reader.tokens) else None
        if token is None or not (token.is_number or token.is_string) or reader.word(sign + 1) not in UNITS:
            break
        end = sign + 2
        if reader.word(end) == "TO" and reader.word(end + 1) in UNITS:
            end += 2
    if end == at + 1:
        raise NotReadError(end, "an interval")
    return Node("literal", at, end)


def _worded_call(reader: TokenReader, at: int) -> Node:
    """A function with words between its arguments, as in ``SUBSTRING(a FROM 1 FOR 2)``."""
    behind = reader.behind(at + 1)
    needed, between = BETWEEN_ARGUMENTS[reader.word(at)]
    items = [reader.value(at + 2)]
    for words in between:
        end = items[-1].end
        if reader.word(end) in words or reader.text(end) in words:
            items.append(reader.value(end + 1))
        elif len(items) < needed:
            raise NotReadError(end, words[0])
    return _call(reader, at, behind, items)


def _extract(reader: TokenReader, at: int) -> Node:
    """EXTRACT(YEAR FROM d): the field is no column."""
    behind = reader.behind(at + 1)
    if not reader.is_name(at + 2):
        raise NotReadError(at + 2, "a field")
    return _call(reader, at, behind, [reader.value(reader.expect(at + 3, "FROM"))])


def _trim(reader: TokenReader, at: int) -> Node:
    """TRIM(BOTH 'x' FROM a): the word and what is trimmed may be left out, and each word may be a column."""
    behind = reader.behind(at + 1)
    worded = reader.word(at + 2) in ("BOTH", "LEADING", "TRAILING")
    for begin in (at + 3, at + 2) if worded else (at + 2,):
        for has_what in (True, False):
            try:
                what = [reader.value(begin)] if has_what else []
                source = reader.expect(what[0].end if what else begin, "FROM")
                return _call(reader, at, behind, [*what, reader.value(source)])
            except NotReadError:
                continue
    raise NotReadError(at + 2, "FROM")


def _call(reader: TokenReader, at: int, behind: int, items: list[Node]) -> Node:
    if items[-1].end != behind - 1:
        raise NotReadError(items[-1].end, ")")
    return Node("call", at, behind, tuple(items), reader.word(at).lower())


def _unless_called(form: Form) -> Form:
    """``form``, which comes behind the plain call in the grammar: TRIM(from + 1) has one argument."""

    def read(reader: TokenReader, at: int) -> Node:
        try:
            return reader.named(at)
        except NotReadError:
            return form(reader, at)

    return read


SPECIAL: dict[str, Form] = {
    "CASE": _case,
    "CAST": _cast,
    "TRY_CAST": _cast,
    "STRUCT": _struct,
    "INTERVAL": _interval,
    **dict.fromkeys(("NULL", "TRUE", "FALSE"), _literal_word),
    **dict.fromkeys(CURRENT, _current),
    "POSITION": _worded_call,
    **dict.fromkeys(("SUBSTRING", "SUBSTR", "OVERLAY"), _unless_called(_worded_call)),
    "EXTRACT": _unless_called(_extract),
    "TRIM": _unless_called(_trim),
}
