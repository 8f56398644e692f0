"""Where the value of a column comes from if a statement gives none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.words.visible import visible

if TYPE_CHECKING:
    from engine.model.browse import Column
    from engine.model.identity import Identity


def value(column: Column) -> str:
    """``generated as year(day)``, ``identity by default, start 5, step 2``, ``default 0``; "" if it is NULL."""
    identity = "" if column.identity is None else counted(column.identity)
    return value_of(identity, column.generated_as, column.default)


def value_of(identity: str, generated_as: str | None, default: str | None) -> str:
    parts = (
        identity,
        f"generated as {visible(generated_as)}" if generated_as else "",
        f"default {visible(default)}" if default else "",
    )
    return ", ".join(filter(None, parts))


def counted(identity: Identity) -> str:
    how = "always" if identity.always else "by default"
    return f"identity {how}, start {identity.start}, step {identity.step}"
