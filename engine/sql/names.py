"""Names quoted for SQL: foreign text never becomes syntax."""

from __future__ import annotations


def quote(name: str) -> str:
    """One identifier in back-quotes."""
    return "`" + name.replace("`", "``") + "`"


def string(value: str) -> str:
    """A SQL string literal."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
