"""Expressions as SQL text, of every form that Spark's grammar has for a condition or a value of a MERGE."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.engine.random_names import NUMBERS, STRINGS, Names
from tests.engine.text_pieces import Marker, Part, Path, part

Piece = str | Part


class Expressions:
    """Draws expressions whose columns are qualified by ``qualifiers``, or bare."""

    def __init__(self, random: Random, names: Names, qualifiers: tuple[tuple[str, ...], ...]) -> None:
        self._random, self._names, self._qualifiers = random, names, qualifiers

    def column(self) -> Part:
        drawn = self._random.random()
        if drawn < 0.25:
            return part(self._names.name("bare column"))
        side = self._random.randrange(2)
        name = self._names.name(("target column", "source column")[side])
        pieces: list[Piece] = []
        for qualifier in (*self._qualifiers[side], name):
            pieces += [qualifier, "."]
        if drawn > 0.85:
            pieces += [self._names.name("field"), "."]
        return part(*pieces[:-1])

    def boolean(self, depth: int) -> Part:
        """booleanExpression."""
        drawn = self._random.random()
        if depth <= 0 or drawn < 0.3:
            return self.value(depth - 1)
        if drawn < 0.55:
            return part(self.boolean(depth - 1), self._one_of("AND", "OR", "and", "or"), self.boolean(depth - 1))
        if drawn < 0.62:
            return part(self._one_of("NOT", "not", "!"), self.boolean(depth - 1))
        if drawn < 0.65:
            return part("EXISTS", self._subquery(depth - 1))
        return self._predicate(depth - 1)

    def value(self, depth: int) -> Part:
        """valueExpression: no AND, OR, NOT and predicates outside brackets."""
        drawn = self._random.random()
        if depth <= 0 or drawn < 0.25:
            return self._leaf()
        if drawn < 0.5:
            return part(self.value(depth - 1), self._one_of(*COMPARISONS), self.value(depth - 1))
        if drawn < 0.65:
            return part(self.value(depth - 1), self._one_of(*OPERATORS), self.value(depth - 1))
        if drawn < 0.69:
            return part(self._one_of("-", "+", "~"), self.value(depth - 1))
        return self._primary(depth - 1)

    def _predicate(self, depth: int) -> Part:
        left: tuple[Piece, ...] = (self.value(depth), *self._maybe("NOT"))
        kind = self._random.randrange(8)
        if kind == 0:
            return part(*left, "BETWEEN", self.value(depth), "AND", self.value(depth))
        if kind == 1:
            return part(*left, "IN (", *self._commas(self.boolean, depth), ")")
        if kind == 2:
            return part(*left, "IN", self._subquery(depth))
        if kind == 3:
            return part(*left, self._one_of("LIKE", "ILIKE"), self.value(depth))
        if kind == 4:
            return part(*left, "LIKE", self.value(0), "ESCAPE", self._one_of("'!'", '"/"'))
        if kind == 5:
            many = self._one_of("ANY", "SOME", "ALL")
            return part(*left, self._one_of("LIKE", "ILIKE"), many, "(", *self._commas(self.value, depth), ")")
        if kind == 6:
            return part(*left, self._one_of("RLIKE", "REGEXP"), self.value(depth))
        test = self._one_of("NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT FROM")
        right = (self.value(depth),) if test == "DISTINCT FROM" else ()
        return part(left[0], "IS", *self._maybe("NOT"), test, *right)

    def _leaf(self) -> Part:
        drawn = self._random.random()
        if drawn < 0.6:
            return self.column()
        if drawn < 0.72:
            return part(self._one_of(*STRINGS))
        if drawn < 0.84:
            return part(self._one_of(*NUMBERS))
        if drawn < 0.9:
            return part(self._marker())
        return part(self._one_of(*LITERALS))

    def _marker(self) -> Marker:
        name = self._names.name("parameter")
        return Marker(":p" if name.startswith("`") else f":{name}")

    def _primary(self, depth: int) -> Part:
        makers: tuple[Callable[[int], Part], ...] = (
            self._bracketed,
            self._bracketed,
            self._subquery,
            self._case,
            self._simple_case,
            self._cast,
            self._type_after,
            self._call,
            self._call,
            self._call_of_words,
            self._lambda,
            self._struct,
            self._row,
            self._behind,
            self._variant,
            self._window,
            self._unit_call,
        )
        return self._random.choice(makers)(depth)

    def _bracketed(self, depth: int) -> Part:
        return part("(", self.boolean(depth), ")")

    def _subquery(self, depth: int) -> Part:
        condition = self.boolean(depth)
        output, table = self._names.name("output"), self._names.name("source table")
        kind = self._random.randrange(5)
        if kind == 0:
            return part("( SELECT max (", self.value(depth), ") AS", output, "FROM", table, "WHERE", condition, ")")
        if kind == 1:
            query = self._names.name("query")
            return part("( WITH", query, "AS ( SELECT 1 AS", output, ") SELECT * FROM", query, ")")
        if kind == 2:
            return part("( FROM", table, "SELECT", output, "WHERE", condition, ")")
        if kind == 3:
            return part("( VALUES 1 ,", condition, ")")
        return part("( ( SELECT", output, "FROM", table, ") UNION ALL SELECT", condition, ")")

    def _case(self, depth: int) -> Part:
        arms: list[Piece] = []
        for _ in range(self._random.randint(1, 2)):
            arms += ["WHEN", self.boolean(depth), "THEN", self.boolean(depth)]
        return part("CASE", *arms, *self._else(depth), self._one_of("END", "end"))

    def _simple_case(self, depth: int) -> Part:
        arm = ("WHEN", self.boolean(depth), "THEN", self.boolean(depth))
        return part("case", self.boolean(depth), *arm, *self._else(depth), "end")

    def _else(self, depth: int) -> tuple[Piece, ...]:
        return ("ELSE", self.boolean(depth)) if self._random.random() < 0.5 else ()

    def _cast(self, depth: int) -> Part:
        return part(self._one_of("CAST", "TRY_CAST", "cast"), "(", self.boolean(depth), "AS", *self._type(), ")")

    def _type_after(self, depth: int) -> Part:
        return part("(", self.boolean(depth), ") ::", *self._type())

    def _type(self) -> tuple[Piece, ...]:
        kind = self._random.randrange(12)
        field = self._names.name("field of a type")
        if kind == 0:
            return (
                "STRUCT <",
                field,
                ": INT ,",
                self._names.name("field of a type"),
                "STRING NOT NULL COMMENT",
                "'<'",
                ">",
            )
        if kind == 1:
            return ("MAP < STRING ,", *("ARRAY < STRUCT <", field, ":", "ARRAY < INT > > >"), ">")
        return (self._one_of(*TYPES),)

    def _call(self, depth: int) -> Part:
        kind = self._random.randrange(8)
        if kind == 0:
            return part("count ( DISTINCT", *self._commas(self.boolean, depth), ")")
        if kind == 1:
            return part("count ( * )", *self._maybe("FILTER ( WHERE v > 1 )"))
        if kind == 2:
            return part("first (", self.boolean(depth), "IGNORE NULLS )")
        if kind == 3:
            return part("f (", self._names.name("argument"), "=>", self.boolean(depth), ")")
        if kind == 4:
            return part(self._names.name("schema"), ".", self._names.name("function"), "( )")
        if kind == 5:
            return part("percentile_cont ( 0.5 ) WITHIN GROUP ( ORDER BY", self.value(depth), ")")
        return part(self._names.name("function"), "(", *self._commas(self.boolean, depth), ")")

    def _call_of_words(self, depth: int) -> Part:
        kind = self._random.randrange(7)
        one, other = self.value(depth), self.value(depth)
        if kind == 0:
            return part("EXTRACT (", self._one_of("YEAR", "day", "timezone_hour", "`month`"), "FROM", one, ")")
        if kind == 1:
            return part("POSITION (", one, "IN", other, ")")
        if kind == 2:
            end = ("FOR", self.value(0)) if self._random.random() < 0.5 else ()
            return part(self._one_of("SUBSTRING", "substr"), "(", one, "FROM", other, *end, ")")
        if kind == 3:
            return part("TRIM (", *self._maybe("BOTH", "LEADING", "TRAILING"), one, "FROM", other, ")")
        if kind == 4:
            return part("trim (", self._one_of("BOTH", "LEADING"), "FROM", other, ")")
        if kind == 5:
            return part("OVERLAY (", one, "PLACING", other, "FROM", self.value(0), "FOR", self.value(0), ")")
        return part(self._one_of("SUBSTRING", "TRIM", "substr"), "(", *self._commas(self.value, depth), ")")

    def _lambda(self, depth: int) -> Part:
        variable, other = self._names.name("variable"), self._names.name("variable")
        if self._random.random() < 0.5:
            return part("transform (", self.value(depth), ",", variable, "->", self.boolean(depth), ")")
        return part("aggregate ( a , 0 , (", variable, ",", other, ") ->", self.boolean(depth), ")")

    def _struct(self, depth: int) -> Part:
        named = ("AS", self._names.name("output")) if self._random.random() < 0.5 else (self._names.name("output"),)
        return part(self._one_of("STRUCT", "struct"), "(", self.boolean(depth), *named, ",", self.boolean(depth), ")")

    def _row(self, depth: int) -> Part:
        named = ("AS", self._names.name("output")) if self._random.random() < 0.3 else ()
        return part("(", self.boolean(depth), *named, ",", self.boolean(depth), ")")

    def _behind(self, depth: int) -> Part:
        before: tuple[Piece, ...] = ("(", self.boolean(depth), ")") if self._random.random() < 0.5 else (self.column(),)
        kind = self._random.randrange(3)
        if kind == 0:
            return part(*before, ".", self._names.name("field"))
        if kind == 1:
            return part(*before, "[", self.value(depth), "]")
        return part(*before, "COLLATE", self._one_of("UTF8_BINARY", "unicode_ci", "`UNICODE`"))

    def _variant(self, depth: int) -> Part:
        path = Path(":" + self._one_of("year", "v", "`a b`", self._names.name("field")))
        step = self._random.choice(((), (". x",), ("[ 0 ]",), ("[", "'k]'", "]"), ("[ * ] . y",)))
        before: tuple[Piece, ...] = ("(", self.boolean(depth), ")") if self._random.random() < 0.2 else (self.column(),)
        return part(*before, path, *step)

    def _window(self, depth: int) -> Part:
        over = ("ORDER BY", self.value(depth), "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW")
        return part("sum (", self.value(depth), ") OVER ( PARTITION BY", self.column(), *over, ")")

    def _unit_call(self, depth: int) -> Part:
        unit = self._one_of("DAY", "month", "QUARTER", "SECOND")
        name = self._one_of("timestampadd", "DATEDIFF", "date_add", "TIMESTAMPDIFF")
        return part(name, "(", unit, ",", self.value(depth), ",", self.value(depth), ")")

    def _commas(self, draw: Callable[[int], Part], depth: int) -> list[Piece]:
        pieces: list[Piece] = [draw(depth)]
        for _ in range(self._random.choice((0, 1, 1, 2))):
            pieces += [",", draw(depth)]
        return pieces

    def _one_of(self, *texts: str) -> str:
        return self._random.choice(texts)

    def _maybe(self, *texts: str) -> tuple[str, ...]:
        return (self._random.choice(texts),) if self._random.random() < 0.4 else ()


def nested(random: Random, inner: Part, depth: int) -> Part:
    """``inner``, ``depth`` times in brackets, calls or cases."""
    for _ in range(depth):
        kind = random.randrange(5)
        if kind < 2:
            inner = part("(", inner, ")")
        elif kind == 2:
            inner = part("abs (", inner, ")")
        elif kind == 3:
            inner = part("( a AND", inner, ")")
        else:
            inner = part("CASE WHEN", inner, "THEN 1 END")
    return inner


COMPARISONS = ("=", "==", "<=>", "<>", "!=", "<", "<=", "!>", ">", ">=", "!<")
OPERATORS = ("+", "-", "*", "/", "%", "DIV", "div", "||", "&", "|", "^", "<<", ">>", ">>>")
TYPES = (
    *("INT", "bigint", "STRING", "DATE", "TIMESTAMP", "timestamp_ntz", "BOOLEAN", "BINARY", "VARIANT", "VOID"),
    *("DECIMAL ( 10 , 2 )", "VARCHAR ( 5 )", "CHAR ( 3 )", "ARRAY < INT >", "ARRAY < ARRAY < INT > >", "STRUCT <>"),
    *("INTERVAL DAY TO SECOND", "INTERVAL YEAR", "STRING COLLATE UTF8_BINARY", "TIMESTAMP WITHOUT TIME ZONE"),
    *("MAP < STRING , ARRAY < INT > >", "struct < a : int >", "DOUBLE", "DEC", "TIME ( 3 )"),
)
LITERALS = (
    *("NULL", "TRUE", "false", "CURRENT_DATE", "current_timestamp", "CURRENT_USER", "localtimestamp"),
    *("INTERVAL 1 DAY", "INTERVAL - 1 DAY", "interval 1 day 2 hours", "INTERVAL '1-2' YEAR TO MONTH", "timestamp_ntz"),
)
