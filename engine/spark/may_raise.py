"""Whether computing an expression can raise an error for some row: the one judge of that.

It judges what Spark's analyzer made of an expression, implicit casts and all, as EXPLAIN prints it. A print is no SQL:
strings are unquoted in it and names bare. So the expression is analyzed over columns and literals of our own names
(``c0``, ``'literal0'``); what is not on the short list of harmless things may raise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.model.errors import CancelledError, EngineError, UnreachableError, UsageError
from engine.spark.explain import COLUMN_ID, explain
from engine.spark.spark_errors import collected
from engine.sql.expressions import read_expression
from engine.sql.lexer import Token
from engine.sql.positions import Edit, edited
from engine.sql.resolve import Side, resolve
from engine.sql.sql_text import text_of
from engine.sql.store_types import DECIMAL, INTEGRAL, can_up_cast_names, ddl
from engine.sql.token_reader import Node

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

HARMLESS = frozenset(
    (
        *("upper", "lower", "ucase", "lcase", "trim", "ltrim", "rtrim", "initcap", "length", "char_length"),
        *(
            "concat",
            "md5",
            "hash",
            "xxhash64",
            "coalesce",
            "nvl",
            "ifnull",
            "nullif",
            "isnull",
            "isnotnull",
            "between",
            "isnan",
        ),
        *("current_timestamp", "now", "current_date", "current_user", "rand", "uuid", "named_struct", "year", "month"),
        *("day", "dayofmonth", "quarter"),
    )
)
COMPARISONS = frozenset(("=", "<=>", "<", ">", "<=", ">="))
NEUTRAL_COLUMN = re.compile(rf"\b(c\d+){COLUMN_ID}")
TYPED = frozenset(("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ"))
"""Types whose literals are printed bare."""
NUMBER = re.compile(r"-?\d+")


@dataclass(frozen=True)
class Neutral:
    """Expressions with our own names in place of their columns and strings: ``columns`` name → type, ``literals``
    name → the text as typed."""

    texts: tuple[str, ...]
    columns: Mapping[str, DataType]
    literals: Mapping[str, str]


def may_raise(
    spark: SparkSession, expressions: Sequence[tuple[str, Sequence[Side]]], types: Mapping[tuple[str, str], DataType]
) -> tuple[bool, ...]:
    """Whether each expression may raise, over the sides beside it. ``types`` of their columns are by (side, column)."""
    neutral = _neutral(expressions, types)
    prints = _printed(spark, neutral, neutral.texts)
    readers = [_Reader(neutral, one) for one in prints]
    risky = [reader.risky() for reader in readers]
    # what a constant becomes is the same for every row
    casts = {cast for reader in readers for cast in reader.casts}
    fails = _constants_that_fail(spark, sorted(casts)) if casts else frozenset()
    return tuple(is_risky or bool(fails & reader.casts) for is_risky, reader in zip(risky, readers, strict=True))


def _neutral(expressions: Sequence[tuple[str, Sequence[Side]]], types: Mapping[tuple[str, str], DataType]) -> Neutral:
    names: dict[tuple[str, str], str] = {}
    literals: dict[str, str] = {}

    def name(side: Side, column: str) -> str:
        return names.setdefault((side.name, column), f"c{len(names)}")

    def neutral(text: str, sides: Sequence[Side]) -> str:
        renamed = resolve(text, sides, name=name).text
        tokens, root = read_expression(renamed)
        parts = []
        for node in root.walk():
            of = [token.word for token in tokens[node.start : node.end] if not token.is_string]
            if node.kind == "literal" and (not of or (len(of) == 1 and of[0] in TYPED and node.end - node.start == 2)):
                start, end = tokens[node.start].start, tokens[node.end - 1].end
                called = f"literal{len(literals)}"
                literals[called] = renamed[start:end]
                parts.append(Edit(start, end, f"CAST('{called}' AS {of[0]})" if of else f"'{called}'"))
        return edited(renamed, parts)

    texts = tuple(neutral(*one) for one in expressions)
    return Neutral(texts, {called: types[column] for column, called in names.items()}, literals)


def _printed(spark: SparkSession, neutral: Neutral, texts: Sequence[str]) -> list[str | None]:
    """How Spark prints each expression after analysis; None if it cannot."""
    if not texts:
        return []
    try:
        return _prints(spark, neutral, texts)
    except (CancelledError, UnreachableError):
        raise
    except EngineError:
        # some functions require a certain literal: ask for the others without them
        half = len(texts) // 2
        return [None] if not half else _printed(spark, neutral, texts[:half]) + _printed(spark, neutral, texts[half:])


def _prints(spark: SparkSession, neutral: Neutral, texts: Sequence[str]) -> list[str | None]:
    columns = [f"CAST(NULL AS {ddl(type_)}) AS {name}" for name, type_ in neutral.columns.items()] or ["1 AS one"]
    items = ", ".join(f"({text}\n) AS printed{index}" for index, text in enumerate(texts))
    # a view's query is analyzed and then left alone
    query = f"SELECT {items} FROM (SELECT {', '.join(columns)}) AS columns"
    analyzed = explain(spark, f"CREATE OR REPLACE TEMPORARY VIEW __dm_probe AS {query}").analyzed
    line = next((line for line in analyzed.split("\n") if " AS printed0#" in line and "Project [" in line), None)
    if line is None:
        return [None] * len(texts)
    rest = line.partition("Project [")[2]
    risks: list[str | None] = []
    for index in range(len(texts)):
        part, marker, rest = rest.partition(f" AS printed{index}#")
        risks.append(re.sub(r"^\d+L?, ", "", part) if marker else None)
    return risks


class _Reader:
    """Reads one print."""

    def __init__(self, neutral: Neutral, printed: str | None) -> None:
        self.neutral = neutral
        self.printed = None if printed is None else NEUTRAL_COLUMN.sub(r"\1", printed)
        self.casts: set[tuple[str, str]] = set()
        self.tokens: tuple[Token, ...] = ()

    def risky(self) -> bool:
        if self.printed is None:
            return True
        try:
            self.tokens, root = read_expression(self.printed)
        except UsageError:
            return True
        return not self._harmless(root)

    def _harmless(self, node: Node) -> bool:
        if node.kind == "name":
            # what follows a column's name are the fields of a struct
            return node.names[0] in self.neutral.columns or node.names in [(one,) for one in self.neutral.literals]
        if node.kind == "field":
            return self._harmless(node.children[0])
        if node.kind == "literal":
            return True
        if node.kind == "unary":
            (inner,) = node.children
            number = node.name in ("-", "+") and inner.kind == "literal" and inner.end - inner.start == 1
            return number or (node.name == "NOT" and self._harmless(inner))
        if node.kind == "cast":
            return self._cast_is_harmless(node)
        if node.kind == "like":
            return self._like_is_harmless(node)
        if node.kind == "binary" and node.name == "%":
            return self._remainder_is_harmless(node)
        if node.kind == "binary" and node.name not in COMPARISONS | {"AND", "OR"}:
            return False
        if node.kind == "call" and node.name not in HARMLESS:
            return False
        kinds = ("binary", "call", "brackets", "in", "between", "case")
        return node.kind in kinds and all(self._harmless(child) for child in node.children)

    def _cast_is_harmless(self, node: Node) -> bool:
        (inner,) = node.children
        wanted = text_of(self.printed or "", self.tokens[inner.end + 1 : node.end - 1]).replace(" ", "").lower()
        name = text_of(self.printed or "", self.tokens[inner.start : inner.end])
        if name in self.neutral.literals:
            self.casts.add((self.neutral.literals[name], wanted))
            return True
        if name == "null" or wanted == "string":
            return self._harmless(inner)
        if NUMBER.fullmatch(name):
            return fits(len(name.lstrip("-")), wanted)
        type_ = self._type_of(inner)
        return type_ is not None and self._harmless(inner) and can_up_cast_names(type_, wanted)

    def _like_is_harmless(self, node: Node) -> bool:
        """A pattern fails by its escapes alone."""
        left, *patterns = node.children
        if len(patterns) > 1 or node.name.endswith("RLIKE"):
            return False
        pattern = text_of(self.printed or "", self.tokens[patterns[0].start : patterns[0].end])
        literal = self.neutral.literals.get(pattern)
        return literal is not None and "\\" not in literal and self._harmless(left)

    def _remainder_is_harmless(self, node: Node) -> bool:
        """That of a whole number by a constant fails for none but zero."""
        left, right = node.children
        by = right.children[0] if right.kind == "cast" else right
        number = text_of(self.printed or "", self.tokens[by.start : by.end])
        is_constant = NUMBER.fullmatch(number) is not None and int(number) != 0
        return is_constant and self._type_of(left) in INTEGRAL and self._harmless(left) and self._harmless(right)

    def _type_of(self, node: Node) -> str | None:
        """The type of a column or of a cast; None for all else."""
        if node.kind == "name" and node.names[0] in self.neutral.columns:
            return str(self.neutral.columns[node.names[0]].simpleString())
        if node.kind == "cast":
            (inner,) = node.children
            return text_of(self.printed or "", self.tokens[inner.end + 1 : node.end - 1]).replace(" ", "").lower()
        return None


def fits(digits: int, type_: str) -> bool:
    """Whether every whole number of so many digits is a value of a type."""
    decimal = DECIMAL.fullmatch(type_)
    if decimal:
        return digits <= int(decimal[1]) - int(decimal[2])
    return digits < INTEGRAL.get(type_, 0) or type_ in ("double", "float")


def _constants_that_fail(spark: SparkSession, casts: Sequence[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Those of the (literal, type) that cannot be cast."""
    items = ", ".join(f"try_cast({literal} AS {type_}) IS NULL" for literal, type_ in casts)
    try:
        (row,) = collected(spark, f"SELECT {items}")
    except (CancelledError, UnreachableError):
        raise
    except EngineError:
        return frozenset(casts)
    return frozenset(cast for cast, fails in zip(casts, row, strict=True) if fails)
