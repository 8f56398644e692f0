"""text → ParsedCreate: where the parts of a CREATE or REPLACE TABLE begin and end. Spark is the one that parses it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.create_values import Form, Mode
from engine.errors import UsageError
from engine.sql_text import Token, depths, quoted_values, text_of, tokenize

QUERY_WORDS = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "MAP", "REDUCE")
CONSTRAINT_WORDS = ("CONSTRAINT", "CHECK", "PRIMARY", "FOREIGN", "UNIQUE")
AFTER_TYPE = ("NOT", "COMMENT", "DEFAULT", "GENERATED", *CONSTRAINT_WORDS)


@dataclass(frozen=True)
class ColumnDefinition:
    """A column as typed: ``type`` is SQL text, ``default`` and ``generated_as`` too."""

    name: str
    type: str
    nullable: bool
    comment: str
    default: str | None
    generated_as: str | None
    identity: bool


@dataclass(frozen=True)
class ParsedCreate:
    """A statement and its parts, each as typed.

    ``name`` and ``source`` (of LIKE and CLONE) are SQL text, ``parts`` the parts of the name; ``source_at`` is the time
    travel of a clone's source. ``columns`` are None where none are given. ``transforms`` are the entries of PARTITIONED
    BY that are no plain columns, or CLUSTERED BY … BUCKETS.
    """

    sql: str
    form: Form
    mode: Mode
    if_not_exists: bool
    name: str
    parts: tuple[str, ...]
    columns: tuple[ColumnDefinition, ...] | None = None
    provider: str | None = None
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    transforms: tuple[str, ...] = ()
    location: str | None = None
    comment: str | None = None
    properties: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    query: str | None = None
    source: str | None = None
    source_at: str = ""

    @property
    def path(self) -> str | None:
        """The path of ``delta.`…` ``, None for a name."""
        return self.parts[1] if len(self.parts) == 2 and self.parts[0].lower() == "delta" else None


def is_create_table(sql: str) -> bool:
    """Whether a statement is a CREATE or REPLACE TABLE, the only ones beside MERGE that are planned."""
    words = [token.word for token in tokenize(sql)[:4]]
    return words[:2] in (["CREATE", "TABLE"], ["REPLACE", "TABLE"]) or words == ["CREATE", "OR", "REPLACE", "TABLE"]


def parse_create(sql: str) -> ParsedCreate:
    """The parts of one CREATE or REPLACE TABLE. Raises UsageError for what is not shaped like one."""
    tokens = tokenize(sql)
    if not is_create_table(sql):
        raise UsageError(
            "NOT_A_CREATE",
            f"The statement starts with {tokens[0].text if tokens else ''!r}: it is no CREATE or REPLACE TABLE.",
            "Plan a statement of the form CREATE OR REPLACE TABLE name …",
        )
    words = [token.word for token in tokens]
    at = words.index("TABLE") + 1
    modes: dict[str, Mode] = {"CREATE TABLE": "Create", "REPLACE TABLE": "Replace"}
    mode = modes.get(" ".join(words[:at]), "CreateOrReplace")
    if_not_exists = words[at : at + 3] == ["IF", "NOT", "EXISTS"]
    at += 3 if if_not_exists else 0
    end = _end_of_name(tokens, at)
    if end == at:
        raise UsageError(
            "PARSE_SYNTAX_ERROR", "The statement names no table.", "Write CREATE TABLE name (column type, …)."
        )
    head = {
        "sql": sql,
        "mode": mode,
        "if_not_exists": if_not_exists,
        "name": text_of(sql, tokens[at:end]),
        "parts": tuple(token.name for token in tokens[at:end:2]),
    }
    return _parsed(sql, tokens[end:], head)


def _parsed(sql: str, rest: Sequence[Token], head: dict[str, object]) -> ParsedCreate:
    form: Form = "empty"
    found: dict[str, object] = {}
    words = [token.word for token in rest[:3]]
    if words[:1] == ["LIKE"] or words[1:2] == ["CLONE"] or words[:1] == ["CLONE"]:
        form = "like" if words[0] == "LIKE" else "clone"
        begin = words.index("CLONE") + 1 if form == "clone" else 1
        end = _end_of_name(rest, begin)
        found["source"] = text_of(sql, rest[begin:end])
        rest = rest[end:]
        if form == "clone":
            travel = next((i for i, t in enumerate(rest) if t.word in ("TBLPROPERTIES", "LOCATION")), len(rest))
            found["source_at"] = text_of(sql, rest[:travel])
            rest = rest[travel:]
    elif rest and rest[0].text == "(" and not (len(rest) > 1 and rest[1].word in QUERY_WORDS):
        inside, rest = _group(rest)
        found["columns"] = tuple(
            _column(sql, part) for part in _elements(inside) if part[0].word not in CONSTRAINT_WORDS
        )
    found |= _clauses(sql, rest)
    return ParsedCreate(form="as_select" if "query" in found else form, **head, **found)  # type: ignore[arg-type]


def _clauses(sql: str, tokens: Sequence[Token]) -> dict[str, object]:
    """USING, PARTITIONED BY, CLUSTER BY, LOCATION, COMMENT, TBLPROPERTIES, OPTIONS and the query, in any order."""
    found: dict[str, object] = {}
    transforms: list[str] = []
    while tokens:
        # the tokenizer takes some pairs of words for one
        word, following = tokens[0].word.partition(" ")[0], tokens[1:]
        if following and following[0].word == "BY":
            following = following[1:]
        if word == "AS" or word in QUERY_WORDS or tokens[0].text == "(":
            query = following if word == "AS" else tokens
            return {**found, "transforms": tuple(transforms), "query": sql[query[0].start :] if query else ""}
        if word == "USING" and following:
            found["provider"] = following[0].name
            tokens = following[1:]
        elif word in ("LOCATION", "COMMENT"):
            end = next((i for i, token in enumerate(following) if not token.is_string), len(following))
            found[word.lower()] = _joined(following[:end])
            tokens = following[end:]
        elif word in ("TBLPROPERTIES", "OPTIONS"):
            inside, tokens = _group(following)
            found["properties" if word == "TBLPROPERTIES" else "options"] = _properties(inside)
        elif word in ("PARTITIONED", "CLUSTER"):
            inside, tokens = _group(following)
            entries = _elements(inside)
            plain = tuple(_dotted(part) for part in entries if _is_name(part))
            found["partition_by" if word == "PARTITIONED" else "cluster_by"] = plain
            transforms += [text_of(sql, part) for part in entries if not _is_name(part)]
        elif word == "CLUSTERED":
            transforms.append(text_of(sql, tokens[:2]))
            _, tokens = _group(following)
        else:
            tokens = following
    return {**found, "transforms": tuple(transforms)}


def _end_of_name(tokens: Sequence[Token], at: int) -> int:
    """Where a dotted name that begins at ``at`` ends."""
    if at >= len(tokens) or not (tokens[at].word or tokens[at].text.startswith("`")):
        return at
    while at + 2 < len(tokens) and tokens[at + 1].text == ".":
        at += 2
    return at + 1


def _group(tokens: Sequence[Token]) -> tuple[Sequence[Token], Sequence[Token]]:
    """(what is inside the bracket that ``tokens`` begin with, what follows it)."""
    if not tokens or tokens[0].text != "(":
        return (), tokens
    for index, token, depth in depths(tokens):
        if index and depth == 0 and token.text == ")":
            return tokens[1:index], tokens[index + 1 :]
    return tokens[1:], ()


def _elements(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """The parts between the commas at the outermost level; the angle brackets of types count as brackets."""
    parts: list[Sequence[Token]] = []
    begin = angle = 0
    for index, token, depth in depths(tokens):
        if depth == 0:
            angle += _angle(token)
        if depth == 0 and angle == 0 and token.text == ",":
            parts.append(tokens[begin:index])
            begin = index + 1
    parts.append(tokens[begin:])
    return [part for part in parts if part]


def _angle(token: Token) -> int:
    return 0 if token.is_string or token.text.startswith("`") else token.text.count("<") - token.text.count(">")


def _column(sql: str, tokens: Sequence[Token]) -> ColumnDefinition:
    """``name type [NOT NULL] [DEFAULT …] [GENERATED ALWAYS AS (…)|IDENTITY] [COMMENT '…']``."""
    marks = []
    angle = 0
    for index, token, depth in depths(tokens):
        if index and depth == 0:
            angle += _angle(token)
            if angle == 0 and token.word in AFTER_TYPE and tokens[index - 1].word != "BY":
                marks.append(index)
    bounds = [*marks, len(tokens)]
    clauses = {tokens[a].word: tokens[a:b] for a, b in itertools.pairwise(bounds)}
    generated = clauses.get("GENERATED", ())
    identity = any(token.word == "IDENTITY" for token in generated)
    comment = clauses.get("COMMENT", ())
    default = clauses.get("DEFAULT", ())
    body = next((i for i, token in enumerate(generated) if token.text == "("), None)
    return ColumnDefinition(
        name=tokens[0].name,
        type=text_of(sql, tokens[1 : bounds[0]]),
        nullable="NOT" not in clauses,
        comment=_joined(comment[1:]),
        default=text_of(sql, default[1:]) if default else None,
        generated_as=None if identity or body is None else text_of(sql, _group(generated[body:])[0]),
        identity=identity,
    )


def _properties(tokens: Sequence[Token]) -> dict[str, str]:
    """``key [=] value`` pairs: the key a string or a dotted name, the value a literal."""
    found = {}
    for part in _elements(tokens):
        end = 1 if part[0].is_string else _end_of_name(part, 0)
        key = _value(part[0]) if part[0].is_string else _dotted(part[:end])
        value = part[end + 1 :] if end < len(part) and part[end].text in ("=", "==") else part[end:]
        found[key] = "".join(_value(token) for token in value)
    return found


def _joined(tokens: Sequence[Token]) -> str:
    """The value of string literals side by side; a quote that is doubled splits one in two."""
    parts = [_value(token) for token in tokens]
    ends = [None, *(token.end for token in tokens)]
    return "".join(
        f"{token.text[0]}{part}" if token.start == end else part
        for token, part, end in zip(tokens, parts, ends, strict=False)
    )


def _value(token: Token) -> str:
    """The value of a literal: a string without quotes, TRUE and FALSE in lower case, a number as typed."""
    if token.is_string:
        return quoted_values(token.text)[0]
    return token.word.lower() if token.word in ("TRUE", "FALSE") else token.name


def _is_name(tokens: Sequence[Token]) -> bool:
    return all((token.text == ".") == bool(index % 2) for index, token in enumerate(tokens)) and not tokens[0].is_string


def _dotted(tokens: Sequence[Token]) -> str:
    return ".".join(token.name for token in tokens[::2])
