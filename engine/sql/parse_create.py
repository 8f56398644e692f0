"""text → ParsedCreate: where the parts of a CREATE or REPLACE TABLE begin and end, by Spark's grammar (SqlBaseParser:
createTable, replaceTable, createTableLike), a CLONE by Delta's (DeltaSqlBase: clone).

engine.create.check_create_reading compares this reading with what Spark parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from engine.model.create_values import Form, Mode
from engine.model.errors import UsageError
from engine.sql.expressions import QUERY_WORDS, Reader
from engine.sql.lexer import tokenize
from engine.sql.names import names_path, quote
from engine.sql.read_columns import ColumnDefinition, partition_column, read_columns
from engine.sql.read_create_parts import (
    number_of,
    read_name,
    read_option,
    read_properties,
    read_property,
    read_string,
)
from engine.sql.sql_text import text_of
from engine.sql.token_reader import NotReadError, read_list, refused_with_place

__all__ = ["ColumnDefinition", "ParsedCreate", "is_create_table", "parse_create"]

# Delta makes a managed table of it where no LOCATION is given
EXTERNAL = "EXTERNAL"
MODES: Mapping[tuple[str, ...], Mode] = {
    ("CREATE", "TABLE"): "Create",
    ("CREATE", EXTERNAL, "TABLE"): "Create",
    ("CREATE", "OR", "REPLACE", "TABLE"): "CreateOrReplace",
    ("REPLACE", "TABLE"): "Replace",
}
# DeltaSqlBase: the words that cannot name a table in a CLONE
NO_NAMES_OF_DELTA = frozenset(
    (
        *("ADD", "ALTER", "COMMENT", "CONSTRAINT", "CREATE", "DROP", "FALSE", "HISTORY", "IF", "LOCATION", "NOT"),
        *("NULL", "OR", "REPLACE", "SYSTEM_TIME", "SYSTEM_VERSION", "TBLPROPERTIES", "TIMESTAMP", "TRUE", "VERSION"),
        "WHERE",
    )
)
BETWEEN_TOKENS_OF_DELTA = re.compile(r"(?:[ \r\n\t]|--[^\r\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
COPIES = "SHALLOW CLONE shares the files of its source. To copy the rows: CREATE TABLE name USING delta AS SELECT …"
TRAVEL = {"VERSION": False, "SYSTEM_VERSION": False, "TIMESTAMP": True, "SYSTEM_TIME": True}


@dataclass(frozen=True)
class ParsedCreate:
    """A statement and its parts.

    ``external``: it is a CREATE EXTERNAL TABLE. ``name`` and ``source`` (of LIKE and CLONE) are SQL text, ``parts`` and
    ``source_parts`` the parts of the names;
    ``source_at`` is the time travel of a clone's source. ``columns`` are None if none are given; ``constraints`` are
    those beside the columns, as typed. ``partitioned`` are all entries of PARTITIONED BY in order, as SQL:
    ``partition_by`` those that are plain columns. ``transforms`` are the others, and CLUSTERED BY … BUCKETS, which is
    ``buckets``. ``lists`` holds what stands in the brackets of a clause, as typed, by the clause's first word.

    ``layout_end`` is the place behind PARTITIONED BY or CLUSTER BY, None if neither is given; ``source_span`` the
    place of SHALLOW CLONE, its source and time travel.
    """

    sql: str
    form: Form
    mode: Mode
    external: bool
    if_not_exists: bool
    name: str
    parts: tuple[str, ...]
    columns: tuple[ColumnDefinition, ...] | None = None
    constraints: tuple[str, ...] = ()
    provider: str | None = None
    partitioned: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    clustered: tuple[str, ...] = ()
    transforms: tuple[str, ...] = ()
    buckets: str = ""
    location: str | None = None
    comment: str | None = None
    properties: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    query: str | None = None
    source: str | None = None
    source_parts: tuple[str, ...] = ()
    source_at: str = ""
    source_span: tuple[int, int] | None = None
    layout_end: int | None = None
    lists: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str | None:
        """The path of ``delta.`…` ``; None for a name."""
        return self.parts[1] if names_path(self.parts) else None


Fields = dict[str, object]


def is_create_table(sql: str) -> bool:
    """Whether a statement is a CREATE or REPLACE TABLE, which can be planned like MERGE."""
    words = tuple(token.word for token in tokenize(sql)[:4])
    return any(words[: len(begin)] == begin for begin in MODES)


def parse_create(sql: str) -> ParsedCreate:
    """The parts of one CREATE or REPLACE TABLE. Raises UsageError, with its place, for anything else."""
    tokens = tokenize(sql)
    if not is_create_table(sql):
        raise UsageError(
            "NOT_A_CREATE",
            f"The statement starts with {(tokens[0].text if tokens else '')[:40]!r}: it is no CREATE or REPLACE TABLE.",
            "Plan a statement of the form CREATE OR REPLACE TABLE name …",
        )
    with refused_with_place(sql, tokens):
        return ParsedCreate(**_create(sql, Reader(tokens)))  # type: ignore[arg-type]


def _create(sql: str, reader: Reader) -> Fields:
    at = next(i for i, token in enumerate(reader.tokens) if token.word == "TABLE") + 1
    words = tuple(token.word for token in reader.tokens[:at])
    mode = MODES[words]
    unless = mode == "Create" and [reader.word(at + i) for i in range(3)] == ["IF", "NOT", "EXISTS"]
    at += 3 if unless else 0
    parts, end = read_name(reader, at)
    head: Fields = {
        "sql": sql,
        "mode": mode,
        "external": EXTERNAL in words,
        "if_not_exists": unless,
        "name": _name_text(sql, reader, at, end, parts),
        "parts": parts,
    }
    word = reader.word(end)
    if head["external"] and word in ("SHALLOW", "DEEP", "CLONE", "LIKE"):
        # neither grammar has it, and Delta's clone is not explained by Spark
        raise NotReadError(end, "columns, a clause or a query")
    if word in ("SHALLOW", "DEEP", "CLONE"):
        return head | _clone(sql, reader, at, end)
    if word == "LIKE" and mode == "Create":
        return head | _like(sql, reader, end + 1)
    if reader.text(end) != "(":
        return head | _table(sql, reader, end, columns=False)
    try:
        return head | _table(sql, reader, end, columns=True)
    except NotReadError as error:
        # SELECT and the like may name a column, so that the bracket is a query only if it can hold no columns
        if not reader.is_query(end):
            raise error
        return head | _table(sql, reader, end, columns=False)


def _name_text(sql: str, reader: Reader, at: int, end: int, parts: Sequence[str]) -> str:
    """A name as typed; for IDENTIFIER('…') the name in it, because only SQL takes that form."""
    if reader.text(end - 1) == ")":
        return ".".join(quote(part) for part in parts)
    return text_of(sql, reader.tokens[at:end])


def _table(sql: str, reader: Reader, at: int, *, columns: bool) -> Fields:
    """createTable, replaceTable: all behind the name."""
    fields: Fields = {"form": "empty"}
    if columns:
        fields["columns"], fields["constraints"], at = read_columns(sql, reader, at)
    if reader.word(at) == "USING":
        fields["provider"], at = _provider(reader, at + 1)
    clauses, at = _clauses(sql, reader, at, CLAUSES)
    if (more := clauses.pop("more_columns", ())) and isinstance(more, tuple):
        first = fields.get("columns")
        fields["columns"] = (*(first if isinstance(first, tuple) else ()), *more)
    fields |= clauses
    if at == len(reader.tokens):
        return fields
    begin = at + 1 if reader.word(at) == "AS" else at
    if not (reader.word(begin) in QUERY_WORDS or reader.is_query(begin)):
        raise NotReadError(begin, "a query" if begin != at else "a clause or a query")
    return fields | {"form": "as_select", "query": sql[reader.tokens[begin].start : reader.tokens[-1].end]}


def _like(sql: str, reader: Reader, at: int) -> Fields:
    parts, end = read_name(reader, at)
    fields: Fields = {"form": "like", "source": _name_text(sql, reader, at, end, parts), "source_parts": parts}
    clauses, behind = _clauses(sql, reader, end, LIKE_CLAUSES)
    _expect_end(reader, behind)
    return fields | clauses


def _clone(sql: str, reader: Reader, begin: int, at: int) -> Fields:
    """clone. Delta reads it by a grammar of its own, clauses in one order."""
    if reader.word(at) != "SHALLOW":
        # as Databricks has it: a bare CLONE is deep there
        raise NotReadError(at, "SHALLOW, because Delta Lake has SHALLOW CLONE alone", COPIES)
    source = reader.expect(at + 1, "CLONE")
    parts, end = read_name(reader, source)
    travel = end
    end = _behind_travel(reader, end)
    fields: Fields = {
        "form": "clone",
        "source": text_of(sql, reader.tokens[source:travel]),
        "source_parts": parts,
        "source_at": text_of(sql, reader.tokens[travel:end]),
        "source_span": (reader.tokens[at].start, reader.tokens[end - 1].end),
    }
    clauses: Fields = {}
    for word in ("TBLPROPERTIES", "LOCATION"):
        if reader.word(end) == word:
            one, end = CLAUSES[word](sql, reader, end + 1)
            clauses |= one
    _expect_end(reader, end)
    _check_as_delta_reads(sql, reader, [*range(begin, at), *range(source, travel)])
    return fields | clauses


def _behind_travel(reader: Reader, at: int) -> int:
    """temporalClause: the place behind VERSION AS OF number or TIMESTAMP AS OF string, if one is there."""
    begin = at + 1 if reader.word(at) == "FOR" else at
    if reader.word(begin) not in TRAVEL:
        return at
    value = reader.expect(reader.expect(begin + 1, "AS"), "OF")
    if TRAVEL[reader.word(begin)]:
        if not reader.is_string(value):
            raise NotReadError(value, "a timestamp in quotes")
    elif not number_of(reader, value).isdigit():
        # Delta's grammar takes a string too, and its command then fails on the quotes
        raise NotReadError(value, "the number of a version")
    return value + 1


def _check_as_delta_reads(sql: str, reader: Reader, names: Sequence[int]) -> None:
    """Refuse what Delta's own lexer reads differently than Spark's: it has other words, strings and comments."""
    for at in names:
        token = reader.tokens[at]
        if token.word in NO_NAMES_OF_DELTA or not token.word.isascii() or token.text == "(":
            raise NotReadError(at, "a name that Delta reads bare: put it in back-quotes")
    end = 0
    for at, token in enumerate(reader.tokens):
        doubled = token.is_string and token.text[0] * 2 in token.text[1:-1].replace("\\\\", "")
        if doubled or (token.is_string and token.text[0] in "rR"):
            raise NotReadError(at, "a string without doubled quotes, which Delta leaves out of a CLONE")
        if not BETWEEN_TOKENS_OF_DELTA.fullmatch(sql, end, token.start):
            raise NotReadError(at, "no nested or continued comment before it: Delta reads neither in a CLONE")
        end = token.end
    if not BETWEEN_TOKENS_OF_DELTA.fullmatch(sql, end):
        raise NotReadError(len(reader.tokens), "no nested or continued comment")


def _expect_end(reader: Reader, at: int) -> None:
    if at != len(reader.tokens):
        raise NotReadError(at, "the end")


Clause = Callable[[str, Reader, int], tuple[Fields, int]]


def _clauses(sql: str, reader: Reader, at: int, readers: Mapping[str, Clause]) -> tuple[Fields, int]:
    """(What the clauses at ``at`` give, the place behind them), each once and in any order."""
    fields: Fields = {}
    words: set[str] = set()
    transforms: tuple[str, ...] = ()
    lists: dict[str, str] = {}
    while (word := reader.word(at)) in readers:
        if word in words:
            raise NotReadError(at, f"one {word} clause")
        words.add(word)
        one, end = readers[word](sql, reader, at + 1)
        more = one.pop("transforms", ())
        transforms += more if isinstance(more, tuple) else ()
        if reader.text(end - 1) == ")" and word != "CLUSTERED":
            open_ = next(i for i, close in reader.closing.items() if close == end - 1)
            lists[word] = text_of(sql, reader.tokens[open_ + 1 : end - 1])
        fields |= one
        at = end
    return fields | {"transforms": transforms, "lists": lists}, at


def _provider(reader: Reader, at: int) -> tuple[str, int]:
    """multipartIdentifier, as Spark keeps it: its text without back-quotes."""
    if not reader.is_name(at):
        raise NotReadError(at, "the name of a format")
    end = reader.dotted(at)
    return ".".join(token.name for token in reader.tokens[at:end:2]), end


def _using(_: str, reader: Reader, at: int) -> tuple[Fields, int]:
    provider, end = _provider(reader, at)
    return {"provider": provider}, end


def _location(_: str, reader: Reader, at: int) -> tuple[Fields, int]:
    value, end = read_string(reader, at)
    return {"location": value}, end


def _comment(_: str, reader: Reader, at: int) -> tuple[Fields, int]:
    value, end = read_string(reader, at)
    return {"comment": value}, end


def _properties(_: str, reader: Reader, at: int) -> tuple[Fields, int]:
    properties, end = read_properties(reader, at, read_property)
    return {"properties": properties}, end


def _options(_: str, reader: Reader, at: int) -> tuple[Fields, int]:
    options, end = read_properties(reader, at, read_option)
    return {"options": options}, end


def _partitioned(sql: str, reader: Reader, at: int) -> tuple[Fields, int]:
    """partitionFieldList: columns, transforms, or columns with a type, which are further columns of the table."""
    places, end = read_list(reader, reader.expect(at, "BY"), _behind_field)
    entries: list[str] = []
    plain: list[str] = []
    others: list[str] = []
    columns: list[ColumnDefinition] = []
    for begin, behind in places:
        names = [token.name for token in reader.tokens[begin:behind:2]]
        if behind == reader.dotted(begin):
            entries.append(".".join(map(quote, names)))
            plain.append(".".join(names))
        elif reader.text(begin + 1) == "(":
            entries.append(text_of(sql, reader.tokens[begin:behind]))
            others.append(entries[-1])
        else:
            columns.append(partition_column(sql, reader, begin)[0])
            entries.append(quote(columns[-1].name))
            plain.append(columns[-1].name)
    return {
        "partitioned": tuple(entries),
        "partition_by": tuple(plain),
        "transforms": tuple(others),
        "more_columns": tuple(columns),
        "layout_end": reader.tokens[end - 1].end,
    }, end


def _behind_field(reader: Reader, at: int) -> int:
    """partitionField: the place behind it."""
    if not reader.is_name(at):
        raise NotReadError(at, "a column")
    end = reader.dotted(at)
    if reader.text(end) in (",", ")"):
        return end
    if reader.text(at + 1) == "(":
        return reader.behind(at + 1)
    return partition_column("", reader, at)[1]


def _cluster(_: str, reader: Reader, at: int) -> tuple[Fields, int]:
    """clusterBySpec."""
    places, end = read_list(reader, reader.expect(at, "BY"), _behind_name)
    names = [[token.name for token in reader.tokens[begin:behind:2]] for begin, behind in places]
    return {
        "cluster_by": tuple(".".join(one) for one in names),
        "clustered": tuple(".".join(map(quote, one)) for one in names),
        "layout_end": reader.tokens[end - 1].end,
    }, end


def _behind_name(reader: Reader, at: int) -> int:
    if not reader.is_name(at):
        raise NotReadError(at, "a column")
    return reader.dotted(at)


def _clustered(sql: str, reader: Reader, at: int) -> tuple[Fields, int]:
    """bucketSpec."""
    _, end = read_list(reader, reader.expect(at, "BY"), _behind_name)
    if reader.word(end) == "SORTED":
        end = reader.behind(reader.expect(end + 1, "BY"))
    number = reader.expect(end, "INTO")
    if not number_of(reader, number):
        raise NotReadError(number, "a number of buckets")
    end = reader.expect(number + 1, "BUCKETS")
    text = text_of(sql, reader.tokens[at - 1 : end])
    return {"buckets": text, "transforms": (text,)}, end


CLAUSES: Mapping[str, Clause] = {
    "OPTIONS": _options,
    "PARTITIONED": _partitioned,
    "CLUSTER": _cluster,
    "CLUSTERED": _clustered,
    "LOCATION": _location,
    "COMMENT": _comment,
    "TBLPROPERTIES": _properties,
}
LIKE_CLAUSES: Mapping[str, Clause] = {"USING": _using, "LOCATION": _location, "TBLPROPERTIES": _properties}
