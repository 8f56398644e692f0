"""What a MERGE changes in the target's schema, in words: columns and fields that it adds, types that it changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from console.words.format import number
from console.words.visible import visible

if TYPE_CHECKING:
    from engine.model.plan import Plan

MOST = 6
"""So many are named where there is little room."""
HELD = {"array": ("element",), "map": ("key", "value")}
"""What an array or a map holds, as Delta calls it in a path."""


def evolution(plan: Plan, most: int | None = MOST) -> str:
    """``schema evolves: adds note string; v int becomes bigint``; "" if the schema stays or nothing is committed."""
    if plan.refused is not None:
        return ""
    added, changed = [], []
    for column in plan.write.schema_after:
        for path, before, after in _differing(column.name, column.type_before, column.type):
            if before is None:
                added.append(visible(f"{path} {after}"))
            else:
                changed.append(visible(f"{path} {before} becomes {after}"))
    parts = [f"adds {_named(added, most)}"] if added else []
    parts += [_named(changed, most)] if changed else []
    return f"schema evolves: {'; '.join(parts)}" if parts else ""


def _named(texts: list[str], most: int | None) -> str:
    shown = texts[:most]
    more = len(texts) - len(shown)
    return ", ".join(shown) + (f" and {number(more)} more" if more else "")


def _differing(path: str, before: str | None, after: str) -> Iterator[tuple[str, str | None, str]]:
    """(Path, type before or None, type after) of the innermost parts that are not alike."""
    if before is None:
        yield path, None, after
        return
    old, new = _inside(before), _inside(after)
    if not old or not new or _kind(before) != _kind(after):
        if before != after:
            yield path, before, after
        return
    known = {name.lower(): type_ for name, type_ in old}
    for name, type_ in new:
        yield from _differing(f"{path}.{name}", known.get(name.lower()), type_)


def _kind(type_: str) -> str:
    return type_.partition("<")[0]


def _inside(type_: str) -> list[tuple[str, str]]:
    """(Name, type) of what a type holds, as Spark prints it; [] if it holds nothing, or cannot be read."""
    kind, bracket, rest = type_.partition("<")
    if not bracket or not rest.endswith(">"):
        return []
    parts = _split(rest[:-1])
    if kind in HELD:
        return [*zip(HELD[kind], parts, strict=True)] if len(parts) == len(HELD[kind]) else []
    fields = [part.partition(":")[::2] for part in parts]
    return fields if all(name and inner for name, inner in fields) else []


def _split(text: str) -> list[str]:
    """At the commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign in "<(") - (sign in ">)")
        if sign == "," and not depth:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]
