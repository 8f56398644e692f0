"""Finds the ``:name`` markers of a statement, the way Spark's parser sees them."""

from __future__ import annotations

import re

# What is skipped comes first: comments, strings and quoted names hold no markers.
_TOKENS = re.compile(
    r"""
      --[^\n]*
    | /\*.*?(?:\*/|\Z)
    | '(?:[^'\\]|\\.)*(?:'|\Z)
    | "(?:[^"\\]|\\.)*(?:"|\Z)
    | `[^`]*(?:`|\Z)
    | ::                                   # a cast, not a marker
    | (?<![\w)\]:'"`]):(?P<marker>[A-Za-z_]\w*)
    """,
    re.VERBOSE | re.DOTALL,
)


def find_markers(sql: str) -> tuple[str, ...]:
    """The names of the markers, each once, in the order they appear."""
    names = (match.group("marker") for match in _TOKENS.finditer(sql))
    return tuple(dict.fromkeys(name for name in names if name))
