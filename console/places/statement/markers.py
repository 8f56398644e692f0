"""The ``:name`` markers of a statement that is being typed, and its target."""

from __future__ import annotations

import re

_GAP = r"(?:\s|/\*(?s:.*?)\*/|--[^\n]*\n)+"
"""Blanks and comments."""
_TARGET = re.compile(rf"\bMERGE{_GAP}(?:WITH{_GAP}SCHEMA{_GAP}EVOLUTION{_GAP})?INTO{_GAP}([^\s()]+)", re.IGNORECASE)


def markers_of(sql: str) -> tuple[str, ...] | None:
    """The names of the markers, each once, in order; None while a quote or a comment is open."""
    from engine.model.errors import UsageError
    from engine.sql.sql_text import parameter_names

    if ":" not in sql:
        return ()
    try:
        return parameter_names(sql)
    except UsageError:
        return None


def target_of(sql: str) -> str:
    """The table after MERGE INTO, "" if there is none."""
    found = _TARGET.search(sql)
    return found[1] if found else ""
