"""Expressions that begin with a word of their own: CASE, CAST, INTERVAL, EXTRACT(YEAR FROM d) …"""

from __future__ import annotations

from collections.abc import Callable

from engine.sql.token_reader import UNITS, Node, NotReadError, TokenReader

# functions that are called without brackets
CURRENT = frozenset(("CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "CURRENT_USER", "USER", "SESSION_USER"))
# functions with words between their arguments, and those words
ARGUMENT_WORDS = {
    "EXTRACT": ("FROM",),
    "POSITION": ("IN",),
    "SUBSTRING": ("FROM", "FOR"),
    "SUBSTR": ("FROM", "FOR"),
    "TRIM": ("FROM",),
    "OVERLAY": ("PLACING", "FROM", "FOR"),
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
    """A function with words between its arguments, as in ``EXTRACT(YEAR FROM d)``."""
    behind = reader.behind(at + 1)
    word = reader.word(at)
    begin = at + 2
    if word == "TRIM" and reader.word(begin) in ("BOTH", "LEADING", "TRAILING"):
        begin += 1
    if word == "EXTRACT":
        begin += 1
    items: list[Node] = []
    worded = False
    while begin < behind - 1:
        if reader.word(begin) in ARGUMENT_WORDS[word] and (items or word in ("TRIM", "EXTRACT")):
            begin, worded = begin + 1, True
        items.append(reader.value(begin))
        begin = items[-1].end
        if reader.text(begin) == ",":
            begin += 1
        elif begin < behind - 1 and reader.word(begin) not in ARGUMENT_WORDS[word]:
            raise NotReadError(begin, ")")
    if not worded:
        raise NotReadError(at, " or ".join(ARGUMENT_WORDS[word]))
    return Node("call", at, behind, tuple(items), word.lower())


SPECIAL: dict[str, Callable[[TokenReader, int], Node]] = {
    "CASE": _case,
    "CAST": _cast,
    "TRY_CAST": _cast,
    "STRUCT": _struct,
    "INTERVAL": _interval,
    **dict.fromkeys(("NULL", "TRUE", "FALSE"), _literal_word),
    **dict.fromkeys(CURRENT, _current),
    **dict.fromkeys(ARGUMENT_WORDS, _worded_call),
}
