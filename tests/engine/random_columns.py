"""Merges between two tables whose columns are called like each other, like keywords and like the tables themselves.

Each reference to a column is known by its side: what the statement means is written beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from engine.model.plan import ClauseKind
from engine.sql.names import quote
from engine.sql.resolve import SOURCE, TARGET

FIELDS = ("end", "id", "t", "when")
INTS = ("id", "end", "case", "date", "matched", "when", "select", "x.y", "`", "not")
STRUCTS = ("t", "s", "set", "source")
OWN = {"target": "only_target", "source": "only_source"}
NAMES = {"target": TARGET, "source": SOURCE}
BOTH = ("target", "source")
SCOPES: dict[ClauseKind, tuple[str, ...]] = {
    "matched": BOTH,
    "not_matched": ("source",),
    "not_matched_by_source": ("target",),
}
HEADS: dict[ClauseKind, str] = {
    "matched": "WHEN MATCHED",
    "not_matched": "WHEN NOT MATCHED",
    "not_matched_by_source": "WHEN NOT MATCHED BY SOURCE",
}


def columns_of(side: str) -> tuple[str, ...]:
    return (*INTS, *STRUCTS, OWN[side])


def create_table(side: str, name: str) -> str:
    """A table of the side's columns; those that both sides have are of the same types."""
    struct = f"STRUCT<{', '.join(f'{quote(field)}: INT' for field in FIELDS)}>"
    types = ", ".join(f"{quote(one)} {struct if one in STRUCTS else 'INT'}" for one in columns_of(side))
    # the names hold what a file of Parquet may not
    mapping = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    return f"CREATE TABLE {name} ({types}) USING delta {mapping}"


@dataclass(frozen=True)
class Said:
    """A text as typed, and the same with every column qualified by its side and quoted."""

    typed: str
    meant: str


@dataclass(frozen=True)
class Merge:
    """A statement, with what ON, each condition and each assigned value mean, in their order."""

    sql: str
    meant: tuple[str, ...]


class _Merges:
    def __init__(self, seed: int, tables: tuple[str, str]) -> None:
        self._random = random = Random(seed)
        self._tables = tables
        aliases = random.choice((("t", "s"), ("s", "t"), ("end", "when"), ("target", "source"), (None, None)))
        self._aliases = dict(zip(BOTH, aliases, strict=True))
        names = (quote(self._cased(alias)) if alias else table for alias, table in zip(aliases, tables, strict=True))
        self._qualifiers = dict(zip(BOTH, names, strict=True))

    def draw(self) -> Merge:
        said = [self._boolean(BOTH, 2)]
        lines = ["", said[0].typed]
        for kind, scope in SCOPES.items():
            if self._random.random() < 0.3 and kind != "matched":
                continue
            condition = self._boolean(scope, 2)
            assigned = [(quote(self._cased(one)), self._int(scope, 1)) for one in self._random.sample(INTS, 2)]
            said += [condition, *(value for _, value in assigned)]
            lines += [HEADS[kind], "AND", condition.typed, "THEN", _action(kind, assigned)]
        relations = {
            side: f"{table} {'AS ' + quote(alias) if (alias := self._aliases[side]) else ''}"
            for side, table in zip(BOTH, self._tables, strict=True)
        }
        lines[0] = f"MERGE INTO {relations['target']} USING {relations['source']} ON"
        return Merge(" ".join(lines), tuple(one.meant for one in said))

    def _boolean(self, scope: Sequence[str], depth: int) -> Said:
        if depth == 0:
            return _joined(self._int(scope, 0), self._random.choice(("=", "<=>", "<", "<>")), self._int(scope, 0))
        kind = self._random.randrange(8)
        if kind < 2:
            return _joined(self._boolean(scope, depth - 1), ("AND", "OR")[kind], self._boolean(scope, depth - 1))
        if kind == 2:
            return _joined("NOT (", self._boolean(scope, depth - 1), ")")
        if kind == 3:
            return _joined(self._int(scope, 1), "IN (", self._int(scope, 0), ",", self._int(scope, 1), ")")
        if kind == 4:
            return _joined(self._int(scope, 1), "BETWEEN", self._int(scope, 0), "AND", self._int(scope, 0))
        if kind == 5:
            return _joined(self._int(scope, 1), "IS NOT NULL")
        if kind == 6:
            return self._over_array(scope)
        return self._boolean(scope, 0)

    def _over_array(self, scope: Sequence[str]) -> Said:
        """A lambda whose variable may be called like a column or a side: a variable hides them."""
        variable = self._random.choice(("x", "id", "t", "s"))
        elements = _joined("exists ( array (", self._int(scope, 0), ",", self._int(scope, 0), ")")
        return _joined(elements, ",", variable, "->", variable, "> 1 )")

    def _int(self, scope: Sequence[str], depth: int) -> Said:
        if depth == 0:
            return self._column(self._random.choice(tuple(scope)), scope)
        kind = self._random.randrange(5)
        if kind == 0:
            return _joined("CASE WHEN", self._boolean(scope, 0), "THEN", self._int(scope, 0), "ELSE 1 END")
        if kind == 1:
            return _joined("coalesce (", self._int(scope, 0), ",", self._int(scope, 0), ")")
        if kind == 2:
            return _joined(self._int(scope, 0), "+", self._int(scope, 0))
        if kind == 3:
            return _joined("struct (", self._int(scope, 0), "AS id, 2 AS t ) . id")
        return self._int(scope, 0)

    def _column(self, side: str, scope: Sequence[str]) -> Said:
        name = self._random.choice(columns_of(side))
        field = f".{quote(self._cased(self._random.choice(FIELDS)))}" if name in STRUCTS else ""
        is_bare = (name == OWN[side] or len(scope) == 1) and self._random.random() < 0.5
        # what a struct's field could also be is written in full: t.id is the side's column, if the side is called t
        is_bare = is_bare and name not in STRUCTS
        cased = quote(self._cased(name))
        typed = cased if is_bare else f"{self._qualifiers[side]}.{cased}"
        return Said(typed + field, f"{NAMES[side]}.{quote(name)}{field}")

    def _cased(self, name: str) -> str:
        """A name in the letters that somebody types: their case does not matter."""
        return name.upper() if self._random.random() < 0.2 else name


def _joined(*pieces: Said | str) -> Said:
    said = [Said(piece, piece) if isinstance(piece, str) else piece for piece in pieces]
    return Said(" ".join(one.typed for one in said), " ".join(one.meant for one in said))


def _action(kind: ClauseKind, assigned: list[tuple[str, Said]]) -> str:
    if kind == "not_matched":
        columns = ", ".join(column for column, _ in assigned)
        return f"INSERT ({columns}) VALUES ({', '.join(value.typed for _, value in assigned)})"
    return f"UPDATE SET {', '.join(f'{column} = {value.typed}' for column, value in assigned)}"


def random_merge(seed: int, target: str, source: str) -> Merge:
    return _Merges(seed, (target, source)).draw()


def swapped(text: str) -> Iterator[str]:
    """``text`` with one column taken from the other side, where both have it."""
    for one, other in ((TARGET, SOURCE), (SOURCE, TARGET)):
        at = text.find(f"{one}.")
        while at >= 0:
            if not text.startswith("`only_", at + len(one) + 1):
                yield f"{text[:at]}{other}{text[at + len(one) :]}"
            at = text.find(f"{one}.", at + 1)
