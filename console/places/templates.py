"""Statements to start from."""

from __future__ import annotations

import re

_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*")


def quoted(name: str) -> str:
    """A column's name as Spark wants it."""
    return name if _PLAIN_NAME.fullmatch(name) else f"`{name.replace('`', '``')}`"


def upsert_into(table: str, key: str | None) -> str:
    """An upsert into ``table`` (its name quoted already), by the column that is most likely its key."""
    column = quoted(key) if key else "id"
    return (
        f"MERGE INTO {table} AS t\n"
        "USING changes AS s  -- a table, or (SELECT ...), with the changes\n"
        f"  ON t.{column} = s.{column}\n"
        "WHEN MATCHED THEN UPDATE SET *\n"
        "WHEN NOT MATCHED THEN INSERT *\n"
    )
