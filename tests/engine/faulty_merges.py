"""Random small merges with planted faults, and their faults by brute force: plain Python over lists of rows.

Python's None is SQL's NULL and its unknown truth. Nothing here knows how the engine counts.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
Truth = Callable[[Row, Row], bool | None]
NO_ROW: Row = dict.fromkeys(("id", "part", "n", "seq", "active", "sid"))
TARGET_COLUMNS = {"id": "INT", "part": "STRING", "n": "INT", "seq": "INT", "active": "BOOLEAN"}
SOURCE_COLUMNS = {**TARGET_COLUMNS, "sid": "STRING"}
DELETES_SHARE = 0.2
SAME_TARGET = 4
"""So many merges that follow each other are into the same rows: to plan one changes none."""


@dataclass(frozen=True)
class Condition:
    """A condition as SQL, and what it is for a source row and a target row."""

    sql: str
    holds: Truth


@dataclass(frozen=True)
class KeyPart:
    """An equality of ON: the target's ``column`` and the source's expression, ``<=>`` if ``null_safe``."""

    column: str
    sql: str
    value: Callable[[Row], Any]
    null_safe: bool = False
    is_cast: bool = False

    @property
    def condition(self) -> Condition:
        sign = "<=>" if self.null_safe else "="
        compare = (lambda s, t: self.value(s) == t[self.column]) if self.null_safe else self._equal
        return Condition(f"t.{self.column} {sign} {self.sql}", compare)

    def _equal(self, s: Row, t: Row) -> bool | None:
        return equal(self.value(s), t[self.column])


@dataclass(frozen=True)
class Clause:
    """``action`` is update, delete or insert; ``values`` are what columns get, in the order of the statement."""

    kind: str
    action: str
    sql: str
    condition: Condition | None = None
    values: tuple[tuple[str, Callable[[Row, Row], Any]], ...] = ()

    def written(self, s: Row, t: Row) -> Row:
        return {name: value(s, t) for name, value in self.values}


@dataclass(frozen=True)
class FaultyMerge:
    """``never`` is ON false."""

    target: tuple[Row, ...]
    source: tuple[Row, ...]
    keys: tuple[KeyPart, ...]
    others: tuple[Condition, ...]
    clauses: tuple[Clause, ...]
    never: bool = False

    @property
    def sql(self) -> str:
        rows = ", ".join(f"({', '.join(literal(row[name]) for name in SOURCE_COLUMNS)})" for row in self.source)
        items = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in SOURCE_COLUMNS.items())
        nothing = f"({', '.join('NULL' for _ in SOURCE_COLUMNS)})"
        values = f"VALUES {rows or nothing} AS x({', '.join(SOURCE_COLUMNS)})"
        source = f"(SELECT {items} FROM {values}{'' if rows else ' WHERE false'})"
        on = " AND ".join(one.sql for one in (*(key.condition for key in self.keys), *self.others)) or "false"
        return f"MERGE INTO t USING {source} AS s ON {on} {' '.join(clause.sql for clause in self.clauses)}"

    @property
    def target_rows(self) -> str:
        return ", ".join(f"({', '.join(literal(row[name]) for name in TARGET_COLUMNS)})" for row in self.target)


def literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return repr(value) if isinstance(value, str) else str(value).lower()


def equal(a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else a == b


def less(a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else a < b


def both(parts: list[bool | None]) -> bool | None:
    """SQL's AND."""
    return False if False in parts else None if None in parts else True


def number(text: str | None) -> int | None:
    return None if text is None else int(text)


KEYS = (
    (KeyPart("id", "s.id", lambda s: s["id"]),),
    (KeyPart("id", "s.id", lambda s: s["id"]), KeyPart("part", "s.part", lambda s: s["part"])),
    (
        KeyPart("id", "s.id", lambda s: s["id"]),
        KeyPart("part", "s.part", lambda s: s["part"], null_safe=True),
    ),
    (KeyPart("id", "coalesce(s.id, s.n)", lambda s: s["n"] if s["id"] is None else s["id"]),),
    (KeyPart("id", "s.id", lambda s: s["id"], null_safe=True),),
    (KeyPart("id", "s.sid", lambda s: number(s["sid"]), is_cast=True),),
)
CONJUNCTS = (
    Condition("t.active", lambda _s, t: t["active"]),
    Condition("s.n > 2", lambda s, _t: less(2, s["n"])),
    Condition("t.n < s.n", lambda s, t: less(t["n"], s["n"])),
)
KEYLESS = (
    Condition("t.id < s.id", lambda s, t: less(t["id"], s["id"])),
    Condition(
        "(t.id = s.id OR t.part = s.part)",
        lambda s, t: negated(both([negated(equal(t["id"], s["id"])), negated(equal(t["part"], s["part"]))])),
    ),
)
OF_PAIRS = (
    Condition("s.n > t.n", lambda s, t: less(t["n"], s["n"])),
    Condition("t.active", lambda _s, t: t["active"]),
    Condition("s.seq >= t.seq", lambda s, t: negated(less(s["seq"], t["seq"]))),
    Condition("s.part IS NOT NULL", lambda s, _t: s["part"] is not None),
)
OF_SOURCE = (
    Condition("s.n > 3", lambda s, _t: less(3, s["n"])),
    Condition("s.id IS NOT NULL", lambda s, _t: s["id"] is not None),
)
OF_TARGET = (
    Condition("t.n > 3", lambda _s, t: less(3, t["n"])),
    Condition("t.active", lambda _s, t: t["active"]),
)


def negated(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def of_source(name: str) -> Callable[[Row, Row], Any]:
    return lambda s, _t: s[name]


STAR = tuple((name, of_source(name)) for name in TARGET_COLUMNS)
SETS = (
    ("*", STAR),
    ("n = s.n", (("n", of_source("n")),)),
    ("part = s.part, seq = s.seq", (("part", of_source("part")), ("seq", of_source("seq")))),
    ("active = false", (("active", lambda _s, _t: False),)),
    ("n = t.seq, seq = s.seq", (("n", lambda _s, t: t["seq"]), ("seq", of_source("seq")))),
    ("n = s.seq * 2", (("n", lambda s, _t: None if s["seq"] is None else s["seq"] * 2),)),
)
INSERTS = (
    ("*", STAR),
    ("(id, n) VALUES (s.id, s.n)", (("id", of_source("id")), ("n", of_source("n")))),
    ("(id, part) VALUES (s.n, s.part)", (("id", of_source("n")), ("part", of_source("part")))),
    ("(part, seq) VALUES (s.part, s.seq)", (("part", of_source("part")), ("seq", of_source("seq")))),
)
SETS_ALONE = (
    ("active = false", (("active", lambda _s, _t: False),)),
    ("n = 3", (("n", lambda _s, _t: 3),)),
)


def drawn_row(draw: random.Random, most: int) -> Row:
    return {
        "id": draw.choice([None, *range(1, most)]),
        "part": draw.choice([None, "a", "b"]),
        "n": draw.choice([None, *range(1, 7)]),
        "seq": draw.choice([None, 1, 2, 3]),
        "active": draw.choice([True, True, False, None]),
        "sid": draw.choice([None, "1", "01", "2", " 2", "7", "07", "+7", "8"]),
    }


def faulty_merge(seed: int) -> FaultyMerge:
    draw, of_target = random.Random(seed), random.Random(f"target {seed // SAME_TARGET}")
    target = tuple(drawn_row(of_target, 8) for _ in range(of_target.choice((0, 4, 12))))
    source = [drawn_row(draw, 12) for _ in range(draw.choice((0, 3, 8)))]
    # rows that are in the table already, so that some updates change nothing
    source += [{**draw.choice(target), "sid": None} for _ in range(draw.choice((0, 1, 3))) if target]
    shape = draw.random()
    never = shape < 0.05
    keys = () if shape < 0.2 else draw.choice(KEYS)
    others: tuple[Condition, ...] = ()
    if keys:
        others = tuple(draw.sample(CONJUNCTS, draw.choice((0, 0, 1, 2))))
    elif not never:
        others = (draw.choice(KEYLESS),)
    clauses = drawn_clauses(draw)
    return FaultyMerge(target, tuple(source), keys, others, clauses, never)


def drawn_clauses(draw: random.Random) -> tuple[Clause, ...]:
    found: list[Clause] = []
    for kind, conditions, changes in (
        ("MATCHED", OF_PAIRS, SETS),
        ("NOT MATCHED", OF_SOURCE, INSERTS),
        ("NOT MATCHED BY SOURCE", OF_TARGET, SETS_ALONE),
    ):
        number_of = draw.choice((0, 1, 1, 2)) if kind != "NOT MATCHED BY SOURCE" else draw.choice((0, 0, 1))
        for at in range(number_of):
            is_last = at == number_of - 1
            condition = draw.choice(conditions) if not is_last or draw.random() < 0.3 else None
            found.append(drawn_clause(draw, kind, condition, changes))
    return tuple(found) or (Clause("NOT MATCHED", "insert", "WHEN NOT MATCHED THEN INSERT *", None, STAR),)


def drawn_clause(draw: random.Random, kind: str, condition: Condition | None, changes: Any) -> Clause:
    when = f"WHEN {kind}{f' AND {condition.sql}' if condition else ''} THEN"
    if kind == "NOT MATCHED":
        text, values = draw.choice(changes)
        return Clause(kind, "insert", f"{when} INSERT {text}", condition, values)
    if draw.random() < 0.3:
        return Clause(kind, "delete", f"{when} DELETE", condition)
    text, values = draw.choice(changes)
    return Clause(kind, "update", f"{when} UPDATE SET {text}", condition, values)


@dataclass(frozen=True)
class Outcome:
    """What Delta does: pairs of (source row, target row, clause), by what they are."""

    updated: tuple[tuple[Row, Row, Clause], ...]
    deleted_alone: int
    inserted: tuple[tuple[Row, Clause], ...]


def outcome(merge: FaultyMerge) -> Outcome | None:
    """None if Delta refuses it: several source rows match one target row, whatever the clauses' conditions say."""
    on = [*(key.condition.holds for key in merge.keys), *(one.holds for one in merge.others)]

    def matches(s: Row, t: Row) -> bool:
        return not merge.never and both([holds(s, t) for holds in on]) is True

    of_kind: dict[str, list[Clause]] = {"MATCHED": [], "NOT MATCHED": [], "NOT MATCHED BY SOURCE": []}
    for one in merge.clauses:
        of_kind[one.kind].append(one)
    updated: list[tuple[Row, Row, Clause]] = []
    alone = 0
    matched = of_kind["MATCHED"]
    deletes_all = len(matched) == 1 and matched[0].action == "delete" and matched[0].condition is None
    inserts_alone = all(one.kind == "NOT MATCHED" for one in merge.clauses)
    for t in merge.target:
        pairs = [s for s in merge.source if matches(s, t)]
        taken = [(s, clause) for s in pairs if (clause := taking(matched, s, t))]
        if len(pairs) > 1 and not deletes_all and not inserts_alone:
            return None
        updated += [(s, t, clause) for s, clause in taken if clause.action == "update"]
        if not pairs and (clause := taking(of_kind["NOT MATCHED BY SOURCE"], NO_ROW, t)):
            alone += clause.action == "delete"
            if clause.action == "update":
                updated.append((NO_ROW, t, clause))
    inserted = [
        (s, clause)
        for s in merge.source
        if not any(matches(s, t) for t in merge.target) and (clause := taking(of_kind["NOT MATCHED"], s, NO_ROW))
    ]
    return Outcome(tuple(updated), alone, tuple(inserted))


def taking(clauses: list[Clause], s: Row, t: Row) -> Clause | None:
    return next((c for c in clauses if c.condition is None or c.condition.holds(s, t) is True), None)


def faults(merge: FaultyMerge, done: Outcome) -> dict[str, int]:
    """Each code of issue's table that the merge has, with its rows."""
    never_null = [key for key in merge.keys if not key.null_safe]
    counts: dict[str, int] = {}
    if merge.keys:
        counts["NULL_KEYS_INSERTED"] = sum(
            any(clause.written(s, NO_ROW).get(key.column) is None for key in never_null) for s, clause in done.inserted
        )
        groups: Counter[tuple[Any, ...]] = Counter()
        for s, clause in done.inserted:
            row = {**NO_ROW, **clause.written(s, NO_ROW)}
            if all(row[key.column] is not None for key in never_null):
                groups[tuple(row[key.column] for key in merge.keys)] += 1
        counts["DUPLICATE_INSERTS"] = sum(n - 1 for n in groups.values())
        if merge.others:
            counts["KEY_EXISTS_OUTSIDE_ON"] = sum(
                any(all(key.condition.holds(s, t) is True for key in merge.keys) for t in merge.target)
                for s, _ in done.inserted
            )
    counts["UPDATES_CHANGE_NOTHING"] = sum(
        all(t[name] == value for name, value in clause.written(s, t).items()) for s, t, clause in done.updated
    )
    counts["UPDATES_GO_BACK"] = sum(
        "seq" in clause.written(s, t) and less(s["seq"], t["seq"]) is True for s, t, clause in done.updated
    )
    if done.deleted_alone > DELETES_SHARE * len(merge.target):
        counts["DELETES_BY_ABSENCE"] = done.deleted_alone
    counts["KEYS_COLLIDE_BY_CAST"] = collisions(merge)
    found = {code: count for code, count in counts.items() if count}
    if not merge.keys and not merge.never:
        found["ON_WITHOUT_KEY"] = len(merge.source)
    if not merge.source:
        found["SOURCE_EMPTY"] = 0
    return found


def collisions(merge: FaultyMerge) -> int:
    """Source rows whose key is a text that is one number with another text."""
    casts = [key for key in merge.keys if key.is_cast]
    if not casts:
        return 0
    texts = Counter(s["sid"] for s in merge.source if s["sid"] is not None)
    spellings = Counter(int(text) for text in texts)
    return sum(count for text, count in texts.items() if spellings[int(text)] > 1)
