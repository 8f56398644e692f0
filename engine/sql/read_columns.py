"""The columns and constraints of a CREATE TABLE, by Spark's grammar (SqlBaseParser: tableElementList)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.model.identity import Identity
from engine.sql.expressions import Reader
from engine.sql.read_create_parts import read_string
from engine.sql.sql_text import text_of
from engine.sql.token_reader import NotReadError, read_list

SEQUENCE = {"START": "WITH", "INCREMENT": "BY"}
OF_A_TABLE = ("CHECK", "UNIQUE", "PRIMARY", "FOREIGN")
OF_A_COLUMN = ("CHECK", "UNIQUE", "PRIMARY", "REFERENCES")


@dataclass(frozen=True)
class ColumnDefinition:
    """A column: ``type``, ``default`` and ``generated_as`` are SQL text as typed, so are ``constraints``.

    ``counted`` is how an identity counts, and ``identity_as`` its GENERATED … AS IDENTITY as typed: None and "" if the
    column is none; ``commented`` is true for an empty comment too.
    """

    name: str
    type: str
    nullable: bool
    comment: str
    default: str | None
    generated_as: str | None
    counted: Identity | None = None
    identity_as: str = ""
    commented: bool = False
    constraints: tuple[str, ...] = ()


Columns = tuple[ColumnDefinition, ...]


def read_columns(sql: str, reader: Reader, at: int) -> tuple[Columns, tuple[str, ...], int]:
    """(The columns in the bracket at ``at``, the constraints beside them, the place behind it)."""
    columns: list[ColumnDefinition] = []
    constraints: list[str] = []

    def element(reader: Reader, begin: int) -> int:
        # a constraint comes first in the grammar, and its words may name columns
        constrained = _behind_constraint(reader, begin, OF_A_TABLE)
        if constrained is not None and reader.text(constrained) in (",", ")"):
            constraints.append(text_of(sql, reader.tokens[begin:constrained]))
            return constrained
        column, end = _column(sql, reader, begin)
        columns.append(column)
        return end

    _, behind = read_list(reader, at, element)
    return tuple(columns), tuple(constraints), behind


def partition_column(sql: str, reader: Reader, at: int) -> tuple[ColumnDefinition, int]:
    """(A column of PARTITIONED BY that is given with its type, the place behind it): colType."""
    column, end = _column(sql, reader, at, allowed=("NOT", "COMMENT"))
    return column, end


def _column(
    sql: str, reader: Reader, at: int, allowed: tuple[str, ...] = ("NOT", "COMMENT", "DEFAULT", "GENERATED")
) -> tuple[ColumnDefinition, int]:
    """(The column at ``at``, the place behind it): its name, its type, and the rest in any order, each once."""
    if not reader.is_name(at):
        raise NotReadError(at, "a column")
    end = reader.type_end(at + 1)
    fields: dict[str, object] = {
        "nullable": True,
        "comment": "",
        "default": None,
        "generated_as": None,
    }
    type_ = text_of(sql, reader.tokens[at + 1 : end])
    constraints: list[str] = []
    words: set[str] = set()
    while reader.text(end) not in (",", ")"):
        word = reader.word(end)
        constrained = _behind_constraint(reader, end, OF_A_COLUMN) if "DEFAULT" in allowed else None
        if constrained is not None:
            constraints.append(text_of(sql, reader.tokens[end:constrained]))
            end = constrained
        elif word in allowed and word not in words:
            words.add(word)
            one, end = OPTIONS[word](sql, reader, end)
            fields |= one
        else:
            raise NotReadError(end, f"a comma, ), or {', '.join(one for one in allowed if one not in words)}")
    column = ColumnDefinition(
        name=reader.tokens[at].name,
        type=type_,
        constraints=tuple(constraints),
        **fields,  # type: ignore[arg-type]
    )
    return column, end


Option = Callable[[str, Reader, int], tuple[dict[str, object], int]]


def _not_null(_: str, reader: Reader, at: int) -> tuple[dict[str, object], int]:
    return {"nullable": False}, reader.expect(at + 1, "NULL")


def _comment(_: str, reader: Reader, at: int) -> tuple[dict[str, object], int]:
    value, end = read_string(reader, at + 1)
    return {"comment": value, "commented": True}, end


def _default(sql: str, reader: Reader, at: int) -> tuple[dict[str, object], int]:
    expression = reader.expression(at + 1)
    return {"default": text_of(sql, reader.tokens[expression.start : expression.end])}, expression.end


def _generated(sql: str, reader: Reader, at: int) -> tuple[dict[str, object], int]:
    """generationExpression."""
    by_default = reader.word(at + 1) == "BY"
    how = reader.expect(at + 2, "DEFAULT") if by_default else reader.expect(at + 1, "ALWAYS")
    begin = reader.expect(how, "AS")
    if reader.text(begin) == "(" and not by_default:
        expression = reader.expression(begin + 1)
        text = text_of(sql, reader.tokens[expression.start : expression.end])
        return {"generated_as": text}, reader.expect(expression.end, ")")
    numbers, end = _sequence(reader, reader.expect(begin, "IDENTITY"))
    counted = Identity(start=numbers.get("START", 1), step=numbers.get("INCREMENT", 1), always=not by_default)
    return {"counted": counted, "identity_as": text_of(sql, reader.tokens[at:end])}, end


def _sequence(reader: Reader, at: int) -> tuple[dict[str, int], int]:
    """identityColSpec: (what START WITH and INCREMENT BY say, the place behind the bracket, if one is at ``at``)."""
    numbers: dict[str, int] = {}
    if reader.text(at) != "(":
        return numbers, at
    end = at + 1
    while reader.text(end) != ")":
        word = reader.word(end)
        if word not in SEQUENCE or word in numbers:
            raise NotReadError(end, "START WITH, INCREMENT BY, each once, or )")
        begin = reader.expect(end + 1, SEQUENCE[word])
        sign = "-" if reader.text(begin) == "-" else ""
        digits = reader.text(begin + len(sign)).upper().removesuffix("L")
        if not digits.isdecimal():
            raise NotReadError(begin, "a whole number")
        numbers[word] = int(sign + digits)
        end = begin + len(sign) + 1
    return numbers, end + 1


OPTIONS: Mapping[str, Option] = {
    "NOT": _not_null,
    "COMMENT": _comment,
    "DEFAULT": _default,
    "GENERATED": _generated,
}


def _behind_constraint(reader: Reader, at: int, words: tuple[str, ...]) -> int | None:
    """The place behind the constraint at ``at``, one of those that begin with ``words``; None if there is none."""
    begin = at + 2 if reader.word(at) == "CONSTRAINT" and reader.word(at + 2) in words else at
    if reader.word(begin) not in words:
        return None
    try:
        end = _behind_rule(reader, begin, lists=words == OF_A_TABLE)
    except NotReadError:
        return None
    while True:
        if reader.word(end) in ("ENFORCED", "RELY", "NORELY"):
            end += 1
        elif reader.word(end) == "NOT" and reader.word(end + 1) == "ENFORCED":
            end += 2
        else:
            return end


def _behind_rule(reader: Reader, at: int, *, lists: bool) -> int:
    """checkConstraint, uniqueSpec, referenceSpec, foreignKeyConstraint; with ``lists`` a key names its columns."""
    word = reader.word(at)
    if word == "CHECK":
        reader.behind(at + 1)
        return reader.expect(reader.expression(at + 2).end, ")")
    if word == "REFERENCES":
        return _behind_reference(reader, at)
    keys = at + 1 if word == "UNIQUE" else reader.expect(at + 1, "KEY")
    end = read_list(reader, keys, _behind_name)[1] if lists else keys
    return _behind_reference(reader, end) if word == "FOREIGN" else end


def _behind_reference(reader: Reader, at: int) -> int:
    end = reader.dotted(_behind_name(reader, reader.expect(at, "REFERENCES")) - 1)
    return read_list(reader, end, _behind_name)[1] if reader.text(end) == "(" else end


def _behind_name(reader: Reader, at: int) -> int:
    if not reader.is_name(at):
        raise NotReadError(at, "a name")
    return at + 1
