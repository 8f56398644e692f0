"""Statements to start from, made of what is known of both tables: their columns, and which of them is the key."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from console.words.visible import visible

if TYPE_CHECKING:
    from engine.model.browse import Column

_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*")
_KEY_NAMES = ("id", "key", "pk", "uuid", "guid")
_TIMES = ("updated_at", "modified_at", "last_modified", "event_time", "timestamp", "ts", "created_at", "date")
# Spark compares no values of these
_NOT_COMPARABLE = ("map<", "variant", "interval")


def quoted(name: str) -> str:
    """A column's name as Spark wants it."""
    return name if _PLAIN_NAME.fullmatch(name) else f"`{name.replace('`', '``')}`"


@dataclass(frozen=True)
class Sides:
    """Both sides of a merge to propose. ``target`` and ``source`` are SQL; columns are names of the target."""

    target: str
    source: str | None = None
    key: str | None = None
    other_keys: tuple[str, ...] = ()
    """Further columns of both that are called like keys."""
    partitions: tuple[str, ...] = ()
    """Columns of both by which the target is partitioned."""
    common: tuple[str, ...] = ()
    """The columns that both have."""
    missing: tuple[str, ...] = ()
    """Columns of the target that the source lacks."""
    comparable: tuple[str, ...] = ()
    """The common columns whose values can be compared, the key left out."""
    newest_by: str | None = None
    """A column of the source that tells which of two rows is newer."""


def sides(target: str, columns: Sequence[Column], source: str | None, of_source: Sequence[Column] = ()) -> Sides:
    """What the names of both tables' columns tell. Without a source, only of the target."""
    there = {column.name.lower(): column for column in of_source}
    common = [column for column in columns if source is None or column.name.lower() in there]
    keys = sorted(
        (column for column in common if _key_rank(column.name, target) is not None),
        key=lambda column: (_key_rank(column.name, target), column.nullable),
    )
    key = keys[0].name if keys else common[0].name if common else None
    known = source is not None
    return Sides(
        target=target,
        source=source,
        key=key,
        other_keys=tuple(column.name for column in keys[1:]),
        partitions=tuple(column.name for column in common if column.is_partition and column.name != key),
        common=tuple(column.name for column in common) if known else (),
        missing=tuple(column.name for column in columns if column not in common),
        comparable=tuple(
            column.name
            for column in common
            if known and column.name != key and not any(word in column.type.lower() for word in _NOT_COMPARABLE)
        ),
        newest_by=next((there[name].name for name in _TIMES if name in there), None),
    )


def _key_rank(column: str, table: str) -> int | None:
    """How much a column is called like the key of its table: 0 the most; None not at all."""
    name = column.lower()
    own = re.sub(r"\W", "", table.lower().rpartition(".")[2])
    singular = own[:-3] + "y" if own.endswith("ies") else own.removesuffix("s")
    if name in _KEY_NAMES or name in {f"{base}_{word}" for base in (own, singular) for word in _KEY_NAMES}:
        return 0
    return 1 if name.rpartition("_")[2] in _KEY_NAMES else None


def upsert(of: Sides) -> str:
    return f"{_start(of)}WHEN MATCHED THEN {_update(of)}\nWHEN NOT MATCHED THEN {_insert(of)}\n"


def scd_type_1(of: Sides) -> str:
    changed = " OR ".join(f"t.{quoted(name)} IS DISTINCT FROM s.{quoted(name)}" for name in of.comparable)
    return (
        f"{_start(of)}WHEN MATCHED AND ({_wrapped(changed) or 't.value IS DISTINCT FROM s.value'})\n"
        f"  THEN {_update(of)}\nWHEN NOT MATCHED THEN {_insert(of)}\n"
    )


def sync(of: Sides) -> str:
    return f"{upsert(of)}-- every row of the target that the source lacks\nWHEN NOT MATCHED BY SOURCE THEN DELETE\n"


def dedupe_insert(of: Sides) -> str:
    key = quoted(of.key or "id")
    order = f"{quoted(of.newest_by)} DESC" if of.newest_by else key
    which = "the newest row of each key" if of.newest_by else "any one row of each key: ORDER BY says which"
    source = (
        f"(SELECT * FROM {of.source or 'changes'}  -- {which}\n"
        f"       QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY {order}) = 1)"
    )
    return f"{_start(of, source)}WHEN NOT MATCHED THEN {_insert(of)}\n"


def insert_only(of: Sides) -> str:
    return f"{_start(of)}WHEN NOT MATCHED THEN {_insert(of)}\n"


TEMPLATES: dict[str, tuple[str, str, Callable[[Sides], str]]] = {
    "upsert": ("Upsert", "update what is there, insert what is new", upsert),
    "scd1": ("SCD type 1", "the same, but only rows that differ are updated", scd_type_1),
    "sync": ("Delete and sync", "the target becomes the source, deletions too", sync),
    "dedupe": ("Deduplicate and insert", "one row of each new key, the newest one", dedupe_insert),
    "insert": ("Insert only", "add what is new, change nothing", insert_only),
}


def conditions(of: Sides, target: str, source: str) -> list[tuple[str, str]]:
    """Conditions to join by, likeliest first, each with why. ``target`` and ``source`` name the columns of both."""

    def equal(*names: str) -> str:
        return " AND ".join(f"{target}.{quoted(name)} = {source}.{quoted(name)}" for name in names)

    reasons = {equal(of.key): "the key, by its name"} if of.key else {}
    for name in of.partitions if of.key else ():
        why = f"skips files, where a row never moves to another {name}"
        reasons[equal(of.key or "", name)] = why
    if of.key and of.other_keys:
        reasons[equal(of.key, *of.other_keys)] = "all that are called like keys"
    for name in (*of.other_keys, *of.common):
        reasons.setdefault(equal(name), "called like a key" if name in of.other_keys else "both have it")
    return list(reasons.items())


def _start(of: Sides, source: str = "") -> str:
    key = quoted(of.key or "id")
    lines = [f"MERGE INTO {of.target} AS t"]
    if source or of.source:
        lines.append(f"USING {source or of.source} AS s")
    else:
        lines.append("USING changes AS s  -- a table, or (SELECT ...), with the changes")
    lines.append(f"  ON t.{key} = s.{key}")
    if of.other_keys:
        lines.append(_comment(f"called like keys too: {_listed(of.other_keys)}"))
    lines += [
        _comment(f"AND t.{quoted(name)} = s.{quoted(name)} skips files, where a row never moves to another {name}")
        for name in of.partitions
    ]
    if of.missing and of.source:
        lines.append(_comment(f"{of.source} has no {_listed(of.missing)}"))
    return "\n".join(lines) + "\n"


def _listed(names: Sequence[str], most: int = 5) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def _comment(text: str) -> str:
    # a name with a line break in it would end the comment
    return f"  -- {visible(text)}"


def _update(of: Sides) -> str:
    names = [name for name in of.common if name != of.key]
    if not of.missing or not names:
        return "UPDATE SET *"
    return "UPDATE SET " + _wrapped(", ".join(f"{quoted(name)} = s.{quoted(name)}" for name in names))


def _insert(of: Sides) -> str:
    if not of.missing or not of.common:
        return "INSERT *"
    names = ", ".join(map(quoted, of.common))
    values = ", ".join(f"s.{quoted(name)}" for name in of.common)
    return f"INSERT ({_wrapped(names)})\n  VALUES ({_wrapped(values)})"


def _wrapped(listed: str, width: int = 66) -> str:
    """A long list on several lines, cut between its items."""
    if len(listed) <= width:
        return listed
    lines, line = [], ""
    for part in re.split(r"(?<=,) |(?= OR )", listed):
        if line and len(line) + len(part) >= width:
            lines.append(line)
            line = ""
        line = f"{line} {part.strip()}".strip()
    return "\n    ".join([*lines, line])
