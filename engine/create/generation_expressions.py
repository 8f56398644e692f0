"""Whether Delta takes the expression of a generated column (GeneratedColumn.validateGeneratedColumns).

Delta looks for the classes of Spark's analyzed expression in AllowedUserProvidedExpressions. Here that list is by the
names that people write, each measured against Delta 4.4 on Spark 4.2: a function that Spark makes of others
(``nullif``, ``btrim``) is often not on the list though the others are. What is not known to be taken is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from engine.spark.schema import schema_of
from engine.sql.expressions import read_expression
from engine.sql.lexer import Token
from engine.sql.sql_text import text_of
from engine.sql.store_types import INTEGRAL, null_row
from engine.sql.token_reader import Node

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

BY_NAME = """
abs acos acosh add_months and array array_contains array_distinct array_except array_intersect array_join array_max
array_min array_position array_remove array_repeat array_union arrays_overlap arrays_zip ascii asin asinh atan atan2
atanh base64 bigint bin binary bit_count bit_length boolean bround cardinality cbrt char char_length character_length
chr coalesce concat concat_ws conv cos cosh cot crc32 date date_add date_diff date_format date_sub date_trunc dateadd
datediff day dayofmonth dayofweek dayofyear decimal degrees double e element_at elt encode exp expm1 factorial
find_in_set flatten float format_number format_string from_csv from_json from_unixtime from_utc_timestamp
get_json_object greatest hash hex hour hypot if ifnull in initcap instr int isnan isnotnull isnull last_day lcase
least left len length levenshtein like ln locate log log10 log1p log2 lower ltrim make_date make_timestamp_ltz
make_timestamp_ntz map map_concat map_entries map_from_arrays map_from_entries map_keys map_values md5 minute mod
month months_between named_struct nanvl negative next_day not now nvl nvl2 octet_length or overlay parse_url pi pmod
position positive pow power printf quarter radians regexp regexp_extract regexp_like regexp_replace repeat replace
reverse right rint rlike round rtrim schema_of_csv schema_of_json second sentences sequence sha sha1 sha2 shiftleft
shiftright shiftrightunsigned sign signum sin sinh size slice smallint sort_array soundex space split sqrt str_to_map
string struct substr substring substring_index tan tanh timestamp timestampadd timestampdiff tinyint to_csv to_date
to_json to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_utc_timestamp translate trim trunc
try_make_timestamp_ltz try_make_timestamp_ntz try_to_date try_to_timestamp typeof ucase unbase64 unhex upper weekday
weekofyear when xpath xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number xpath_short
xpath_string xxhash64 year
"""
FUNCTIONS = frozenset(BY_NAME.split())
BY_ARGUMENTS = {
    **dict.fromkeys(("ceil", "ceiling", "floor"), range(1, 2)),
    "decode": range(3, 999),
    "make_timestamp": range(6, 8),
    "unix_timestamp": range(1, 3),
}
"""Functions that Spark makes another class of for other numbers of arguments."""
PADS = ("lpad", "rpad")
EXTRACTS = ("extract", "date_part", "datepart")
EXTRACTED = """
year y years yr yrs quarter qtr month mon mons months week w weeks day d days dayofweek dow dayofweek_iso dow_iso doy
hour h hours hr hrs minute m min mins minutes
"""
PARTS = frozenset(EXTRACTED.split())
"""The parts that ``extract`` takes out by a class of the list; the second is a fraction there."""
KINDS = frozenset(
    ("literal", "brackets", "row", "field", "subscript", "unary", "binary", "in", "is", "case", "cast", "argument")
)
MOMENT = re.compile(r"date|timestamp|interval")
ARITHMETIC = ("+", "-", "*", "/", "%", "DIV")


def unsupported_part(spark: SparkSession, expression: str, columns: Mapping[str, DataType]) -> str | None:
    """The part of a generated column's expression over ``columns`` that Delta takes in none; None if it takes it.

    Raises UsageError for an expression that is not understood.
    """
    tokens, root = read_expression(expression)
    judge = _Judge(expression, tokens, {name.lower(): type_ for name, type_ in columns.items()})
    fault = next((node for node in root.walk() if not judge.takes(node)), None)
    if fault is not None:
        return judge.text(fault)
    asked = [node for node in root.walk() if _type_tells(node)]
    texts = {judge.text(child) for node in asked for child in _typed(node)}
    types = _types(spark, sorted(texts), columns)
    fault = next((node for node in asked if not _fits(node, [types[judge.text(one)] for one in _typed(node)])), None)
    return None if fault is None else judge.text(fault)


def type_of(spark: SparkSession, expression: str, columns: Mapping[str, DataType]) -> str:
    """The type that Spark gives an expression over ``columns``, as it prints it."""
    return _types(spark, (expression,), columns)[expression]


def _type_tells(node: Node) -> bool:
    """Whether Spark chooses the class of ``node`` by types."""
    arithmetic = node.kind == "binary" and node.name in ARITHMETIC
    return arithmetic or node.kind in ("subscript", "field") or (node.kind == "call" and node.name in PADS)


def _typed(node: Node) -> Iterator[Node]:
    """The parts of ``node`` whose types tell."""
    yield from node.children if node.kind == "binary" else node.children[:1]


def _fits(node: Node, types: Sequence[str]) -> bool:
    """Whether what Spark makes of ``node`` for such types is on the list; it has an item of a map on none."""
    if node.kind in ("subscript", "field"):
        return types[0].startswith("struct" if node.kind == "field" else ("array", "struct"))
    if node.kind == "call":
        return types[0] != "binary"
    if not any(map(MOMENT.match, types)):
        return True
    if all(type_.startswith("interval") for type_ in types):
        return node.name in ("+", "-")
    # a date and a whole number of days become date_add and date_sub
    left, right = types
    return (left == "date" and right in INTEGRAL and node.name in ("+", "-")) or (
        left in INTEGRAL and right == "date" and node.name == "+"
    )


def _types(spark: SparkSession, texts: Sequence[str], columns: Mapping[str, DataType]) -> dict[str, str]:
    if not texts:
        return {}
    items = ", ".join(f"({text}\n) AS c{at}" for at, text in enumerate(texts))
    row = null_row(columns.items(), "columns") if columns else "(SELECT 1)"
    schema = schema_of(spark, f"SELECT {items} FROM {row}")
    return {text: one.dataType.simpleString() for text, one in zip(texts, schema.fields, strict=True)}


class _Judge:
    """Judges the nodes of one expression, each without its children. ``columns`` are by lower-case name."""

    def __init__(self, sql: str, tokens: Sequence[Token], columns: Mapping[str, DataType]) -> None:
        self.sql, self.tokens, self.columns = sql, tokens, columns

    def text(self, node: Node) -> str:
        return text_of(self.sql, self.tokens[node.start : node.end])

    def takes(self, node: Node) -> bool:
        if node.kind == "call":
            return self._call_is_taken(node)
        if node.kind in ("name", "current"):
            return self._path_is_taken(node.names)
        if node.kind == "like":
            after = self.tokens[node.children[0].end : node.end][1:3]
            return not node.name.endswith("ILIKE") and not any(one.word in ("ANY", "SOME", "ALL") for one in after)
        return node.kind in KINDS

    def _path_is_taken(self, names: Sequence[str]) -> bool:
        """Whether ``names`` are a column and fields of structs. What is no column is a function without brackets."""
        type_ = self.columns.get(names[0].lower())
        for name in names[1:]:
            fields = {one.name.lower(): one.dataType for one in getattr(type_, "fields", ())}
            type_ = fields.get(name.lower())
        return type_ is not None

    def _call_is_taken(self, node: Node) -> bool:
        if node.name in EXTRACTS:
            return self._part(node) in PARTS
        if node.name in BY_ARGUMENTS:
            return len(node.children) in BY_ARGUMENTS[node.name]
        return node.name in FUNCTIONS or node.name in PADS

    def _part(self, node: Node) -> str:
        """The part that EXTRACT(YEAR FROM d) or date_part('year', d) takes out."""
        if len(node.children) == 1:
            return self.tokens[node.start + 2].text.lower()
        return self.text(node.children[0]).strip("'\"").lower()
