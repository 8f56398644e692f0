"""Statements to start from, made of what is known of both tables: their columns, and which of them is the key."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from console.words.visible import visible
from engine.sql.names import quote, quoted_if_needed

if TYPE_CHECKING:
    from engine.model.browse import Column

_KEY_NAMES = ("id", "key", "pk", "uuid", "guid")
TIMES = ("updated_at", "modified_at", "last_modified", "event_time", "timestamp", "ts", "created_at", "date")
# as the bare name of a column Spark reads these as something else
_NO_NAMES = ("current_path", "false", "not", "null", "true")
# Spark compares no values of these
_NOT_COMPARABLE = ("map<", "variant", "interval")


def quoted(name: str) -> str:
    """A column's name as Spark wants it, wherever in a statement it stands."""
    return quote(name) if name.lower() in _NO_NAMES else quoted_if_needed(name)


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
    extra: tuple[str, ...] = ()
    """Columns of the source that the target lacks."""
    comparable: tuple[str, ...] = ()
    """The common columns whose values can be compared, the key left out."""
    newest_by: str | None = None
    """A column of the source that tells which of two rows is newer."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Those of the target's columns, by their names in lower case."""
    source_types: Mapping[str, str] = field(default_factory=dict)


def sides(target: str, columns: Sequence[Column], source: str | None, of_source: Sequence[Column] = ()) -> Sides:
    """What the names of both tables' columns tell. Without a source, only of the target."""
    there = {column.name.lower(): column for column in of_source}
    common = [column for column in columns if source is None or column.name.lower() in there]
    keys = sorted(
        (column for column in common if _key_rank(column.name, target) is not None),
        key=lambda column: (_key_rank(column.name, target), column.nullable),
    )
    key = keys[0].name if keys else common[0].name if common else None
    known, names = source is not None, {column.name.lower() for column in columns}
    return Sides(
        target=target,
        source=source,
        key=key,
        other_keys=tuple(column.name for column in keys[1:]),
        partitions=tuple(column.name for column in common if column.is_partition and column.name != key),
        common=tuple(column.name for column in common) if known else (),
        missing=tuple(column.name for column in columns if column not in common),
        extra=tuple(column.name for column in of_source if column.name.lower() not in names),
        comparable=tuple(
            column.name
            for column in common
            if known and column.name != key and not any(word in column.type.lower() for word in _NOT_COMPARABLE)
        ),
        newest_by=next((there[name].name for name in TIMES if name in there), None),
        types={column.name.lower(): column.type.lower() for column in columns},
        source_types={name: column.type.lower() for name, column in there.items()},
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
    if of.missing and of.common == (of.key,):
        return f"{_start(of)}{commented(f'beside {of.key} there is nothing to update')}\n{_inserts(of)}"
    return f"{_start(of)}WHEN MATCHED THEN {_update(of)}\n{_inserts(of)}"


def sync(of: Sides) -> str:
    return f"{upsert(of)}-- every row of the target that the source lacks\nWHEN NOT MATCHED BY SOURCE THEN DELETE\n"


def insert_only(of: Sides) -> str:
    return f"{_start(of)}{_inserts(of)}"


def _inserts(of: Sides) -> str:
    return f"WHEN NOT MATCHED THEN {_insert(of)}\n"


TEMPLATES: dict[str, tuple[str, str, Callable[[Sides], str]]] = {
    "upsert": ("Upsert", "update what is there, insert what is new", upsert),
    "sync": ("Delete and sync", "the target becomes the source, deletions too", sync),
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
    has_none = bool(of.missing and of.extra and not of.common)
    mine, theirs = (of.missing[0], of.extra[0]) if has_none else (of.key or "id", of.key or "id")
    lines = [f"MERGE INTO {of.target} AS t"]
    if source or of.source:
        lines.append(f"USING {source or of.source} AS s")
    else:
        lines.append("USING changes AS s  -- a table, or (SELECT ...), with the changes")
    lines.append(f"  ON t.{quoted(mine)} = s.{quoted(theirs)}")
    if has_none:
        lines.append(
            commented("no column has the same name in both, and these are the first: write those that tell a row")
        )
    if of.other_keys:
        lines.append(commented(f"called like keys too: {_listed(of.other_keys)}"))
    lines += [
        commented(f"AND t.{quoted(name)} = s.{quoted(name)} skips files, where a row never moves to another {name}")
        for name in of.partitions
    ]
    if of.missing and of.source:
        lines.append(commented(f"{of.source} has no {_listed(of.missing)}"))
    return "\n".join(lines) + "\n"


def _listed(names: Sequence[str], most: int = 5) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def commented(text: str) -> str:
    """A comment below ON."""
    # a name with a line break in it would end the comment
    return f"  -- {visible(text)}"


def _update(of: Sides) -> str:
    names = [name for name in of.common if name != of.key]
    if not of.missing or not names:
        return "UPDATE SET *"
    return "UPDATE SET " + wrapped([f"{quoted(name)} = s.{quoted(name)}" for name in names])


def _insert(of: Sides) -> str:
    if not of.missing or not of.common:
        return "INSERT *"
    names = [quoted(name) for name in of.common]
    values = [f"s.{name}" for name in names]
    return f"INSERT ({wrapped(names)})\n  VALUES ({wrapped(values)})"


def wrapped(parts: Sequence[str], *, by: str = ",", width: int = 66) -> str:
    """A list of ``parts`` between commas, or between ORs; on several lines if it is long."""
    if by == ",":
        items = [f"{part}," for part in parts[:-1]] + [*parts[-1:]]
    else:
        items = [*parts[:1], *(f"{by} {part}" for part in parts[1:])]
    if len(" ".join(items)) <= width:
        return " ".join(items)
    lines, line = [], ""
    for item in items:
        if line and len(line) + len(item) >= width:
            lines.append(line)
            line = ""
        line = f"{line} {item}".strip()
    return "\n    ".join([*lines, line])
