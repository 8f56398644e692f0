"""Changes of a table's column mapping that Delta lets a commit make (DeltaColumnMapping.allowMappingModeChange)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MODE: Final = "delta.columnMapping.mode"
REMOVAL: Final = "spark.databricks.delta.columnMapping.allowRemoval"


def mode_of(properties: Mapping[str, str | None]) -> str:
    """``none``, ``name`` or ``id``, as the properties of a table say."""
    return (properties.get(MODE) or "none").lower()


def why_no_change(before: Mapping[str, str | None], after: Mapping[str, str | None], *, removal: bool) -> str:
    """Why no commit turns a table with the properties ``before`` into one with those ``after``, "" if one may.
    ``removal``: this session lets a commit turn column mapping off."""
    old, new = mode_of(before), mode_of(after)
    if old == new or (new == "none" and removal) or (old, new) == ("none", "name"):
        return ""
    if new == "none":
        return f"it would turn column mapping off, which {REMOVAL} forbids"
    return f"it would change {MODE} from {old} to {new}, which Delta lets no commit do"
