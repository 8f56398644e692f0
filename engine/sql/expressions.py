"""Expression text → tree, by Spark's grammar (SqlBaseParser: booleanExpression, valueExpression, primaryExpression).

Nearly every keyword may also be a name in Spark's default mode. So what can be syntax is tried as syntax first, and
read as a name where that fails, as ANTLR prefers the earlier alternative. Subqueries are not read: they are one node.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.sql.lexer import Token, tokenize
from engine.sql.special_forms import SPECIAL
from engine.sql.token_reader import Node, NotReadError, TokenReader, refused_with_place

# how tightly an operator binds; a predicate (BETWEEN, IN, LIKE, IS) stands between NOT and the comparisons
OR, AND, NOT, PREDICATE = 1, 2, 3, 4
BINDING = {
    "OR": OR,
    "AND": AND,
    **dict.fromkeys(("=", "==", "<=>", "<>", "!=", "<", "<=", "!>", ">", ">=", "!<"), 5),
    "|": 6,
    "^": 7,
    "&": 8,
    **dict.fromkeys(("<<", ">>", ">>>"), 9),
    **dict.fromkeys(("+", "-", "||"), 10),
    **dict.fromkeys(("*", "/", "%", "DIV"), 11),
}
VALUE = 5
QUERY_WORDS = frozenset(("SELECT", "WITH", "FROM", "VALUES", "TABLE", "MAP", "REDUCE"))
UNIT_FUNCTIONS = frozenset(
    ("TIMESTAMPADD", "DATEADD", "DATE_ADD", "TIMESTAMPDIFF", "DATEDIFF", "DATE_DIFF", "TIMEDIFF")
)
DATETIME_UNITS = frozenset(
    ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFYEAR", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
)


class Reader(TokenReader):
    """Reads expressions. What was read at a place is kept, so that trying again is free."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        super().__init__(tokens)
        self._known: dict[tuple[int, int], Node | NotReadError] = {}

    def expression(self, at: int) -> Node:
        """booleanExpression."""
        return self._once(at, OR)

    def part(self, at: int) -> Node:
        """An expression that is a part of a statement by itself."""
        return self.expression(at)

    def value(self, at: int) -> Node:
        """valueExpression: no AND, OR, NOT and predicates outside brackets."""
        return self._once(at, VALUE)

    def _once(self, at: int, least: int) -> Node:
        known = self._known.get((at, least))
        if known is None:
            try:
                known = self._climb(at, least)
            except NotReadError as error:
                known = error
            self._known[at, least] = known
        if isinstance(known, NotReadError):
            raise known
        return known

    def _climb(self, at: int, least: int) -> Node:
        """Operators that bind at least as tightly as ``least``, the tighter ones first."""
        left, most = self._operand(at, least)
        while True:
            sign = self._sign(left.end)
            binding = BINDING.get(sign, 0)
            if least <= binding <= most:
                right = self._climb(left.end + self._width(sign), binding + 1)
                left = Node("binary", at, right.end, (left, right), sign)
            elif least <= PREDICATE <= most and (predicate := self._predicate(at, left)):
                left, most = predicate, AND
            else:
                return left

    def _operand(self, at: int, least: int) -> tuple[Node, int]:
        """What stands before an operator, and how tightly the operators behind it may bind."""
        if least <= NOT and (self.word(at) == "NOT" or self.text(at) == "!"):
            try:
                inner = self._once(at + 1, NOT)
                return Node("unary", at, inner.end, (inner,), "NOT"), AND
            except NotReadError:
                if self.text(at) == "!":
                    raise
        if least <= NOT and self.word(at) == "EXISTS" and self.is_query(at + 1):
            return Node("subquery", at, self.behind(at + 1), name="EXISTS"), AND
        return self._unary(at), max(BINDING.values())

    def _sign(self, at: int) -> str:
        """The operator at ``at``; >> is two tokens, for it may close two types."""
        token = self.tokens[at] if at < len(self.tokens) else None
        if token is None or token.is_string or token.text.startswith("`"):
            return ""
        if token.text == ">":
            run = 1
            while run < 3 and self.text(at + run) == ">" and self.tokens[at + run].start == token.start + run:
                run += 1
            return ">" * run
        return token.word or token.text

    @staticmethod
    def _width(sign: str) -> int:
        return len(sign) if sign in (">>", ">>>") else 1

    def _predicate(self, at: int, left: Node) -> Node | None:
        """The predicate behind ``left``; None if there is none."""
        after = left.end
        negated = self.word(after) == "NOT" or self.text(after) == "!"
        begin = after + 1 if negated else after
        sign = "NOT " if negated else ""
        word = self.word(begin)
        if word == "BETWEEN":
            low = self.value(begin + 1)
            high = self.value(self.expect(low.end, "AND"))
            return Node("between", at, high.end, (left, low, high), f"{sign}BETWEEN")
        if word == "IN" and self.text(begin + 1) == "(":
            return self._in(at, left, begin + 1, f"{sign}IN")
        if word in ("RLIKE", "REGEXP"):
            pattern = self.value(begin + 1)
            return Node("like", at, pattern.end, (left, pattern), f"{sign}RLIKE")
        if word in ("LIKE", "ILIKE"):
            return self._like(at, left, begin, f"{sign}{word}")
        if word == "IS" and not negated:
            return self._is(at, left, begin)
        return None

    def _in(self, at: int, left: Node, begin: int, name: str) -> Node:
        try:
            items, end = self.items(begin, self.expression)
        except NotReadError:
            if not self.is_query(begin):
                raise
            query = Node("subquery", begin, self.behind(begin))
            return Node("in", at, query.end, (left, query), name)
        return Node("in", at, end, (left, *items), name)

    def _like(self, at: int, left: Node, begin: int, name: str) -> Node:
        if self.word(begin + 1) in ("ANY", "SOME", "ALL") and self.text(begin + 2) == "(":
            items, end = self.items(begin + 2, self.expression)
            return Node("like", at, end, (left, *items), name)
        pattern = self.value(begin + 1)
        end = pattern.end
        if self.word(end) == "ESCAPE":
            escape = self.value(end + 1)
            return Node("like", at, escape.end, (left, pattern, escape), name)
        return Node("like", at, end, (left, pattern), name)

    def _is(self, at: int, left: Node, begin: int) -> Node:
        end = begin + 1
        sign = "IS "
        if self.word(end) == "NOT" or self.text(end) == "!":
            sign, end = "IS NOT ", end + 1
        word = self.word(end)
        if word in ("NULL", "TRUE", "FALSE", "UNKNOWN"):
            return Node("is", at, end + 1, (left,), sign + word)
        right = self.value(self.expect(self.expect(end, "DISTINCT"), "FROM"))
        return Node("is", at, right.end, (left, right), f"{sign}DISTINCT FROM")

    def _unary(self, at: int) -> Node:
        if self.text(at) in ("-", "+", "~"):
            inner = self._unary(at + 1)
            return Node("unary", at, inner.end, (inner,), self.text(at))
        return self._postfixed(at)

    def _postfixed(self, at: int) -> Node:
        left = self._primary(at)
        while True:
            following = self.text(left.end)
            if following == "." and self.is_name(left.end + 1):
                left = Node("field", at, left.end + 2, (left,), self.tokens[left.end + 1].name)
            elif following == "[":
                index = self.value(left.end + 1)
                left = Node("subscript", at, self.expect(index.end, "]"), (left, index))
            elif following == "::":
                left = Node("cast", at, self.type_end(left.end + 1), (left,))
            elif following == ":" and (self.is_name(left.end + 1) or self.text(left.end + 1) == "["):
                left = Node("variant", at, self._path(left.end + 1), (left,))
            elif self.word(left.end) == "COLLATE" and self.is_name(left.end + 1):
                left = Node("collate", at, self.dotted(left.end + 1), (left,))
            else:
                return left

    def _path(self, at: int) -> int:
        """The end of a variant path: ``a.b[0]['c']``."""
        end = at if self.text(at) == "[" else at + 1
        while True:
            if self.text(end) == "[" and end in self.closing:
                end = self.closing[end] + 1
            elif self.text(end) == "." and self.is_name(end + 1):
                end += 2
            else:
                return end

    def _primary(self, at: int) -> Node:
        if at >= len(self.tokens):
            raise NotReadError(at, "an expression")
        token = self.tokens[at]
        if token.text == "(":
            return self._bracketed(at)
        if token.is_string:
            return Node("literal", at, self.behind_strings(at))
        if token.is_number:
            return Node("literal", at, at + 1)
        if token.text == "*":
            return Node("star", at, at + 1)
        if token.text == "?":
            return Node("parameter", at, at + 1)
        if token.text == ":" and self.is_name(at + 1):
            return Node("parameter", at, at + 2, name=self.tokens[at + 1].name)
        if not token.is_name:
            raise NotReadError(at, "an expression")
        special = SPECIAL.get(token.word)
        if special is not None:
            try:
                return special(self, at)
            except NotReadError:
                pass
        return self.named(at)

    def _bracketed(self, at: int) -> Node:
        behind = self.behind(at)
        if self.text(behind) == "->":
            return self._lambda(at, range(at + 1, behind - 1, 2), behind)
        try:
            items, end = self.items(at, self.aliased)
        except NotReadError:
            if not self.is_query(at):
                raise
            return Node("subquery", at, behind)
        if len(items) > 1:
            # (SELECT a, b) is a row too: a column called select, named a, and b
            return Node("row", at, end, items)
        is_whole = self.text(at + 1) != "(" or any(item.kind == "row" for item in items)
        return Node("subquery", at, end) if is_whole and self.is_query(at) else Node("brackets", at, end, items)

    def _lambda(self, at: int, variables: Sequence[int], arrow: int) -> Node:
        body = self.expression(self.expect(arrow, "->"))
        names = tuple(self.tokens[one].name for one in variables)
        return Node("lambda", at, body.end, (body,), names=names)

    def is_query(self, at: int) -> bool:
        """Whether the bracket at ``at`` holds a query: a word that begins one, and what can follow that word."""
        begin = at
        while self.text(begin) == "(":
            begin += 1
        if begin == at or self.word(begin) not in QUERY_WORDS:
            return False
        following = self.tokens[begin + 1] if begin + 1 < len(self.tokens) else None
        if following is None:
            return False
        starts = following.is_name or following.is_string or following.is_number or following.text in ("(", "*", "/*+")
        signed = self.word(begin) == "SELECT" and following.text in ("+", "-", "~", ":", "!")
        operator = following.word in ("AND", "OR", "IS", "IN", "LIKE", "ILIKE", "RLIKE", "BETWEEN", "DIV")
        is_function = self.word(begin) in ("MAP", "REDUCE")
        if not (operator or is_function) or self.word(begin) in ("WITH", "FROM"):
            return starts or signed
        # SELECT and FROM x reads a column called and; select AND x compares; MAP and REDUCE begin a query with USING
        return not self._is_expression(at)

    def _is_expression(self, at: int) -> bool:
        """Whether the bracket at ``at`` holds one expression without a name."""
        try:
            return self.expression(at + 1).end == self.closing.get(at)
        except NotReadError:
            return False

    def _argument(self, at: int) -> Node:
        """functionArgument: an expression, or ``name => expression``."""
        if self.is_name(at) and self.text(at + 1) == "=>":
            one = self.expression(at + 2)
            return Node("argument", at, one.end, (one,))
        return self.expression(at)

    def named(self, at: int) -> Node:
        """A column, a function call, ``t.*``, a lambda, or a literal of a type that is named."""
        token = self.tokens[at]
        if self.text(at + 1) == "->":
            return self._lambda(at, [at], at + 1)
        if at + 1 < len(self.tokens) and self.tokens[at + 1].is_string and token.word:
            return Node("literal", at, at + 2)
        if token.word == "IDENTIFIER" and self.text(at + 1) == "(" and self._is_expression(at + 1):
            raise NotReadError(at, "a name without IDENTIFIER(…)", "Write the name of the column or function itself.")
        end = self.dotted(at)
        if self.text(end) == "(" and end in self.closing:
            return self._call(at, end)
        if self.text(end) == "." and self.text(end + 1) == "*":
            names = tuple(self.tokens[one].name for one in range(at, end, 2))
            return Node("star", at, end + 2, names=names)
        names = tuple(self.tokens[one].name for one in range(at, end, 2))
        return Node("name", at, end, names=names)

    def _call(self, at: int, open_: int) -> Node:
        name = ".".join(self.tokens[one].name.lower() for one in range(at, open_, 2))
        behind = self.behind(open_)
        begin = open_ + 1
        if self.word(begin) in ("DISTINCT", "ALL") and self.text(begin + 1) not in (",", ")", "."):
            begin += 1
        items = self._arguments(begin, behind)
        has_unit = self.word(at) in UNIT_FUNCTIONS and self.word(begin) in DATETIME_UNITS
        if has_unit and len(items) == 3:  # of two arguments the first is a column of that name
            items = items[1:]
        end = self._behind_call(behind)
        # what a window or a filter holds is not read: Delta refuses both in a MERGE
        return Node("call", at, end, tuple(items), name)

    def _arguments(self, begin: int, behind: int) -> list[Node]:
        items: list[Node] = []
        while begin < behind - 1:
            items.append(self._argument(begin))
            begin = items[-1].end
            if self.word(begin) in ("IGNORE", "RESPECT") and self.word(begin + 1) == "NULLS":
                begin += 2
            if begin < behind - 1:
                begin = self.expect(begin, ",")
        return items

    def _behind_call(self, at: int) -> int:
        """WITHIN GROUP (…), FILTER (…), IGNORE NULLS and OVER (…) belong to a call."""
        if self.word(at) == "WITHIN" and self.word(at + 1) == "GROUP" and self.text(at + 2) == "(":
            at = self.behind(at + 2)
        if self.word(at) == "FILTER" and self.text(at + 1) == "(":
            at = self.behind(at + 1)
        if self.word(at) in ("IGNORE", "RESPECT") and self.word(at + 1) == "NULLS":
            at += 2
        if self.word(at) == "OVER" and (self.text(at + 1) == "(" or self.is_name(at + 1)):
            at = self.behind(at + 1) if self.text(at + 1) == "(" else at + 2
        return at


def read_expression(sql: str) -> tuple[tuple[Token, ...], Node]:
    """The tokens of ``sql``, one expression, and its tree. Raises UsageError for anything else."""
    tokens = tokenize(sql)
    with refused_with_place(sql, tokens):
        node = Reader(tokens).expression(0)
        if node.end != len(tokens):
            raise NotReadError(node.end, "the end")
    return tokens, node
