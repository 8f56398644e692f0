"""Changes of a table's column mapping that Delta lets a commit make (DeltaColumnMapping.allowMappingModeChange)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MODE: Final = "delta.columnMapping.mode"
REMOVAL: Final = "spark.databricks.delta.columnMapping.allowRemoval"


def why_no_change(before: Mapping[str, str], after: Mapping[str, str], *, removal: bool) -> str:
    """Why no commit turns a table with the properties ``before`` into one with those ``after``, "" if one may.
    ``removal``: this session lets a commit turn column mapping off."""
    old, new = (mode.strip().lower() for mode in (before.get(MODE) or "none", after.get(MODE) or "none"))
    if old == new or (new == "none" and removal) or (old, new) == ("none", "name"):
        return ""
    if new == "none":
        return f"it would turn column mapping off, which {REMOVAL} forbids"
    return f"it would change {MODE} from {old} to {new}, which Delta lets no commit do"
