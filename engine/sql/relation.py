"""The two relations of a MERGE as written: a name, IDENTIFIER(…) or a query, and its alias."""

from __future__ import annotations

from dataclasses import dataclass

from engine.sql.expressions import Reader
from engine.sql.names import quote
from engine.sql.read_create_parts import read_name
from engine.sql.sql_text import text_of
from engine.sql.token_reader import NotReadError

# SqlBaseParser: strictNonReserved, the keywords that name a column or a table and are no alias
NEVER_ALIAS = frozenset(
    (
        *("ANTI", "CROSS", "EXCEPT", "FULL", "INNER", "INTERSECT", "JOIN", "LATERAL", "LEFT", "MINUS", "NATURAL", "ON"),
        *("RIGHT", "SEMI", "SETMINUS", "UNION", "USING"),
    )
)

NAMED_COLUMNS = (
    "MERGE names no columns behind an alias; a query can: USING (SELECT * FROM VALUES (1, 2) AS x(a, b)) AS x."
)


@dataclass(frozen=True)
class Relation:
    """A table or query as written. ``text`` is the name or the bracketed query, ``[start, end)`` its place.

    ``parts`` are the parts of a dotted name, () for a query or IDENTIFIER(…); ``qualifier`` those that its columns may
    be called by without an alias: of the name in IDENTIFIER('…') too. ``end_alias`` is behind the alias, if there is
    one.
    """

    text: str
    start: int
    end: int
    alias: str | None
    end_alias: int
    parts: tuple[str, ...]
    qualifier: tuple[str, ...] = ()

    @property
    def is_query(self) -> bool:
        return self.text.startswith("(")

    @property
    def reference(self) -> str:
        """What names its columns: the alias, else the last part of the name."""
        return self.alias or (quote(self.qualifier[-1]) if self.qualifier else "")


def read_relation(sql: str, reader: Reader, at: int, *, query: bool) -> tuple[Relation, int]:
    """(The relation at ``at``, the place behind it and its alias)."""
    parts: tuple[str, ...] = ()
    qualifier: tuple[str, ...] = ()
    if query and reader.text(at) == "(":
        end = reader.behind(at)
    elif reader.word(at) == "IDENTIFIER" and reader.text(at + 1) == "(":
        end, qualifier = reader.behind(at + 1), _named_by(reader, at)
    elif reader.is_name(at):
        end = reader.dotted(at)
        parts = qualifier = tuple(token.name for token in reader.tokens[at:end:2])
    else:
        raise NotReadError(at, "the name of a table")
    # AS before what is no alias is one itself: USING s AS ON (…)
    behind = end + 1 if reader.word(end) == "AS" and _is_alias(reader, end + 1) else end
    is_alias = _is_alias(reader, behind)
    body = reader.tokens[at:end]
    last = behind + 1 if is_alias else end
    if is_alias and reader.text(last) == "(":
        raise NotReadError(last, "ON" if query else "USING", NAMED_COLUMNS)
    return Relation(
        text=text_of(sql, body),
        start=body[0].start,
        end=body[-1].end,
        alias=reader.tokens[behind].text if is_alias else None,
        end_alias=reader.tokens[last - 1].end,
        parts=parts,
        qualifier=qualifier,
    ), last


def _named_by(reader: Reader, at: int) -> tuple[str, ...]:
    """The parts of the name in IDENTIFIER('…'); () for one that is computed."""
    try:
        return read_name(reader, at)[0]
    except NotReadError:
        return ()


def _is_alias(reader: Reader, at: int) -> bool:
    return reader.is_name(at) and reader.word(at) not in NEVER_ALIAS
